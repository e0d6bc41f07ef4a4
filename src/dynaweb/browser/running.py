"""One Chromium with its driver, in a temporary folder of their own: started, asked whether they still answer, ended."""

import asyncio
import logging
import os
import subprocess
import threading
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import psutil
from playwright.async_api import Browser, Playwright, async_playwright
from playwright.async_api import Error as PlaywrightError

from dynaweb.browser.family import group_of, kill, lives, members
from dynaweb.browser.keeper import start_keeper
from dynaweb.browser.page import first_line
from dynaweb.browser.sandbox import wants_sandbox
from dynaweb.browser.scratch import Scratch
from dynaweb.errors import MissingDependencyError

log = logging.getLogger(__name__)

HOW_TO_INSTALL = (
    "install one with `apt-get install chromium-headless-shell` or `playwright install chromium`"
)
LAUNCH_SEC = 60.0
CLOSE_SEC = 4.0
DRIVER_GONE = "Connection closed while reading from the driver"
_environment = threading.Lock()


class _DriverGone(logging.Filter):
    """A killed driver leaves a future of Playwright's behind that nobody can read; what died is told elsewhere."""

    def filter(self, record: logging.LogRecord) -> bool:
        raised = record.exc_info[1] if record.exc_info else None
        return str(raised) != DRIVER_GONE


_driver_gone = _DriverGone()


class Running:
    """A driver and its Chromium. Use `launch`."""

    def __init__(self, scratch: Scratch, keeper: subprocess.Popen[bytes]) -> None:
        """Nothing runs yet but the keeper."""
        self.scratch = scratch
        self.browser: Browser | None = None
        self.processes: list[psutil.Process] = []
        """Driver and browser, first processes first; none of them may end before `close`."""
        self._groups: set[int] = set()
        self._playwright: Playwright | None = None
        self._keeper = keeper

    @property
    def alive(self) -> bool:
        """Driver and Chromium run, and Chromium answers its driver; one that hangs is alive too."""
        # a driver that was killed tells its browsers nothing
        return (
            self.browser is not None
            and self.browser.is_connected()
            and all(map(lives, self.processes))
        )

    def driver(self) -> psutil.Process:
        """The driver's process."""
        return self.processes[0]

    def leaders(self) -> list[psutil.Process]:
        """The browser's first process; a second one where a script starts it."""
        return [p for p in self.members() if p.environ().get("TMPDIR") and p != self.driver()]

    def members(self) -> list[psutil.Process]:
        """Driver, browser and all its helpers."""
        return members(self.scratch.path, self._groups)

    async def start(self, path: str, args: Sequence[str]) -> None:
        """Start both.

        Raises:
            MissingDependencyError: there is no Chromium, or it cannot start on this machine.
        """
        try:
            async with asyncio.timeout(LAUNCH_SEC):
                async with _temporary_folder(self.scratch.path):
                    self._playwright = await async_playwright().start()
                self.browser = await _launch(self._playwright, path, args)
        except TimeoutError as error:
            raise MissingDependencyError(
                f"{path or 'Chromium'} does not start within {LAUNCH_SEC:g} s; {HOW_TO_INSTALL}"
            ) from error
        self.processes = await asyncio.to_thread(self._first_processes)

    def _first_processes(self) -> list[psutil.Process]:
        """Driver and browser, told to the keeper."""
        found = members(self.scratch.path)
        self._groups = {p.pid for p in found if group_of(p) == p.pid}
        driver = [p for p in found if group_of(p) not in self._groups]
        assert self._keeper.stdin is not None
        with suppress(OSError):  # a keeper that was killed: the next start cleans up in its place
            self._keeper.stdin.write("".join(f"{g}\n" for g in self._groups).encode())
            self._keeper.stdin.flush()
        return [*driver, *(p for p in found if p.pid in self._groups)]

    async def answers(self, patience_sec: float) -> bool:
        """Whether a new tab can be opened and runs a script."""
        if self.browser is None or not self.alive:
            return False
        try:
            async with asyncio.timeout(patience_sec):
                context = await self.browser.new_context()
                try:
                    page = await context.new_page()
                    return bool(await page.evaluate("1 + 1") == 2)
                finally:
                    await context.close()
        except (PlaywrightError, TimeoutError) as error:
            log.warning("Chromium does not answer: %s", first_line(error))
            return False

    async def close(self, *, politely: bool = True) -> None:
        """End both; nothing of them is left. Safe to call twice.

        Args:
            politely: ask first; without it, what hangs costs no time.
        """
        browser, self.browser = self.browser, None
        playwright, self._playwright = self._playwright, None
        if not politely:
            await asyncio.to_thread(kill, self.members())
        for ending in (browser.close if browser else None, playwright.stop if playwright else None):
            if ending is None:
                continue
            try:
                async with asyncio.timeout(CLOSE_SEC):
                    await ending()
            except (PlaywrightError, TimeoutError) as error:
                log.warning("Chromium did not close by itself: %s", first_line(error))
        await asyncio.to_thread(self._end)

    def _end(self) -> None:
        kill(self.members())
        self._groups = set()
        self.scratch.close()
        if self._keeper.stdin is not None:
            with suppress(OSError):
                self._keeper.stdin.close()
        try:
            self._keeper.wait(timeout=CLOSE_SEC)
        except subprocess.TimeoutExpired:
            self._keeper.kill()
            self._keeper.wait()


async def launch(path: str, args: Sequence[str]) -> Running:
    """Start a Chromium that ends with this process.

    Args:
        path: the program; empty takes Playwright's own.
        args: its arguments.

    Raises:
        MissingDependencyError: there is none, or it cannot start on this machine.
    """
    logging.getLogger("asyncio").addFilter(_driver_gone)
    scratch = await asyncio.to_thread(Scratch)
    running = Running(scratch, start_keeper(scratch.path))
    try:
        await running.start(path, args)
    except BaseException:
        await running.close()
        raise
    return running


@asynccontextmanager
async def _temporary_folder(path: Path) -> AsyncIterator[None]:
    """Programs started inside write their temporary files there. Playwright has no setting for where profiles lie."""
    while not _environment.acquire(blocking=False):
        await asyncio.sleep(0.01)
    environment = os.environ  # noqa: TID251  # what a child inherits, not a setting of ours
    before = environment.get("TMPDIR")
    environment["TMPDIR"] = str(path)
    try:
        yield
    finally:
        if before is None:
            del environment["TMPDIR"]
        else:
            environment["TMPDIR"] = before
        _environment.release()


async def _launch(playwright: Playwright, path: str, args: Sequence[str]) -> Browser:
    if not path and not Path(playwright.chromium.executable_path).exists():
        raise MissingDependencyError(f"no Chromium found on this machine: {HOW_TO_INSTALL}")
    try:
        return await playwright.chromium.launch(
            executable_path=path or None,
            args=list(args),
            chromium_sandbox=wants_sandbox(),
            handle_sigint=False,
            timeout=LAUNCH_SEC * 1000,
        )
    except PlaywrightError as error:
        raise MissingDependencyError(
            f"{path or 'Chromium'} does not start: {_why(error)}"
        ) from error


def _why(error: PlaywrightError) -> str:
    """The line of a launch log that says what is wrong, and what to do about it."""
    for line in str(error).splitlines():
        if "No usable sandbox" in line:
            return "this system does not allow its sandbox; allow unprivileged user namespaces"
        if "error while loading shared libraries" in line:
            return f"{line.strip()}; {HOW_TO_INSTALL}"
    return f"{first_line(error)}; {HOW_TO_INSTALL}"

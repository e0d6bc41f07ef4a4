"""BrowserGym as it comes or tuned by hand, in an environment of its own, in a process of its own."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import IO

from dynaweb.browser.sites.packages import ToolPackages
from dynaweb.errors import BrowserError

WORKER = Path(__file__).parent / "inside" / "browsergym_worker.py"
ANSWER_SEC = 120.0
"""Longest wait for one answer: an episode as it comes takes seconds on a free machine."""
LINE_BYTES = 256 << 20


PACKAGES = ToolPackages("browsergym", "dynaweb.bench.live", "browsergym.txt")
"""What BrowserGym's environment holds."""


class Rival:
    """A running BrowserGym."""

    def __init__(self, name: str, process: asyncio.subprocess.Process, log: Path) -> None:
        """Use `open_rival` instead."""
        self.name = name
        self._process = process
        self._log = log

    async def ask(self, do: str, **more: object) -> dict[str, object]:
        """One request; the answer's fields.

        Raises:
            BrowserError: it failed, died or does not answer.
        """
        where = f"{self.name}, {do}"
        assert self._process.stdin is not None and self._process.stdout is not None
        try:
            async with asyncio.timeout(ANSWER_SEC):
                self._process.stdin.write(json.dumps({"do": do, **more}).encode() + b"\n")
                await self._process.stdin.drain()
                line = await self._process.stdout.readline()
        except TimeoutError as error:
            raise BrowserError(f"{where}: no answer in {ANSWER_SEC:g} s") from error
        except ConnectionError:
            line = b""
        if not line:
            raise BrowserError(f"{where}: the process has ended; see {self._log}")
        answer: dict[str, object] = json.loads(line)
        if "failed" in answer:
            raise BrowserError(f"{where}: {answer['failed']}")
        return answer


@asynccontextmanager
async def open_rival(
    name: str, python: Path, *, base_url: str, executable: str, tuned: bool, log: Path
) -> AsyncIterator[Rival]:
    """BrowserGym for as long as the block runs.

    Args:
        name: of the arm.
        python: interpreter of its environment.
        base_url: where the MiniWoB++ pages are, with a trailing slash.
        executable: the Chromium to drive.
        tuned: by hand, or as it comes.
        log: takes what it says.
    """
    with log.open("ab") as said:
        process = await _started(python, said)
        try:
            assert process.stdin is not None
            given = {"base_url": base_url, "executable": executable, "tuned": tuned}
            process.stdin.write(json.dumps(given).encode() + b"\n")
            yield Rival(name, process, log)
        finally:
            await _end(process)


async def _started(python: Path, said: IO[bytes]) -> asyncio.subprocess.Process:
    pipe = asyncio.subprocess.PIPE
    return await asyncio.create_subprocess_exec(
        str(python), "-s", str(WORKER), stdin=pipe, stdout=pipe, stderr=said, limit=LINE_BYTES
    )


async def _end(process: asyncio.subprocess.Process) -> None:
    """It closes its browsers when its input ends; a process that does not is killed."""
    assert process.stdin is not None
    process.stdin.close()
    try:
        async with asyncio.timeout(10):
            await process.wait()
    except TimeoutError:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()

"""Run mitmproxy as the only way out, with our addon; it ends with this process, however that ends.

mitmproxy lives in an environment of its own, because its pins do not go with ours. TLS is opened at the
proxy, so that methods and WebSockets are seen there; its key is made anew for every run, is known to our
Chromium alone (by its hash) and lies in a folder that only this user can read.
"""

import asyncio
import json
import subprocess
import tempfile
import threading
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict
from pathlib import Path

from dynaweb.browser.egress.inside.decide import Rules, canonical, split_port
from dynaweb.browser.egress.way import WayOut
from dynaweb.browser.sites.build import build_environment
from dynaweb.browser.sites.home import SiteHome
from dynaweb.browser.sites.packages import ToolPackages
from dynaweb.errors import BrowserError, MissingDependencyError, UserError
from dynaweb.runs.progress import Progress, silent

ADDON = Path(__file__).parent / "inside" / "allow.py"
AUTHORITY = "mitmproxy-ca-cert.pem"
"""In its folder of keys: the certificate that signs the others."""
START_SEC = 60.0
PERMIT_SEC = 10.0
OPTIONS = (
    "listen_host=127.0.0.1",
    "listen_port=0",
    "rawtcp=false",
    "connection_strategy=lazy",
    "stream_large_bodies=1m",
    "body_size_limit=64m",
    "onboarding=false",
)


PACKAGES = ToolPackages("egress-proxy", "dynaweb.browser.egress", "proxy.txt")
"""What the proxy's environment holds."""


def checked(rules: Rules) -> Rules:
    """The same rules, once every entry means something.

    Raises:
        UserError: an entry is no host.
    """
    for entry in rules.hosts:
        if canonical(split_port(entry)[0].removeprefix("*.")) is None:
            raise UserError(f"{entry!r} is no host to allow: write example.org, *.example.org or example.org:8443")  # fmt: skip
    for entry in rules.private:
        host, port = split_port(entry)
        if port is None or canonical(host) is None:
            raise UserError(f"{entry!r} is no private host to allow: write HOST:PORT")
    return rules


class Outlet:
    """A running proxy."""

    def __init__(
        self, process: "subprocess.Popen[str]", rules: Rules, keys: Path, home: SiteHome
    ) -> None:
        """Use `open_outlet` instead."""
        self._rules, self._keys, self._home = rules, keys, home
        self._way: WayOut | None = None
        self.refused: Counter[tuple[str, str, str]] = Counter()
        """`host:port`, method (empty for a connection) and why, with how often."""
        self._process = process
        self._ready = threading.Event()
        self._permitted = threading.Event()
        self._lock = threading.Lock()
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            said = json.loads(line) if line.startswith("{") else {}
            if "ready" in said:
                self._way = WayOut(
                    address=f"127.0.0.1:{int(said['ready'])}",
                    spki=str(said["spki"]),
                    authority=(self._keys / AUTHORITY).read_text("ascii"),
                    rules=self._rules,
                    home=str(self._home.root),
                )
                self._ready.set()
            elif "permitted" in said:
                self._permitted.set()
            elif "refused" in said:
                self.refused[str(said["refused"]), str(said["method"]), str(said["why"])] += 1
        self._ready.set()

    def wait(self) -> bool:
        """Until it listens; whether it does."""
        return self._ready.wait(START_SEC) and self._way is not None

    @property
    def way(self) -> WayOut:
        """How to go through it; it listens."""
        assert self._way is not None
        return self._way

    def refusals(self) -> dict[str, int]:
        """What it has refused so far: `host:port`, the method where there was one, and why; with how often."""
        found: Counter[str] = Counter()
        for (place, method, why), times in list(self.refused.items()):
            found[f"{place}{f' {method}' if method else ''}: {why}"] += times
        return dict(found)

    def permit(self, method: str, url: str, digest: str) -> None:
        """Let one request through that may change something.

        Args:
            method: its method.
            url: its address.
            digest: SHA-256 of its body, in hex; empty when the body cannot be foreseen.

        Raises:
            BrowserError: the proxy is gone.
        """
        assert self._process.stdin is not None
        with self._lock:
            self._permitted.clear()
            try:
                line = json.dumps({"permit": [method, url.partition("#")[0], digest]})
                self._process.stdin.write(line + "\n")
                self._process.stdin.flush()
            except OSError as error:
                raise BrowserError("the egress proxy is gone") from error
            if not self._permitted.wait(PERMIT_SEC):
                raise BrowserError("the egress proxy does not answer")


@asynccontextmanager
async def open_outlet(
    rules: Rules, home: SiteHome, progress: Progress = silent
) -> AsyncIterator[Outlet]:
    """A proxy for as long as the block runs; installed first if need be.

    Args:
        rules: what pages may reach.
        home: where environments lie.
        progress: stage `install egress-proxy`.

    Raises:
        UserError: a rule means nothing.
        MissingDependencyError: it cannot be installed or does not start.
    """
    checked(rules)
    place = await asyncio.to_thread(build_environment, PACKAGES, home, progress)
    program = place / "bin" / "mitmdump"
    log = home.build_log(PACKAGES).with_name("egress-proxy.log")
    with tempfile.TemporaryDirectory(prefix="dynaweb-proxy-") as keys:
        words = [word for option in (*OPTIONS, f"confdir={keys}") for word in ("--set", option)]
        with log.open("ab") as errors:
            process = subprocess.Popen(
                [str(program), "--set", "termlog_verbosity=error", "--flow-detail=0", "-s", str(ADDON), *words],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True,
                env={"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "PYTHONUNBUFFERED": "1"}, start_new_session=True,
            )  # fmt: skip
        try:
            assert process.stdin is not None
            with suppress(BrokenPipeError):  # it is gone: the wait tells
                process.stdin.write(json.dumps(asdict(rules)) + "\n")
                process.stdin.flush()
            outlet = Outlet(process, rules, Path(keys), home)
            if not await asyncio.to_thread(outlet.wait):
                raise MissingDependencyError(f"the egress proxy does not start; see {log}")
            yield outlet
        finally:
            process.kill()
            process.wait()

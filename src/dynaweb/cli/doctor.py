"""Is this machine ready? One line for each need, and how to mend what is missing."""

import asyncio
import importlib.util
import json
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import Annotated

import typer

from dynaweb.cli.endings import MISSING, OK, did_you_mean
from dynaweb.cli.endpoints import examine_endpoint
from dynaweb.cli.options import AsJson
from dynaweb.cli.saying import clean
from dynaweb.errors import DynawebError, UserError
from dynaweb.lm.config import EndpointConfig
from dynaweb.runs.provenance import provenance

NEED_DISK_MIB = 2048
NEED_MEMORY_MIB = 3072


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """What one look at the machine found."""

    name: str
    ok: bool
    found: str
    mend: str = ""
    """What to do when it is not ok."""


def examine(
    out: Path, port: int, only: tuple[str, ...] = (), endpoint: EndpointConfig | None = None
) -> list[Check]:
    """Look at everything, or at the named things alone.

    Args:
        out: folder that runs will be written in.
        port: port that pages will be served on; 0 for any.
        only: names of checks.
        endpoint: asked one short question, when given.
    """
    looks = _looks(out, port, endpoint)
    return [look() for name, look in looks.items() if not only or name in only]


def names() -> tuple[str, ...]:
    """Names of all checks that need no more than this machine."""
    return tuple(_looks(Path(), 0, None))


def _looks(
    out: Path, port: int, endpoint: EndpointConfig | None
) -> Mapping[str, Callable[[], Check]]:
    looks: dict[str, Callable[[], Check]] = {
        "python": _python,
        "torch": _torch,
        "packages": _packages,
        "pages": _pages,
        "browser": _browser,
        "port": lambda: _port(port),
        "disk": lambda: _disk(out),
        "sites": _sites,
        "memory": _memory,
    }
    return looks if endpoint is None else {**looks, "endpoint": lambda: _endpoint(endpoint)}


def _python() -> Check:
    version = ".".join(map(str, sys.version_info[:3]))
    return Check(
        name="python",
        ok=sys.version_info >= (3, 11),
        found=version,
        mend="install Python 3.11 or newer",
    )


def _torch() -> Check:
    mend = "pip install 'dynaweb[train]'"
    try:
        version = metadata.version("torch")
    except metadata.PackageNotFoundError:
        return Check(name="torch", ok=False, found="not installed", mend=mend)
    # in a process of its own: a broken build may take the interpreter down with it
    code = "import torch; print(torch.version.cuda or '', torch.cuda.device_count())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or ["it crashed"])[-1]
        return Check(
            name="torch", ok=False, found=f"{version} does not load: {reason[:100]}", mend=mend
        )
    cuda, _, devices = done.stdout.strip().rpartition(" ")
    kind = f"CUDA {cuda}, {devices} device(s)" if cuda else "CPU build"
    return Check(name="torch", ok=True, found=f"{version}, {kind}")


def _packages() -> Check:
    wanted = ("transformers", "tokenizers", "safetensors", "numpy", "scipy", "playwright")
    missing = [name for name in wanted if importlib.util.find_spec(name) is None]
    if missing:
        return Check(
            name="packages",
            ok=False,
            found=f"missing: {', '.join(missing)}",
            mend="pip install 'dynaweb[train,browser,study]'",
        )
    return Check(
        name="packages", ok=True, found=", ".join(f"{n} {metadata.version(n)}" for n in wanted)
    )


def _pages() -> Check:
    from dynaweb.browser.miniwob import miniwob_tasks
    from dynaweb.browser.pages import miniwob_root

    try:
        return Check(
            name="pages",
            ok=True,
            found=f"{len(miniwob_tasks())} MiniWoB++ tasks in {miniwob_root()}",
        )
    except DynawebError as error:
        return Check(name="pages", ok=False, found="not installed", mend=str(error))


def _browser() -> Check:
    if importlib.util.find_spec("playwright") is None:
        return Check(
            name="browser",
            ok=False,
            found="playwright is not installed",
            mend="pip install 'dynaweb[browser]'",
        )
    from dynaweb.browser.chromium import BrowserPool, find_chromium
    from dynaweb.browser.config import BrowserConfig
    from dynaweb.browser.sandbox import is_sandboxed

    async def start() -> bool | None:
        pool = BrowserPool(BrowserConfig(prefetch=0))
        try:
            await pool.page()
            assert pool.running is not None  # it has just given a page
            return is_sandboxed(pool.running.processes)
        finally:
            await pool.close()

    try:
        held = asyncio.run(start())
    except DynawebError as error:
        return Check(name="browser", ok=False, found="does not start", mend=str(error))
    sandbox = {True: "on", False: "OFF (running as root)", None: "unknown"}[held]
    where = find_chromium() or "Playwright's Chromium"
    return Check(name="browser", ok=True, found=f"{where}, sandbox {sandbox}")


def _port(port: int) -> Check:
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            return Check(
                name="port",
                ok=False,
                found=f"127.0.0.1:{port}: {error.strerror}",
                mend="stop what listens there, or use another port (0 takes a free one)",
            )
        return Check(name="port", ok=True, found=f"127.0.0.1:{probe.getsockname()[1]} is free")


def _disk(out: Path) -> Check:
    place = next((p for p in (out, *out.absolute().parents) if p.is_dir()), Path("/"))
    free = shutil.disk_usage(place).free >> 20
    mend = f"free some space, or write elsewhere with --out: a run needs about {NEED_DISK_MIB} MiB"
    return Check(
        name="disk", ok=free >= NEED_DISK_MIB, found=f"{free} MiB free at {place}", mend=mend
    )


def _sites() -> Check:
    """What `dynaweb sites` needs; that none is built is no fault, since not everybody wants them."""
    lacking = [name for name in ("venv", "ensurepip") if importlib.util.find_spec(name) is None]
    if lacking:
        return Check(
            name="sites",
            ok=False,
            found=f"this Python has no {lacking[0]}",
            mend="apt-get install python3-venv, or use another Python: sites live in environments of their own",
        )
    from dynaweb.browser.sites.build import find_built
    from dynaweb.browser.sites.catalogue import SITES
    from dynaweb.browser.sites.home import SiteHome
    from dynaweb.browser.sites.state import list_instances
    from dynaweb.cli.siting import home_folder

    home = SiteHome(home_folder(None))
    try:
        built = [name for name, spec in SITES.items() if find_built(spec, home) is not None]
        dead = [state.name for state in list_instances(home) if not state.alive]
    except DynawebError as error:
        return Check(name="sites", ok=False, found=str(error), mend=f"remove {home.root}")
    if dead:
        mend = f"dynaweb sites down {' '.join(dead)}"
        return Check(name="sites", ok=False, found=f"dead: {', '.join(dead)}", mend=mend)
    found = f"built: {', '.join(built)}" if built else "none built (`dynaweb sites build all`)"
    return Check(name="sites", ok=True, found=found)


def _memory() -> Check:
    here = provenance().machine
    memory = int(here["memory_mib"])
    return Check(
        name="memory",
        ok=memory >= NEED_MEMORY_MIB,
        found=f"{memory} MiB, {here['cores']} cores",
        mend=f"a demo needs about {NEED_MEMORY_MIB} MiB; use a larger machine, or --size smoke",
    )


def _endpoint(config: EndpointConfig) -> Check:
    try:
        found = examine_endpoint(config)
    except DynawebError as error:
        return Check(name="endpoint", ok=False, found=config.url, mend=clean(str(error)))
    return Check(name="endpoint", ok=True, found=clean(found))


def doctor_command(
    out: Annotated[Path, typer.Option(help="Where runs will be written.")] = Path("runs"),
    port: Annotated[int, typer.Option(help="Port to serve pages on; 0 takes a free one.")] = 0,
    endpoint: Annotated[
        str | None, typer.Option(metavar="URL", help="Ask this endpoint one short question too.")
    ] = None,
    model: Annotated[str, typer.Option(help="The endpoint's name of the model to ask.")] = "",
    key_variable: Annotated[
        str, typer.Option(help="Environment variable that holds the endpoint's key.")
    ] = "",
    only: Annotated[
        list[str] | None, typer.Option(metavar="CHECK", help="Only this check. May be repeated.")
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Look whether this machine has what a run needs, and say how to mend what is missing."""
    asked = None
    if endpoint is None and (model or key_variable):
        raise UserError(
            f"{'--model' if model else '--key-variable'} is of an endpoint: give --endpoint URL too"
        )
    if endpoint is not None:
        # one try: whoever calls the doctor wants to know, not to wait
        asked = EndpointConfig(
            url=endpoint, model=model, key_variable=key_variable, tries=1, attempt_sec=60
        )
    return report(out, port, tuple(only or ()), asked, as_json=as_json)


def report(
    out: Path, port: int, only: tuple[str, ...], endpoint: EndpointConfig | None, *, as_json: bool
) -> int:
    """Print what was found; the exit code is 4 when something is missing.

    Raises:
        UserError: no such check.
    """
    known = tuple(_looks(out, port, endpoint))
    for name in only:
        if name == "endpoint" and endpoint is None:
            raise UserError("check 'endpoint' needs --endpoint URL and --model NAME")
        if name not in known:
            raise UserError(
                f"no check {name!r}{did_you_mean(name, known)}; the checks are {', '.join(known)}"
            )
    checks = examine(out, port, only, endpoint)
    if as_json:
        print(json.dumps([asdict(check) for check in checks], indent=1))
    else:
        for check in checks:
            mend = "" if check.ok else f"\n{'':9}mend: {check.mend}"
            print(f"{'ok  ' if check.ok else 'MEND'} {check.name:<9}{check.found}{mend}")
    return OK if all(check.ok for check in checks) else MISSING

"""Workers on a Ray cluster: an actor with a browser of its own for each, spread over the nodes. Addresses and log stay with the caller.

Actors are plain and synchronous; Ray only starts them, carries calls and answers, and says when one is gone. The only module that speaks Ray.
"""

import asyncio
import logging
import signal
import socket
import threading
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from urllib.parse import urlsplit

import ray

from dynaweb.browser.config import BrowserConfig
from dynaweb.browser.crawl.manners import Manners, Turns, is_loopback
from dynaweb.browser.scratch import Scratch, sweep
from dynaweb.collect.crawl.choose import Deed
from dynaweb.collect.crawl.fleet import Fleet, FleetVisitor, PostLostError
from dynaweb.collect.crawl.local import Vouch
from dynaweb.collect.crawl.outpost import Outpost, Posting, Standing, Told, posting_of
from dynaweb.collect.crawl.visit import Job
from dynaweb.collect.crawl.work import Visitor, Visitors
from dynaweb.errors import MissingDependencyError, UserError

LOCAL_ADDRESS = "127.0.0.1"
"""Of a cluster that is started here. Ray listens on the network all the same, unless the variable is set before it is imported."""
LOCAL_VARIABLE = "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER=0"
OBJECT_STORE_BYTES = 100_000_000
"""Of a cluster that is started here: pages pass one by one."""
REACH_SEC = 5.0


class ActorPost:
    """An `Outpost` in an actor; satisfies `fleet.Post`."""

    def __init__(self, posting: Posting) -> None:
        """Ask for a place; nothing waits for it yet."""
        actor = ray.remote(Outpost).options(
            num_cpus=1, scheduling_strategy="SPREAD", max_restarts=0, max_task_retries=0
        )
        self._actor = actor.remote(posting)

    async def open(self) -> Standing:
        """See `Outpost`."""
        found = await _answer(self._actor.open.remote())
        assert isinstance(found, Standing)
        return found

    async def begin(self, job: Job, deeds: Sequence[Deed]) -> Told:
        """See `Outpost`."""
        return _told(await _answer(self._actor.begin.remote(job, list(deeds))))

    async def go_on(self, answer: str, deeds: Sequence[Deed]) -> Told:
        """See `Outpost`."""
        return _told(await _answer(self._actor.go_on.remote(answer, list(deeds))))

    async def close(self) -> None:
        """See `Outpost`."""
        await _answer(self._actor.close.remote())

    def kill(self) -> None:
        """End the actor's process; its browser ends with it."""
        ray.kill(self._actor)


def _told(found: object) -> Told:
    assert isinstance(found, Told)
    return found


async def _answer(reference: "ray.ObjectRef") -> object:
    try:
        found: object = await asyncio.wrap_future(reference.future())
    except ray.exceptions.RayTaskError:
        raise  # a bug of ours, with its traceback
    except ray.exceptions.RayError as error:
        raise PostLostError(_reason(error)) from error
    return found


def _reason(error: Exception) -> str:
    """One line of Ray's many: the last of a traceback, the first otherwise."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    if not lines:
        return type(error).__name__
    return (lines[-1] if "Traceback" in str(error) or "ray::" in str(error) else lines[0])[:300]


def cluster_visitors(
    address: str, manners: Manners, browser: BrowserConfig, pauses: Mapping[str, float], vouch: Vouch | None
) -> Visitors:  # fmt: skip
    """Workers on a cluster.

    Args:
        address: of the cluster, `host:port` or `auto`; empty starts one on this machine for as long as it is needed.
        manners: what they may ask for.
        browser: settings; the path of a Chromium is that on the nodes.
        pauses: origin -> seconds between two actions there, whoever does them.
        vouch: scores places to begin with, in this process.
    """
    posting = posting_of(manners, replace(browser, prefetch=1), pauses, scored=vouch is not None)
    here = bool(manners.hosts) or any(map(is_loopback, manners.origins))

    @asynccontextmanager
    async def visitors(workers: int) -> AsyncIterator[list[Visitor]]:
        with _joined(address, workers):
            fleet = Fleet(
                lambda: ActorPost(posting), workers, machine=socket.gethostname() if here else ""
            )
            turns = Turns(pauses)
            try:
                await fleet.open()
                yield [FleetVisitor(fleet, turns, vouch, manners) for _ in range(workers)]
            finally:
                await fleet.close()

    return visitors


@contextmanager
def _joined(address: str, workers: int) -> Iterator[None]:
    """Part of a cluster, or of one that runs here for as long as the block.

    Raises:
        MissingDependencyError: it does not answer.
    """
    # as of a browser: whoever comes next removes it when we were killed
    scratch = None if address else Scratch()
    try:
        with _our_signals():
            _init(address, workers, scratch)
        yield
    finally:
        ray.shutdown()
        if scratch is not None:
            scratch.close()
        # Ray ends an actor's children with it, the keeper of its browser too: nobody else tidies up before the next start
        sweep()


def _init(address: str, workers: int, scratch: Scratch | None) -> None:
    quiet = {"log_to_driver": False, "logging_level": logging.ERROR}
    try:
        if scratch is None:
            _reach(address)
            ray.init(address=address, **quiet)
            return
        ray.init(
            address="local", num_cpus=workers, num_gpus=0, include_dashboard=False, object_store_memory=OBJECT_STORE_BYTES,
            _node_ip_address=LOCAL_ADDRESS, _temp_dir=str(scratch.path), **quiet,
        )  # fmt: skip
        if ray.util.get_node_ip_address() != LOCAL_ADDRESS:
            raise RuntimeError(f"it would listen on the network; set {LOCAL_VARIABLE}")
    except (ConnectionError, RuntimeError, ValueError, OSError) as error:
        where = f"at {address!r}" if address else "can be started on this machine"
        raise MissingDependencyError(f"no Ray cluster {where}: {_reason(error)}") from error


def _reach(address: str) -> None:
    """Ray itself waits long, and may end the process, where nobody listens.

    Raises:
        UserError: it is no address of a cluster. OSError: nobody listens there.
    """
    if address == "auto":
        return
    parts = urlsplit(f"//{address}")
    try:
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    if "://" in address or not host or not port:
        raise UserError(f"--ray-address {address!r} is no address of a cluster: write HOST:PORT (as `ray start --head` says it), or auto")  # fmt: skip
    socket.create_connection((host, port), REACH_SEC).close()


@contextmanager
def _our_signals() -> Iterator[None]:
    """Ray puts a handler of its own for SIGTERM, which ends the process where it stands."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)

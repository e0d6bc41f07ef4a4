"""When a crawl goes through the egress proxy, what that lets through, and what it refused.

Places on this machine, by their very name, are reached without it, as in `dynaweb visit`: there is nothing behind such a name that could lead
elsewhere. As soon as one place is not, or a private one is named, everything goes through one proxy, for all workers, but the local sites that
this command has started itself.
"""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, contextmanager
from ipaddress import ip_address
from urllib.parse import urlsplit

from dynaweb.browser.crawl.manners import is_loopback
from dynaweb.browser.egress.inside.decide import Rules, is_private, is_public
from dynaweb.browser.egress.proxy import Outlet, open_outlet
from dynaweb.browser.sites.home import SiteHome
from dynaweb.errors import UserError
from dynaweb.runs.progress import Progress

PORTS = {"http": 80, "https": 443}


def proxy_rules(
    origins: Sequence[str], *, writable: Sequence[str], hosts: Mapping[str, str], private: Sequence[str]
) -> Rules | None:  # fmt: skip
    """What the proxy lets through; None where none is needed.

    Args:
        origins: where the crawl may go.
        writable: those where it may send what changes something.
        hosts: names that are served by this command; reached without the proxy.
        private: `host:port` that may lie in a private network. Origins on this machine may without being named twice.

    Raises:
        UserError: an origin is an address of a private network that is not named.
    """
    ours = [o for o in origins if urlsplit(o).netloc not in hosts]
    here = [o for o in ours if is_loopback(o)]
    if len(here) == len(ours) and not private:
        return None
    rules = Rules(
        hosts=tuple(_place(o) for o in ours if o not in here),
        private=(*map(_place, here), *private),
        writable=tuple(_place(o) for o in ours if o in writable),
    )
    for origin in ours:
        _check(origin, rules)
    return rules


def _check(origin: str, rules: Rules) -> None:
    parts = urlsplit(origin)
    try:
        address = ip_address(parts.hostname or "")
    except ValueError:
        return  # a name: where it leads is looked at when it is asked for
    if not is_public(address) and not is_private(rules, address.compressed, _port(origin)):
        raise UserError(f"{origin!r} lies in a private network: add --private {_place(origin)} if that is meant")  # fmt: skip


def _port(origin: str) -> int:
    parts = urlsplit(origin)
    return parts.port or PORTS[parts.scheme]


def _place(origin: str) -> str:
    host = urlsplit(origin).hostname or ""
    return f"[{host}]:{_port(origin)}" if ":" in host else f"{host}:{_port(origin)}"


@contextmanager
def proxied(
    rules: Rules | None, home: SiteHome | None, progress: Progress
) -> Iterator[Outlet | None]:
    """The proxy for as long as the block runs; None without rules.

    Args:
        rules: what it lets through.
        home: where it is installed; needed with rules.
        progress: stage `install egress-proxy`.

    Raises:
        UserError: a rule means nothing. MissingDependencyError: it cannot be installed or does not start.
    """
    if rules is None:
        yield None
        return
    assert home is not None, "rules without a place for the proxy"
    with asyncio.Runner() as runner:
        stack = AsyncExitStack()
        try:
            yield runner.run(stack.enter_async_context(open_outlet(rules, home, progress)))
        finally:
            runner.run(stack.aclose())

"""Where a connection may go. Decided on the name that was asked for and on the address that it resolves to.

Standard library only: it runs in the proxy's environment and is tested in ours.
"""

import ipaddress
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

WEB_PORTS = (80, 443)
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
"""Methods that change nothing by their definition (RFC 9110, section 9.2.1); TRACE is left out."""
PROXY_STATUS = "proxy-status"
"""Header of an answer that is not the site's own (RFC 9209)."""
OUR_NAME = "dynaweb-egress"
LABELS = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)(\.(?!-)[a-z0-9_-]{1,63}(?<!-))*")
TUNNELS = tuple(
    ipaddress.ip_network(n)
    for n in ("::/96", "64:ff9b::/96", "64:ff9b:1::/48", "2001::/32", "2002::/16", "fec0::/10")
)
"""IPv6 ranges that stand for IPv4 addresses, or for a site's own: nobody serves the web there."""
SPECIAL = tuple(
    ipaddress.ip_network(n)
    for n in ("0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.88.99.0/24", "198.18.0.0/15", "240.0.0.0/4")
)  # fmt: skip

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Resolve = Callable[[str, int], Sequence[str]]


@dataclass(frozen=True)
class Rules:
    """What pages may reach."""

    hosts: tuple[str, ...] = ()
    """Public hosts: `example.org`, `*.example.org` (not itself), with `:port` for another port than 80 and 443."""
    private: tuple[str, ...] = ()
    """`host:port` that may lie on this machine or in a private network."""
    read_only: bool = True
    """Refuse every method that may change something, and WebSockets, unless a request was permitted."""
    writable: tuple[str, ...] = ()
    """Of `hosts` and `private`, those where `read_only` does not hold."""


def canonical(host: str) -> str | None:
    """A host as names are compared: lower case, ASCII, no final dot, no brackets; None when it is no host."""
    host = host.strip("[]") if host.startswith("[") and host.endswith("]") else host
    try:
        return ipaddress.ip_address(host).compressed
    except ValueError:
        pass
    try:
        name = host.removesuffix(".").encode("idna").decode("ascii").lower()
    except UnicodeError:
        return None
    if not LABELS.fullmatch(name) or len(name) > 253:
        return None
    # `127.1`, `0x7f000001` and `2130706433` are addresses to some resolvers and names to others
    last = name.rpartition(".")[2]
    return None if last.isdigit() or re.fullmatch(r"0x[0-9a-f]*", last) else name


def split_port(entry: str) -> tuple[str, int | None]:
    """`host`, `host:port`, `[v6]:port` or a bare IPv6 address."""
    if entry.count(":") > 1 and not entry.startswith("["):
        return entry, None
    host, colon, port = entry.rpartition(":")
    return (host, int(port)) if colon and port.isdigit() else (entry, None)


def names_it(entry: str, host: str, port: int) -> bool:
    """Whether an entry of `Rules.hosts` means this host (canonical) and port."""
    wanted, wanted_port = split_port(entry)
    if port not in ((wanted_port,) if wanted_port is not None else WEB_PORTS):
        return False
    if wanted.startswith("*."):
        suffix = canonical(wanted[2:])
        return suffix is not None and host.endswith("." + suffix)
    return canonical(wanted) == host


def is_private(rules: Rules, host: str, port: int) -> bool:
    """Whether the host (canonical) and port are named as private."""
    return any((canonical(h), p) == (host, port) for h, p in map(split_port, rules.private))


def why_not_name(rules: Rules, host: str, port: int) -> str | None:
    """Why the name is refused; None when its address is to be looked at."""
    name = canonical(host)
    if name is None:
        return f"{host[:80]!r} is no host name"
    if is_private(rules, name, port) or any(names_it(e, name, port) for e in rules.hosts):
        return None
    return f"{name}:{port} is not allowed"


def may_write(rules: Rules, host: str, port: int) -> bool:
    """Whether a request there may change something without being permitted by itself."""
    if not rules.read_only:
        return True
    name = canonical(host)
    return name is not None and any(names_it(entry, name, port) for entry in rules.writable)


def is_public(address: Address) -> bool:
    """Whether the address is of the open internet."""
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped is not None:
            return is_public(address.ipv4_mapped)
        if any(address in net for net in TUNNELS):
            return False
    elif any(address in net for net in SPECIAL):
        return False
    return address.is_global and not address.is_multicast


def choose_address(rules: Rules, host: str, port: int, resolve: Resolve) -> tuple[str, str]:
    """Resolve once, look at every address, choose one.

    Args:
        rules: what may be reached.
        host: as asked for.
        port: likewise.
        resolve: host and port to addresses; raises OSError when there are none.

    Returns:
        The address to connect to and an empty text; or an empty address and why not.
    """
    refused = why_not_name(rules, host, port)
    if refused is not None:
        return "", refused
    name = canonical(host)
    assert name is not None
    try:
        found = list(resolve(name, port))
    except OSError as error:
        return "", f"{name} does not resolve: {error.strerror or error}"
    if not found:
        return "", f"{name} does not resolve"
    if is_private(rules, name, port):
        # `localhost` is both, and most servers listen on IPv4 alone
        found.sort(key=lambda text: ":" in text)
    else:
        for text in found:
            # a name with one address inside and one outside is a trap, whichever comes first
            if not is_public(ipaddress.ip_address(text.partition("%")[0])):
                return "", f"{name} resolves to {text}, which is no public address"
    return found[0], ""

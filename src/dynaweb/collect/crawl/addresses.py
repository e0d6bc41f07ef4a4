"""Addresses: one spelling for each, and why some are never visited (WebWorld 3.3, the first two of its URL filters)."""

import re
from collections.abc import Callable, Sequence
from urllib.parse import parse_qsl, quote, urldefrag, urlsplit, urlunsplit

MOST_CHARS = 2000
MOST_SEGMENTS = 20
"""Relative links that lead ever deeper make longer ones."""
FILES = re.compile(
    r"\.(?:pdf|zip|gz|bz2|xz|7z|rar|tar|tgz|exe|msi|dmg|deb|rpm|apk|iso|jar|whl|bin|docx?|xlsx?|pptx?|odt|csv|"
    r"png|jpe?g|gif|webp|svg|ico|bmp|mp[34]|m4a|webm|ogg|wav|avi|mov|woff2?|ttf|css|js|json|xml|rss|atom|ics)$",
    re.IGNORECASE,
)
DEFAULT_PORTS = {"http": ":80", "https": ":443"}


def normalised(url: str) -> str | None:
    """One spelling: no fragment, lower-case host, no default port, a path. None when it is no address of the web."""
    try:
        parts = urlsplit(urldefrag(url.strip()).url)
        host = (parts.netloc.rpartition("@")[2]).lower()
        if parts.scheme.lower() not in DEFAULT_PORTS or not parts.hostname or parts.port == 0:
            return None
    except ValueError:
        return None
    scheme = parts.scheme.lower()
    path = quote(parts.path or "/", safe="/%:@!$&'()*+,;=~-._")
    query = quote(parts.query, safe="/%:@!$&'()*+,;=~-._?[]")
    return urlunsplit((scheme, host.removesuffix(DEFAULT_PORTS[scheme]), path, query, ""))


def pattern_of(url: str) -> str:
    """The address with its numbers taken out: what a calendar's months have in common."""
    parts = urlsplit(url)
    keys = sorted(
        f"{k}={re.sub(r'[0-9]+', '#', v)}"
        for k, v in parse_qsl(parts.query, keep_blank_values=True)
    )
    return f"{parts.scheme}://{parts.netloc}{re.sub(r'[0-9]+', '#', parts.path)}?{'&'.join(keys)}"


def refusal_of(
    url: str, origins: Sequence[str], banned: Sequence[str], allowed: Callable[[str], bool]
) -> str:
    """Why a normalised address is not visited; empty when it may be.

    Args:
        url: as `normalised` gives it.
        origins: where the crawl may go.
        banned: words that it may not hold.
        allowed: what robots.txt says.
    """
    parts = urlsplit(url)
    if f"{parts.scheme}://{parts.netloc}" not in origins:
        return "another site"
    if len(url) > MOST_CHARS or parts.path.count("/") > MOST_SEGMENTS:
        return "too long"
    if FILES.search(parts.path):
        return "a file"
    lower = url.lower()
    if word := next((w for w in banned if w.lower() in lower), ""):
        return f"banned word {word!r}"
    return "" if allowed(url) else "robots.txt"

"""One GET without a browser: for robots.txt, and to see where an address leads before a window opens there."""

from collections.abc import Mapping
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from urllib.parse import urljoin, urlsplit

from dynaweb.browser.egress.inside.decide import OUR_NAME, PROXY_STATUS
from dynaweb.browser.egress.way import WayOut

ANSWER_SEC = 20.0
MOST_BYTES = 512_000
"""Of an answer; RFC 9309 asks for 500 KiB of robots.txt at least."""
REDIRECTS = (301, 302, 303, 307, 308)
MOST_HOPS = 5


@dataclass(frozen=True, slots=True)
class Answer:
    """What a server said."""

    status: int
    """0 when it said nothing."""
    location: str
    """Where it sends us, absolute; empty when it does not."""
    text: str


def ask(
    url: str,
    hosts: Mapping[str, str],
    agent: str,
    cookies: str = "",
    *,
    body: bool,
    way: WayOut | None = None,
) -> Answer:
    """Ask once; redirects are told, not followed.

    Args:
        url: absolute, http or https.
        hosts: name -> `address:port` on this machine, as in `BrowserPool`.
        agent: the `User-Agent`.
        cookies: the `Cookie` header; empty sends none.
        body: read the text too, up to `MOST_BYTES`.
        way: through the proxy, for everything that `hosts` does not name; what it refuses is no answer.
    """
    parts = urlsplit(url)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    through = way if parts.netloc not in hosts else None
    headers = {"Host": parts.netloc, "User-Agent": agent, "Accept-Encoding": "identity"}
    if cookies:
        headers["Cookie"] = cookies
    kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
    try:
        if through is not None:
            connection = through.connection(url, ANSWER_SEC)
        else:
            connection = kind(hosts.get(parts.netloc, parts.netloc), timeout=ANSWER_SEC)
    except (HTTPException, ValueError):
        return Answer(0, "", "")
    if through is not None and parts.scheme == "http":
        # a proxy is told the whole address (RFC 9112, section 3.2.2)
        path = f"http://{parts.netloc}{path}"
    try:
        connection.request("GET", path, headers=headers)
        response = connection.getresponse()
        if through is not None and response.headers.get(PROXY_STATUS, "").startswith(OUR_NAME):
            return Answer(0, "", "")
        text = response.read(MOST_BYTES).decode("utf-8", "replace") if body else ""
        sent = response.headers.get("Location", "") if response.status in REDIRECTS else ""
        return Answer(response.status, urljoin(url, sent) if sent else "", text)
    except (OSError, HTTPException, ValueError):
        return Answer(0, "", "")
    finally:
        connection.close()

"""robots.txt (RFC 9309) of every origin of a crawl: asked once, kept for a day, obeyed.

A site without one (4xx) allows everything. One that does not answer, says 5xx or asks us to slow down (429) allows nothing.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from protego import Protego

from dynaweb.browser.crawl.asking import MOST_HOPS, ask
from dynaweb.browser.egress.way import WayOut
from dynaweb.runs.atomic import read_json, write_json

DAY_SEC = 86_400.0
"""RFC 9309, section 2.4: a copy should not be used for longer."""
NOTHING = "User-agent: *\nDisallow: /\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Robots:
    """The rules of some origins for one robot."""

    agent: str
    """Our name, as in `User-agent:`."""
    texts: Mapping[str, str]
    """Origin -> robots.txt; an origin that is not there allows nothing."""
    rules: Mapping[str, Protego]
    obeyed: bool = True
    """False on the user's own word only."""

    def allows(self, url: str) -> bool:
        """Whether the address may be asked for."""
        if not self.obeyed:
            return True
        parts = urlsplit(url)
        rules = self.rules.get(f"{parts.scheme}://{parts.netloc}")
        return rules is not None and bool(rules.can_fetch(url, self.agent))

    def delay_sec(self, origin: str) -> float:
        """`Crawl-delay` in seconds; 0.0 when the site names none."""
        rules = self.rules.get(origin) if self.obeyed else None
        return float(rules.crawl_delay(self.agent) or 0.0) if rules is not None else 0.0


def make_robots(agent: str, texts: Mapping[str, str], *, obeyed: bool = True) -> Robots:
    """Rules from texts."""
    rules = {origin: Protego.parse(text) for origin, text in texts.items()}
    return Robots(agent=agent, texts=dict(texts), rules=rules, obeyed=obeyed)


def learn_robots(
    origins: tuple[str, ...],
    hosts: Mapping[str, str],
    keep: Path,
    *,
    agent: str,
    header: str,
    obeyed: bool = True,
    way: WayOut | None = None,
) -> Robots:
    """The rules of every origin, from a copy that is younger than a day or from the site.

    Args:
        origins: addresses without a trailing slash.
        hosts: as in `BrowserPool`.
        keep: JSON file of the copies.
        agent: our name.
        header: the whole `User-Agent`.
        obeyed: as in `Robots`.
        way: through the proxy, for everything that `hosts` does not name.

    Raises:
        StorageError: `keep` is damaged or cannot be written.
        MissingDependencyError: the proxy is gone; that a site did not answer is not kept.
    """
    known = read_json(keep) or {}
    now = time.time()
    for origin in origins if obeyed else ():
        copy = known.get(origin)
        if isinstance(copy, dict) and now - float(str(copy.get("at", 0))) < DAY_SEC:
            continue
        text = fetch_robots(origin, hosts, header, way)
        if way is not None:
            way.require()
        known[origin] = {"at": now, "text": text}
    write_json(keep, known)
    texts = {o: str(c["text"]) for o in origins if isinstance(c := known.get(o), dict)}
    return make_robots(agent, texts, obeyed=obeyed)


def fetch_robots(
    origin: str, hosts: Mapping[str, str], header: str, way: WayOut | None = None
) -> str:
    """The text of a site's robots.txt, or one that says what its absence means."""
    url = f"{origin}/robots.txt"
    for _ in range(MOST_HOPS + 1):
        answer = ask(url, hosts, header, body=True, way=way)
        if not answer.location:
            break
        url = answer.location
    if 200 <= answer.status < 300:
        return answer.text
    gone = 400 <= answer.status < 500 and answer.status != 429
    return "" if gone else NOTHING

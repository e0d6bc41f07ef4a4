"""The card of a crawl: what was kept and dropped and why, what was done where, how fast. Markdown for people, JSON for programs."""

from collections.abc import Mapping
from dataclasses import dataclass

from dynaweb.recipes.crawlsift import SiftTally

MOST_ROWS = 20
"""Hosts in a table for people."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlCard:
    """What a crawl came to."""

    visits: int
    """Visits that are over, those that saw nothing too."""
    seen_steps: int
    """Actions whose page was seen; each is in `steps`."""
    trajectories: int
    """Kept."""
    transitions: int
    """Kept."""
    dropped_visits: Mapping[str, int]
    """By reason."""
    steps: Mapping[str, int]
    """By what became of them; adds up to `seen_steps`."""
    addresses: Mapping[str, int]
    """Met, by state; those that are never visited by reason."""
    refused_requests: Mapping[str, int]
    """Requests of pages that were not made, in the last session, by reason."""
    refused_hosts: Mapping[str, int]
    """The same requests, by the host that they would have gone to."""
    refused_by_proxy: Mapping[str, int]
    """What the egress proxy refused beyond that, in the last session: host and port, method, and why."""
    actions: Mapping[str, int]
    """Kept transitions by name of the action."""
    kinds: Mapping[str, int]
    """Kept transitions by what the action changed."""
    faults: Mapping[str, int]
    """Kept transitions whose action the page refused."""
    pages: Mapping[str, int]
    """Different addresses on kept pages, by site."""
    local_share: float | None
    """Of the changes, those that left the page in place; None without any."""
    masked: Mapping[str, int]
    """Personal details replaced, by kind, in the last session."""
    crawl_steps: int
    """Steps of all sessions whose time is known."""
    crawl_sec: float
    """Their wall-clock time while the browser stood ready, in seconds."""

    @property
    def steps_per_sec(self) -> float | None:
        """All workers together; None before anything was done."""
        return self.crawl_steps / self.crawl_sec if self.crawl_sec > 0 else None


def make_card(
    tally: SiftTally,
    *,
    addresses: Mapping[str, int],
    refused: Mapping[str, int],
    refused_hosts: Mapping[str, int],
    refused_by_proxy: Mapping[str, int],
    masked: Mapping[str, int],
    speed: tuple[int, float],
) -> CrawlCard:
    """The card of a tally."""
    return CrawlCard(
        visits=tally.seen_visits,
        seen_steps=tally.seen_steps,
        trajectories=tally.kept_visits,
        transitions=tally.kept_steps,
        dropped_visits=_sorted(tally.dropped_visits),
        steps=_sorted(tally.steps),
        addresses=dict(addresses),
        refused_requests=_sorted(refused),
        refused_hosts=_sorted(refused_hosts),
        refused_by_proxy=_sorted(refused_by_proxy),
        actions=_sorted(tally.actions),
        kinds=_sorted(tally.kinds),
        faults=_sorted(tally.faults),
        pages=_sorted(tally.pages),
        local_share=tally.local_share,
        masked=_sorted(masked),
        crawl_steps=speed[0],
        crawl_sec=round(speed[1], 3),
    )


def _sorted(counts: Mapping[str, int]) -> dict[str, int]:
    return {k: n for k, n in sorted(counts.items(), key=lambda kv: (-kv[1], kv[0])) if n}


def card_markdown(card: CrawlCard) -> str:
    """The card for people."""
    rate = card.steps_per_sec
    head = [
        "# A random crawl",
        "",
        f"{card.trajectories} trajectories with {card.transitions} transitions were kept, of {card.visits} visits with {card.seen_steps} actions.",
        f"{rate:.2f} actions/s, all workers together." if rate is not None else "",
        f"{card.local_share:.0%} of the changes are local, the others bring another page."
        if card.local_share is not None
        else "",
        "Nobody had a goal: outcomes say nothing. Personal details that have a form of their own are masked; names are not.",
        "",
    ]
    tables = (
        ("Actions: what became of them", "actions", card.steps),
        ("Visits that were dropped", "visits", card.dropped_visits),
        ("Kept transitions by action", "transitions", card.actions),
        ("Kept transitions by what changed", "transitions", card.kinds),
        ("Kept transitions that the page refused", "transitions", card.faults),
        ("Addresses on kept pages by site", "addresses", card.pages),
        ("Addresses that were met", "addresses", card.addresses),
        ("Requests that were not made (last session)", "requests", card.refused_requests),
        ("The same by host", "requests", _first(card.refused_hosts)),
        ("Refused by the egress proxy (last session)", "times", _first(card.refused_by_proxy)),
        ("Personal details that were replaced (last session)", "times", card.masked),
    )
    return "\n".join(head) + "\n" + "\n".join(_table(*t) for t in tables if t[2])


def _first(counts: Mapping[str, int]) -> dict[str, int]:
    """The largest, and the others as one: pages may ask hundreds of hosts; `card.json` has them all."""
    rows = list(counts.items())
    rest = rows[MOST_ROWS:]
    more = {f"{len(rest)} others": sum(n for _, n in rest)} if rest else {}
    return {**dict(rows[:MOST_ROWS]), **more}


def _table(title: str, unit: str, counts: Mapping[str, int]) -> str:
    rows = "\n".join(f"| {name.replace('|', '/')} | {n} |" for name, n in counts.items())
    return f"## {title}\n\n| | {unit} |\n|---|---|\n{rows}\n"

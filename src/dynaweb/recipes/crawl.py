"""A random crawl from addresses to a folder of trajectories with a card: level 1 of WebWorld's data (3.2, 3.3).

    run.json, sessions.jsonl, lock   what was asked, by whom; one process writes
    robots.json                      robots.txt of every site, for a day
    frontier.sqlite                  addresses and visits
    steps-00001.jsonl, ...           every page as it was seen, append-only
    trajectories.jsonl               what the filter keeps; made anew from the steps
    card.json, card.md               counts

The same command again goes on where the last one stopped, however that ended.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path

from dynaweb.browser.config import BrowserConfig
from dynaweb.browser.crawl.manners import Manners, Turns, is_loopback
from dynaweb.browser.crawl.robots import Robots, learn_robots
from dynaweb.browser.egress.proxy import Outlet
from dynaweb.browser.sites.home import SiteHome
from dynaweb.collect.crawl.config import MAY_DIFFER, CrawlConfig
from dynaweb.collect.crawl.frontier import Frontier
from dynaweb.collect.crawl.local import Vouch, tab_visitors
from dynaweb.collect.crawl.log import CrawlLog, Event, read_events
from dynaweb.collect.crawl.score import refusal_by_score
from dynaweb.collect.crawl.work import Crawl, Visitors, recover
from dynaweb.contracts import ChatModel
from dynaweb.recipes.crawlcard import CrawlCard, card_markdown, make_card
from dynaweb.recipes.crawlproxy import proxied, proxy_rules
from dynaweb.recipes.crawlsift import Sieve, SiftRules, trajectories_of
from dynaweb.records.codec import dump
from dynaweb.records.observation import Observation
from dynaweb.records.trajectory import Behaviour, Outcome, Reason, Step, Trajectory, World
from dynaweb.runs.atomic import write_json, write_text, writing
from dynaweb.runs.folder import RunFolder
from dynaweb.runs.progress import Progress
from dynaweb.world.data.mask import mask_trajectory

AGENT = "dynaweb"
"""Our name in robots.txt."""
HEADER = "Mozilla/5.0 (compatible; dynaweb; random crawl for research; obeys robots.txt)"


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlWish:
    """What a crawl was asked for."""

    out: Path
    config: CrawlConfig
    rules: SiftRules
    browser: BrowserConfig
    writable: tuple[str, ...] = ()
    """Origins where forms may be sent."""
    hosts: Mapping[str, str] = field(default_factory=dict)
    """Name -> `address:port` on this machine."""
    private: tuple[str, ...] = ()
    """`host:port` that may lie in a private network; with any, everything goes through the proxy."""
    home: SiteHome | None = None
    """Where the proxy is installed; needed where a place is not on this machine."""
    argv: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Decides:
    """What may not change when a crawl goes on."""

    crawl: CrawlConfig
    writable: tuple[str, ...]


MakeVisitors = Callable[[Manners, BrowserConfig, Mapping[str, float], Vouch | None], Visitors]
"""Who makes the visits: tabs of this process, or others."""


def make_tabs(
    manners: Manners, browser: BrowserConfig, pauses: Mapping[str, float], vouch: Vouch | None
) -> Visitors:
    """Tabs of one browser in this process."""
    return tab_visitors(manners, browser, Turns(pauses).wait, vouch)


def run_crawl(
    wish: CrawlWish,
    progress: Progress,
    *,
    model: ChatModel | None = None,
    acknowledge: Callable[[Event], None] = lambda event: None,
    make_visitors: MakeVisitors = make_tabs,
) -> CrawlCard:
    """Crawl, or go on; then filter what there is and write the card.

    Args:
        wish: what, where, how much.
        progress: told after every visit.
        model: scores the addresses to begin with, if the configuration asks for that.
        acknowledge: told of every step once it outlives this process.
        make_visitors: who makes the visits.

    Raises:
        UserError: the folder holds another crawl, or another process writes in it.
        MissingDependencyError: there is no browser, or the proxy is missing or gone; nothing is lost. StorageError: no space, or damage. SamplerError: no model.
    """
    decides = _Decides(crawl=wish.config, writable=wish.writable)
    may_differ = frozenset(f"crawl.{name}" for name in MAY_DIFFER)
    with RunFolder(
        wish.out, config=decides, seed=wish.config.seed, argv=wish.argv, may_differ=may_differ
    ):
        rules = proxy_rules(wish.config.origins, writable=wish.writable, hosts=wish.hosts, private=wish.private)  # fmt: skip
        with proxied(rules, wish.home, progress) as outlet:
            return _crawl(wish, outlet, progress, model, acknowledge, make_visitors)


def _crawl(
    wish: CrawlWish,
    outlet: Outlet | None,
    progress: Progress,
    model: ChatModel | None,
    acknowledge: Callable[[Event], None],
    make_visitors: MakeVisitors,
) -> CrawlCard:
    config = wish.config
    way = outlet.way if outlet is not None else None
    robots = learn_robots(
        config.origins, wish.hosts, wish.out / "robots.json", agent=AGENT, header=HEADER, obeyed=config.robots, way=way
    )  # fmt: skip
    pauses = pauses_of(config, robots)
    slow = {o for o, pause in pauses.items() if pause > config.max_pause_sec}
    manners = Manners(
        origins=tuple(o for o in config.origins if o not in slow),
        robots=robots, writable=wish.writable, hosts=wish.hosts, header=HEADER, way=way,
    )  # fmt: skip
    masked: Counter[str] = Counter()
    vouch = None if model is None else _vouching(model, config.min_score)
    with (
        CrawlLog(wish.out) as log,
        Frontier(
            wish.out / "frontier.sqlite",
            seed=config.seed,
            per_pattern=config.per_pattern,
            max_depth=config.max_depth,
        ) as frontier,
    ):
        recover(wish.out, frontier, log, config)
        crawl = Crawl(
            config=config,
            frontier=frontier,
            log=log,
            visitors=make_visitors(manners, wish.browser, pauses, vouch),
            allowed=lambda url: robots.allows(url) and not any(url.startswith(f"{o}/") for o in slow),
            mask=partial(mask_event, counts=masked) if config.mask else _unmasked,
            acknowledge=acknowledge,
            progress=progress,
        )  # fmt: skip
        if crawl.has_work():
            asyncio.run(crawl.run())
        return _finish(wish, frontier, manners, outlet, masked, progress)


def pauses_of(config: CrawlConfig, robots: Robots) -> dict[str, float]:
    """Seconds between two actions on each site: none on this machine but what its robots.txt asks for."""
    return {
        o: max(robots.delay_sec(o), 0.0 if is_loopback(o) else config.pause_sec)
        for o in config.origins
    }


def _vouching(model: ChatModel, min_score: float) -> Vouch:
    async def vouch(page: Observation, seed: int) -> str:
        return await refusal_by_score(model, page, min_score, seed)

    return vouch


def _unmasked(event: Event) -> Event:
    return event


def mask_event(event: Event, counts: Counter[str]) -> Event:
    """The event with made-up personal details; how many of each kind is added to `counts`."""
    if event.page is None:
        return event
    one = Trajectory(
        trajectory_id="", task="", goal="", seed=0, steps=(Step(observation=event.page, action=event.action),),
        outcome=Outcome.UNKNOWN, reason=Reason.RECORDING_STOPPED, world=World.LIVE, behaviour=Behaviour.RANDOM,
    )  # fmt: skip
    step = mask_trajectory(one, counts).steps[0]
    return replace(event, page=step.observation, action=step.action)


def _finish(
    wish: CrawlWish,
    frontier: Frontier,
    manners: Manners,
    outlet: Outlet | None,
    masked: Counter[str],
    progress: Progress,
) -> CrawlCard:
    visits, _ = frontier.totals()
    sieve = Sieve(wish.rules)
    with writing(wish.out / "trajectories.jsonl") as file:
        for number, trajectory in enumerate(
            trajectories_of(read_events(wish.out), wish.config.sources), 1
        ):
            kept = sieve.sift(trajectory)
            if kept is not None:
                file.write(dump(kept) + "\n")
            progress("filter", min(number, visits), visits)
    card = make_card(
        sieve.tally,
        addresses=frontier.counts(),
        refused=manners.refused,
        refused_hosts=manners.refused_at,
        refused_by_proxy=Counter(outlet.refusals() if outlet is not None else {})
        + manners.refused_by_proxy,
        masked=masked,
        speed=frontier.speed(),
    )
    progress("filter", visits, visits)
    write_json(wish.out / "card.json", {**asdict(card), "steps_per_sec": card.steps_per_sec})
    write_text(wish.out / "card.md", card_markdown(card))
    return card

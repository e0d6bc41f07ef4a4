"""What `dynaweb crawl` does: places become addresses, sites are started, a crawl is run, its card is told."""

import asyncio
import json
import os
from contextlib import AsyncExitStack, ExitStack
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

from dynaweb.browser.config import BrowserConfig
from dynaweb.browser.crawl.manners import is_loopback, origin_of
from dynaweb.browser.sites.build import BuiltSite, build_site
from dynaweb.browser.sites.home import SiteHome
from dynaweb.browser.sites.tasks import is_site_task, read_task
from dynaweb.browser.sites.world import running_site
from dynaweb.cli.drawing import drawing
from dynaweb.cli.endpoints import key_of, open_endpoint
from dynaweb.cli.saying import say
from dynaweb.collect.crawl.addresses import normalised
from dynaweb.collect.crawl.config import CrawlConfig, Source
from dynaweb.collect.crawl.log import Event
from dynaweb.contracts import ChatModel
from dynaweb.errors import UserError
from dynaweb.lm.config import EndpointConfig
from dynaweb.recipes.crawl import CrawlWish, MakeVisitors, make_tabs, run_crawl
from dynaweb.recipes.crawlcard import card_markdown
from dynaweb.recipes.crawlsift import SiftRules
from dynaweb.runs.folder import require_free

SEND = ("local", "none", "all")
EXECUTORS = ("local", "ray")
RAY_OF_OUR_OWN = {
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_worker_niceness": "0",
}
"""Read by Ray when it is imported: it listens on 127.0.0.1 alone, tells its makers nothing, and does not put browsers, which have deadlines,
behind every other process of a busy machine (its default niceness is 15)."""
WIDTH_PX, HEIGHT_PX = 1280, 720


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The command line."""

    places: tuple[str, ...]
    out: Path
    file: Path | None
    visits: int
    steps: int
    min_steps: int
    max_steps: int
    again: int
    workers: int
    executor: str
    ray_address: str
    allow: tuple[str, ...]
    private: tuple[str, ...]
    max_depth: int
    per_pattern: int
    pause: float
    max_pause: float
    robots: bool
    send: str
    yes: bool
    ban: tuple[str, ...]
    ban_file: Path | None
    score_url: str
    score_model: str
    min_score: float
    key_variable: str
    max_tokens: int
    near: float
    mask: bool
    license: str
    home: Path
    seed: int
    browser: str
    argv: tuple[str, ...]


def crawl(asked: Asked, *, quiet: bool, as_json: bool, acknowledge: bool) -> None:
    """Crawl, and print the card.

    Raises:
        UserError: no such place or setting. MissingDependencyError: a site, a browser or a package is missing.
    """
    _check(asked)
    make_visitors = _makers(asked)
    places = _places(asked)
    sites = list(dict.fromkeys(read_task(p).spec.name for p in places if not _is_address(p)))
    require_free(asked.out)
    with drawing(quiet=quiet) as progress, ExitStack() as stack:
        home = SiteHome(asked.home)
        built = [build_site(read_task(name).spec, home, 0, progress) for name in sites]
        hosts = _started(stack, built, home)
        model = _model(stack, asked)
        card = run_crawl(
            _wish(asked, places, built, hosts), progress, model=model,
            acknowledge=_acknowledge if acknowledge else _silent, make_visitors=make_visitors,
        )  # fmt: skip
    if as_json:
        say(json.dumps({**asdict(card), "steps_per_sec": card.steps_per_sec}, indent=1))
    else:
        say(card_markdown(card) + f"\n{asked.out / 'trajectories.jsonl'}")


def _makers(asked: Asked) -> MakeVisitors:
    """Who makes the visits.

    Raises:
        ModuleNotFoundError: Ray is not installed.
    """
    if asked.executor == "local":
        return make_tabs
    address = asked.ray_address or os.environ.get("RAY_ADDRESS", "")
    if not address:
        os.environ.update(RAY_OF_OUR_OWN)
    from dynaweb.collect.crawl.cluster import cluster_visitors

    return partial(cluster_visitors, address)


def _acknowledge(event: Event) -> None:
    print(event.visit, event.n, flush=True)


def _silent(event: Event) -> None:
    pass


def _check(asked: Asked) -> None:
    if asked.send not in SEND:
        raise UserError(f"no --send {asked.send!r}: use one of {', '.join(SEND)}")
    if asked.send == "all" and not asked.yes:
        raise UserError(
            "--send all lets random actions change sites that are not on this machine: add --yes if they are yours"
        )
    if asked.executor not in EXECUTORS:
        raise UserError(f"no --executor {asked.executor!r}: use one of {', '.join(EXECUTORS)}")
    if asked.ray_address and asked.executor != "ray":
        raise UserError("--ray-address names a cluster that would not be used: add --executor ray")
    if bool(asked.score_url) != bool(asked.score_model):
        raise UserError("--score-url and --score-model go together: name the server and its model")


def _lines(path: Path | None) -> tuple[str, ...]:
    if path is None:
        return ()
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"cannot read {str(path)!r}: {error}") from error
    lines = (line.strip() for line in text.splitlines())
    return tuple(line for line in lines if line and not line.startswith("#"))


def _places(asked: Asked) -> tuple[str, ...]:
    places = tuple(dict.fromkeys((*asked.places, *_lines(asked.file))))
    if not places:
        raise UserError("no places: name addresses or sites, or a --file of them")
    for place in places:
        if _is_address(place):
            if normalised(place) is None:
                raise UserError(
                    f"{place!r} is no address of a page: write it like http://127.0.0.1:8000/"
                )
        elif not is_site_task(place):
            raise UserError(
                f"{place!r} is neither an address nor a site: write http://... or shop:/catalogue/"
            )
        elif read_task(place).person is not None:
            raise UserError(
                f"{place!r}: a crawl begins as a stranger; leave the name before the @ away"
            )
    return places  # fmt: skip


def _is_address(place: str) -> bool:
    return "://" in place or place.startswith(("mailto:", "javascript:", "data:"))


def _started(stack: ExitStack, built: list[BuiltSite], home: SiteHome) -> dict[str, str]:
    """Servers that end with this command; name of each site -> where it listens."""
    if not built:
        return {}
    runner = stack.enter_context(asyncio.Runner())
    servers = AsyncExitStack()
    stack.callback(lambda: runner.run(servers.aclose()))

    async def start() -> dict[str, str]:
        up = [await servers.enter_async_context(running_site(site, home)) for site in built]
        return {i.spec.host: i.state.address for i in up}

    return runner.run(start())


def _model(stack: ExitStack, asked: Asked) -> ChatModel | None:
    if not asked.score_url:
        return None
    config = EndpointConfig(
        url=asked.score_url, model=asked.score_model, key_variable=asked.key_variable
    )
    key_of(config)
    return stack.enter_context(open_endpoint(config))


def _wish(
    asked: Asked, places: tuple[str, ...], built: list[BuiltSite], hosts: dict[str, str]
) -> CrawlWish:
    starts: list[str] = []
    for place in places:
        if _is_address(place):
            starts.append(str(normalised(place)))
            continue
        spec = read_task(place).spec
        paths = (read_task(place).path,) if ":" in place else spec.starts
        starts += [spec.origin + path for path in paths]
    known = {b.spec.origin: Source(origin=b.spec.origin, license=b.spec.license, name=b.spec.package) for b in built}  # fmt: skip
    origins = dict.fromkeys([*map(origin_of, starts), *map(_origin, asked.allow)])
    sources = tuple(known.get(o, Source(origin=o, license=asked.license)) for o in origins)
    ban = tuple(dict.fromkeys((*asked.ban, *_lines(asked.ban_file))))
    config = CrawlConfig(
        starts=tuple(starts), sources=sources, min_steps=asked.min_steps, max_steps=asked.max_steps, again=asked.again,
        max_depth=asked.max_depth, per_pattern=asked.per_pattern, banned=ban, robots=asked.robots, pause_sec=asked.pause,
        max_pause_sec=asked.max_pause, min_score=asked.min_score if asked.score_url else 0.0, mask=asked.mask, seed=asked.seed,
        workers=asked.workers, visits=asked.visits, steps=asked.steps,
    )  # fmt: skip
    writable = {"all": origins, "none": (), "local": [o for o in origins if is_loopback(o)]}
    browser = BrowserConfig(
        executable=asked.browser, width_px=WIDTH_PX, height_px=HEIGHT_PX, deadline_sec=60.0
    )
    return CrawlWish(
        out=asked.out,
        config=config,
        rules=SiftRules(max_tokens=asked.max_tokens, banned=ban, near=asked.near),
        browser=replace(browser, prefetch=min(8, asked.workers)),
        writable=tuple(writable[asked.send]),
        hosts=hosts,
        private=asked.private,
        home=SiteHome(asked.home),
        argv=asked.argv,
    )


def _origin(given: str) -> str:
    url = normalised(given)
    if url is None or urlsplit(url).path != "/" or urlsplit(url).query:
        raise UserError(f"--allow {given!r} is no origin: write it like https://cdn.example.com")
    return origin_of(url)

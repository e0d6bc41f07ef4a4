"""How fast pages are read and state changes made and applied, on this machine.

Times are processor time of this process: a busy machine disturbs them least. Garbage collection stays
on, as in use. Made-up pages are new for every repetition, because a line that was read before is
remembered; pages of a recording are read once, in their order, as in use.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import ParamSpec, TypeVar

from dynaweb.axtree.apply import apply
from dynaweb.axtree.dialects.document import Dialect
from dynaweb.axtree.dialects.read import read_document
from dynaweb.axtree.diff import diff
from dynaweb.axtree.text import print_delta
from dynaweb.axtree.tree import read_tree
from dynaweb.bench.speed.made import Change, made_page, made_pair, spell
from dynaweb.bench.speed.spread import Estimate, Spread, estimate, ninth_decile, spread
from dynaweb.records.trajectory import Transition

SMALL_LINES, BIG_LINES = 1_000, 10_000
"""Sizes that growth is measured between; linear growth is tenfold."""

Made = TypeVar("Made")
Args = ParamSpec("Args")


@dataclass(frozen=True, slots=True, kw_only=True)
class ParseSpeed:
    """How fast pages of one dialect are read."""

    dialect: str
    """`recording`: the pages of a recording, in this project's dialect."""
    characters: int
    """All pages together."""
    lines: int
    mb_per_sec: Spread
    """10^6 bytes of UTF-8 a second."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeSpeed:
    """How fast state changes are made and applied."""

    pairs: int
    characters: float
    """Median length of the page before."""
    exact: int
    """Pairs whose change, applied, gives the next page byte for byte."""
    script_characters: float
    """Median length of the change in its compact form."""
    diff_ms: Estimate
    """Median over pairs, both pages read from text."""
    diff_p90_ms: Estimate
    apply_ms: Estimate
    apply_p90_ms: Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class Growth:
    """How many times as long a page of ten times the lines takes."""

    what: str
    small_ms: Spread
    big_ms: Spread
    times: float
    """The quickest big one by the quickest small one."""


def timed(work: Callable[Args, Made], *args: Args.args, **more: Args.kwargs) -> tuple[float, Made]:
    """Processor time of one call in milliseconds, and what it gave."""
    began = time.process_time()
    made = work(*args, **more)
    return 1000 * (time.process_time() - began), made


def parse_speed(dialect: Dialect, *, lines: int, repeats: int) -> ParseSpeed:
    """Read made-up pages, another one each time."""
    texts = [spell(made_page(lines, seed), dialect) for seed in range(repeats + 1)]
    read_document(texts.pop())
    speeds = [_mb(text) / timed(read_document, text)[0] * 1000 for text in texts]
    return ParseSpeed(
        dialect=dialect.value,
        characters=sum(map(len, texts)),
        lines=sum(map(_lines, texts)),
        mb_per_sec=spread(speeds),
    )


def recording_speed(pages: Sequence[str], *, repeats: int) -> ParseSpeed:
    """Read a recording's pages once, in order; each part of them is a repetition."""
    size = -(-len(pages) // repeats)
    parts = [pages[at : at + size] for at in range(0, len(pages), size)]
    speeds = [1000 * sum(map(_mb, part)) / timed(_read_all, part)[0] for part in parts]
    return ParseSpeed(
        dialect="recording",
        characters=sum(map(len, pages)),
        lines=sum(map(_lines, pages)),
        mb_per_sec=spread(speeds),
    )


def change_speed(pairs: Iterable[Transition]) -> ChangeSpeed:
    """Make and apply the change of every pair, once."""
    diffs: list[float] = []
    applies: list[float] = []
    before: list[int] = []
    scripts: list[int] = []
    exact = 0
    for t in pairs:
        ms, delta = timed(diff, t.observation, t.action, t.next_observation)
        diffs.append(ms)
        ms, page = timed(apply, t.observation, t.action, delta)
        applies.append(ms)
        exact += page == t.next_observation
        before.append(len(t.observation.tree))
        scripts.append(len(print_delta(delta)))
    return ChangeSpeed(
        pairs=len(diffs),
        characters=median(before),
        exact=exact,
        script_characters=median(scripts),
        diff_ms=estimate(diffs, median),
        diff_p90_ms=estimate(diffs, ninth_decile),
        apply_ms=estimate(applies, median),
        apply_p90_ms=estimate(applies, ninth_decile),
    )


def growth(*, repeats: int) -> list[Growth]:
    """Reading, making and applying at both sizes; a row comes in the middle of the page."""
    small: dict[str, list[float]] = {"parse": [], "diff": [], "apply": []}
    big: dict[str, list[float]] = {"parse": [], "diff": [], "apply": []}
    for seed in range(repeats):
        for times, lines in ((small, SMALL_LINES), (big, BIG_LINES)):
            page = spell(made_page(lines, 7_000 + seed), Dialect.DYNAWEB)
            times["parse"].append(timed(read_tree, page)[0])
            t = made_pair(lines, 9_000 + seed, Change.MORE)
            ms, delta = timed(diff, t.observation, t.action, t.next_observation)
            times["diff"].append(ms)
            ms, _ = timed(apply, t.observation, t.action, delta)
            times["apply"].append(ms)
    return [
        Growth(
            what=what,
            small_ms=spread(small[what]),
            big_ms=spread(big[what]),
            times=min(big[what]) / min(small[what]),
        )
        for what in small
    ]


def _read_all(pages: Sequence[str]) -> None:
    for page in pages:
        read_tree(page)


def _mb(text: str) -> float:
    return len(text.encode("utf-8", "surrogatepass")) / 1e6


def _lines(text: str) -> int:
    return text.count("\n") + 1

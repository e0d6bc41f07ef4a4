"""What `dynaweb bench learning` writes into a page of the docs, and beside it."""

import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

from dynaweb.cli.sections import require_section, table, write_section
from dynaweb.evaluate.learning import ArmCurve, ComparedArms, CurvePoint
from dynaweb.recipes.learning.closing import EPISODES, FIGURE
from dynaweb.report.learning.data import LearningReport
from dynaweb.report.learning.page import offset_words, rate_interval, rate_words
from dynaweb.report.words import duration, p_value, points, points_interval
from dynaweb.runs.atomic import write_text

BEGIN, END = "<!-- dynaweb bench learning: begin -->", "<!-- dynaweb bench learning: end -->"
DRAWN, RAW = "learning.svg", "learning-episodes.csv"
"""Files beside the page that the section shows and names."""


def require_place(page: Path) -> None:
    """Learn before anything is measured that the page can take the numbers.

    Raises:
        UserError: it cannot.
    """
    require_section(page, BEGIN, END)


def write_numbers(page: Path, out: Path, report: LearningReport) -> None:
    """The numbers into the page, figure and raw outcomes beside it.

    Raises:
        UserError: the page has no place for them. StorageError: a file cannot be written.
    """
    for name, source in ((DRAWN, FIGURE), (RAW, EPISODES)):
        write_text(page.parent / name, (out / source).read_text("utf-8"))
    # what it measures is the same without the word
    command = shlex.join(["dynaweb", *(w for w in sys.argv[1:] if w != "--so-far")])
    write_section(page, BEGIN, END, list(_section(report, command)))


def _section(report: LearningReport, command: str) -> Iterator[str]:
    at = report.machine
    yield f"Measured with `{command}`, begun at {report.commit[:7] or 'unknown'}: {at.get('processor', '?')}, {at.get('cores', '?')} cores, Python {at.get('python', '?')}."
    yield offset_words(report)
    yield "; ".join(f"{name}: {words}" for name, words in report.facts.items()) + "."
    yield ""
    yield f"![Real success against live steps spent]({DRAWN})"
    yield ""
    yield f"Raw outcomes, a sign a page: [{RAW}]({RAW})."
    yield ""
    yield from table(
        ("arm", "checkpoint", "seeds", "live steps", "real success", "95 % interval over tasks", "training of a run"),
        [_point(c, p) for c in report.results.curves for p in c.points],
        markdown=True,
    )  # fmt: skip
    yield ""
    yield from table(
        ("treatment \u2212 control", "seeds", "points, 95 % interval over tasks", "pages won, lost", "McNemar", "tasks won, lost", "sign test"),
        [_compared(c) for c in report.results.comparisons],
        markdown=True,
    )  # fmt: skip
    if report.results.missing:
        yield ""
        yield f"Not measured yet, {len(report.results.missing)}: {', '.join(report.results.missing)}."


def _point(curve: ArmCurve, p: CurvePoint) -> tuple[str, ...]:
    times = sorted(
        {duration(min(s.seconds for s in p.seeds)), duration(max(s.seconds for s in p.seeds))}
    )
    return (
        curve.arm,
        str(p.checkpoint),
        str(len(p.seeds)),
        f"{p.live_steps:.0f}",
        rate_words(p),
        rate_interval(p),
        " to ".join(times) if p.checkpoint else "",
    )


def _compared(c: ComparedArms) -> tuple[str, ...]:
    p = c.paired
    name = f"{p.treatment} \u2212 {p.control}"
    return (
        f"**{name}**" if c.primary else name,
        str(len(c.seeds)),
        f"{points(p.difference)}, {points_interval(p.low, p.high)} (n = {p.pairs})",
        f"{p.episodes.wins}, {p.episodes.losses}",
        p_value(p.episodes.p_value),
        f"{p.by_task.wins}, {p.by_task.losses}",
        p_value(p.by_task.p_value),
    )

"""`dynaweb bench train`: its measurement as lines for a terminal, and as a part of a Markdown page."""

import sys
from collections.abc import Sequence
from pathlib import Path

from dynaweb.bench.speed.spread import Spread
from dynaweb.bench.training.run import TrainReport, measure_training
from dynaweb.bench.training.wish import PARTS, TrainWish, Versus
from dynaweb.cli.drawing import drawing
from dynaweb.cli.sections import require_section, table, write_section

BEGIN, END = "<!-- measured: bench train -->", "<!-- end: bench train -->"


def measure(
    wish: TrainWish,
    parts: Sequence[str],
    out: Path,
    trl_python: str,
    page: Path | None,
    quiet: bool,
) -> TrainReport:
    """Measure, and put the numbers into a page if there is one.

    Raises:
        DynawebError: see `bench.training.run.measure_training`.
        UserError: the page has no place for them, or no file is there.
    """
    if page is not None:
        require_section(page, BEGIN, END)
    with drawing(quiet=quiet) as progress:
        report = measure_training(wish, parts or PARTS, out, trl_python or sys.executable, progress)
    if page is not None:
        write_section(page, BEGIN, END, lines(report, markdown=True))
    return report


def lines(report: TrainReport, *, markdown: bool = False) -> list[str]:
    """The report, a row for each thing measured."""
    where = report.machine
    said = [
        f"Commit {report.commit[:7] or 'unknown'}{' with changes' if report.commit.endswith('+') else ''}, {where['processor']}, {where['cores']} cores, Python {where['python']}, {report.threads} thread(s);"
        f" tokens a processor second, median (smallest to largest), token budget {report.token_budget:,}.",
        "",
    ]
    found = [v for v in (report.update, report.trl and report.trl.speed, *report.sampling) if v]
    if found:
        said += table(
            ("what", "beside", "ours", "theirs", "times as fast", "n"),
            [_row(v) for v in found],
            markdown=markdown,
        )
    if report.trl:
        trl = report.trl
        said += [
            "",
            f"Loss against other weights' log-probabilities: ours {trl.our_loss:.7f}, TRL's {trl.their_loss:.7f}, apart by {abs(trl.our_loss - trl.their_loss):.1e}.",
        ]
    if report.memory:
        rows = [
            (f"{p.rows:,}", f"{p.tokens:,}", f"{p.peak_mib:,.0f}", f"{p.update_mib:,.0f}")
            for p in report.memory
        ]
        said += [
            "",
            *table(("rows", "tokens", "peak MiB", "of it the update"), rows, markdown=markdown),
        ]
    return said


def _row(v: Versus) -> tuple[str, ...]:
    return (
        v.what,
        v.other,
        _spread(v.ours, 0),
        _spread(v.theirs, 0),
        _spread(v.times, 2),
        str(v.times.n),
    )


def _spread(s: Spread, digits: int) -> str:
    return f"{s.median:,.{digits}f} ({s.low:,.{digits}f} to {s.high:,.{digits}f})"

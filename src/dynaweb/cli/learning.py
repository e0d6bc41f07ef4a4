"""`dynaweb bench learning`: the measurement started, and told in a terminal."""

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

from dynaweb.cli.drawing import drawing
from dynaweb.cli.endings import FAILED, OK, complain
from dynaweb.cli.saying import say
from dynaweb.cli.settings import override
from dynaweb.errors import UserError
from dynaweb.recipes.learning.config import Arm, LearningConfig, sized


def bench_learning(
    out: Path,
    size: str,
    assignments: Sequence[str],
    *,
    jobs: int,
    so_far: bool,
    into: Path | None,
    as_json: bool,
    quiet: bool,
) -> int:
    """Measure what is not measured yet, and tell; 1 when something is missing, as it may be with `so_far`.

    Raises:
        DynawebError: see `measure_learning` and `close`.
    """
    config = _planned(size, assignments)

    from dynaweb.cli.learning_section import require_place, write_numbers
    from dynaweb.recipes.learning.closing import close
    from dynaweb.recipes.learning.run import measure_learning
    from dynaweb.report.words import THIN

    if into is not None:
        require_place(into)
    if not so_far:
        with drawing(quiet=quiet) as progress:
            measure_learning(
                config,
                out,
                lambda arm, seed: _child(out, size, assignments, arm, seed),
                jobs=jobs,
                progress=progress,
                argv=tuple(sys.argv),
            )
    report = close(config, out)
    if into is not None:
        write_numbers(into, out, report)
    say(
        json.dumps(asdict(report), indent=1)
        if as_json
        else "\n".join(_told(out)).replace(THIN, " ")
    )
    if missing := report.results.missing:
        return complain(
            f"{len(missing)} evaluation(s) are not measured yet, such as {missing[0]}: run the command without --so-far",
            FAILED,
        )
    return OK


def bench_one(
    out: Path, size: str, assignments: Sequence[str], arm: str, seed: int, *, quiet: bool
) -> None:
    """One run, as a child of `bench_learning`; it ends when its parent does.

    Raises:
        UserError: no such arm, or it is not trained with this seed. DynawebError: see `make_run`.
    """
    config = _planned(size, assignments)
    if arm not in [a.value for a in Arm]:
        raise UserError(f"no arm {arm!r}: use one of {', '.join(a.value for a in Arm)}")
    if seed not in config.seeds_of(Arm(arm)):
        raise UserError(
            f"arm {arm!r} is not trained with seed {seed!r}: {config.seeds_of(Arm(arm))!r}"
        )

    from dynaweb.recipes.learning.fleet import tied
    from dynaweb.recipes.learning.run import make_run

    tied()
    with drawing(quiet=quiet) as progress:
        make_run(config, out, Arm(arm), seed, progress, tuple(sys.argv))


def _planned(size: str, assignments: Sequence[str]) -> LearningConfig:
    return override(sized(size), assignments, "dynaweb settings --size study")


def _child(
    out: Path, size: str, assignments: Sequence[str], arm: Arm, seed: int
) -> tuple[str, ...]:
    settings = [word for a in assignments for word in ("--set", a)]
    return (
        sys.executable, "-m", "dynaweb.cli.main", "bench", "learning-run", "--out", str(out),
        "--size", size, "--arm", arm.value, "--seed", str(seed), *settings,
    )  # fmt: skip


def _told(out: Path) -> Iterator[str]:
    """What there is, as lines for a terminal."""
    from dynaweb.recipes.learning.closing import EPISODES, FIGURE, PAGE, RESULTS
    from dynaweb.report.learning.data import LearningReport
    from dynaweb.report.learning.page import offset_words, rate_interval, rate_words
    from dynaweb.report.words import finding
    from dynaweb.runs.jsonfile import read_record

    report = read_record(LearningReport, out / RESULTS)
    yield from (f"{name}: {words}" for name, words in report.facts.items())
    yield offset_words(report)
    yield ""
    yield f"{'arm':<16}  checkpoint  live steps  {'real success':<24}  {'95 % over tasks':<16}  unknown"
    for c in report.results.curves:
        for p in c.points:
            yield f"{c.arm:<16}  {p.checkpoint:>10}  {p.live_steps:>10.0f}  {rate_words(p):<24}  {rate_interval(p):<16}  {p.unknown:>7}"
    yield ""
    yield from (finding(c.paired) for c in report.results.comparisons if c.primary)
    yield f"report: {out / PAGE}, figure: {out / FIGURE}, raw outcomes: {out / EPISODES}"

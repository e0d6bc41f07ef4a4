"""Commands that look at what is on disk: one trajectory, two sets of them, a run's report."""

import json
from dataclasses import asdict
from pathlib import Path

from dynaweb.cli.endings import OK, complain
from dynaweb.cli.saying import say
from dynaweb.dataset.imports.detect import detect
from dynaweb.dataset.imports.recorded import Provenance
from dynaweb.dataset.imports.run import read_trajectories as read_any
from dynaweb.dataset.imports.tally import Tally, told
from dynaweb.errors import StorageError, UserError
from dynaweb.records.action import print_action
from dynaweb.records.codec import load_as
from dynaweb.records.observation import Observation
from dynaweb.records.trajectory import Trajectory, World
from dynaweb.runs.jsonl import read_prefix


def read_trajectories(path: Path) -> tuple[Trajectory, ...]:
    """Every trajectory in a file.

    Raises:
        UserError: no such file, or it holds none. StorageError: damaged, or other records.
    """
    _require(path)
    prefix = read_prefix(path)
    if prefix.damage and not prefix.torn:
        raise StorageError(
            f"{path.parent / prefix.damage}; the {len(prefix.lines)} lines before it are whole"
        )
    if not prefix.lines:
        raise UserError(f"{str(path)!r} holds no trajectories")
    try:
        return tuple(load_as(Trajectory, line) for line in prefix.lines)
    except StorageError as error:
        raise StorageError(f"{path}: {error}") from error


def _require(path: Path) -> None:
    if not path.is_file():
        raise UserError(
            f"no file {str(path)!r}: `dynaweb collect` makes one; a run keeps its own as *.jsonl"
        )


def _any_trajectories(path: Path) -> list[Trajectory]:
    """What any tool's file holds; what had to be left out is said on stderr."""
    _require(path)
    tally = Tally()
    found = list(read_any(path, detect(path), Provenance(), tally))
    left_out = [line.strip() for line in told(tally.dropped, tally.first)]
    if not found:
        raise UserError("; left out: ".join((f"{str(path)!r} holds no trajectories", *left_out)))
    for line in left_out:
        complain(f"left out: {line}", OK)
    return found


def show_trajectory(path: Path, index: int) -> None:
    """Print one trajectory as a person reads it; any file that `dynaweb import` knows.

    Raises:
        UserError: no such file or index, or no format we know. StorageError: it cannot be read.
    """
    found = _any_trajectories(path)
    if not -len(found) <= index < len(found):
        raise UserError(
            f"{str(path)!r} holds {len(found)} trajectories, counted from 0: there is no {index}"
        )
    t = found[index]
    say(f"{t.trajectory_id}  ({index % len(found) + 1} of {len(found)})")
    say(
        f"task     {t.task}, seed {t.seed}, {t.world} world, by {t.behaviour} {t.policy_version}".rstrip()
    )
    say(f"goal     {t.goal}")
    for number, step in enumerate(t.steps, 1):
        say(f"\n--- step {number}\n{_page(step.observation)}")
        if step.thought:
            say(f"thought  {step.thought}")
        say(f"action   {print_action(step.action) if step.action else 'none'}")
        if step.fault:
            say(f"fault    {step.fault}")
    if t.final is not None:
        say(f"\n--- end\n{_page(t.final)}")
    say(f"\noutcome  {t.outcome} ({t.reason}{': ' + t.detail if t.detail else ''})")


def _page(observation: Observation) -> str:
    error = f"\nerror    {observation.last_action_error}" if observation.last_action_error else ""
    focus = f"  [focus {observation.focused}]" if observation.focused else ""
    return f"{observation.url}{focus}{error}\n{observation.tree.expandtabs(2)}"


def compare_files(treatment: Path, control: Path, seed: int, *, as_json: bool) -> None:
    """Print the paired difference of two files of real episodes.

    Raises:
        UserError: a dream among them, or other pages in one than in the other.
    """
    from dynaweb.evaluate.config import StatisticsConfig
    from dynaweb.evaluate.run import last_attempts
    from dynaweb.evaluate.statistics import (
        outcomes_of,
        paired_difference,
        success_rate,
    )

    # an attempt that the browser broke off was made again; the last one counts
    read = {
        str(path): last_attempts(tuple(read_trajectories(path))) for path in (treatment, control)
    }
    for name, trajectories in read.items():
        if dreams := [t.trajectory_id for t in trajectories if t.world is World.DREAM]:
            raise UserError(
                f"{name!r} holds a dream ({dreams[0]!r}): only real episodes are compared"
            )
    if len(read) < 2:
        raise UserError(f"{str(control)!r} is compared with itself: name two files")
    (a, ours), (b, theirs) = read.items()
    paired = paired_difference(
        (a, outcomes_of(ours)), (b, outcomes_of(theirs)), StatisticsConfig(seed=seed)
    )
    if as_json:
        print(json.dumps(asdict(paired), indent=1))
        return
    for name, trajectories in read.items():
        rate = success_rate([t.outcome for t in trajectories])
        shown = f"{rate.rate:.1%} of {rate.n}" if rate.rate is not None else "nothing counts"
        print(f"{name}: {shown} ({rate.low:.1%} to {rate.high:.1%}), {rate.unknown} unknown")
    if paired.difference is None:
        raise UserError("no page on which both outcomes are known: there is nothing to compare")
    says = "excludes zero" if paired.excludes_zero else "includes zero: no difference shown"
    print(
        f"difference: {paired.difference:+.1%}, {paired.confidence:.0%} interval {paired.low:+.1%} to {paired.high:+.1%}, which {says}"
    )
    won = paired.episodes
    print(
        f"pairs: {paired.pairs} in {paired.tasks} task(s), {won.wins} won, {won.losses} lost, {won.ties} tied; exact test p = {won.p_value:.3g}; {paired.left_out} left out"
    )


def make_report(run: Path, out: Path | None) -> None:
    """Write a run's report, and say where.

    Raises:
        UserError: not a run folder. StorageError: the report cannot be written.
    """
    from dynaweb.recipes.closing import REPORT
    from dynaweb.report.load import write_report

    if not (run / "run.json").is_file():
        raise UserError(
            f"{str(run)!r} is not a run folder: it has no run.json; `dynaweb demo --out DIR` makes one"
        )
    target = out or run / REPORT
    data = write_report(run, target)
    for problem in data.problems:
        complain(f"{problem}", OK)
    print(target)

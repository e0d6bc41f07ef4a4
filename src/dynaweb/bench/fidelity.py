"""The world model against the real web, step by step, on seeds it has never seen (papers F7, F10, F19).

Every step falls into one group by what *really* happened, so a model can't choose its exam: the episode
ended; a rule settled the step; the rules had made the whole change; nothing changed; parts of the page
changed; the page was replaced. The last two are what a model is for; the others are reported apart.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from dynaweb.axtree.diff import diff
from dynaweb.axtree.measure import delta_f1
from dynaweb.bench.determined import Tasks, is_determined
from dynaweb.bench.results import FidelityReport, FidelityRow, Mean, Share
from dynaweb.contracts import Prediction, PredictionStatus, WorldModel
from dynaweb.records.delta import Delta, DeltaKind
from dynaweb.records.seeds import derive_seed
from dynaweb.records.trajectory import Trajectory
from dynaweb.world.examples import change_after_rules
from dynaweb.world.rules import Ruled, apply_rules
from dynaweb.world.shown import as_shown, equal_as_shown
from dynaweb.world.steps import Known, known_steps


class Regime(StrEnum):
    """What a step really was."""

    ENDED = "ended"
    SETTLED = "settled"
    BY_RULES = "by_rules"
    UNCHANGED = "unchanged"
    LOCAL = "local"
    FULL_PAGE = "full_page"


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """One step: the truth, the prediction, and how they compare."""

    known: Known
    prediction: Prediction
    regime: Regime
    truth: Delta
    """The true change after the rules."""
    determined: bool
    right: bool
    """The prediction is the real next page; for a step that ended, it says so."""


def compare(
    world_model: WorldModel,
    held_out: Sequence[Trajectory],
    tasks: Tasks,
    *,
    show_goal: bool = False,
) -> list[Compared]:
    """Ask the model every step of attempts it has not been trained on.

    Args:
        world_model: what is measured.
        held_out: real attempts on unseen seeds.
        tasks: what is known of the tasks, see `determined.py`.
        show_goal: whether the model is told the goal.
    """
    steps = [k for t in held_out for k in known_steps(t)]
    questions = [
        replace(
            k.asked,
            goal=k.goal if show_goal else None,
            seed=derive_seed(k.seed, "fidelity", k.trajectory_id, k.index),
        )
        for k in steps
    ]
    predictions = world_model.predict(questions)
    return [compare_step(k, p, tasks) for k, p in zip(steps, predictions, strict=True)]


def fidelity(compared: Sequence[Compared], *, world_model: str) -> FidelityReport:
    """Count it, by task and in all."""
    rows: dict[str, FidelityRow] = defaultdict(lambda: FidelityRow(task=""))
    for c in compared:
        task = c.known.task
        rows[task] = replace(rows[task] + _count(c), task=task)
    total = FidelityRow(task="all")
    for row in rows.values():
        total += row
    return FidelityReport(
        world_model=world_model,
        total=total,
        by_task=tuple(rows[task] for task in sorted(rows)),
        steps=len(compared),
        seeds=len({(c.known.task, c.known.seed) for c in compared}),
    )


def compare_step(known: Known, prediction: Prediction, tasks: Tasks) -> Compared:
    """One step beside its prediction."""
    ruled = apply_rules(known.history, known.action)
    truth = change_after_rules(ruled, known)
    regime = _regime(known, ruled, truth)
    ended = regime is Regime.ENDED
    right = prediction.terminal if ended else _exact(prediction, known, ruled)
    return Compared(
        known=known,
        prediction=prediction,
        regime=regime,
        truth=truth,
        determined=is_determined(known, truth, tasks),
        right=right,
    )


def _regime(known: Known, ruled: Ruled, truth: Delta) -> Regime:
    if known.terminal:
        return Regime.ENDED
    if ruled.settled:
        return Regime.SETTLED
    if truth.kind is DeltaKind.NONE:
        changed = ruled.page.tree != known.history[-1].tree
        return Regime.BY_RULES if changed else Regime.UNCHANGED
    whole = truth.kind in (DeltaKind.FULL_PAGE, DeltaKind.NEW_TAB)
    return Regime.FULL_PAGE if whole else Regime.LOCAL


def _exact(prediction: Prediction, known: Known, ruled: Ruled) -> bool:
    usable = prediction.status is not PredictionStatus.INVALID and not prediction.terminal
    return usable and equal_as_shown(prediction.observation, known.next_page, ruled.page)


def _count(c: Compared) -> FidelityRow:
    right = Share(hits=int(c.right), n=1)
    asked = int(not c.prediction.by_rule)
    row = FidelityRow(
        task=c.known.task,
        end_precision=Share(hits=int(c.known.terminal), n=1) if c.prediction.terminal else Share(),
        invalid=Share(hits=int(c.prediction.status is PredictionStatus.INVALID), n=asked),
        repaired=Share(hits=int(c.prediction.status is PredictionStatus.REPAIRED), n=asked),
    )
    match c.regime:
        case Regime.ENDED:
            return replace(row, ended=right)
        case Regime.SETTLED:
            row = replace(row, settled=right)
        case Regime.BY_RULES:
            row = replace(row, by_rules=right)
        case Regime.UNCHANGED:
            row = replace(row, unchanged=right)
        case Regime.LOCAL:
            row = replace(row, local=right, local_determined=right if c.determined else Share())
        case Regime.FULL_PAGE:
            row = replace(
                row, full_page=right, full_page_determined=right if c.determined else Share()
            )
    return _with_baselines(row, c, right)


def _with_baselines(row: FidelityRow, c: Compared, right: Share) -> FidelityRow:
    before, after, action = c.known.history[-1], c.known.next_page, c.known.action
    copied = Share(hits=int(equal_as_shown(before, after, before)), n=1)
    row = replace(row, any_page=right, any_page_copy=copied)
    if c.regime in (Regime.LOCAL, Regime.FULL_PAGE):
        rules = apply_rules(c.known.history, action).page
        only = Share(hits=int(equal_as_shown(rules, after, rules)), n=1)
        row = replace(row, copy=copied, rules_only=only)
    shown = as_shown(before, before)
    truth = diff(shown, action, as_shown(after, before))
    if truth.kind is DeltaKind.NONE:
        return row
    guess = diff(shown, action, as_shown(c.prediction.observation, before))
    f1 = 0.0 if c.prediction.terminal else delta_f1(guess, truth)
    none = delta_f1(Delta(kind=DeltaKind.NONE), truth)
    return replace(row, element_f1=Mean(total=f1, n=1), element_f1_copy=Mean(total=none, n=1))

"""Fidelity: a perfect model is perfect, a copying one is nothing, and groups are decided by the truth."""

import json
from collections.abc import Sequence
from dataclasses import asdict, replace

import pytest
from tests.conformance.toy import TASKS, TableWorldModel, table_of
from tests.world.toys import expert, wanderer

from dynaweb.bench.determined import Tasks, is_determined, learn_tasks, new_strings
from dynaweb.bench.fidelity import Compared, Regime, compare, fidelity
from dynaweb.bench.results import FidelityReport, Share
from dynaweb.contracts import Imagine, Prediction, PredictionStatus
from dynaweb.records.action import Action, Click
from dynaweb.records.delta import Content, Delta, DeltaKind, New, Placed, Updated
from dynaweb.records.observation import Observation
from dynaweb.records.trajectory import Outcome, Reason, Trajectory
from dynaweb.world.examples import change_after_rules
from dynaweb.world.rules import apply_rules
from dynaweb.world.steps import known_steps

NOTHING = Tasks(frozenset())


class Truth:
    """Knows what really happened, and what the gate says."""

    version = "truth"

    def __init__(self, attempts: Sequence[Trajectory]) -> None:
        self._next = {repr((k.history, k.action)): k for t in attempts for k in known_steps(t)}

    def predict(self, questions: Sequence[Imagine]) -> list[Prediction]:
        return [self._one(q) for q in questions]

    def _one(self, q: Imagine) -> Prediction:
        known = self._next[repr((q.history, q.action))]
        ruled = apply_rules(q.history, q.action)
        return Prediction(
            observation=known.next_page,
            delta=None,
            status=PredictionStatus.OK,
            confidence=1.0,
            terminal=known.terminal,
            by_rule=ruled.settled,
        )


class Copy:
    """Says that nothing ever changes."""

    version = "copy"

    def predict(self, questions: Sequence[Imagine]) -> list[Prediction]:
        return [
            Prediction(
                observation=replace(q.history[-1], last_action_error=""),
                delta=None,
                status=PredictionStatus.OK,
                confidence=1.0,
            )
            for q in questions
        ]


@pytest.fixture(scope="module")
def attempts() -> list[Trajectory]:
    good = [expert(t, s) for t in TASKS for s in range(4)]
    return good + [wanderer(t, s) for t in TASKS for s in range(10)]


def measured(model: Truth | Copy | TableWorldModel, attempts: list[Trajectory]) -> FidelityReport:
    return fidelity(compare(model, attempts, NOTHING), world_model=model.version)


def test_the_truth_is_perfect_everywhere(attempts: list[Trajectory]) -> None:
    total = measured(Truth(attempts), attempts).total
    for name in ("local", "unchanged", "by_rules", "settled", "ended", "end_precision", "any_page"):
        share = getattr(total, name)
        assert share.n > 0 and share.hits == share.n, name
    assert total.element_f1.value == 1.0
    assert total.invalid.hits == 0


def test_copying_gets_nothing_for_changes(attempts: list[Trajectory]) -> None:
    """Papers F7: the metric gives a copy about 0, and the table says so beside the model."""
    total = measured(Copy(), attempts).total
    assert total.local == Share(hits=0, n=total.local.n) and total.local.n > 10
    assert total.copy == total.local + total.full_page
    assert total.ended.hits == 0 and total.end_precision.n == 0
    assert total.element_f1.value == 0.0 == total.element_f1_copy.value
    assert total.unchanged.hits == total.unchanged.n
    assert total.any_page.hits < total.any_page.n


def test_every_step_is_in_one_group(attempts: list[Trajectory]) -> None:
    report = measured(Truth(attempts), attempts)
    groups = ("local", "full_page", "unchanged", "by_rules", "settled", "ended")
    assert report.steps == sum(getattr(report.total, g).n for g in groups)
    assert report.steps == sum(len(t.steps) for t in attempts)
    for f in asdict(report.total):
        if f != "task":
            total = getattr(report.total, f).n
            assert total == sum(getattr(r, f).n for r in report.by_task), f


def test_groups_do_not_depend_on_the_model(attempts: list[Trajectory]) -> None:
    def regimes(compared: list[Compared]) -> list[tuple[Regime, bool]]:
        return [(c.regime, c.determined) for c in compared]

    table = table_of(range(2))
    one = compare(Copy(), attempts, NOTHING)
    assert regimes(one) == regimes(compare(table, attempts, NOTHING))


def test_invalid_answers_are_counted_and_never_right(attempts: list[Trajectory]) -> None:
    total = measured(TableWorldModel(), attempts).total
    assert total.invalid.hits == total.invalid.n > 0
    assert total.local.hits == total.unchanged.hits == total.any_page.hits == 0


def test_a_share_of_nothing_is_not_zero() -> None:
    assert Share().fraction is None and Share(hits=0, n=2).fraction == 0.0


def test_the_report_is_plain_json(attempts: list[Trajectory]) -> None:
    report = measured(Copy(), attempts)
    back = json.loads(json.dumps(asdict(report)))
    assert back["total"]["local"] == asdict(report.total.local)
    assert [r["task"] for r in back["by_task"]] == sorted(TASKS)


def change(*names: str, value: str | None = None) -> Delta:
    items = tuple(New(depth=1, content=Content(role="button", name=n), has_bid=True) for n in names)
    updated = (Updated(ref="5", set=(("value", value), ("checked", "true"))),) if value else ()
    return Delta(kind=DeltaKind.LOCAL, updated=updated, placed=(Placed(after="root", items=items),))


def test_new_strings_are_what_is_not_pointed_at() -> None:
    assert new_strings(change("$n", "Hello $t", "${13}", "-")) == {"Hello"}
    assert new_strings(change(value="$t")) == set()
    assert new_strings(change(value="six")) == {"six"}


def test_a_change_is_determined_by_page_action_goal_or_task() -> None:
    known = next(known_steps(expert("toy-write", 0)))
    on_page = known.history[-1].tree.split("checkbox '")[1].split("'")[0]
    for text in (on_page, "Submit", "submit", "Write"):
        assert is_determined(known, change(text), NOTHING), text
    assert not is_determined(known, change("Subm"), NOTHING)
    assert not is_determined(known, change("Zanzibar"), NOTHING)
    assert is_determined(known, change("Zanzibar"), Tasks(frozenset({("toy-write", "Zanzibar")})))
    assert not is_determined(known, change("Zanzibar"), Tasks(frozenset({("other", "Zanzibar")})))


def test_strings_of_a_task_need_three_seeds() -> None:
    def strings(seeds: range) -> set[str]:
        learnt = learn_tasks([expert("toy-open", s) for s in seeds], [])
        return {text for task, text in learnt.strings if task == "toy-open"}

    assert "Done" in strings(range(3))
    assert "Done" not in strings(range(2))
    assert "Done" not in {t for _, t in learn_tasks([expert("toy-open", 0)] * 9, []).strings}


LIST = Observation(
    url="http://127.0.0.1/",
    title="List",
    tree="RootWebArea 'List'\n\t[1] listbox ''\n\t\t[2] option 'Ann'\n\t\t[3] option 'Bob'\n\t[4] button 'Go'",
)


def _tried(action: Action, then: str, seed: int) -> Trajectory:
    """One action on the list, and the page that came."""
    whole = expert("toy-open", seed)
    step = replace(whole.steps[0], observation=LIST, action=action)
    return replace(
        whole,
        trajectory_id=f"list/{seed}/{then}",
        steps=(step,),
        final=replace(LIST, tree=LIST.tree.replace("button 'Go'", f"button '{then}'")),
        reason=Reason.OUT_OF_STEPS,
        outcome=Outcome.FAILURE,
    )


def test_what_came_differently_at_another_time_is_chance() -> None:
    often = [_tried(Click("4"), "Stop", s) for s in range(3)]
    same = learn_tasks(often, [_tried(Click("4"), "Stop", 9)])
    other = learn_tasks(often, [_tried(Click("4"), "Wait", 9)])
    known = next(known_steps(often[0]))
    truth = change_after_rules(apply_rules(known.history, known.action), known)
    assert is_determined(known, truth, same)
    assert not is_determined(known, truth, other)
    # Another action on the same page is another question.
    assert is_determined(known, truth, learn_tasks(often, [_tried(Click("2"), "Wait", 9)]))


def test_which_element_lies_under_the_middle_of_its_list_is_geometry() -> None:
    inside = Delta(kind=DeltaKind.LOCAL, updated=(Updated(ref="3", set=(("selected", "true"),)),))
    listed = next(known_steps(_tried(Click("1"), "Go", 0)))
    chosen = next(known_steps(_tried(Click("3"), "Go", 0)))
    assert not is_determined(listed, inside, NOTHING)
    assert is_determined(chosen, inside, NOTHING)
    beside = replace(inside, updated=(*inside.updated, Updated(ref="4", name="Go")))
    assert is_determined(listed, beside, NOTHING)


class Asked(Truth):
    """Remembers the goals that it was told."""

    def predict(self, questions: Sequence[Imagine]) -> list[Prediction]:
        self.goals = [q.goal for q in questions]
        return super().predict(questions)


@pytest.mark.parametrize("told", [True, False])
def test_the_goal_is_told_where_the_model_is_told_goals(
    attempts: list[Trajectory], told: bool
) -> None:
    world = Asked(attempts)
    compare(world, attempts, NOTHING, show_goal=told)
    assert world.goals == [k.goal if told else None for t in attempts for k in known_steps(t)]

"""Dreams replayed for real: equal where they are, wrong where they are, elements found by alignment."""

import asyncio
from dataclasses import replace

import pytest
from tests.conformance.toy import NOTES_TAB, SUBMIT, TASKS, ToyEnvironment
from tests.world.toys import expert, walk, wanderer

from dynaweb.bench.w2r import Replay, map_action, replay, replay_report
from dynaweb.contracts import StepResult
from dynaweb.errors import BrowserError
from dynaweb.records.action import Action, Click, DragAndDrop, Fill, Noop
from dynaweb.records.observation import Observation
from dynaweb.records.trajectory import Outcome, Reason, Trajectory, World


def dream(t: Trajectory, **changes: object) -> Trajectory:
    return replace(t, world=World.DREAM, **changes)  # type: ignore[arg-type]


def done(t: Trajectory) -> Replay:
    return asyncio.run(replay(t, ToyEnvironment()))


def test_a_true_dream_is_equal_at_every_depth() -> None:
    dreams = [dream(expert(t, s)) for t in TASKS for s in range(4)]
    dreams += [dream(wanderer(t, s)) for t in TASKS for s in range(4)]
    report = replay_report([done(d) for d in dreams])
    for row in report.rows:
        assert row.pages_equal.hits == row.pages_equal.n
        assert row.endings_equal.hits == row.endings_equal.n
    assert report.rows[0].pages_equal.n == len(dreams)
    assert report.success_precision.fraction == 1.0 and report.unmapped.hits == 0


def test_a_dream_that_grants_success_is_found_out() -> None:
    lost = walk("toy-check", 0, (Click(SUBMIT),))
    assert lost.outcome is Outcome.FAILURE
    report = replay_report(
        [done(dream(lost, outcome=Outcome.SUCCESS)), done(dream(expert("toy-check", 1)))]
    )
    assert (report.success_precision.hits, report.success_precision.n) == (1, 2)
    assert [r.success_precision.n for r in report.rows] == [1, 1, 0, 0, 0]
    assert report.dreamed_success.fraction == 1.0 and report.real_success.fraction == 0.5


def test_a_dream_that_ends_too_early_or_too_late_is_wrong() -> None:
    early = expert("toy-write", 0)
    cut = dream(early, steps=early.steps[:1], final=early.steps[1].observation)
    r = done(cut)
    assert r.dreamed_end() == 1 and r.ended_at is None and not r.page_equal(1)
    late = walk("toy-write", 0, (Click(SUBMIT),))
    more = dream(
        late,
        steps=(*late.steps, *late.steps),
        reason=Reason.OUT_OF_STEPS,
        outcome=Outcome.FAILURE,
    )
    r = done(more)
    assert r.ended_at == 1 and not r.page_equal(1) and not r.page_equal(2)
    assert replay_report([r]).rows[0].endings_equal.hits == 0


def test_a_dreamed_page_that_is_wrong_is_counted_at_its_depth() -> None:
    t = walk("toy-check", 0, (Click("3"), Click("4"), Click("3")))
    wrong = replace(t.steps[2].observation, tree=t.steps[1].observation.tree)
    steps = (*t.steps[:2], replace(t.steps[2], observation=wrong))
    rows = replay_report([done(dream(t, steps=steps))]).rows
    assert [r.pages_equal.hits for r in rows[:3]] == [1, 0, 1]


def test_an_element_that_only_the_dream_has_is_a_counted_failure() -> None:
    t = walk("toy-open", 0, (Click("3"), Click("4")))
    invented = replace(
        t.steps[1].observation, tree=t.steps[1].observation.tree + "\n\t[40] link 'Win'"
    )
    steps = (t.steps[0], replace(t.steps[1], observation=invented, action=Click("40")))
    claimed = dream(t, steps=steps, outcome=Outcome.SUCCESS, reason=Reason.TASK_ENDED)
    r = done(claimed)
    assert r.unmapped_at == 2 and not r.succeeded and not r.page_equal(2)
    report = replay_report([r])
    assert (report.unmapped.hits, report.unmapped.n) == (1, 2)
    assert report.success_precision.fraction == 0.0


def test_new_elements_are_found_under_other_numbers() -> None:
    t = walk("toy-open", 0, (Click(NOTES_TAB), Click("8")))
    page = t.steps[1].observation
    renumbered = replace(page, tree=page.tree.replace("[8]", "[3]"))
    steps = (t.steps[0], replace(t.steps[1], observation=renumbered, action=Click("3")))
    r = done(dream(t, steps=steps))
    assert r.succeeded and r.page_equal(1)


def test_the_same_bad_action_stays_bad() -> None:
    t = walk("toy-check", 0, (Click("99"), Click("4"), Click(SUBMIT)))
    r = done(dream(t))
    assert r.unmapped_at is None and r.page_equal(1) and r.succeeded


PAGE = Observation(
    url="", title="", tree="RootWebArea ''\n\t[1] button 'A'\n\t[2] button 'B'\n\t[3] textbox ''"
)
REAL = replace(PAGE, tree="RootWebArea ''\n\t[4] button 'B'\n\t[1] button 'A'\n\t[7] textbox ''")


@pytest.mark.parametrize(
    ("action", "mapped"),
    [
        (Click("2"), Click("4")),
        (Fill("3", "x"), Fill("7", "x")),
        (DragAndDrop("1", "2"), DragAndDrop("1", "4")),
        (Noop(), Noop()),
        (Click("99"), Click("99")),
    ],
)
def test_actions_are_mapped_by_what_elements_are(action: Action, mapped: Action) -> None:
    assert map_action(action, PAGE, REAL) == mapped


def test_an_element_that_is_gone_maps_to_nothing() -> None:
    bare = replace(REAL, tree="RootWebArea ''\n\t[1] button 'A'")
    assert map_action(Fill("3", "x"), PAGE, bare) is None


class Crashing(ToyEnvironment):
    """Breaks at the second action."""

    def __init__(self) -> None:
        super().__init__()
        self._steps = 0

    async def step(self, action: Action) -> StepResult:
        self._steps += 1
        if self._steps > 1:
            raise BrowserError("crashed")
        return await super().step(action)


def test_a_browser_that_breaks_off_is_in_no_number_but_its_own() -> None:
    broken = asyncio.run(replay(dream(expert("toy-check", 0)), Crashing()))
    report = replay_report([broken, done(dream(expert("toy-check", 1)))])
    assert (report.broken, report.dreams) == (1, 2)
    assert report.rows[0].pages_equal.n == 1 and report.success_precision.n == 1

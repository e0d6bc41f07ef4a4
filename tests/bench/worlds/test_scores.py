"""What a prediction is worth: a perfect model is perfect, a copy gets nothing, faults are seen where they are."""

from dataclasses import replace

import pytest
from tests.bench.worlds.models import Says, Truth, said
from tests.conformance.toy import TASKS
from tests.world.toys import expert, wanderer

from dynaweb.axtree.tree import read_tree, render_tree
from dynaweb.bench.worlds.answers import Answer
from dynaweb.bench.worlds.cases import Case, find_cases, question, sample_cases
from dynaweb.bench.worlds.overlap import measure_overlap, require_unseen
from dynaweb.bench.worlds.scores import Scored, StepScores, drift, score, structure_f1
from dynaweb.contracts import PredictionStatus
from dynaweb.errors import UserError
from dynaweb.records.action import Click
from dynaweb.records.observation import Observation
from dynaweb.records.trajectory import (
    Behaviour,
    Fault,
    Outcome,
    Reason,
    Step,
    Trajectory,
    World,
)  # fmt: skip
from dynaweb.world.baselines import CopyWorldModel

GOOD = (
    "local_exact", "local_f1", "full_exact", "full_structure", "full_title", "full_url", "unchanged_exact",
    "by_rules_exact", "settled_exact", "ended_said", "kind_right",
)  # fmt: skip
BAD = ("ended_early", "invalid", "duplicate_ids", "id_drift", "blocked_invented")


@pytest.fixture(scope="module")
def attempts() -> list[Trajectory]:
    good = [expert(t, s) for t in TASKS for s in range(2)]
    return [*good, *(wanderer(t, s) for t in TASKS for s in range(4)), shop()]


def page(tree: str, url: str = "http://shop/", title: str = "Shop") -> Observation:
    return Observation(url=url, title=title, tree=f"RootWebArea '{title}'\n{tree}")


HOME = page("\t[3] link 'Chairs'\n\t[4] link 'Tables'\n\t[5] button 'Ask', disabled")
CHAIRS = page(
    "\t[9] heading 'All our chairs'\n\t[10] link 'Oak chair'\n\t[11] link 'Next page of chairs'",
    "http://shop/chairs",
    "Chairs",
)


def shop() -> Trajectory:
    """A click that the page refused, one that changed nothing, and one that opened another page."""
    refused = replace(HOME, last_action_error="element '4' is covered")
    return Trajectory(
        trajectory_id="shop-1", task="shop", goal="Find a chair.", seed=1,
        steps=(
            Step(observation=HOME, action=Click("4"), fault=Fault.IMPOSSIBLE),
            Step(observation=refused, action=Click("3")),
        ),
        final=CHAIRS, outcome=Outcome.UNKNOWN, reason=Reason.RECORDING_STOPPED, world=World.LIVE,
        behaviour=Behaviour.HUMAN, origin="shop",
    )  # fmt: skip


def scored(model: object, attempts: list[Trajectory]) -> list[Scored]:
    cases, _ = find_cases(attempts)
    predictions = model.predict([question(c, show_goal=False) for c in cases])  # type: ignore[attr-defined]
    return [
        score(c, Answer(prediction=p, seconds=0.5)) for c, p in zip(cases, predictions, strict=True)
    ]


def values(found: list[Scored], name: str) -> list[float]:
    return [v for s in found if (v := getattr(s.scores, name)) is not None]


def test_the_truth_is_perfect_in_every_number(attempts):
    found = scored(Truth(attempts), attempts)
    for name in GOOD:
        assert values(found, name), name
        assert set(values(found, name)) == {1.0}, name
    for name in BAD:
        assert set(values(found, name)) == {0.0}, name
    assert set(values(found, "seconds")) == {0.5}


def test_copying_gets_nothing_for_changes_and_all_for_standing_still(attempts):
    found = scored(CopyWorldModel(), attempts)
    for name in ("local_exact", "local_f1", "full_exact", "full_title", "full_url", "ended_said"):
        assert set(values(found, name)) == {0.0}, name
    assert set(values(found, "unchanged_exact")) == {1.0}
    assert set(values(found, "blocked_invented")) == {0.0}


def test_a_step_that_a_rule_settled_counts_for_nothing_else(attempts):
    for one in scored(Truth(attempts), attempts):
        if one.scores.settled_exact is not None:
            assert one.scores == StepScores(settled_exact=one.scores.settled_exact)


def test_an_unusable_answer_is_wrong_and_not_left_out(attempts):
    broken = Says(lambda q: said(q.history[-1], status=PredictionStatus.INVALID))
    found = scored(broken, attempts)
    assert set(values(found, "invalid")) == {1.0}
    for name in ("local_exact", "local_f1", "full_structure", "full_url", "unchanged_exact"):
        assert set(values(found, name)) == {0.0}, name
    assert values(found, "duplicate_ids") == []


def test_something_that_happens_although_the_browser_refused_it_is_invented(attempts):
    found = scored(Says(lambda q: said(CHAIRS)), attempts)
    assert values(found, "blocked_invented") == [1.0] * len(values(found, "blocked_invented"))
    excused = Says(lambda q: said(replace(q.history[-1], last_action_error="it is covered")))
    assert set(values(scored(excused, attempts), "blocked_invented")) == {0.0}


def test_ids_that_move_and_ids_that_stand_twice_are_counted(attempts):
    def shifted(q):
        here = q.history[-1]
        nodes = [n._replace(bid=f"9{n.bid}") if n.bid else n for n in read_tree(here.tree)]
        return said(replace(here, tree=render_tree(tuple(nodes))))

    assert set(values(scored(Says(shifted), attempts), "id_drift")) == {1.0}
    twice = Says(lambda q: said(replace(q.history[-1], tree=q.history[-1].tree + "\n\t[1] button 'x'\n\t[1] link 'y'")))  # fmt: skip
    assert set(values(scored(twice, attempts), "duplicate_ids")) == {1.0}
    assert drift(read_tree("[1] button 'A'\n[2] button 'B'"), read_tree("[1] button 'A'\n[3] button 'B'")) == 0.5  # fmt: skip


def test_structure_is_the_f1_of_roles_and_names():
    one, other = page("\t[1] link 'A'\n\t[2] link 'A'"), page("\t[7] link 'A'\n\t[8] link 'B'")
    assert structure_f1(one, one) == 1.0
    assert structure_f1(one, other) == pytest.approx(2 * 2 / 6)


def test_dreams_and_second_copies_are_left_out_and_counted(attempts):
    dreamt = replace(expert("toy-open", 1), world=World.DREAM, trajectory_id="dream")
    cases, dropped = find_cases([*attempts, dreamt, attempts[0]])
    assert len(cases) == sum(len(t.steps) for t in attempts)
    assert dropped == {
        "step of a dream: no truth": len(dreamt.steps),
        "step of an attempt that stands twice": len(attempts[0].steps),
    }


def test_the_draw_is_fair_and_does_not_depend_on_the_order(attempts):
    cases, _ = find_cases(attempts)
    drawn = sample_cases(cases, 8, seed=3)
    again = sample_cases(list(reversed(cases)), 8, seed=3)
    assert {c.case_id for c in drawn} == {c.case_id for c in again}
    assert len(drawn) == 8
    groups = {(c.site, c.behaviour, c.known.task) for c in cases}
    assert {(c.site, c.behaviour, c.known.task) for c in drawn} == groups
    more = {c.case_id for c in sample_cases(cases, 12, seed=3)}
    assert {c.case_id for c in drawn} <= more
    assert {c.case_id for c in sample_cases(cases, 8, seed=4)} != {c.case_id for c in drawn}


def test_a_planted_overlap_is_refused(attempts):
    cases, _ = find_cases(attempts[:2])
    with pytest.raises(UserError, match=r"stand among the training files too"):
        require_unseen(attempts[1:], cases)
    renamed = replace(attempts[0], trajectory_id="another name")
    with pytest.raises(UserError, match=r"overlaps the training pages"):
        require_unseen([renamed], cases)
    require_unseen(attempts[2:3], cases)


def test_what_is_alike_under_other_seeds_is_counted(attempts):
    cases, _ = find_cases([shop()])
    again = replace(shop(), trajectory_id="shop-2", seed=2, task="shop again")
    found = measure_overlap([again], cases)
    assert (found.steps.hits, found.questions.hits, found.pages.n, found.tasks.hits) == (2, 2, 2, 0)
    other = measure_overlap([expert("toy-open", 0)], cases)
    assert (other.steps.hits, other.pages.hits) == (0, 0)


def test_a_case_knows_itself_by_all_that_matters():
    case, other = find_cases([shop()])[0]
    assert case.checksum() != other.checksum()
    changed = replace(case, known=replace(case.known, next_page=CHAIRS))
    assert changed.checksum() != case.checksum()
    assert isinstance(case, Case) and case.kind == "click" and case.site == "shop"

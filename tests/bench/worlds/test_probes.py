"""Questions with a known answer: nothing happens where nothing can, and a goal changes no page."""

from dataclasses import replace

from tests.bench.worlds.models import Says, said
from tests.bench.worlds.test_scores import HOME, page, shop
from tests.conformance.toy import TASKS, first_site, show
from tests.world.toys import expert

from dynaweb.axtree.gate import check_action
from dynaweb.bench.worlds.answers import Answer, Measured, ask_all
from dynaweb.bench.worlds.cases import find_cases
from dynaweb.bench.worlds.probes import (
    Blocked,
    ask_blocked,
    ask_swapped,
    blocked_actions,
    count_blocked,
    count_swap,
    other_goal,
)  # fmt: skip
from dynaweb.runs.progress import silent
from dynaweb.world.baselines import CopyWorldModel

FORM = page(
    "\t[2] textbox 'Name', readonly\n\t[3] combobox 'Size', hasPopup='menu'\n\t\t[4] option 'Small'\n\t[6] button 'Go', disabled\n\t[7] link 'x'"
)


def answered(world, tmp_path, goal=False):
    model = Measured(name="m", world=world, checksum=world.version, shows_goal=goal)
    cases, _ = find_cases([shop(), *(expert(t, 0) for t in TASKS)])
    asked = [pair for case in cases for pair in ask_blocked(model, case)]
    answers = ask_all(model, [a for _, a in asked], tmp_path / f"{world.version}.jsonl", silent)
    return count_blocked(asked, answers)


def test_every_kind_of_blocked_action_is_made_where_the_page_has_it_and_the_gate_refuses_it():
    kinds = dict(blocked_actions(FORM))
    assert set(kinds) == set(Blocked)
    assert all(check_action(FORM, action) is not None for action in kinds.values())
    assert set(dict(blocked_actions(show(first_site(0))))) == {
        Blocked.MISSING, Blocked.DISABLED, Blocked.NOT_EDITABLE,
    }  # fmt: skip


def test_a_model_behind_the_gate_invents_nothing_and_was_not_asked(tmp_path):
    *rows, total = answered(CopyWorldModel(), tmp_path)
    assert total.invented.hits == total.asked.hits == 0
    assert total.explained.hits == total.explained.n == sum(r.invented.n for r in rows) > 0


def test_a_model_that_grants_everything_is_found_out(tmp_path):
    granting = Says(lambda q: said(page("\tStaticText 'Done!'")))
    total = answered(granting, tmp_path)[-1]
    assert total.invented.hits == total.invented.n == total.asked.hits > 0
    assert total.explained.hits == 0


def swaps(answer, tmp_path):
    """Pairs that differ, and that differ towards the goal, over the shop and toys."""
    model = Measured(name="m", world=Says(answer), checksum="m", shows_goal=True)
    cases, _ = find_cases([shop(), *(expert(t, 0) for t in TASKS)])
    counted = []
    for case in cases:
        goal = other_goal(case, cases, 0)
        assert goal is not None and goal != case.known.goal
        own = model.world.predict([replace(ask_swapped(model, case, goal).question, goal=case.known.goal)])  # fmt: skip
        other = model.world.predict([ask_swapped(model, case, goal).question])
        pair = [Answer(prediction=p, seconds=0.0) for p in (*own, *other)]
        counted.append(count_swap(case, pair[0], goal, pair[1]))
    return [d for d, _ in counted], [t for _, t in counted]


def test_a_model_that_grants_the_goal_differs_towards_it(tmp_path):
    echo = swaps(lambda q: said(page(f"\tStaticText {q.goal!r}")), tmp_path)
    assert all(echo[0]) and all(echo[1])
    ending = swaps(lambda q: said(q.history[-1], terminal="chair" in q.goal), tmp_path)
    assert any(ending[0]) and ending[0] == ending[1]


def test_a_model_that_ignores_the_goal_differs_nowhere_and_noise_is_not_towards_it(tmp_path):
    assert not any(swaps(lambda q: said(HOME), tmp_path)[0])
    noise = swaps(lambda q: said(page(f"\tStaticText 'number {len(q.goal) * 7919}'")), tmp_path)
    assert any(noise[0]) and not any(noise[1])

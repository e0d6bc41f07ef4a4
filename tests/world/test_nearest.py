"""Precedents: the same step is found first, however many others there are, and its change is said of this page."""

import random
from time import process_time

from tests.conformance.toy import LOCKED, first_site, show, solution
from tests.world.toys import expert, wanderer

from dynaweb.contracts import Imagine, PredictionStatus
from dynaweb.records.action import Click, Fill, Noop, Press
from dynaweb.records.observation import Observation
from dynaweb.records.trajectory import Fault
from dynaweb.world.baselines import CopyWorldModel, NearestWorldModel
from dynaweb.world.nearest import TransitionIndex, index_trajectories
from dynaweb.world.rules import apply_rules
from dynaweb.world.shown import equal_as_shown
from dynaweb.world.steps import Known, known_steps

TASK = "toy-write"


def known(page: Observation, action: object, after: Observation, name: str = "t") -> Known:
    return Known(
        task="task", seed=0, goal="", trajectory_id=name, index=0, history=(page,), done=(),
        action=action, next_page=after, terminal=False, fault=None,
    )  # fmt: skip


def page(tree: str, url: str = "http://site/list") -> Observation:
    return Observation(url=url, title="T", tree="RootWebArea 'T'\n" + tree)


MENU = page("\t[2] button 'Open menu'\n\t[3] button 'Close'")
OPEN = page("\t[2] button 'Open menu', expanded=True\n\t[3] button 'Close'")
FORM = page("\t[7] textbox 'Name'\n\t[8] button 'Send'", "http://site/form")
SENT = page("\t[7] textbox 'Name'\n\t[8] button 'Send', disabled", "http://site/form")
INDEX = TransitionIndex(
    [
        known(MENU, Click("2"), OPEN, "menu"),
        known(MENU, Click("3"), MENU, "close"),
        known(FORM, Click("8"), SENT, "form"),
        known(FORM, Press("7", "Enter"), SENT, "enter"),
    ]
)


def test_the_step_itself_is_its_nearest_with_similarity_one():
    for step in INDEX.steps:
        (first, *_) = INDEX.nearest(step.history[-1], step.action, k=4)
        assert first.known == step
        assert first.similarity > 0.999


def test_only_the_same_kind_of_action_is_compared_best_first():
    found = INDEX.nearest(MENU, Click("2"), k=9)
    assert [n.known.trajectory_id for n in found] == ["menu", "close", "form"]
    assert [n.similarity for n in found] == sorted([n.similarity for n in found], reverse=True)
    assert INDEX.nearest(MENU, Noop()) == []


def test_trajectories_may_be_passed_over():
    found = INDEX.nearest(MENU, Click("2"), without={"menu"})
    assert [n.known.trajectory_id for n in found] == ["close"]


def test_an_empty_index_has_no_precedents_and_predicts_no_change():
    empty = TransitionIndex([])
    assert empty.nearest(MENU, Click("2")) == []
    (said,) = NearestWorldModel(empty).predict([Imagine(history=(MENU,), action=Click("2"))])
    assert (said.observation.tree, said.confidence) == (MENU.tree, 0.0)


def test_the_neighbours_change_is_said_of_this_page_under_its_own_numbers():
    here = page("\t[41] button 'Help'\n\t[52] button 'Open menu'\n\t[53] button 'Close'")
    (said,) = NearestWorldModel(INDEX).predict([Imagine(history=(here,), action=Click("52"))])
    assert said.status is PredictionStatus.OK
    assert said.observation.tree == here.tree.replace("'Open menu'", "'Open menu', expanded=True")


def test_a_change_that_does_not_fit_is_no_change_and_says_so():
    more = page("\t[2] button 'Open menu'\n\tmenu 'List'\n\t\t[5] menuitem 'One'")
    less = page("\t[2] button 'Open menu'\n\tmenu 'List'\n\t\t[5] menuitem 'Two'")
    index = TransitionIndex([known(more, Click("2"), less)])
    (said,) = NearestWorldModel(index).predict([Imagine(history=(MENU,), action=Click("2"))])
    assert (said.observation.tree, said.status) == (MENU.tree, PredictionStatus.REPAIRED)


def test_copying_is_right_where_rules_know_everything_and_never_invents():
    typed, copied = Fill("7", "bob"), CopyWorldModel()
    (said,) = copied.predict([Imagine(history=(FORM,), action=typed)])
    assert said.observation == apply_rules((FORM,), typed).page
    (said,) = copied.predict([Imagine(history=(FORM,), action=Click("8"))])
    assert said.observation.tree == FORM.tree


def test_the_gate_stands_in_front_of_both():
    site = show(first_site(0))
    for model in (CopyWorldModel(), NearestWorldModel(INDEX)):
        missing, locked = model.predict(
            [
                Imagine(history=(site,), action=Click("999")),
                Imagine(history=(site,), action=Click(LOCKED)),
            ]
        )
        assert (missing.fault, missing.by_rule) == (Fault.MISSING_ELEMENT, True)
        assert locked.fault is Fault.DISABLED


def test_a_walk_that_was_seen_is_predicted_exactly():
    seen = expert(TASK, 3)
    assert len(seen.steps) == len(solution(TASK, 3))
    model = NearestWorldModel(index_trajectories([seen, wanderer(TASK, 5), wanderer(TASK, 7)]))
    for step in known_steps(seen):
        (said,) = model.predict([step.asked])
        if step.terminal:
            assert said.terminal
        else:
            assert equal_as_shown(said.observation, step.next_page, step.history[-1])


def test_retrieval_among_hundreds_of_large_pages_is_quick():
    rng = random.Random(0)
    words = [f"word{i}" for i in range(3_000)]

    def big(number: int) -> Observation:
        lines = [f"\t[{i + 2}] link '{rng.choice(words)} {rng.choice(words)}'" for i in range(200)]
        return page("\n".join(lines), f"http://site/{number % 50}")

    pages = [big(i) for i in range(300)]
    began = process_time()
    index = TransitionIndex([known(p, Click("7"), p, str(i)) for i, p in enumerate(pages)])
    built = process_time() - began
    began = process_time()
    for at in range(0, 300, 30):
        (first,) = index.nearest(pages[at], Click("7"))
        assert first.known.trajectory_id == str(at)
    assert built < 6
    assert (process_time() - began) / 10 < 0.5

"""Chance: plausible actions, near misses and misread goals."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dynaweb.axtree.gate import check_action
from dynaweb.axtree.tree import parse_tree
from dynaweb.collect.chance import miscopied, misread, near_miss, random_action
from dynaweb.collect.experts import EXPERTS
from dynaweb.collect.explore import NoiseConfig, NoisyExpert, RandomAgent
from dynaweb.errors import UserError
from dynaweb.records.action import Click, Fill, SelectOption, parse_action, print_action
from dynaweb.records.observation import Observation

PAGE = "\n".join(
    [
        "RootWebArea 'Form'",
        "\t[1] heading 'Welcome'",
        "\t[2] textbox 'Name', value='Ann'",
        "\t[3] checkbox 'alpha', checked='false'",
        "\t[4] checkbox 'beta', checked='true'",
        "\t[5] combobox '', value='red'",
        "\t\t[6] option 'red', selected='true'",
        "\t\t[7] option 'blue'",
        "\t[8] button 'Reset', disabled",
        "\t[9] button 'Submit'",
    ]
)
TREE = parse_tree(PAGE)
GOAL = 'Select alpha, enter "Bob" and click Submit.'
SEEN = Observation(url="http://x/", title="Form", tree=PAGE)
seeds = st.integers(0, 2**63 - 1)


@given(seeds)
def test_random_actions_can_be_written_and_read(seed):
    action = random_action(GOAL, TREE, Random(seed), 0.2)
    assert parse_action(print_action(action)) == action


def test_most_random_actions_are_possible_and_some_are_not():
    rng = Random(0)
    refused = [
        check_action(SEEN, random_action(GOAL, TREE, rng, 0.1)) is not None for _ in range(1000)
    ]
    assert 0.03 < sum(refused) / 1000 < 0.25
    rng = Random(0)
    always = [check_action(SEEN, random_action(GOAL, TREE, rng, 1.0)) for _ in range(300)]
    assert sum(a is not None for a in always) > 250
    assert len({a[0] for a in always if a is not None}) == 4


def test_random_actions_reach_every_element():
    rng = Random(0)
    touched = {getattr(random_action(GOAL, TREE, rng, 0.0), "bid", None) for _ in range(2000)}
    assert {"1", "2", "3", "4", "5", "8", "9"} <= touched


@given(st.text(max_size=12), seeds)
def test_a_miscopied_text_is_another_text(text, seed):
    assert miscopied(text, Random(seed)) not in (text, "")


@given(seeds)
def test_a_near_miss_is_another_action_of_the_same_kind(seed):
    rng = Random(seed)
    for action in (Click("3"), SelectOption("5", ("red",)), Fill("2", "Bob")):
        missed = near_miss(action, TREE, rng)
        assert missed is None or (type(missed) is type(action) and missed != action)
    assert near_miss(Click("3"), TREE, rng) == Click("4")
    assert near_miss(SelectOption("5", ("red",)), TREE, rng) == SelectOption("5", ("blue",))


def test_a_misread_goal_asks_for_something_else_that_the_page_has():
    read = {misread("Select alpha and click Submit.", TREE, Random(s)) for s in range(50)}
    assert "Select beta and click Submit." in read
    assert "Select alpha and click Submit." not in read
    assert (
        misread("Click the button.", parse_tree("RootWebArea 'x'"), Random(0))
        == "Click the button."
    )


def noisy(seed, **config):
    return NoisyExpert(
        expert=EXPERTS["click-option"], attempt_seed=seed, config=NoiseConfig(**config)
    )


OPTIONS = Observation(
    url="http://x/",
    title="t",
    tree="RootWebArea 't'\n\t[1] radio 'a', checked='false'\n\t[2] radio 'b', checked='false'\n\t[3] button 'Submit'",
)


async def first_actions(n=200, **config):
    agents = [noisy(seed, **config) for seed in range(n)]
    goal = "Select b and click Submit."
    return [(await a.decide(goal, (), OPTIONS, i)).action for i, a in enumerate(agents)]


async def test_without_noise_the_expert_is_followed():
    assert set(await first_actions(misread_fraction=0, slip_fraction=0)) == {Click("2")}


async def test_who_misreads_does_the_wrong_thing_neatly():
    done = await first_actions(misread_fraction=1, slip_fraction=1)
    assert done.count(Click("1")) > 150
    assert Click("2") not in done


async def test_slips_are_as_frequent_as_asked():
    done = await first_actions(misread_fraction=0, slip_fraction=0.3)
    assert 0.2 < sum(a != Click("2") for a in done) / len(done) < 0.4


async def test_choices_depend_on_the_seed_alone():
    for agent in (RandomAgent(), noisy(1)):
        one = await agent.decide(GOAL, (), SEEN, 7)
        two = await agent.decide(GOAL, (), SEEN, 7)
        assert one == two


def test_a_fraction_beyond_one_is_refused():
    with pytest.raises(UserError, match="slip_fraction 2"):
        NoiseConfig(slip_fraction=2)

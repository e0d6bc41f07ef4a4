import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conformance.toy import solution
from tests.rollout.test_episode import Scripted, attempt

from dynaweb.axtree.lexicon import LexiconConfig, learn_lexicon
from dynaweb.dataset.card import dataset_card
from dynaweb.dataset.policy import policy_examples
from dynaweb.dataset.split import is_held_out, require_disjoint, split_by_seed
from dynaweb.errors import UserError
from dynaweb.records.trajectory import Trajectory


@pytest.fixture(scope="module")
def solved() -> Trajectory:
    return asyncio.run(attempt(Scripted([*solution("toy-check", 3)])))


@pytest.fixture(scope="module")
def failed() -> Trajectory:
    return asyncio.run(attempt(Scripted([None, None]), steps=2))


def test_only_successes_teach_and_the_counts_reconcile(solved, failed):
    made = policy_examples([solved, failed])
    assert len(made.examples) == len(solved.steps)
    assert made.steps_in == len(made.examples) + sum(made.dropped.values())
    assert made.dropped == {"trajectory_failure": 2}
    assert made.examples[0].prompt.startswith(f"<goal> {solved.goal}\n<page>\nRootWebArea")
    assert "<did> click(" in made.examples[1].prompt


@given(st.text(max_size=8), st.integers(0, 10**6), st.floats(0, 0.99))
def test_every_stage_agrees_on_the_side_of_a_page(task, seed, fraction):
    assert is_held_out(task, seed, fraction, 1) == is_held_out(task, seed, fraction, 1)


def test_a_split_keeps_a_page_whole(solved, failed):
    split = split_by_seed([solved, failed, solved], fraction=0.5, split_seed=0)
    assert {len(split.train), len(split.held_out)} == {0, 3}
    with pytest.raises(UserError, match=r"fraction 1\.0"):
        split_by_seed([], fraction=1.0, split_seed=0)


def test_a_report_on_training_pages_is_refused():
    with pytest.raises(UserError, match="overlaps the training pages in 1"):
        require_disjoint([("a", 1), ("a", 2)], [("a", 2), ("b", 1)], "held_out")


def test_a_card_counts_what_is_there(solved, failed):
    card = dataset_card([solved, failed], title="toy")
    assert "2 trajectories" in card and "| toy-check | 1 | 1 | 0 |" in card


def test_a_lexicon_keeps_structure_and_leaves_names():
    others = [asyncio.run(attempt_at(seed)) for seed in range(40)]
    words = learn_lexicon(others, LexiconConfig()).words
    assert words is not None
    assert {"submit", "tick", "toy"} <= words
    assert "gold" not in words  # goals ask for it now and then: a name
    assert "blue" in words  # a sense of its own


async def attempt_at(seed: int) -> Trajectory:
    from tests.conformance.toy import ToyEnvironment

    from dynaweb.records.trajectory import Behaviour
    from dynaweb.rollout.episode import EpisodeConfig, run_episode

    return await run_episode(
        ToyEnvironment(),
        Scripted([*solution("toy-check", seed)]),
        trajectory_id=str(seed),
        task="toy-check",
        seed=seed,
        config=EpisodeConfig(max_steps=5),
        behaviour=Behaviour.EXPERT,
    )

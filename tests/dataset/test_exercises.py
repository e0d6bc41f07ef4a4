"""Exercises: the answer is on the page, no two runs differ, and nothing but looking up gives it."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dynaweb.agent.reply import read_reply
from dynaweb.axtree.tree import read_tree
from dynaweb.dataset.exercises import Lesson, exercises
from dynaweb.dataset.made_pages import FEWEST_WORDS
from dynaweb.errors import UserError
from dynaweb.prompts.pointers import Lexicon
from dynaweb.records.action import Click, Fill, target_bids

WORDS = [
    f"{a}{b}"
    for a in ("alpha", "beta", "gamma", "delta")
    for b in ("ly", "ness", "ing", "ed", "ous")
]


def tree_of(prompt: str) -> str:
    return prompt.partition("<page>\n")[2].partition("\n<act>")[0]


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 2**31), st.sampled_from(Lesson))
def test_every_answer_can_be_looked_up(seed: int, lesson: Lesson) -> None:
    for exercise in exercises(8, WORDS, lesson, seed=seed):
        nodes = {n.bid: n for n in read_tree(tree_of(exercise.prompt)) if n.bid is not None}
        action = read_reply(exercise.completion).action
        assert isinstance(action, Click | Fill)
        assert set(target_bids(action)) <= set(nodes)
        if isinstance(action, Fill):
            assert nodes[action.bid].role == "textbox"
            assert action.value in exercise.prompt.partition("<act>")[0]


def test_what_is_asked_for_is_named_in_the_goal() -> None:
    for exercise in exercises(50, WORDS, Lesson.FIND, seed=1):
        action = read_reply(exercise.completion).action
        assert isinstance(action, Click)
        named = next(n.name for n in read_tree(tree_of(exercise.prompt)) if n.bid == action.bid)
        goal = re.search(r"^<goal> (.*)$", exercise.prompt, re.MULTILINE)
        assert goal is not None and named and named in goal.group(1)


def test_with_pointers_all_names_are_signs() -> None:
    known = Lexicon(frozenset(WORDS))
    for exercise in exercises(30, WORDS, Lesson.FIND, seed=2):
        prompt, reply = known.pair(exercise.prompt, exercise.completion)
        assert known.point(exercise.prompt).read(reply) == exercise.completion
        assert prompt != exercise.prompt


def test_the_same_seed_gives_the_same_exercises_and_the_order_of_words_is_no_matter() -> None:
    for lesson in Lesson:
        one = exercises(20, WORDS, lesson, seed=3)
        assert one == exercises(20, list(reversed(WORDS)), lesson, seed=3)
        assert one[:5] == exercises(5, WORDS, lesson, seed=3)
        assert one != exercises(20, WORDS, lesson, seed=4)


def test_too_few_words_are_refused() -> None:
    with pytest.raises(UserError, match=f"need {FEWEST_WORDS} words"):
        exercises(1, WORDS[:3], Lesson.FIND, seed=0)

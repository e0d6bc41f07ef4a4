"""World examples: nothing lost silently, nothing that rules know, and what is learnt gives the page."""

import pytest
from tests.conformance.toy import NOTES_TAB, TASKS
from tests.world.toys import expert, walk, wanderer

from dynaweb.axtree.apply import apply
from dynaweb.axtree.text import parse_delta
from dynaweb.errors import UserError
from dynaweb.records.action import Click, Fill
from dynaweb.records.delta import DeltaKind
from dynaweb.records.trajectory import Trajectory
from dynaweb.world.examples import ExamplesConfig, world_examples, world_prompt
from dynaweb.world.rules import apply_rules
from dynaweb.world.shown import equal_as_shown
from dynaweb.world.steps import known_steps


@pytest.fixture(scope="module")
def attempts() -> list[Trajectory]:
    experts = [expert(t, s) for t in TASKS for s in range(4)]
    return experts + [wanderer(t, s) for t in TASKS for s in range(8)]


def test_every_step_is_kept_or_dropped_with_a_reason(attempts: list[Trajectory]) -> None:
    for cap in (1, 3, 400):
        made = world_examples(attempts, ExamplesConfig(cap=cap), seed=0)
        kept = sum(e.count for e in made.examples)
        assert made.steps_in == kept + sum(made.dropped.values())
        assert made.steps_in == sum(len(t.steps) for t in attempts)
        assert ("capped" in made.dropped) == (cap < 400)


def test_what_is_learnt_applied_after_the_rules_gives_the_real_page(
    attempts: list[Trajectory],
) -> None:
    made = world_examples(attempts, ExamplesConfig(), seed=0).examples
    checked = 0
    for t in attempts:
        for known in known_steps(t):
            ruled = apply_rules(known.history, known.action)
            prompt = world_prompt(ruled, known.asked, show_goal=False, past_actions=0)
            said = [e.completion for e in made if e.prompt == prompt]
            assert said or ruled.settled
            if ruled.settled or known.terminal:
                continue
            pages = [apply(ruled.page, known.action, parse_delta(c)) for c in said if c != "end"]
            assert any(equal_as_shown(p, known.next_page, ruled.page) for p in pages)
            checked += 1
    assert checked > 50


def test_typing_and_ticking_leave_nothing_to_learn() -> None:
    t = walk("toy-check", 0, (Click("3"), Fill("5", "blue"), Click(NOTES_TAB)))
    typed, ticked, opened = world_examples([t], ExamplesConfig(), seed=0).examples
    assert typed.completion == ticked.completion == "none"
    assert opened.kind is DeltaKind.LOCAL and "'Done'" in opened.completion


def test_the_end_is_only_the_end() -> None:
    made = world_examples([expert("toy-write", 0)], ExamplesConfig(), seed=0)
    assert made.examples[-1].completion == "end"


def test_the_goal_is_hidden_unless_asked_for() -> None:
    t = expert("toy-check", 1)
    hidden = world_examples([t], ExamplesConfig(), seed=0).examples
    shown = world_examples([t], ExamplesConfig(show_goal=True), seed=0).examples
    assert all(t.goal not in e.prompt for e in hidden)
    assert all(t.goal in e.prompt for e in shown)


def test_the_same_steps_are_counted_not_repeated() -> None:
    t = expert("toy-open", 3)
    made = world_examples([t, t, t], ExamplesConfig(), seed=0)
    assert [e.count for e in made.examples] == [3, 3]
    assert [e.weight for e in made.examples] == [1.0, 1.0]


def test_the_order_of_attempts_does_not_choose_the_capped_ones(attempts: list[Trajectory]) -> None:
    config = ExamplesConfig(cap=2)
    one = world_examples(attempts, config, seed=1)
    other = world_examples(attempts[::-1], config, seed=1)
    assert set(one.examples) == set(other.examples)


def test_one_word_answers_have_a_cap_of_their_own(attempts: list[Trajectory]) -> None:
    every = world_examples(attempts, ExamplesConfig(), seed=0).examples
    some = world_examples(attempts, ExamplesConfig(plain_cap=1), seed=0).examples
    plain = (DeltaKind.NONE, DeltaKind.TERMINAL)
    assert [e for e in some if e.kind not in plain] == [e for e in every if e.kind not in plain]
    assert sum(e.kind in plain for e in some) < sum(e.kind in plain for e in every)


def test_bad_settings_are_refused() -> None:
    with pytest.raises(UserError, match="cap 0"):
        ExamplesConfig(cap=0)
    with pytest.raises(UserError, match="plain_cap 0"):
        ExamplesConfig(plain_cap=0)


def test_past_actions_stand_before_the_page_latest_last() -> None:
    t = walk("toy-check", 0, (Click("3"), Fill("5", "blue"), Click(NOTES_TAB)))
    made = world_examples([t], ExamplesConfig(past_actions=1), seed=0).examples
    before = [e.prompt.partition("<page>")[0] for e in made]
    assert before[0] == ""
    assert before[1].startswith("<did> click('3')") and before[1].count("<did>") == 1
    assert before[2].startswith("<did> fill('5', 'blue')") and before[2].count("<did>") == 1


def test_what_is_seen_often_and_what_is_rare_is_shown_more() -> None:
    attempts = [walk("toy-check", s, (Click("3"), Click(NOTES_TAB))) for s in range(5)]
    once = world_examples(attempts, ExamplesConfig(), seed=0).examples
    assert {e.shown for e in once} == {1}
    changes = [e for e in once if e.kind is DeltaKind.LOCAL]
    seen = world_examples(attempts, ExamplesConfig(most_shown=3), seed=0).examples
    assert [e.shown for e in seen] == [min(e.count, 3) for e in once]
    rare = world_examples(attempts, ExamplesConfig(most_shown=50, rare=40), seed=0).examples
    assert (
        40
        <= sum(e.shown for e in rare if e.kind is DeltaKind.LOCAL)
        < 40 + sum(e.count for e in changes)
    )


@pytest.mark.parametrize("wrong", [{"most_shown": 0}, {"rare": -1}, {"past_actions": 9}])
def test_impossible_settings_of_showing_are_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(UserError, match=next(iter(wrong))):
        ExamplesConfig(**wrong)

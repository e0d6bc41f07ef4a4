"""Judge examples: balanced, and every made failure is one."""

from collections import defaultdict
from random import Random

import pytest
from tests.conformance.toy import TASKS, RuleJudge
from tests.world.toys import expert, walk, wanderer

from dynaweb.errors import UserError
from dynaweb.judge.examples import (
    JudgeExamplesConfig,
    Origin,
    judge_examples,
    retargeted_goal,
    swapped_goal,
)
from dynaweb.records.action import Click
from dynaweb.records.trajectory import Outcome, Trajectory


@pytest.fixture(scope="module")
def attempts() -> list[Trajectory]:
    good = [expert(t, s) for t in TASKS for s in range(8)]
    return good + [wanderer(t, s) for t in TASKS for s in range(12)]


def test_every_origin_occurs_and_every_attempt_is_counted(attempts: list[Trajectory]) -> None:
    made = judge_examples(attempts, JudgeExamplesConfig(truncated_fraction=1.0), seed=0)
    assert {e.origin for e in made.examples} == set(Origin)
    assert made.attempts_in == len(attempts)
    assert sum(made.dropped.values()) == sum(t.reason == "out_of_steps" for t in attempts)


def test_failures_weigh_as_much_as_successes_in_every_task(attempts: list[Trajectory]) -> None:
    weights: dict[tuple[str, str], float] = defaultdict(float)
    for e in judge_examples(attempts, JudgeExamplesConfig(), seed=0).examples:
        weights[e.task, e.completion] += e.weight
    for task in TASKS:
        assert weights[task, "success"] == pytest.approx(weights[task, "failure"])


def test_made_failures_are_failures(attempts: list[Trajectory]) -> None:
    """The words of a failure are never the words of a real success."""
    made = judge_examples(attempts, JudgeExamplesConfig(swapped=5, retargeted=5), seed=3)
    won = {e.prompt for e in made.examples if e.completion == "success"}
    lost = {e.prompt for e in made.examples if e.completion == "failure"}
    assert won and lost and not won & lost
    assert {e.completion for e in made.examples if e.origin is not Origin.SUCCESS} == {"failure"}


def test_a_swapped_goal_asks_for_something_else() -> None:
    a, b = expert("toy-check", 0), expert("toy-check", 1)
    assert swapped_goal(a, [a], Random(0)) is None
    assert swapped_goal(a, [b], Random(0)) == b.goal


def test_a_retargeted_goal_names_another_element_or_text() -> None:
    for seed in range(10):
        t = expert("toy-write", seed)
        goal = retargeted_goal(t, Random(seed))
        assert goal is not None and goal != t.goal
        assert len(goal.split()) == len(t.goal.split())
    check = expert("toy-check", 0)
    goal = retargeted_goal(check, Random(0))
    other = walk("toy-check", 0, (Click("3"),)).steps[0].observation.tree
    assert goal is not None and goal.split()[1] in other


def test_the_toys_own_rule_agrees_with_real_labels(attempts: list[Trajectory]) -> None:
    ended = [t for t in attempts if t.reason == "task_ended"]
    verdicts = RuleJudge().judge(ended)
    assert [v.outcome for v in verdicts] == [t.outcome for t in ended]
    assert {t.outcome for t in ended} == {Outcome.SUCCESS, Outcome.FAILURE}


def test_the_same_seed_gives_the_same_examples(attempts: list[Trajectory]) -> None:
    config = JudgeExamplesConfig()
    assert judge_examples(attempts, config, seed=4) == judge_examples(attempts, config, seed=4)
    assert judge_examples(attempts, config, seed=4) != judge_examples(attempts, config, seed=5)


def test_bad_settings_are_refused() -> None:
    with pytest.raises(UserError, match="swapped"):
        JudgeExamplesConfig(swapped=-1)
    with pytest.raises(UserError, match="truncated"):
        JudgeExamplesConfig(truncated_fraction=2.0)

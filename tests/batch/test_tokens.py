import dataclasses

import pytest
from tests.batch import made
from tests.lm.letters import LETTERS

from dynaweb.agent.lm_agent import act_prompt
from dynaweb.batch.advantage import AdvantageConfig, score_group
from dynaweb.batch.tokens import render_expert, rows_of, train_trajectories
from dynaweb.records.action import print_action
from dynaweb.records.trajectory import Fault, Outcome


def test_a_row_for_every_reply_in_order() -> None:
    replies = (made.reply(4, 5), made.reply(6, 7, 8))
    rows = rows_of(made.member("a", Outcome.SUCCESS, replies=replies))
    assert [r.completion_ids for r in rows] == [(4, 5), (6, 7, 8)]
    assert rows[0].prompt_ids == (1, 2, 3) and rows[0].sampled_logprobs == (-0.5, -0.5)


def test_an_attempt_without_policy_tokens_is_refused() -> None:
    with pytest.raises(ValueError, match="no policy tokens"):
        rows_of(made.without_replies(made.expert("e")))


def test_equal_attempts_become_one_with_copies() -> None:
    other = made.member("c", Outcome.FAILURE, replies=(made.reply(9),))
    scored = score_group(
        made.group(made.dream("a", 0.0), made.dream("b", 0.0), other, made.dream("d", 1.0)),
        AdvantageConfig(),
    )
    trained = train_trajectories(scored.credits)
    assert [(t.name, t.copies, t.advantage) for t in trained] == [
        ("a", 2, -0.25),
        ("c", 1, -0.25),
        ("d", 1, 0.75),
    ]
    assert sum(t.copies for t in trained) == 4
    assert (trained[0].policy_tokens, trained[0].tokens) == (2, 5)


def test_the_expert_is_said_in_the_policys_prompt_and_grammar() -> None:
    e = made.without_replies(made.expert("e"))
    rendered = render_expert(e, LETTERS)
    for i, step in enumerate(rendered.steps):
        (said,) = step.generations
        prompt = act_prompt(e.goal, e.steps[:i], e.steps[i].observation)
        assert said.prompt_ids == LETTERS.encode(prompt).ids
        assert step.action is not None
        assert said.completion_ids == (*map(ord, print_action(step.action)), 0)
    assert rendered.outcome is e.outcome and len(rendered.steps) == len(e.steps)


def test_a_suffix_keeps_what_came_before_in_its_prompt() -> None:
    suffix = made.without_replies(made.expert("e")).suffix(1)
    (said,) = render_expert(suffix, LETTERS).steps[0].generations
    assert "<did>" in "".join(map(chr, said.prompt_ids))


def test_an_expert_that_faulted_demonstrates_nothing() -> None:
    e = made.expert("e")
    bad = dataclasses.replace(e.steps[0], fault=Fault.DISABLED)
    with pytest.raises(ValueError, match="did not act"):
        render_expert(dataclasses.replace(e, steps=(bad, e.steps[1])), LETTERS)

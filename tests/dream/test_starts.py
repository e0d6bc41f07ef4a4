import dataclasses
from collections import Counter

import pytest
from tests.conformance.toy import FIELD, FIRST, SECOND, SUBMIT
from tests.gspo.toys import attempt, expert

from dynaweb.dream.starts import StartsConfig, collect_starts, pick_starts
from dynaweb.errors import UserError
from dynaweb.records.action import Action, Click
from dynaweb.records.trajectory import Behaviour, Generation, Outcome, World

LONG: tuple[Action, ...] = (Click(FIELD), Click(SECOND), Click(SUBMIT))


WRITTEN = Generation(
    prompt_ids=(1, 2),
    completion_ids=(3,),
    logprobs=(-0.5,),
    temperature=1.0,
    seed=0,
    policy_version="toy",
    raw_text="noop()",
    finish="stop",
)


def long_expert(seed: int = 1):
    return attempt(seed, LONG, Behaviour.EXPERT)


def test_every_state_counts_once_and_nothing_is_lost() -> None:
    found = collect_starts([long_expert(), long_expert()], StartsConfig())
    assert found.seen == 6
    assert found.dropped == {"same_as_another": 3, "too_near_the_end": 1}
    assert len(found.points) + sum(found.dropped.values()) == found.seen
    assert [(p.initial, p.remaining) for p in found.points] == [(True, 3), (False, 2)]
    assert all(len(p.experts) == 2 for p in found.points)


def test_an_experts_suffix_begins_at_the_start() -> None:
    for point in collect_starts([long_expert()], StartsConfig()).points:
        (suffix,) = point.experts
        assert suffix.steps[0].observation == point.start.observation
        assert suffix.past == point.start.past
        assert suffix.steps[-1].action == Click(SUBMIT)


def test_first_pages_stay_however_near_the_end() -> None:
    short = attempt(1, (Click(SUBMIT),), Behaviour.EXPERT, "toy-check")
    won = dataclasses.replace(short, outcome=Outcome.SUCCESS)
    assert [p.remaining for p in collect_starts([won], StartsConfig()).points] == [1]


def test_what_a_dream_cannot_finish_is_left_out() -> None:
    config = StartsConfig(max_remaining=2)
    found = collect_starts([long_expert()], config)
    assert found.dropped["too_far_from_the_end"] == 1
    assert [p.remaining for p in found.points] == [2]


def test_the_agents_own_wrong_turns_are_starts_without_an_expert() -> None:
    wrong = attempt(1, (Click(FIRST), Click(SUBMIT)), Behaviour.AGENT)
    found = collect_starts([wrong, expert(1)], StartsConfig())
    by_initial = {p.initial: p for p in found.points}
    assert by_initial[True].remaining == 2, "the first page is shared with the expert"
    assert by_initial[False].experts == ()
    only = collect_starts([wrong, expert(1)], StartsConfig(only_with_expert=True))
    assert [p.initial for p in only.points] == [True] and only.dropped["no_expert"] == 1


def test_failed_or_partly_random_experts_show_nothing() -> None:
    failed = dataclasses.replace(long_expert(), outcome=Outcome.FAILURE)
    noisy = dataclasses.replace(long_expert(), behaviour=Behaviour.RANDOM)
    found = collect_starts([failed, noisy], StartsConfig())
    assert all(p.experts == () for p in found.points)


def test_the_agents_own_real_successes_go_with_their_starts() -> None:
    own = attempt(1, LONG, Behaviour.AGENT)
    wrote = dataclasses.replace(
        own, steps=tuple(dataclasses.replace(s, generations=(WRITTEN,)) for s in own.steps)
    )
    first, second, last = collect_starts([wrote], StartsConfig()).points
    assert [len(p.own[0].steps) for p in (first, second, last)] == [3, 2, 1]
    assert all(p.experts == () for p in (first, second, last))
    lost = dataclasses.replace(wrote, outcome=Outcome.FAILURE)
    silent = own  # nothing that the policy wrote: nothing to train on
    for t in (lost, silent):
        assert all(p.own == () for p in collect_starts([t], StartsConfig()).points)


def test_dreams_do_not_begin_in_dreams() -> None:
    dreamed = dataclasses.replace(long_expert(), world=World.DREAM)
    found = collect_starts([dreamed], StartsConfig())
    assert found.points == () and found.dropped == {"not_live": 3}


def many():
    experts = [long_expert(s) for s in range(4)] + [expert(0, "toy-open"), expert(0, "toy-write")]
    return collect_starts(experts, StartsConfig(min_remaining=1)).points


def names(points) -> list[tuple[str, int, int]]:
    return [(p.start.task, p.start.seed, len(p.start.past)) for p in points]


def test_the_sequence_depends_on_the_seed_and_the_number_alone() -> None:
    points, config = many(), StartsConfig()
    whole = names(pick_starts(points, config, seed=5, first=0, count=30))
    pieces = [
        n
        for first in (0, 7, 8, 20)
        for n in names(
            pick_starts(
                points, config, seed=5, first=first, count={0: 7, 7: 1, 8: 12, 20: 10}[first]
            )
        )
    ]
    assert pieces == whole
    assert whole != names(pick_starts(points, config, seed=6, first=0, count=30))


def test_tasks_come_in_turn_whatever_number_of_states_they_have() -> None:
    picked = pick_starts(many(), StartsConfig(), seed=1, first=0, count=30)
    assert Counter(p.start.task for p in picked) == {
        "toy-check": 10,
        "toy-open": 10,
        "toy-write": 10,
    }


def test_weights_draw_some_tasks_more_often() -> None:
    weights = {"toy-check": 0.1, "toy-open": 0.1}
    picked = pick_starts(many(), StartsConfig(), seed=1, first=0, count=240, weights=weights)
    counts = Counter(p.start.task for p in picked)
    assert 170 <= counts["toy-write"] <= 230 and min(counts.values()) > 5
    again = pick_starts(many(), StartsConfig(), seed=1, first=100, count=9, weights=weights)
    assert again == picked[100:109]


@pytest.mark.parametrize(("share", "low", "high"), [(0.0, 0, 0), (1.0, 300, 300), (0.3, 65, 115)])
def test_share_of_intermediate_starts(share: float, low: int, high: int) -> None:
    config = StartsConfig(intermediate_share=share)
    picked = pick_starts(many(), config, seed=2, first=0, count=300)
    assert low <= sum(not p.initial for p in picked) <= high


def test_nothing_to_pick_from_is_named() -> None:
    with pytest.raises(UserError, match="no place for a dream"):
        pick_starts([], StartsConfig(), seed=0, first=0, count=1)


def test_bad_settings_are_named() -> None:
    with pytest.raises(UserError, match="intermediate_share 2"):
        StartsConfig(intermediate_share=2.0)
    with pytest.raises(UserError, match="min_remaining 6"):
        StartsConfig(min_remaining=6)

from statistics import stdev

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.batch import made

from dynaweb.batch.advantage import AdvantageConfig, Baseline, GroupStatus, score_group
from dynaweb.batch.source import Source
from dynaweb.batch.summary import summarise
from dynaweb.errors import UserError

MIXED = AdvantageConfig()
ON_POLICY = AdvantageConfig(baseline=Baseline.ON_POLICY)


def advantages(config: AdvantageConfig, *members: made.Trajectory) -> list[float]:
    return [c.advantage for c in score_group(made.group(*members), config).credits]


def test_mean_baseline() -> None:
    dreams = [made.dream(str(i), r) for i, r in enumerate((1.0, 0.0, 0.0, 0.0))]
    assert advantages(MIXED, *dreams) == [0.75, -0.25, -0.25, -0.25]


def test_divided_by_unbiased_deviation() -> None:
    rewards = (1.0, 0.0, 0.0, 0.0)
    dreams = [made.dream(str(i), r) for i, r in enumerate(rewards)]
    scale = stdev(rewards) + 1e-4
    got = advantages(AdvantageConfig(divide_by_std=True), *dreams)
    assert got == pytest.approx([0.75 / scale, *[-0.25 / scale] * 3])


@pytest.mark.parametrize("reward", [0.0, 1.0])
@pytest.mark.parametrize("std", [False, True])
@pytest.mark.parametrize("baseline", list(Baseline))
def test_no_variance_is_exactly_zero_and_named(
    reward: float, std: bool, baseline: Baseline
) -> None:
    config = AdvantageConfig(baseline=baseline, divide_by_std=std)
    scored = score_group(made.group(*(made.dream(str(i), reward) for i in range(7))), config)
    assert scored.status is GroupStatus.NO_VARIANCE
    assert [c.advantage for c in scored.credits] == [0.0] * 7


def test_experts_in_the_baseline_or_not() -> None:
    """Four experts and four failed dreams (papers F17): mixed pushes down, on-policy only pulls up."""
    members = [made.expert(f"e{i}") for i in range(4)] + [
        made.dream(f"d{i}", 0.0) for i in range(4)
    ]
    assert advantages(MIXED, *members) == [0.5] * 4 + [-0.5] * 4
    assert advantages(ON_POLICY, *members) == [1.0] * 4 + [0.0] * 4
    with_std = AdvantageConfig(baseline=Baseline.ON_POLICY, divide_by_std=True)
    assert advantages(with_std, *members) == [1.0] * 4 + [0.0] * 4


def test_unknown_members_leave_before_the_mean() -> None:
    members = [made.dream("a", 1.0), made.dream("b", 0.0), made.dream("c", None)]
    scored = score_group(made.group(*members), MIXED)
    assert [c.advantage for c in scored.credits] == [0.5, -0.5]
    assert scored.unknown == 1


@pytest.mark.parametrize("known", [0, 1])
def test_too_few_known_members_teach_nothing(known: int) -> None:
    members = [made.dream(f"k{i}", 1.0) for i in range(known)] + [
        made.dream(f"u{i}", None) for i in range(3)
    ]
    scored = score_group(made.group(*members), MIXED)
    assert scored.status is GroupStatus.TOO_FEW
    assert all(c.advantage == 0.0 for c in scored.credits) and scored.unknown == 3


def test_one_dream_has_no_deviation_of_its_own() -> None:
    members = [made.dream("d", 0.0), made.expert("e0"), made.expert("e1")]
    config = AdvantageConfig(baseline=Baseline.ON_POLICY, divide_by_std=True)
    assert score_group(made.group(*members), config).status is GroupStatus.TOO_FEW
    assert advantages(ON_POLICY, *members) == [0.0, 1.0, 1.0]


def test_a_group_of_experts_has_no_policy_to_compare_with() -> None:
    scored = score_group(made.group(made.expert("a"), made.expert("b")), ON_POLICY)
    assert scored.status is GroupStatus.TOO_FEW


def test_a_group_of_one_is_refused() -> None:
    with pytest.raises(ValueError, match="at least two"):
        score_group(made.group(made.dream("a", 1.0)), MIXED)


def test_negative_cap_scales_the_push_on_the_policy() -> None:
    members = [made.expert(f"e{i}") for i in range(2)] + [
        made.dream(f"d{i}", 0.0) for i in range(2)
    ]
    assert advantages(AdvantageConfig(negative_cap=0.5), *members) == [0.5, 0.5, -0.25, -0.25]
    assert advantages(AdvantageConfig(negative_cap=2.0), *members) == [0.5, 0.5, -0.5, -0.5]
    assert advantages(AdvantageConfig(negative_cap=0.0), *members) == [0.5, 0.5, 0.0, 0.0]


@given(st.lists(st.sampled_from([0.0, 1.0, None]), min_size=2, max_size=12), st.booleans())
def test_mixed_advantages_sum_to_zero_and_order_by_reward(
    rewards: list[float | None], std: bool
) -> None:
    dreams = [made.dream(str(i), r) for i, r in enumerate(rewards)]
    scored = score_group(made.group(*dreams), AdvantageConfig(divide_by_std=std))
    assert len(scored.credits) + scored.unknown == len(rewards)
    assert sum(c.advantage for c in scored.credits) == pytest.approx(0.0, abs=1e-9)
    for c in scored.credits:
        if scored.status is GroupStatus.TRAINED:
            assert (c.advantage > 0.0) == (c.reward == 1.0)


@given(
    st.lists(st.sampled_from([0.0, 1.0, None, "expert"]), min_size=2, max_size=9),
    st.randoms(use_true_random=False),
    st.sampled_from(list(Baseline)),
    st.booleans(),
)
def test_order_of_members_changes_nobodys_advantage(kinds, rng, baseline, std) -> None:
    members = [
        made.expert(str(i)) if kind == "expert" else made.dream(str(i), kind)
        for i, kind in enumerate(kinds)
    ]
    config = AdvantageConfig(baseline=baseline, divide_by_std=std)

    def worth(some: list[made.Trajectory]) -> dict[str, float]:
        scored = score_group(made.group(*some), config)
        return {c.trajectory.trajectory_id: c.advantage for c in scored.credits}

    shuffled = list(members)
    rng.shuffle(shuffled)
    assert worth(shuffled) == pytest.approx(worth(members))


def test_summary_splits_by_source_and_never_writes_zero_for_nothing() -> None:
    members = [made.expert("e"), made.dream("a", 1.0), made.dream("b", 0.0), made.dream("c", None)]
    m = summarise([score_group(made.group(*members), MIXED)])
    assert (m["groups"], m["groups_trained"], m["members_unknown"]) == (1.0, 1.0, 1.0)
    assert (m["expert/reward"], m["dream/reward"], m["live/reward"]) == (1.0, 0.5, None)
    assert (m["expert/members"], m["dream/members"], m["live/members"]) == (1.0, 2.0, 0.0)
    assert m["dream/policy_tokens"] == 2.0 and m["dream/steps"] == 2.0
    assert {f"{s.value}/advantage" for s in Source} <= set(m)


def test_bad_settings_are_named() -> None:
    with pytest.raises(UserError, match="negative_cap -1"):
        AdvantageConfig(negative_cap=-1.0)
    with pytest.raises(UserError, match="std_floor 0"):
        AdvantageConfig(std_floor=0.0)

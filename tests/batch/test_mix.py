import dataclasses

import pytest
from tests.batch import made

from dynaweb.batch.mix import MixConfig, mix_group, split_group
from dynaweb.batch.source import Source, source_of
from dynaweb.errors import UserError
from dynaweb.records.trajectory import Outcome, Trajectory

START = made.dream("x", 1.0).start


def as_is(t: Trajectory) -> Trajectory:
    return t


def mix(config: MixConfig, dreams: int, experts: int, seed: int = 0, live: int = 0):
    return mix_group(
        START,
        [made.dream(f"d{i}", 0.0) for i in range(dreams)],
        [made.expert(f"e{i}") for i in range(experts)],
        config,
        render=as_is,
        seed=seed,
        live=[made.live(f"l{i}") for i in range(live)],
    )


@pytest.mark.parametrize(
    ("share", "experts", "expected"),
    [(0.5, 1, (4, 4, 0)), (0.5, 0, (8, 0, 0)), (0.0, 3, (8, 0, 0)), (1.0, 1, (0, 8, 0))],
)
def test_only_the_dreams_that_stay_are_dreamed(
    share: float, experts: int, expected: tuple[int, int, int]
) -> None:
    assert split_group(MixConfig(expert_share=share), experts=experts, live=0) == expected


def test_live_successes_never_crowd_out_the_last_dream() -> None:
    config = MixConfig(expert_share=0.5, live_share=0.5)
    assert split_group(config, experts=1, live=9) == (1, 4, 3)
    assert split_group(config, experts=0, live=9) == (4, 0, 4)


def test_half_of_the_members_are_the_experts() -> None:
    members = mix(MixConfig(), dreams=4, experts=1).members
    sources = [source_of(m) for m in members]
    assert (sources.count(Source.EXPERT), sources.count(Source.DREAM)) == (4, 4)


def test_several_experts_take_turns() -> None:
    members = mix(MixConfig(), dreams=4, experts=2).members
    names = sorted(m.trajectory_id for m in members if source_of(m) is Source.EXPERT)
    assert names == ["e0", "e0", "e1", "e1"]


def test_order_is_random_and_seeded() -> None:
    orders = [
        [m.trajectory_id for m in mix(MixConfig(), 4, 1, seed=s).members] for s in (0, 0, 1, 2)
    ]
    assert orders[0] == orders[1] and len({tuple(o) for o in orders}) > 1
    assert all(sorted(o) == sorted(orders[0]) for o in orders)


def test_live_successes_are_a_third_source() -> None:
    config = MixConfig(expert_share=0.25, live_share=0.25)
    members = mix(config, dreams=4, experts=1, live=1).members
    assert len(members) == 8
    assert [source_of(m) for m in members].count(Source.LIVE) == 2, "taken in turn, like experts"
    assert [source_of(m) for m in mix(MixConfig(), 4, 1, live=3).members].count(Source.LIVE) == 0


def test_live_failures_are_not_members() -> None:
    group = mix_group(
        START,
        [made.dream(f"d{i}", 0.0) for i in range(4)],
        [],
        MixConfig(group_size=4, expert_share=0.0, live_share=0.5),
        render=as_is,
        seed=0,
        live=[made.live("l", Outcome.FAILURE)],
    )
    assert [source_of(m) for m in group.members] == [Source.DREAM] * 4


def test_experts_speak_in_the_policys_words() -> None:
    said = []

    def render(t: Trajectory) -> Trajectory:
        said.append(t.trajectory_id)
        return dataclasses.replace(t, policy_version="rendered")

    group = mix_group(
        START, [made.dream("d", 0.0)] * 4, [made.expert("e")], MixConfig(), render=render, seed=0
    )
    assert said == ["e"] * 4
    assert {m.policy_version for m in group.members if source_of(m) is Source.EXPERT} == {
        "rendered"
    }


def test_wrong_members_are_refused() -> None:
    failed = made.member("e", Outcome.FAILURE, behaviour=made.Behaviour.EXPERT)
    with pytest.raises(ValueError, match="'e'"):
        mix_group(START, [], [failed], MixConfig(), render=as_is, seed=0)
    with pytest.raises(ValueError, match="'e'"):
        mix_group(START, [made.expert("e")], [], MixConfig(), render=as_is, seed=0)
    with pytest.raises(ValueError, match="not compared"):
        two_worlds = [made.dream("d", 0.0), made.live("l")]
        mix_group(START, two_worlds, [], MixConfig(), render=as_is, seed=0)
    elsewhere = dataclasses.replace(made.dream("d", 0.0), seed=99)
    with pytest.raises(ValueError, match="start"):
        mix_group(
            START, [elsewhere], [], MixConfig(expert_share=0.0, group_size=2), render=as_is, seed=0
        )


def test_bad_shares_are_named() -> None:
    with pytest.raises(UserError, match=r"expert_share 1\.5"):
        MixConfig(expert_share=1.5)
    with pytest.raises(UserError, match=r"live_share 0\.7"):
        MixConfig(expert_share=0.5, live_share=0.7)
    with pytest.raises(UserError, match="group_size 1"):
        MixConfig(group_size=1)

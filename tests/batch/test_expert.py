"""The four ways in which an expert's attempt teaches: who is compared, who is imitated, what it is worth."""

import dataclasses

import pytest
from tests.batch import made

from dynaweb.batch.advantage import (
    AdvantageConfig,
    Baseline,
    GroupStatus,
    score_group,
    uncompared,
)
from dynaweb.batch.expert import ExpertMode, is_hard, set_apart
from dynaweb.batch.source import Source
from dynaweb.batch.summary import summarise
from dynaweb.batch.tokens import Objective, imitated, train_trajectories
from dynaweb.records.trajectory import Group, Outcome

MIXED = AdvantageConfig()


def test_only_sft_takes_experts_out_of_the_comparison() -> None:
    group = made.group(made.expert("e"), made.dream("a", 0.0), made.dream("b", 1.0))
    for mode in ExpertMode:
        compared, shown = set_apart(group, mode)
        names = [m.trajectory_id for m in compared.members]
        assert names == (["a", "b"] if mode is ExpertMode.SFT else ["e", "a", "b"])
        assert [t.trajectory_id for t in shown] == (["e"] if mode is ExpertMode.SFT else [])


def test_without_the_expert_dreams_are_compared_among_themselves() -> None:
    """Two experts and dreams of 1, 0, 0: mixed 3/5, on-policy 1/3; what is left when `sft` takes the experts is 1/3 too."""
    dreams = [made.dream(str(i), r) for i, r in enumerate((1.0, 0.0, 0.0))]
    members = [made.expert("e0"), made.expert("e1"), *dreams]

    def worth(group: Group, config: AdvantageConfig) -> dict[str, float]:
        return {c.trajectory.trajectory_id: c.advantage for c in score_group(group, config).credits}

    mixed = worth(made.group(*members), MIXED)
    assert mixed == pytest.approx({"e0": 0.4, "e1": 0.4, "0": 0.4, "1": -0.6, "2": -0.6})
    on_policy = worth(made.group(*members), AdvantageConfig(baseline=Baseline.ON_POLICY))
    third = 1 / 3
    assert on_policy == pytest.approx(
        {"e0": 2 * third, "e1": 2 * third, "0": 2 * third, "1": -third, "2": -third}
    )
    compared, _ = set_apart(made.group(*members), ExpertMode.SFT)
    assert worth(compared, MIXED) == pytest.approx({"0": 2 * third, "1": -third, "2": -third})


@pytest.mark.parametrize(
    ("rewards", "hard"),
    [((0.0, 0.0), True), ((0.0, None), True), ((0.0, 1.0), False), ((None, None), False)],
)
def test_a_group_is_hard_when_all_known_attempts_failed(
    rewards: tuple[float | None, ...], hard: bool
) -> None:
    dreams = [made.dream(str(i), r) for i, r in enumerate(rewards)]
    assert is_hard(score_group(made.group(made.expert("e"), *dreams), MIXED)) is hard


def test_a_group_of_experts_alone_is_not_hard() -> None:
    assert not is_hard(score_group(made.group(made.expert("a"), made.expert("b")), MIXED))


def test_groups_of_one_and_of_none_teach_nothing_and_are_counted() -> None:
    one = uncompared(made.group(made.dream("a", 1.0)))
    none = uncompared(Group(start=made.dream("a", 1.0).start, members=()))
    lost = uncompared(made.group(made.dream("u", None)))
    assert [g.status for g in (one, none, lost)] == [GroupStatus.TOO_FEW] * 3
    assert [(c.reward, c.advantage) for c in one.credits] == [(1.0, 0.0)]
    assert (none.credits, none.unknown, lost.credits, lost.unknown) == ((), 0, (), 1)
    m = summarise([one, none, lost])
    assert (m["groups_too_few"], m["groups_empty"], m["members_unknown"]) == (3.0, 2.0, 1.0)


def test_experts_are_read_by_the_loss_of_their_mode() -> None:
    scored = score_group(made.group(made.expert("e"), made.dream("a", 0.0)), MIXED)
    for objective in (Objective.RATIO, Objective.SHAPED):
        read = {
            t.source: t.objective for t in train_trajectories(scored.credits, experts=objective)
        }
        assert read == {Source.EXPERT: objective, Source.DREAM: Objective.RATIO}


def test_imitated_experts_of_equal_words_become_one_with_copies() -> None:
    other = made.member(
        "c", Outcome.SUCCESS, behaviour=made.Behaviour.EXPERT, replies=(made.reply(9),)
    )
    read = imitated([made.expert("a"), made.expert("b"), other])
    assert [(t.name, t.copies, t.advantage) for t in read] == [("a", 2, 0.0), ("c", 1, 0.0)]
    assert {t.objective for t in read} == {Objective.LIKELIHOOD}


def test_a_failure_is_not_imitated() -> None:
    with pytest.raises(ValueError, match="'f'"):
        imitated([made.member("f", Outcome.FAILURE, behaviour=made.Behaviour.EXPERT)])


def test_imitated_experts_are_counted_as_members_without_an_advantage() -> None:
    group = made.group(made.expert("e"), made.dream("a", 0.0), made.dream("b", 1.0))
    compared, shown = set_apart(group, ExpertMode.SFT)
    m = summarise([dataclasses.replace(score_group(compared, MIXED), shown=shown)])
    assert (m["expert/members"], m["expert/imitated"], m["expert/reward"]) == (1.0, 1.0, 1.0)
    assert m["expert/advantage"] is None and m["dream/members"] == 2.0

import dataclasses
from collections.abc import Sequence

from tests.conformance.toy import FIRST, SECOND, SUBMIT
from tests.gspo.toys import attempt, starts

from dynaweb.batch.advantage import GroupStatus
from dynaweb.batch.mix import MixConfig
from dynaweb.batch.source import Source
from dynaweb.dream.run import DreamRequest
from dynaweb.gspo.config import GspoConfig
from dynaweb.gspo.groups import LEAST_SHARE, harvest, teaching
from dynaweb.records.action import Action, Click
from dynaweb.records.trajectory import Behaviour, Outcome, Reason, Trajectory, World

RIGHT: tuple[Action, ...] = (Click(SECOND), Click(SUBMIT))
WRONG: tuple[Action, ...] = (Click(FIRST), Click(SUBMIT))
CONFIG = GspoConfig(groups=3, resample_rounds=2, mix=MixConfig(group_size=4, expert_share=0.0))


def dreamt(request: DreamRequest, won: bool | None) -> Trajectory:
    real = attempt(request.start.seed, RIGHT if won else WRONG, Behaviour.AGENT)
    broken = {"outcome": Outcome.UNKNOWN, "reason": Reason.WORLD_MODEL_FAULT} if won is None else {}
    return dataclasses.replace(real, trajectory_id=request.name, world=World.DREAM, **broken)


class Dreams:
    """Answers like `dream.run.dream`, by a rule on the request's name `dream-<start>-<member>`."""

    def __init__(self, rule) -> None:
        self.rule = rule
        self.rounds: list[list[DreamRequest]] = []

    def __call__(self, requests: Sequence[DreamRequest]) -> list[Trajectory]:
        self.rounds.append(list(requests))
        return [dreamt(r, self.rule(*map(int, r.name.split("-")[1:]))) for r in requests]


def reap(dreams: Dreams, config: GspoConfig = CONFIG, first: int = 0):
    return harvest(starts(), config, first_start=first, dream=dreams, render=lambda t: t)


def test_groups_that_differ_need_one_round() -> None:
    dreams = Dreams(lambda k, i: i == 0)
    crop = reap(dreams)
    assert len(dreams.rounds) == 1 and len(dreams.rounds[0]) == 12
    assert [g.status for g in crop.groups] == [GroupStatus.TRAINED] * 3
    assert crop.starts_used == 3 and len(crop.dreams) == 12


def test_groups_without_variance_are_dreamed_again_and_counted() -> None:
    dreams = Dreams(lambda k, i: True if k in (1, 2) else i == 0)
    crop = reap(dreams)
    assert [len(r) for r in dreams.rounds] == [12, 8]
    assert len(crop.trained) == 3 and crop.starts_used == 5
    m = crop.metrics()
    assert (m["groups_trained"], m["groups_no_variance"], m["starts"]) == (3.0, 2.0, 5.0)


def test_the_budget_of_rounds_ends_it() -> None:
    dreams = Dreams(lambda k, i: False)
    crop = reap(dreams)
    assert len(dreams.rounds) == 3 and crop.trained == ()
    assert crop.metrics()["dream/success_rate"] == 0.0


def test_unknown_dreams_are_counted_and_leave_the_groups() -> None:
    dreams = Dreams(lambda k, i: None if i == 0 else i == 1)
    crop = reap(dreams)
    m = crop.metrics()
    assert m["members_unknown"] == 3.0 and m["dream/members"] == 9.0
    assert m["dream/ended_world_model_fault"] == 3.0
    assert m["dream/success_rate"] == 3 / 9


def test_dreams_that_broke_at_once_are_unknown_members() -> None:
    class Broken(Dreams):
        def __call__(self, requests: Sequence[DreamRequest]) -> list[Trajectory]:
            good = super().__call__(requests)
            return [
                dataclasses.replace(
                    t,
                    steps=(),
                    final=None,
                    outcome=Outcome.UNKNOWN,
                    reason=Reason.SAMPLER_FAULT,
                )
                if t.trajectory_id.endswith(("-1", "-2", "-3"))
                else t
                for t in good
            ]

    crop = reap(Broken(lambda k, i: True), dataclasses.replace(CONFIG, resample_rounds=0))
    assert [g.status for g in crop.groups] == [GroupStatus.TOO_FEW] * 3
    assert [g.unknown for g in crop.groups] == [3] * 3
    assert [len(g.credits) for g in crop.groups] == [1] * 3, "the one that is left keeps its reward"
    assert all(c.advantage == 0.0 for g in crop.groups for c in g.credits)


def test_with_experts_only_the_other_half_is_dreamed() -> None:
    dreams = Dreams(lambda k, i: False)
    crop = reap(dreams, dataclasses.replace(CONFIG, mix=MixConfig(group_size=4)))
    assert len(dreams.rounds[0]) == 6
    assert all(g.status is GroupStatus.TRAINED for g in crop.groups)
    for g in crop.groups:
        by_source = {c.source: c.advantage for c in g.credits}
        assert by_source == {Source.EXPERT: 0.5, Source.DREAM: -0.5}


def test_names_and_seeds_follow_the_number_of_the_start() -> None:
    one, other = Dreams(lambda k, i: i == 0), Dreams(lambda k, i: i == 0)
    reap(one, first=0)
    reap(other, first=2)
    assert one.rounds[0][8:] == other.rounds[0][:4]
    assert len({r.seed for r in one.rounds[0]}) == 12


def test_tasks_that_no_longer_teach_lose_their_share_but_are_not_forgotten() -> None:
    flat = reap(Dreams(lambda k, i: True)).groups
    shares = teaching({}, flat[:1])
    assert shares == {"toy-check": 0.7}
    for _ in range(9):
        shares = teaching(shares, flat[:1])
    assert shares == {"toy-check": LEAST_SHARE}
    varied = reap(Dreams(lambda k, i: i == 0)).groups
    assert teaching(shares, varied)["toy-check"] > 0.6


def test_experts_among_dreams_that_all_fail_do_not_make_a_task_worth_drawing() -> None:
    mixed = dataclasses.replace(CONFIG, mix=MixConfig(group_size=4))
    hopeless = reap(Dreams(lambda k, i: False), mixed).groups
    assert all(g.status is GroupStatus.TRAINED for g in hopeless)
    assert teaching({"toy-check": 1.0}, hopeless[:1]) == {"toy-check": 0.7}

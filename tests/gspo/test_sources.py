"""Groups of three sources: dreams, the real browser and experts, in each expert mode."""

import dataclasses
from collections.abc import Sequence

import pytest
from tests.gspo.test_groups import CONFIG, Dreams, dreamt
from tests.gspo.toys import starts

from dynaweb.batch.advantage import GroupStatus
from dynaweb.batch.expert import ExpertMode
from dynaweb.batch.mix import MixConfig
from dynaweb.batch.source import Source
from dynaweb.dream.run import DreamRequest
from dynaweb.gspo.config import GspoConfig, UpdateConfig
from dynaweb.gspo.groups import Harvest, harvest, teaching
from dynaweb.gspo.sources import ExpertConfig, LiveConfig
from dynaweb.records.trajectory import Trajectory, World


class Real(Dreams):
    """The same attempts, at real pages."""

    def __call__(self, requests: Sequence[DreamRequest]) -> list[Trajectory]:
        self.rounds.append(list(requests))
        return [
            dataclasses.replace(
                dreamt(r, self.rule(*map(int, r.name.split("-")[1:]))), world=World.LIVE
            )
            for r in requests
        ]


def with_mode(mode: ExpertMode, share: float = 0.5, **changes: object) -> GspoConfig:
    return dataclasses.replace(
        CONFIG,
        mix=MixConfig(group_size=4, expert_share=share),
        update=UpdateConfig(experts=ExpertConfig(mode=mode)),
        **changes,
    )


def reap(dreams: Dreams, config: GspoConfig, live: Dreams | None = None, **changes: int) -> Harvest:
    return harvest(
        starts(),
        config,
        first_start=changes.get("first", 0),
        dream=dreams,
        render=lambda t: dataclasses.replace(t, policy_version="rendered"),
        live=live,
        live_steps=changes.get("live_steps", 0),
    )


@pytest.mark.parametrize("mode", [ExpertMode.RECOMPUTE, ExpertMode.LUFFY])
def test_experts_that_are_members_take_places(mode: ExpertMode) -> None:
    crop = reap(Dreams(lambda k, i: False), with_mode(mode))
    assert len(crop.dreams) == 6 and crop.shown == ()
    assert {c.source for g in crop.groups for c in g.credits} == {Source.EXPERT, Source.DREAM}


def test_sft_compares_dreams_alone_and_shows_the_experts_of_every_group() -> None:
    config = with_mode(ExpertMode.SFT, resample_rounds=0)
    crop = reap(Dreams(lambda k, i: False), config)
    assert [g.status for g in crop.groups] == [GroupStatus.NO_VARIANCE] * 3
    assert len(crop.shown) == 6 and {t.policy_version for t in crop.shown} == {"rendered"}
    assert {c.source for g in crop.groups for c in g.credits} == {Source.DREAM}


def test_hard_only_dreams_whole_groups_and_shows_experts_where_all_failed() -> None:
    config = with_mode(ExpertMode.HARD_ONLY, resample_rounds=0)
    crop = reap(Dreams(lambda k, i: k == 1 and i == 0), config)
    assert len(crop.dreams) == 12, "nobody's place is taken"
    assert [len(g.shown) for g in crop.groups] == [1, 0, 1]
    assert [g.status for g in crop.groups] == [
        GroupStatus.NO_VARIANCE,
        GroupStatus.TRAINED,
        GroupStatus.NO_VARIANCE,
    ]
    assert crop.metrics()["groups_hard"] == 2.0 and crop.metrics()["expert/imitated"] == 2.0
    assert {t.policy_version for t in crop.shown} == {"rendered"}


def test_live_groups_alone_dream_nothing() -> None:
    live = Real(lambda k, i: i == 0)
    crop = reap(
        Dreams(lambda k, i: False), dataclasses.replace(CONFIG, live=LiveConfig(share=1.0)), live
    )
    assert crop.dreams == () and len(crop.live) == 12
    assert {c.source for g in crop.groups for c in g.credits} == {Source.LIVE}
    m = crop.metrics()
    real = sum(s.action is not None for t in crop.live for s in (*t.past, *t.steps))
    assert m["live/real_steps"] == real > 0
    assert (m["live/success_rate"], m["dream/success_rate"]) == (0.25, None)
    assert m["live/attempts"] == 12.0 and m["live/ended_task_ended"] == 12.0
    assert teaching({}, crop.groups[:1]) == {"toy-check": 1.0}, "live groups teach too"


def test_worlds_are_drawn_group_by_group_and_never_mixed() -> None:
    config = dataclasses.replace(CONFIG, groups=12, live=LiveConfig(share=0.5))
    dreams, live = Dreams(lambda k, i: i == 0), Real(lambda k, i: i == 0)
    crop = reap(dreams, config, live)
    worlds = [{c.source for c in g.credits} for g in crop.groups]
    assert all(len(w) == 1 for w in worlds)
    assert 0 < sum(w == {Source.LIVE} for w in worlds) < 12
    again = reap(Dreams(lambda k, i: i == 0), config, Real(lambda k, i: i == 0), first=4)
    assert [{c.source for c in g.credits} for g in again.groups][:8] == worlds[4:], (
        "a start's world follows its number, so a resumed run draws the same"
    )


def test_other_tasks_than_the_live_ones_are_dreamt() -> None:
    config = dataclasses.replace(CONFIG, live=LiveConfig(share=0.99, tasks=("another",)))
    crop = reap(Dreams(lambda k, i: i == 0), config, Real(lambda k, i: i == 0))
    assert crop.live == () and len(crop.dreams) == 12


def test_a_spent_budget_turns_live_groups_into_dreams_or_ends_the_round() -> None:
    mixed = dataclasses.replace(CONFIG, live=LiveConfig(share=0.99, budget=10))
    live = Real(lambda k, i: i == 0)
    crop = reap(Dreams(lambda k, i: i == 0), mixed, live, live_steps=10)
    assert crop.live == () and len(crop.dreams) == 12
    alone = dataclasses.replace(CONFIG, live=LiveConfig(share=1.0, budget=10))
    assert reap(Dreams(lambda k, i: True), alone, live, live_steps=10).groups == ()
    begun = reap(Dreams(lambda k, i: True), alone, Real(lambda k, i: True))
    assert len(begun.groups) == 3, "what is begun is finished; no second round"


def test_live_attempts_that_began_elsewhere_are_unknown_and_counted() -> None:
    other = dreamt(DreamRequest(name="x", start=starts()[-1].start, seed=0), won=True)

    class Lost(Real):
        def __call__(self, requests: Sequence[DreamRequest]) -> list[Trajectory]:
            made = super().__call__(requests)
            page = dataclasses.replace(other.steps[-1].observation, tree="another page")
            lost = dataclasses.replace(made[0].steps[0], observation=page)
            made[0] = dataclasses.replace(made[0], steps=(lost, *made[0].steps[1:]))
            return made

    config = dataclasses.replace(CONFIG, live=LiveConfig(share=1.0))
    crop = reap(Dreams(lambda k, i: False), config, Lost(lambda k, i: i == 1))
    assert crop.metrics()["members_elsewhere"] == 1.0
    assert crop.metrics()["members_unknown"] == 1.0 and crop.groups[0].unknown == 1

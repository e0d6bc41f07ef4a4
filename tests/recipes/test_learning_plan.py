"""The plan of `dynaweb bench learning`: what is fixed before anything is evaluated."""

from dataclasses import replace

import pytest

from dynaweb.collect.experts import EXPERTS
from dynaweb.errors import UserError
from dynaweb.recipes.learning.arms import gspo_of
from dynaweb.recipes.learning.config import COMPARISONS, FIRST_PAGE, IN_WORDS, SIZES, Arm, sized
from dynaweb.recipes.learning.run import OneRun, all_runs, evaluation_plan
from dynaweb.recipes.presets import FRESH_PAGES, STUDY_TASKS


def test_it_is_as_large_as_it_claims():
    plan = sized("full")
    assert len(plan.recipe.tasks) == 15 and set(plan.recipe.tasks) <= set(EXPERTS)
    assert plan.recipe.evaluation.episodes == 15
    assert len(plan.seeds) == 3
    assert set(plan.recipe.tasks) <= set(STUDY_TASKS)


@pytest.mark.parametrize("size", SIZES)
def test_runs_and_their_seeds(size):
    plan = sized(size)
    runs = all_runs(plan)
    assert len(runs) == len(set(runs)) == 4 + 3 * len(plan.seeds)
    assert {a for a, s in runs if s == plan.seeds[0]} == set(Arm)
    assert {a for a, s in runs if s != plan.seeds[0]} == {Arm.SFT_MORE, Arm.DREAMS, Arm.LIVE}
    assert runs.index((Arm.LIVE, plan.seeds[0])) < runs.index((Arm.FILTERED, plan.seeds[0]))


def test_pages_are_new_and_all_are_attempted_at_the_end():
    plan = sized("full")
    ends = [evaluation_plan(OneRun(learning=plan, arm=Arm.DREAMS, seed=s), 2) for s in plan.seeds]
    assert all(e.seeds == tuple(range(FIRST_PAGE, FIRST_PAGE + 15)) for e in ends)
    assert FIRST_PAGE > FRESH_PAGES + 1_000_000


def test_before_the_end_seeds_share_the_pages():
    plan = sized("full")
    parts = [plan.pages(seed, 1) for seed in plan.seeds]
    assert sorted(p for part in parts for p in part) == list(range(FIRST_PAGE, FIRST_PAGE + 15))
    assert {len(part) for part in parts} == {5}


def test_arms_differ_in_what_they_are_named_for():
    plan = sized("full")
    half, alone, live, blind = (
        gspo_of(plan, arm, 0) for arm in (Arm.DREAMS, Arm.DREAMS_ONLY, Arm.LIVE, Arm.UNTRAINED)
    )
    assert half.mix.expert_share == 0.5 and half.live.share == 0.0
    assert alone.mix.expert_share == 0.0 and alone.update.demonstrations.weight == 0.0
    assert live.live.share == 1.0 and live.mix.expert_share == 0.0 and live.resample_rounds == 0
    assert live.update == half.update
    assert replace(blind, seed=half.seed) == half
    assert half.audit.every == 0  # a replay would spend live steps
    assert len({g.seed for g in (half, alone, live, blind)}) == 4
    assert gspo_of(plan, Arm.DREAMS, 1).seed != half.seed


def test_every_arm_is_compared_with_the_first_agent():
    assert {c.treatment for c in COMPARISONS if c.control == Arm.SFT} == set(Arm) - {Arm.SFT}
    assert {c.control for c in COMPARISONS if c.primary} == {Arm.SFT_MORE, Arm.LIVE}
    assert set(IN_WORDS) == set(Arm)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"sft_steps": (2, 2)}, "sft_steps"),
        ({"live_iterations": (0, 2)}, "live_iterations"),
        ({"dream_iterations": (1, 2, 3)}, "dream_iterations has 3 checkpoints"),
        ({"seeds": (1, 1)}, "seeds"),
        ({"seeds": tuple(range(16))}, "fewer than the seeds"),
        ({"live_groups": 0}, "live_groups"),
    ],
)
def test_a_plan_that_cannot_work(change, said):
    with pytest.raises(UserError, match=said):
        replace(sized("full"), **change)


def test_live_gspo_needs_fresh_pages():
    plan = sized("full")
    data = replace(plan.recipe.data, openings=0)
    with pytest.raises(UserError, match="openings"):
        replace(plan, recipe=replace(plan.recipe, data=data))


def test_no_such_plan():
    with pytest.raises(UserError, match="'big'"):
        sized("big")

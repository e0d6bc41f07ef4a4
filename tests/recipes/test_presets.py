from dataclasses import replace

import pytest

from dynaweb.collect.experts import EXPERTS
from dynaweb.errors import UserError
from dynaweb.recipes.config import (
    EVALUATION_SEEDS_FROM,
    VALIDATION_SEEDS_FROM,
    BaseConfig,
    EvaluationConfig,
    PolicyConfig,
)
from dynaweb.recipes.presets import PRESETS, preset, study
from dynaweb.recipes.proof import evaluation_plan


@pytest.mark.parametrize("name", PRESETS)
def test_every_recipe_can_be_planned(name):
    config = preset(name)
    plan = evaluation_plan(config)
    assert set(config.tasks) <= set(EXPERTS)
    assert min(plan.seeds) >= EVALUATION_SEEDS_FROM
    assert {c.control for c in plan.comparisons if c.primary} == {"sft_more", "filtered_bc"}


def test_the_study_is_as_large_as_it_claims():
    plan = evaluation_plan(study())
    assert len(plan.tasks) >= 25
    assert len(plan.seeds) >= 20
    assert sum(EXPERTS[t].steps >= 3 for t in plan.tasks) >= 10


def test_trials_look_at_pages_that_nothing_else_uses():
    how = EvaluationConfig(episodes=10, first_seed=VALIDATION_SEEDS_FROM)
    plan = evaluation_plan(replace(study(), evaluation=how))
    assert plan.seeds == tuple(range(60_000, 60_010))
    with pytest.raises(UserError, match="use 60000 or more"):
        EvaluationConfig(first_seed=59_999)


def test_no_such_recipe():
    with pytest.raises(UserError, match="'big'"):
        preset("big")


def test_a_seed_reaches_every_stream_of_chance():
    one, two = study().with_seed(1), study().with_seed(2)
    for part in ("policy.fit", "world.fit", "world.train", "gspo"):
        a, b = one, two
        for name in part.split("."):
            a, b = getattr(a, name), getattr(b, name)
        assert a.seed != b.seed
    assert study().with_seed(1) == one


def test_a_base_needs_pointers():
    with pytest.raises(UserError, match=r"policy\.base\.find"):
        PolicyConfig(pointers=False, base=BaseConfig(find=1))
    with pytest.raises(UserError, match="base mixed -1"):
        BaseConfig(mixed=-1)

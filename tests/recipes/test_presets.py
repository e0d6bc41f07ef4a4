import re
from dataclasses import replace

import pytest

from dynaweb.collect.experts import EXPERTS
from dynaweb.dream.config import DreamConfig
from dynaweb.errors import UserError
from dynaweb.gspo.config import GspoConfig
from dynaweb.recipes.config import (
    EVALUATION_SEEDS_FROM,
    VALIDATION_SEEDS_FROM,
    BaseConfig,
    EvaluationConfig,
    PolicyConfig,
)
from dynaweb.recipes.dreamland import Dreamland, dreaming_in
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


@pytest.mark.parametrize("part", ["world.ask", "world.train.examples"])
@pytest.mark.parametrize(("name", "value"), [("show_goal", False), ("past_actions", 3)])
def test_a_world_model_is_asked_as_it_was_trained(part, name, value):
    with pytest.raises(UserError, match=rf"{re.escape(part)}\.{name}={value}.*set them alike"):
        changed(study(), f"{part}.{name}", value)


def test_a_world_model_is_told_the_goal_in_dreams_too_or_not_at_all():
    for name in PRESETS:
        preset(name).require_told_alike()
    with pytest.raises(UserError, match=r"gspo\.dream\.show_goal=False: set them alike"):
        changed(study(), "gspo.dream.show_goal", False).require_told_alike()


def changed(config, name, value):
    first, _, rest = name.partition(".")
    part = changed(getattr(config, first), rest, value) if rest else value
    return replace(config, **{first: part})


def test_dreams_in_a_given_world_follow_what_it_was_trained_on():
    seen = Dreamland(world=None, judge=None, shows_goal=False, folder=None, bars=None)
    told = GspoConfig(dream=DreamConfig(show_goal=True, max_steps=3))
    assert dreaming_in(seen, told).dream == DreamConfig(show_goal=False, max_steps=3)
    assert dreaming_in(replace(seen, shows_goal=True), told) == told
    assert dreaming_in(None, told) == told

"""The loop with groups from a live world: the toy site itself, attempted by the policy in training."""

import asyncio
import dataclasses
import json
from pathlib import Path

import pytest
import torch
from tests.conformance.toy import ToyEnvironment
from tests.gspo import toys
from transformers import PreTrainedModel

from dynaweb.agent.lm_agent import AgentConfig, LmAgent, act_prompt
from dynaweb.batch.expert import ExpertMode
from dynaweb.batch.mix import MixConfig
from dynaweb.contracts import SampleRequest
from dynaweb.dream.run import DreamRequest
from dynaweb.errors import BrowserError, UserError
from dynaweb.gspo.config import GspoConfig, UpdateConfig
from dynaweb.gspo.parts import Parts
from dynaweb.gspo.readable import readable
from dynaweb.gspo.sources import ExpertConfig, LiveConfig
from dynaweb.gspo.train import train_gspo
from dynaweb.lm.language import Language
from dynaweb.records.observation import Observation
from dynaweb.records.trajectory import Behaviour, Generation, Start, Trajectory, World
from dynaweb.rollout.episode import EpisodeConfig, run_episode
from dynaweb.train.config import OptimizerConfig

QUICK = GspoConfig(
    iterations=2,
    groups=2,
    resample_rounds=0,
    max_new_tokens=8,
    mix=MixConfig(group_size=4, expert_share=0.0),
    live=LiveConfig(share=1.0),
    update=UpdateConfig(
        optimizer=OptimizerConfig(name="adamw", learning_rate=3e-4, weight_decay=0.0)
    ),
)


@pytest.fixture(scope="module")
def half_trained(tmp_path_factory: pytest.TempPathFactory) -> PreTrainedModel:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield toys.half_trained(tmp_path_factory.mktemp("sft"))
    torch.set_num_threads(before)


class Breaking(ToyEnvironment):
    """Breaks off at the second action."""

    async def reset(self, task: str, seed: int, start: Start | None = None) -> Observation:
        page = await super().reset(task, seed, start)
        self.left = 1
        return page

    async def step(self, action):
        if self.left == 0:
            raise BrowserError("the page crashed")
        self.left -= 1
        return await super().step(action)


def at_the_site(parts: Parts, site: type[ToyEnvironment] = ToyEnvironment):
    """What `recipes.attempting` does in Chromium, at the toy site."""

    async def ask(request: SampleRequest) -> Generation:
        return parts.sampler.sample([request])[0]

    async def one(request: DreamRequest) -> Trajectory:
        how = AgentConfig(temperature=1.0, max_new_tokens=8)
        return await run_episode(
            site(),
            LmAgent(ask, parts.language, parts.sampler.version, how),
            trajectory_id=request.name,
            task=request.start.task,
            seed=request.start.seed,
            config=EpisodeConfig(max_steps=3),
            behaviour=Behaviour.AGENT,
            start=request.start,
            episode_seed=request.seed,
        )

    return lambda requests: [asyncio.run(one(r)) for r in requests]


def live_parts(half_trained: PreTrainedModel, site: type[ToyEnvironment] = ToyEnvironment) -> Parts:
    plain = toys.parts(toys.copy_weights(half_trained))
    alone = dataclasses.replace(plain, world=None, judge=None)
    return dataclasses.replace(alone, live=at_the_site(plain, site))


def rows(folder: Path) -> list[dict[str, float | None]]:
    lines = (folder / "metrics.jsonl").read_text().splitlines()
    return [{k: v for k, v in json.loads(line).items() if not k.endswith("_sec")} for line in lines]


def weights(parts: Parts) -> torch.Tensor:
    return torch.cat([w.detach().flatten() for w in parts.policy.parameters()])


def test_a_policy_learns_at_real_pages_without_a_world_model(
    half_trained: PreTrainedModel, tmp_path: Path
) -> None:
    parts = live_parts(half_trained)
    before = weights(parts).clone()
    result = train_gspo(parts, QUICK, tmp_path)
    told = rows(tmp_path)
    assert result.live_steps == told[-1]["live/real_steps_total"] > 0
    assert sum(r["live/real_steps"] or 0.0 for r in told) == result.live_steps
    assert told[0]["dream/attempts"] == 0.0 and told[0]["live/attempts"] == 8.0
    gaps = [r["update/sampler_gap"] for r in told if r["update/sampler_gap"] is not None]
    assert gaps and max(gaps) < 1e-3, "live attempts are held against the weights in training too"
    assert not torch.equal(weights(parts), before)


def test_a_run_that_goes_on_remembers_what_it_has_spent(
    half_trained: PreTrainedModel, tmp_path: Path
) -> None:
    straight, again = live_parts(half_trained), live_parts(half_trained)
    whole = train_gspo(straight, QUICK, tmp_path / "straight")
    train_gspo(live_parts(half_trained), dataclasses.replace(QUICK, iterations=1), tmp_path / "cut")
    resumed = train_gspo(again, QUICK, tmp_path / "cut")
    assert (resumed.resumed_from, resumed.live_steps) == (1, whole.live_steps)
    assert torch.equal(weights(straight), weights(again))
    assert rows(tmp_path / "cut") == rows(tmp_path / "straight")


def test_a_spent_budget_ends_a_live_run(half_trained: PreTrainedModel, tmp_path: Path) -> None:
    config = dataclasses.replace(QUICK, iterations=9, live=LiveConfig(share=1.0, budget=1))
    result = train_gspo(live_parts(half_trained), config, tmp_path)
    assert result.iterations == 1 and result.budget_spent
    again = train_gspo(live_parts(half_trained), config, tmp_path)
    assert (again.iterations, again.budget_spent) == (1, True), "and stays ended"


def test_attempts_that_the_world_broke_are_nobodys_zero(
    half_trained: PreTrainedModel, tmp_path: Path
) -> None:
    parts = live_parts(half_trained, Breaking)
    train_gspo(parts, dataclasses.replace(QUICK, iterations=1), tmp_path)
    (told,) = rows(tmp_path)
    broken = told["live/ended_browser_fault"] or 0.0
    assert broken > 0.0 and told["members_unknown"] == broken
    assert told["live/members"] == 8.0 - broken


@pytest.mark.parametrize("mode", [ExpertMode.LUFFY, ExpertMode.SFT, ExpertMode.HARD_ONLY])
def test_every_expert_mode_trains_beside_live_groups_and_dreams(
    mode: ExpertMode, half_trained: PreTrainedModel, tmp_path: Path
) -> None:
    config = dataclasses.replace(
        QUICK,
        iterations=1,
        groups=4,
        mix=MixConfig(group_size=4, expert_share=0.5),
        live=LiveConfig(share=0.5),
        update=dataclasses.replace(QUICK.update, experts=ExpertConfig(mode=mode)),
    )
    plain = toys.parts(toys.copy_weights(half_trained))
    parts = dataclasses.replace(plain, live=at_the_site(plain))
    train_gspo(parts, config, tmp_path)
    (told,) = rows(tmp_path)
    assert told["live/attempts"] and told["dream/attempts"]
    if mode is ExpertMode.LUFFY:
        assert told["update/shaped_probability"] is not None
    if mode is ExpertMode.SFT:
        assert told["expert/imitated"] == 8.0 and told["update/imitation_weight"] == 0.1
    if mode is ExpertMode.HARD_ONLY:
        assert told["expert/imitated"] == told["groups_hard"]


def test_a_source_that_is_wanted_and_not_there_is_named(
    half_trained: PreTrainedModel, tmp_path: Path
) -> None:
    parts = live_parts(half_trained)
    with pytest.raises(UserError, match="no world model"):
        train_gspo(parts, dataclasses.replace(QUICK, live=LiveConfig(share=0.5)), tmp_path)
    with pytest.raises(UserError, match="none is given"):
        train_gspo(dataclasses.replace(parts, live=None), QUICK, tmp_path)


def test_what_a_policy_cannot_read_or_did_not_write_is_left_out_and_counted(
    half_trained: PreTrainedModel,
) -> None:
    language = Language(toys.tokenizer())
    points = toys.starts()
    whole, left = readable(points, language, context=512, room=8)
    assert whole == points and left == {}
    prompts = [
        len(language.encode(act_prompt(p.start.goal, p.start.past, p.start.observation)).ids)
        for p in points
    ]
    kept, left = readable(points, language, context=max(prompts) + 7, room=8)
    longest = prompts.count(max(prompts))
    assert left["start_too_long"] == longest and len(kept) == len(points) - longest
    kept, left = readable(points, language, context=max(prompts), room=0)
    assert kept and left["expert_too_long"] > 0, (
        "the start can be read, the expert's reply has no room"
    )
    assert sum(len(p.experts) for p in points) == left["expert_too_long"] + sum(
        len(p.experts) for p in kept
    )
    parts = live_parts(half_trained)
    request = DreamRequest(name="own", start=points[0].start, seed=1)
    (own,) = at_the_site(parts)([request])
    assert own.world is World.LIVE
    mine = dataclasses.replace(points[0], own=(own,))
    ((kept,), left) = readable([mine], language, context=512, room=8)
    assert left == {} and [t.trajectory_id for t in kept.own] == ["own"]
    versions = {g.policy_version for s in kept.own[0].steps for g in s.generations}
    assert versions == {f"before {parts.sampler.version}"}, (
        "no version of this run's, whatever its name"
    )
    assert not any(g.logprobs for s in kept.own[0].steps for g in s.generations)
    foreign = dataclasses.replace(
        own.steps[0],
        generations=tuple(
            dataclasses.replace(g, prompt_ids=g.prompt_ids[::-1]) for g in own.steps[0].generations
        ),
    )
    other = dataclasses.replace(own, steps=(foreign, *own.steps[1:]))
    kept, left = readable(
        [dataclasses.replace(points[0], own=(other,))], language, context=512, room=8
    )
    assert kept[0].own == () and left == {"attempt_with_other_prompts": 1}

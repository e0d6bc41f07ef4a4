"""A tiny policy that half knows the toy site, and everything a run in its dream needs."""

import asyncio
from functools import cache
from pathlib import Path

import torch
from tests.conformance.scripted import Scripted
from tests.conformance.toy import (
    FIRST,
    SECOND,
    SUBMIT,
    RuleJudge,
    TableWorldModel,
    ToyEnvironment,
    solution,
    table_of,
)
from transformers import PreTrainedModel

from dynaweb.agent.lm_agent import act_prompt
from dynaweb.dream.starts import StartPoint, StartsConfig, collect_starts
from dynaweb.gspo.parts import Parts
from dynaweb.lm.language import Language
from dynaweb.lm.model import ModelConfig, build_model
from dynaweb.lm.sampler import TorchSampler
from dynaweb.lm.tokenizer import Tokenizer, train_tokenizer
from dynaweb.records.action import Action, Click, print_action
from dynaweb.records.trajectory import Behaviour, Trajectory
from dynaweb.rollout.episode import EpisodeConfig, run_episode
from dynaweb.train.encode import encode_examples
from dynaweb.train.fit import FitConfig, fit

SEEDS = range(4)
TASK = "toy-check"


@cache
def expert(seed: int, task: str = TASK) -> Trajectory:
    return attempt(seed, solution(task, seed), Behaviour.EXPERT, task)


def attempt(
    seed: int, actions: tuple[Action, ...], behaviour: Behaviour, task: str = TASK
) -> Trajectory:
    return asyncio.run(
        run_episode(
            ToyEnvironment(),
            Scripted(actions),
            trajectory_id=f"{task}-{seed}-{behaviour}",
            task=task,
            seed=seed,
            config=EpisodeConfig(max_steps=len(actions)),
            behaviour=behaviour,
        )
    )


def starts() -> tuple[StartPoint, ...]:
    return collect_starts([expert(s) for s in SEEDS], StartsConfig()).points


@cache
def tokenizer() -> Tokenizer:
    return train_tokenizer([p + c for p, c in ambivalent()], 512)


@cache
def table() -> TableWorldModel:
    return table_of(SEEDS)


def ambivalent(options: tuple[str, ...] = (FIRST, SECOND)) -> list[tuple[str, str]]:
    """What the policy is taught first: click one of the options, such as either box, then submit."""
    pairs = []
    for seed in SEEDS:
        for box in options:
            t = attempt(seed, (Click(box), Click(SUBMIT)), Behaviour.RANDOM)
            for i, step in enumerate(t.steps):
                assert step.action is not None
                prompt = act_prompt(t.goal, t.steps[:i], step.observation)
                pairs.append((prompt, print_action(step.action)))
    return pairs


def half_trained(folder: Path, options: tuple[str, ...] = (FIRST, SECOND)) -> PreTrainedModel:
    """Clicks each option about as often: with two boxes, the right one half of the time."""
    words = tokenizer()
    model = build_model(
        ModelConfig(hidden=48, layers=2, heads=4, ffn=96, context=512), words.vocab_size, seed=0
    )
    examples = encode_examples(Language(words), ambivalent(options))
    fit(model, examples, FitConfig(steps=90, batch_tokens=4096, warmup_steps=5), folder)
    return model


def parts(policy: PreTrainedModel) -> Parts:
    words = tokenizer()
    return Parts(
        policy=policy,
        name="toy",
        sampler=TorchSampler(policy, words, "toy"),
        language=Language(words),
        world=table(),
        judge=RuleJudge(),
        starts=starts(),
        demonstrations=tuple(encode_examples(Language(words), ambivalent())),
    )


def blank() -> PreTrainedModel:
    """The shape of `half_trained`."""
    shape = ModelConfig(hidden=48, layers=2, heads=4, ffn=96, context=512)
    return build_model(shape, tokenizer().vocab_size, seed=1)


def copy_weights(source: PreTrainedModel) -> PreTrainedModel:
    model = blank()
    with torch.no_grad():
        for (_, p), (_, q) in zip(model.named_parameters(), source.named_parameters(), strict=True):
            p.copy_(q)
    return model

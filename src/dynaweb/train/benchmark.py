"""How fast the default model learns and writes on this machine, beside what a user would else run.

Seconds are processor seconds of this process, so other load on the machine hardly shows. Data are
random ids of the lengths that MiniWoB++ prompts have: speed does not depend on what they say.
"""

import random
import time
from dataclasses import dataclass, field

import torch
from transformers import LlamaForCausalLM, PreTrainedModel

from dynaweb.contracts import SampleRequest
from dynaweb.errors import UserError
from dynaweb.lm.config import ModelConfig
from dynaweb.lm.model import build_model
from dynaweb.lm.sampler import TorchSampler
from dynaweb.lm.tokenizer import train_tokenizer
from dynaweb.train.batch import Example
from dynaweb.train.config import FitConfig, OptimizerConfig, OptimizerName
from dynaweb.train.fit import accumulate_gradients
from dynaweb.train.optimizer import Optimizer


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkConfig:
    """What is measured.

    Example:
        BenchmarkConfig(rows=8, repeats=1)
    """

    model: ModelConfig = field(default_factory=ModelConfig)
    """Shape of the model."""
    vocab_size: int = 2048
    """Ids of its vocabulary, at least 512."""
    rows: int = 64
    """Replies written at once, a multiple of `group`."""
    group: int = 8
    """Replies that share a prompt, at least 1."""
    prompt_tokens: tuple[int, int] = (40, 100)
    """Shortest and longest prompt."""
    new_tokens: int = 12
    """Length of every reply, at least 1."""
    batch_tokens: int = 4096
    """Positions in one training step, room for an example at least."""
    repeats: int = 3
    """Measurements, of which the median counts; at least 1."""

    def __post_init__(self) -> None:
        if self.vocab_size < 512 or self.repeats < 1 or self.new_tokens < 1:
            raise UserError(
                f"benchmark needs vocab_size of at least 512, repeats and new_tokens of at least 1: {self!r}"
            )
        if self.group < 1 or self.rows < self.group or self.rows % self.group:
            raise UserError(
                f"benchmark rows {self.rows!r} must be a multiple of group {self.group!r}"
            )
        if (
            not 1
            <= self.prompt_tokens[0]
            <= self.prompt_tokens[1]
            <= self.model.context - self.new_tokens
        ):
            raise UserError(
                f"benchmark prompt_tokens {self.prompt_tokens!r} do not fit a context of {self.model.context}"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkResult:
    """Tokens per processor second, medians; compare them with each other, not across machines."""

    train_adamw: float
    """Prompt and completion tokens in training steps with AdamW."""
    train_muon: float
    """The same with Muon."""
    sample_distinct: float
    """Written tokens, every prompt another."""
    sample_grouped: float
    """Written tokens, `group` replies to a prompt."""
    generate: float
    """Written tokens with `transformers`' own generate, prompts padded to one length."""
    threads: int
    """Threads of torch while this was measured."""


def benchmark(config: BenchmarkConfig) -> BenchmarkResult:
    """Measure training steps, our sampler and `transformers`' own, in that order."""
    model = build_model(config.model, config.vocab_size, seed=0)
    stream = random.Random(0)
    return BenchmarkResult(
        train_adamw=_training(model, config, "adamw", stream),
        train_muon=_training(model, config, "muon", stream),
        sample_distinct=_sampling(model, config, 1, stream),
        sample_grouped=_sampling(model, config, config.group, stream),
        generate=_generate(model, config, stream),
        threads=torch.get_num_threads(),
    )


def _ids(config: BenchmarkConfig, stream: random.Random) -> tuple[int, ...]:
    return tuple(
        stream.randrange(2, config.vocab_size) for _ in range(stream.randint(*config.prompt_tokens))
    )


def _training(
    model: PreTrainedModel, config: BenchmarkConfig, name: OptimizerName, stream: random.Random
) -> float:
    # A rate this small leaves the model as it is for the measurements that follow.
    optimizer = Optimizer(
        model,
        OptimizerConfig(name=name, learning_rate=1e-12, muon_learning_rate=1e-12, weight_decay=0.0),
    )
    longest = config.prompt_tokens[1] + config.new_tokens
    reply = tuple(range(2, 2 + config.new_tokens))
    examples = [
        Example(prompt_ids=_ids(config, stream), completion_ids=reply)
        for _ in range(max(1, config.batch_tokens // longest))
    ]
    how = FitConfig(steps=1)
    speeds = []
    for _ in range(config.repeats + 1):
        began = time.process_time()
        accumulate_gradients(model, examples, how)
        optimizer.step(1.0)
        speeds.append(sum(e.length for e in examples) / (time.process_time() - began))
    return _median(speeds[1:])


def _sampling(
    model: PreTrainedModel, config: BenchmarkConfig, group: int, stream: random.Random
) -> float:
    sampler = TorchSampler(model, train_tokenizer(["benchmark"], 300), "benchmark")
    prompts = [_ids(config, stream) for _ in range(config.rows // group)]
    requests = [
        SampleRequest(
            prompt_ids=prompts[i // group],
            max_new_tokens=config.new_tokens,
            temperature=1.0,
            seed=i,
        )
        for i in range(config.rows)
    ]
    speeds = []
    for _ in range(config.repeats + 1):
        began = time.process_time()
        written = sum(len(g.completion_ids) for g in sampler.sample(requests))
        speeds.append(written / (time.process_time() - began))
    return _median(speeds[1:])


def _generate(model: LlamaForCausalLM, config: BenchmarkConfig, stream: random.Random) -> float:
    longest = config.prompt_tokens[1]
    prompts = [_ids(config, stream) for _ in range(config.rows)]
    ids = torch.tensor([[0] * (longest - len(p)) + list(p) for p in prompts])
    mask = torch.tensor([[0] * (longest - len(p)) + [1] * len(p) for p in prompts])
    speeds = []
    for _ in range(config.repeats + 1):
        began = time.process_time()
        model.generate(
            ids,
            attention_mask=mask,
            max_new_tokens=config.new_tokens,
            do_sample=True,
            top_k=0,
            pad_token_id=0,
            output_logits=True,
            return_dict_in_generate=True,
        )
        speeds.append(config.rows * config.new_tokens / (time.process_time() - began))
    return _median(speeds[1:])


def _median(values: list[float]) -> float:
    return sorted(values)[len(values) // 2]

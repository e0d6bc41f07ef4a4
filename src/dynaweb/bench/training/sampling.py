"""Replies to one prompt by our sampler, and by `transformers`' own `generate` with log-probabilities."""

import random
import time
from collections.abc import Callable

import torch

from dynaweb.bench.training.wish import Size, TrainWish, Versus, seconds, versus
from dynaweb.contracts import SampleRequest
from dynaweb.lm.config import ModelConfig
from dynaweb.lm.model import build_model
from dynaweb.lm.sampler import TorchSampler
from dynaweb.lm.tokenizer import train_tokenizer


def measure_sampling(wish: TrainWish, size: Size, said: Callable[[int, float], None]) -> Versus:
    """Tokens written a second at one group."""
    big = size is Size.BIG
    shape: ModelConfig = wish.big_model if big else wish.model
    vocabulary = wish.big_vocabulary if big else wish.vocabulary
    model = build_model(shape, vocabulary, seed=0)
    stream = random.Random(0)
    prompt = tuple(stream.randrange(3, vocabulary) for _ in range(wish.sample_prompt))
    sampler = TorchSampler(model, train_tokenizer(["bench"], 300), "bench")
    requests = [
        SampleRequest(
            prompt_ids=prompt, max_new_tokens=wish.sample_reply, temperature=1.0, seed=seed
        )
        for seed in range(wish.sample_group)
    ]
    ids = torch.tensor([prompt] * wish.sample_group)

    full = wish.sample_group * wish.sample_reply

    def ours() -> float:
        began = time.process_time()
        written = sum(len(g.completion_ids) for g in sampler.sample(requests))
        # a reply may end early by chance
        return (time.process_time() - began) * full / written

    def generate() -> None:
        out = model.generate(
            ids,
            attention_mask=torch.ones_like(ids),
            max_new_tokens=wish.sample_reply,
            do_sample=True,
            top_k=0,
            pad_token_id=0,
            output_logits=True,
            return_dict_in_generate=True,
        )
        logits = torch.stack(out.logits, dim=1)
        logits.log_softmax(-1).gather(2, out.sequences[:, len(prompt) :, None])

    millions = sum(p.numel() for p in model.parameters()) / 1e6
    return versus(
        f"sampling, {millions:.1f} M parameters",
        "generate",
        full,
        ours,
        lambda: seconds(generate),
        repeats=wish.repeats,
        said=said,
    )

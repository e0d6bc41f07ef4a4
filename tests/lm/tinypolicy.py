"""A policy of a few thousand weights in a folder, with a tokenizer of its own, and requests that exercise a sampler."""

from pathlib import Path

import torch
from transformers import PreTrainedModel

from dynaweb.contracts import SampleRequest
from dynaweb.lm.config import ModelConfig
from dynaweb.lm.language import Language
from dynaweb.lm.model import build_model, save_model
from dynaweb.lm.tokenizer import train_tokenizer

SHAPE = ModelConfig(hidden=32, layers=2, heads=4, ffn=64, context=128)
WORDS = [
    "click the button and fill in the name",
    "[12] button 'Submit'",
    "scroll(0, 200) fill('b')",
]


def policy_folder(folder: Path, seed: int = 0) -> Path:
    tokenizer = train_tokenizer(WORDS * 3, 300)
    model = build_model(SHAPE, tokenizer.vocab_size, seed)
    restless(model)
    save_model(model, folder)
    Language(tokenizer).save(folder)
    return folder


@torch.no_grad()
def restless(model: PreTrainedModel) -> None:
    """Wide logits: a new model's are so flat that greedy replies hang on rounding."""
    for p in model.parameters():
        if p.ndim > 1:
            p.mul_(4.0)


def requests(count: int, *, temperature: float = 0.0, tokens: int = 12) -> list[SampleRequest]:
    return [
        SampleRequest(
            prompt_ids=tuple(range(5, 9 + i % 7)),
            max_new_tokens=tokens,
            temperature=temperature,
            seed=2**62 + i,
        )
        for i in range(count)
    ]

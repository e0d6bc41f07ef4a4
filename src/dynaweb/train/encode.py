"""Prompts and replies in tokens, names pointed at: the same for agent, world model and judge."""

from collections.abc import Sequence

from dynaweb.lm.tokenizer import Tokenizer
from dynaweb.prompts.pointers import Lexicon
from dynaweb.train.batch import Example


def encode_examples(
    tokenizer: Tokenizer,
    lexicon: Lexicon,
    pairs: Sequence[tuple[str, str]],
    weights: Sequence[float] | None = None,
) -> list[Example]:
    """Examples to learn, in order; every reply ends with the end token.

    Args:
        tokenizer: of the model.
        lexicon: words the model knows; it points at the others.
        pairs: prompts and the replies to learn, in words.
        weights: of each example; 1 when not given.
    """
    pointed = [lexicon.pair(prompt, reply) for prompt, reply in pairs]
    prompts = tokenizer.encode_batch([prompt for prompt, _ in pointed])
    replies = tokenizer.encode_batch([reply for _, reply in pointed])
    return [
        Example(prompt_ids=tuple(p), completion_ids=(*r, tokenizer.eos_id), weight=w)
        for p, r, w in zip(prompts, replies, weights or [1.0] * len(pairs), strict=True)
    ]


def fitting(examples: Sequence[Example], context: int) -> tuple[list[Example], int]:
    """Examples that a model can read whole, and how many it cannot: a cut one would teach a cut reply."""
    kept = [e for e in examples if e.length <= context]
    return kept, len(examples) - len(kept)

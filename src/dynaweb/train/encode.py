"""Prompts and replies in tokens, names pointed at: the same for agent, world model and judge."""

from collections.abc import Sequence

from dynaweb.lm.language import Language
from dynaweb.train.batch import Example


def encode_examples(
    language: Language,
    pairs: Sequence[tuple[str, str]],
    weights: Sequence[float] | None = None,
) -> list[Example]:
    """Examples to learn, in order; every reply ends with the end token.

    Args:
        language: of the model.
        pairs: prompts and the replies to learn, in words.
        weights: of each example; 1 when not given.
    """
    encoded = language.encode_pairs(pairs)
    return [
        Example(prompt_ids=prompt, completion_ids=reply, weight=w)
        for (prompt, reply), w in zip(encoded, weights or [1.0] * len(pairs), strict=True)
    ]


def fitting(examples: Sequence[Example], context: int) -> tuple[list[Example], int]:
    """Examples that a model can read whole, and how many it cannot: a cut one would teach a cut reply."""
    kept = [e for e in examples if e.length <= context]
    return kept, len(examples) - len(kept)

"""What one model reads and writes: its tokenizer and its lexicon, learnt together and stored together.

Ids of one tokenizer, or names pointed at with one lexicon, are nonsense to the model of another. So the
two travel as one record, and agent, world model, judge and trainer all encode through it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol, runtime_checkable

from dynaweb.prompts.pointers import EVERY_WORD, Lexicon, Pointed
from dynaweb.records.trajectory import Generation


@runtime_checkable
class TextCodec(Protocol):
    """Text to token ids and back, as `lm.tokenizer.Tokenizer` does it."""

    @property
    def eos_id(self) -> int:
        """The token that ends a reply."""
        ...

    @property
    def pad_id(self) -> int:
        """The token that fills rows; never trained on."""
        ...

    @property
    def vocab_size(self) -> int:
        """Number of ids, special ones included."""
        ...

    def encode(self, text: str) -> list[int]:
        """Ids of the text alone."""
        ...

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        """As `encode`, for many texts."""
        ...

    def decode(self, ids: Sequence[int]) -> str:
        """Text of the ids; special ids are silent."""
        ...

    def save(self, folder: Path) -> None:
        """Write what `lm.tokenizer.Tokenizer.load` reads."""
        ...


@dataclass(frozen=True, slots=True)
class EncodedPrompt:
    """A prompt as its model reads it."""

    ids: tuple[int, ...]
    pointed: Pointed
    """Its text, and the names that its signs stand for."""

    def read(self, written: Generation) -> Generation:
        """The model's reply in words; ids and log-probabilities stay."""
        return replace(written, raw_text=self.pointed.read(written.raw_text))


@dataclass(frozen=True, slots=True)
class Language:
    """Of one model; `lm.tokenizer.load_language` reads it from the model's folder."""

    tokenizer: TextCodec
    lexicon: Lexicon = EVERY_WORD
    """Words the model knows; it points at the others."""

    def encode(self, prompt: str) -> EncodedPrompt:
        """A prompt in words, pointed at and in ids; read the reply back through it."""
        pointed = self.lexicon.point(prompt)
        return EncodedPrompt(tuple(self.tokenizer.encode(pointed.text)), pointed)

    def encode_reply(self, prompt: EncodedPrompt, reply: str) -> tuple[int, ...]:
        """What the model writes to say `reply`, in words, after this prompt; ends with the end token."""
        return (*self.tokenizer.encode(prompt.pointed.say(reply)), self.tokenizer.eos_id)

    def encode_pairs(
        self, pairs: Sequence[tuple[str, str]]
    ) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
        """Ids of prompts and of replies to them, as `encode` and `encode_reply`, on all cores."""
        pointed = [self.lexicon.pair(prompt, reply) for prompt, reply in pairs]
        prompts = self.tokenizer.encode_batch([prompt for prompt, _ in pointed])
        replies = self.tokenizer.encode_batch([reply for _, reply in pointed])
        end = self.tokenizer.eos_id
        return [(tuple(p), (*r, end)) for p, r in zip(prompts, replies, strict=True)]

    def save(self, folder: Path) -> None:
        """Write tokenizer and lexicon, each in its own files."""
        self.tokenizer.save(folder)
        self.lexicon.save(folder)

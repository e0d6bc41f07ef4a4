"""A language without a library: one id a character, and id 0 ends a reply."""

from collections.abc import Sequence
from pathlib import Path

from dynaweb.lm.language import Language, TextCodec


class Letters:
    eos_id = 0
    pad_id = 0
    vocab_size = 0x110000

    def encode(self, text: str) -> list[int]:
        return [ord(c) for c in text]

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        return [self.encode(t) for t in texts]

    def decode(self, ids: Sequence[int]) -> str:
        return "".join(chr(i) for i in ids if i)

    def save(self, folder: Path) -> None:
        raise NotImplementedError("letters are not stored")


CODEC: TextCodec = Letters()
LETTERS = Language(CODEC)

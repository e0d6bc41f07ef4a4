"""What a run of `world data` is asked."""

from dataclasses import dataclass, field
from pathlib import Path

from dynaweb.dataset.imports.formats import Format
from dynaweb.dataset.imports.recorded import Provenance
from dynaweb.world.data.foreign import Foreign
from dynaweb.world.data.settings import DataConfig

CHARS_PER_TOKEN = 3
"""Of the estimate where no tokenizer is given (ours; `world.forms` estimates the same)."""


def estimated_tokens(text: str) -> int:
    """A count that needs no tokenizer: a token for three characters, rounded up."""
    return -(-len(text) // CHARS_PER_TOKEN)


@dataclass(frozen=True, slots=True, kw_only=True)
class DataWish:
    """What to make, of what, and where."""

    sources: tuple[Path, ...]
    out: Path
    config: DataConfig
    format: Format | None = None
    """None: told from each file."""
    known: Provenance = field(default_factory=Provenance)
    foreign: tuple[Foreign, ...] = ()
    """The user's own rows of text."""
    skip_damaged: bool = False
    sketches: bool = True
    """Make sketches, so that near-duplicates can be measured; needs the package rensa."""
    tokenizer: str = ""
    """Name and digest of the tokenizer that counts; empty for the estimate."""

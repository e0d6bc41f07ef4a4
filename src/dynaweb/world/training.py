"""What world model and judge are trained on. Importable without torch."""

from dataclasses import dataclass, field

from dynaweb.axtree.vocabulary import VocabularyConfig
from dynaweb.errors import UserError
from dynaweb.judge.examples import JudgeExamplesConfig
from dynaweb.world.examples import ExamplesConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class WorldTrainConfig:
    """What the model is trained on.

    Example:
        WorldTrainConfig(judge_fraction=0.3, renamed_copies=1)
    """

    examples: ExamplesConfig = field(default_factory=ExamplesConfig)
    """Which steps teach the world."""
    judge: JudgeExamplesConfig = field(default_factory=JudgeExamplesConfig)
    """Which endings teach the judge."""
    verdict_exercises: int = 0
    """Made-up attempts that the judge learns to check beside the real ones (`dataset.verdicts`); they need a
    lexicon."""
    vocabulary: VocabularyConfig = field(default_factory=VocabularyConfig)
    """How names are told from structure, for renaming."""
    judge_fraction: float = 0.3
    """Share of the loss that belongs to the judge, in [0, 1); by weight, not by number."""
    renamed_copies: int = 1
    """Copies of every attempt under other names, see `axtree.rename`."""
    seed: int = 0
    """Of renaming, caps and made failures."""

    def __post_init__(self) -> None:
        if not 0.0 <= self.judge_fraction < 1.0:
            raise UserError(
                f"judge_fraction {self.judge_fraction!r} is out of range: use 0 up to 1"
            )
        if not 0 <= self.verdict_exercises <= 10**6:
            raise UserError(
                f"verdict_exercises {self.verdict_exercises!r} is out of range: use 0 to 1000000"
            )
        if not 0 <= self.renamed_copies <= 20:
            raise UserError(f"renamed_copies {self.renamed_copies!r} is out of range: use 0 to 20")

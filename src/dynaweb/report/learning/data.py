"""What the page of `dynaweb bench learning` shows, as one record; also what its `results.json` holds."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from dynaweb.evaluate.learning import LearningResults, Spent


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSpent:
    """One run's whole training."""

    arm: str
    seed: int
    spent: Spent


@dataclass(frozen=True, slots=True, kw_only=True)
class LearningReport:
    """One measurement."""

    name: str
    """Of the plan."""
    results: LearningResults
    experts_steps: int
    """Real steps of the demonstrations, which every arm has."""
    world_steps: int
    """Real steps of the attempts that world model and judge were made and measured with: arms that dream."""
    opening_steps: int
    """Real steps of first pages that were opened to begin from: arms that dream or act at real pages."""
    trainings: tuple[RunSpent, ...]
    facts: Mapping[str, str] = field(default_factory=dict)
    """What there was to learn in: name -> words."""
    machine: Mapping[str, str] = field(default_factory=dict)
    commit: str = ""
    """Code that the measurement was begun with."""

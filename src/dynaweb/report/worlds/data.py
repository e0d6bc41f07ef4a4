"""A measurement of world models, as records: what `report.json` holds and the page shows."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from dynaweb.axtree.measure import DeltaCost
from dynaweb.bench.results import ReplayReport
from dynaweb.bench.worlds.judging import JudgedPages
from dynaweb.bench.worlds.overlap import Overlap
from dynaweb.bench.worlds.probes import GoalSwaps, ProbeRow
from dynaweb.report.data import DreamedPage


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One number of one model for one group of steps, beside the copy model's on the same steps."""

    metric: str
    """Field of `bench.worlds.scores.StepScores`."""
    group_by: str
    """`all`, `behaviour`, `site`, `task` or `action`."""
    group: str
    n: int
    """Steps that the number speaks of."""
    clusters: int
    """Tasks among them; attempts where they are all of one task."""
    mean: float
    low: float | None = None
    """Interval of the mean, from a bootstrap that draws whole clusters; None with fewer than two of them."""
    high: float | None = None
    copy: float | None = None
    """The copy model's mean over the same steps; None for the copy model itself, and where it has no such number."""
    gain: float | None = None
    """Mean minus copy, over the steps that have both."""
    gain_low: float | None = None
    """Interval of the gain: steps are paired, whole clusters drawn."""
    gain_high: float | None = None
    normalised: float | None = None
    """Gain over what copy leaves to be gained, 1.0 is perfect; None where lower is better, or copy is perfect."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelReport:
    """Everything about one model."""

    name: str
    version: str
    checksum: str
    shows_goal: bool
    cells: tuple[Cell, ...]
    unanswered: int = 0
    """Questions that the model could not be asked (transport, deadline): in no number; the same command asks them again."""
    blocked: tuple[ProbeRow, ...] = ()
    """Actions that cannot work, by kind; the last row is the sum."""
    swaps: GoalSwaps | None = None
    judged: JudgedPages | None = None
    """None without a judge."""
    replay: ReplayReport | None = None
    """None unless dreams were replayed."""
    worst: tuple[DreamedPage, ...] = ()
    typical: tuple[DreamedPage, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class WorldsReport:
    """Several models on the same transitions."""

    models: tuple[ModelReport, ...]
    """The copy model first."""
    transitions: int
    """Measured."""
    found: int
    """In the files; the measured ones were drawn from them."""
    limit: int | None
    seed: int
    regimes: Mapping[str, int]
    """What really happened (`bench.fidelity.Regime`) -> transitions."""
    tasks: int
    sites: Mapping[str, int]
    """Site -> transitions."""
    behaviours: Mapping[str, int]
    """Behaviour -> transitions."""
    costs: Mapping[str, DeltaCost] = field(default_factory=dict)
    """Kind of change -> what it costs to write as a change and as a page, in rough tokens."""
    overlap: Overlap | None = None
    """With the training files; None without any."""
    dropped: Mapping[str, int] = field(default_factory=dict)
    """Reason -> steps or rows that were left out."""
    confidence: float = 0.95
    """Of every interval."""

"""What the report shows, as records. `load.py` fills them from a run folder.

Files, relative to the run folder; every one may be missing, and then its section says which file it
needs. JSON files hold one record (`evaluate.store.write_json(path, record)`), JSONL files one a line.

    run.json                        RunFolder's own: arguments, seed, versions, commit, machine
    evaluation/plan.json            evaluate.plan
    evaluation/results.json         evaluate.results
    evaluation/episodes/ARM.jsonl   raw Trajectories of each arm
    gspo/metrics.jsonl              one object an iteration (`iteration`, then `name/source`: number)
    gspo/audit.json                 DreamPrecision
    gspo/dreams.jsonl               Trajectories: dreams to look at
    world/fidelity.json             FidelityTable
    world/judge.json                JudgeTable
    world/dreamed_pages.jsonl       DreamedPage records: a dream beside what really happened
    report/summary.json             Summary: what only the recipe knows (dreamed success, speed, data, shortfalls)
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from dynaweb.evaluate.plan import EvaluationPlan
from dynaweb.evaluate.results import EvaluationResults
from dynaweb.evaluate.statistics import Rate
from dynaweb.records.trajectory import Trajectory


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """A share of counted things."""

    successes: int
    n: int

    @property
    def rate(self) -> float | None:
        """In [0, 1]; None when nothing was counted."""
        return self.successes / self.n if self.n else None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunInfo:
    """Which run this is."""

    name: str
    seed: int
    commit: str = ""
    """Hash of the code; empty when it is not known."""
    dirty: bool = False
    """The code had changes that no commit holds."""
    command: str = ""
    started: str = ""
    """ISO 8601."""
    machine: str = ""
    """Processor, cores, memory, in words."""
    versions: Mapping[str, str] = field(default_factory=dict)
    """Package -> version."""
    config: Mapping[str, str] = field(default_factory=dict)
    """Setting -> value, dotted names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DreamedSuccess:
    """What an arm's success would be if its dreams were believed. Never a result."""

    arm: str
    rate: Rate
    note: str = ""
    """Which dreams, judged how."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """One line of a learning curve."""

    metric: str
    """Name as in docs/metrics.md."""
    source: str
    """`expert`, `dream`, `live`, or `all`."""
    points: tuple[tuple[float, float], ...]
    """(iteration, value), by iteration."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FidelityRow:
    """How often the next page was imagined exactly."""

    label: str
    exact: Share
    copy_exact: Share
    """The same pages imagined by changing nothing."""
    element_f1: float | None = None
    """Over changed elements, in [0, 1]; None when it was not measured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FidelityTable:
    """The world model on unseen seeds, one step at a time."""

    world_model_version: str
    rows: tuple[FidelityRow, ...]
    """By kind of change."""
    by_task: tuple[FidelityRow, ...] = ()
    invalid: Share | None = None
    """Replies that could not be read or applied."""
    note: str = ""
    """How unseen and determined pages were chosen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeTable:
    """The judge on real attempts whose end is known."""

    version: str
    false_positives: Rate
    """Real failures that it called success."""
    recall: Rate
    """Real successes that it called success."""
    threshold: float | None = None
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PrecisionRow:
    """Dreamed successes of one depth, done again in the real browser."""

    depth: int
    """Dreamed actions, 1 or more."""
    confirmed: Rate
    """Those that were successes for real; unknown: they could not be replayed to the end."""
    pages_equal: Share | None = None
    """Dreamed pages at this depth that equalled the real one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DreamPrecision:
    """How far dreams can be believed."""

    rows: tuple[PrecisionRow, ...]
    bar: float | None = None
    """Below it training warns; in [0, 1]."""
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Speed:
    """Episodes per second on this machine."""

    live: float
    dreamed: float
    note: str = ""
    """How many at once, how long the measurement."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DataRow:
    """Trajectories of one behaviour and policy, by outcome."""

    world: str
    behaviour: str
    policy: str
    success: int
    failure: int
    unknown: int
    steps: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Drop:
    """Examples left out of training, and why."""

    stage: str
    reason: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StageTime:
    """How long a stage took."""

    stage: str
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class DreamedPage:
    """One imagined step beside the real one."""

    task: str
    seed: int
    goal: str
    action: str
    """As a person reads it."""
    before: str
    """Trees as text."""
    truth: str
    prediction: str
    depth: int = 1
    status: str = "ok"
    by_rule: bool = False
    confidence: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """What only the recipe knows."""

    dreamed: tuple[DreamedSuccess, ...] = ()
    speed: Speed | None = None
    data: tuple[DataRow, ...] = ()
    drops: tuple[Drop, ...] = ()
    stages: tuple[StageTime, ...] = ()
    shortfalls: tuple[str, ...] = ()
    """What this run did not show, or missed; a sentence each."""
    is_demonstration: bool = False
    """Few episodes: the page says that its intervals are wide."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """A trajectory to step through, and whose it is."""

    arm: str
    trajectory: Trajectory


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportData:
    """Everything on the page. None and empty mean that the run has not made it."""

    run: RunInfo
    plan: EvaluationPlan | None = None
    results: EvaluationResults | None = None
    curves: tuple[Curve, ...] = ()
    fidelity: FidelityTable | None = None
    judge: JudgeTable | None = None
    precision: DreamPrecision | None = None
    dreamed_pages: tuple[DreamedPage, ...] = ()
    attempts: tuple[Attempt, ...] = ()
    summary: Summary = field(default_factory=Summary)
    problems: tuple[str, ...] = ()
    """Files that are there and could not be read."""

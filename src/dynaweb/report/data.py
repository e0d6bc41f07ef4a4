"""What the report shows, as records. `load.py` fills them from the files of a run folder.

`ReportFiles` says where each file is. Every one may be missing, and then its section says so. JSON files
hold one record (`runs.jsonfile.write_record`), JSONL files one record a line.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from dynaweb.bench.results import FidelityReport, JudgeReport, ReplayReport
from dynaweb.evaluate.plan import EvaluationPlan
from dynaweb.evaluate.results import EvaluationResults
from dynaweb.evaluate.statistics import Rate
from dynaweb.gspo.audit import AuditPoint
from dynaweb.records.trajectory import Trajectory


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportFiles:
    """Where the report looks, relative to the run folder."""

    run: str = "run.json"
    """Written by `runs.folder`."""
    sessions: str = "sessions.jsonl"
    """Written by `runs.folder`."""
    evaluation: str = "evaluation"
    """Folder with `plan.json`, `results.json` and `episodes/ARM.jsonl` (raw Trajectories)."""
    plan: str = "plan"
    """Folder with the `plan.json` that was fixed before the run began; the evaluation's must be the same."""
    metrics: str = "gspo/metrics.jsonl"
    """One object an iteration: `iteration`, and `source/name` or `name`: number or null."""
    replays: str = "audit/replays.json"
    """bench.results.ReplayReport."""
    dreams: str = "audit/dreams.jsonl"
    """Trajectories: dreams to step through."""
    fidelity: str = "fidelity/fidelity.json"
    """bench.results.FidelityReport."""
    judge: str = "fidelity/judge.json"
    """bench.results.JudgeReport."""
    dreamed_pages: str = "fidelity/dreamed_pages.json"
    """DreamedPages: imagined steps beside real ones; `report.choose` picks them."""
    summary: str = "summary/summary.json"
    """Summary: what only the recipe knows."""


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
    exact: bool
    """They show an agent the same; numbers of new elements aside."""
    step: int = 1
    """Which action of the attempt, from 1."""
    regime: str = ""
    """What the action really did: `local`, `full_page`, ... (bench.fidelity)."""
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
    precision_bar: float | None = None
    """Precision of dreamed success below which training warns; in [0, 1]."""
    audits: tuple[AuditPoint, ...] = ()
    """Dreams that were done again for real while the agent trained, iteration by iteration."""
    notes: Mapping[str, str] = field(default_factory=dict)
    """Section (`fidelity`, `judge`, `replays`) -> how it was measured, in a sentence."""
    arms: Mapping[str, str] = field(default_factory=dict)
    """Arm -> what it was trained on, in a sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DreamedPages:
    """What is stored in `ReportFiles.dreamed_pages`."""

    pages: tuple[DreamedPage, ...]


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
    fidelity: FidelityReport | None = None
    judge: JudgeReport | None = None
    replays: ReplayReport | None = None
    dreamed_pages: tuple[DreamedPage, ...] = ()
    attempts: tuple[Attempt, ...] = ()
    summary: Summary = field(default_factory=Summary)
    problems: tuple[str, ...] = ()
    """Files that are there and could not be read."""

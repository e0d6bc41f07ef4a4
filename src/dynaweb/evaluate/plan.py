"""The evaluation plan: what will be measured and how, written down before the first episode.

A plan on disk is never changed: another plan in the same folder is refused, so that tasks, seeds and
analysis cannot follow the results.
"""

import hashlib
import json
import re
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path

from dynaweb.errors import StorageError, UserError
from dynaweb.evaluate.config import StatisticsConfig
from dynaweb.runs.jsonfile import decode, read_object, write_object

PLAN_FILE = "plan.json"
"""Name of the plan in an evaluation folder."""


_ARM = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._+-]{0,60}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """One paired question: is `treatment` better than `control`?"""

    treatment: str
    control: str
    primary: bool = False
    """The claim stands or falls with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationPlan:
    """Tasks, seeds, arms and analysis of one evaluation."""

    tasks: tuple[str, ...]
    """Task names; every arm attempts all of them."""
    seeds: tuple[int, ...]
    """Page seeds, none of them seen in training; every arm attempts all of them in every task."""
    arms: tuple[str, ...]
    """Names of the agents, in the order of the tables."""
    comparisons: tuple[Comparison, ...]
    """What is compared with what; the primary ones first."""
    max_steps: int = 10
    """Actions an attempt may take, 1 or more."""
    temperature: float = 0.0
    """Of the agents; 0 means greedy."""
    statistics: StatisticsConfig = field(default_factory=StatisticsConfig)

    def __post_init__(self) -> None:
        for name, values in (("tasks", self.tasks), ("seeds", self.seeds), ("arms", self.arms)):
            if not values:
                raise UserError(f"the evaluation plan has no {name}: name at least one")
            if twice := [v for i, v in enumerate(values) if v in values[:i]]:
                raise UserError(
                    f"the evaluation plan names {twice[0]!r} twice in {name}: name it once"
                )
        if odd := [a for a in self.arms if not _ARM.fullmatch(a)]:
            raise UserError(
                f"arm {odd[0]!r} cannot name a file: use letters, digits, spaces and . _ + -"
            )
        if self.max_steps < 1:
            raise UserError(f"max_steps {self.max_steps!r} is out of range: use 1 or more")
        if self.temperature < 0.0:
            raise UserError(
                f"temperature {self.temperature!r} is out of range: use 0 (greedy) or more"
            )
        for arm in (a for c in self.comparisons for a in (c.treatment, c.control)):
            if arm not in self.arms:
                raise UserError(
                    f"a comparison names arm {arm!r}: the plan has {', '.join(self.arms)}"
                )

    @property
    def episodes_per_arm(self) -> int:
        """How many attempts each arm makes."""
        return len(self.tasks) * len(self.seeds)


def plan_hash(plan: EvaluationPlan) -> str:
    """Twelve hex digits that stand for every field of the plan."""
    text = json.dumps(asdict(plan), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def save_plan(plan: EvaluationPlan, folder: Path) -> str:
    """Write the plan, durably, unless the same plan is there already.

    Returns:
        The plan's hash.

    Raises:
        UserError: the folder holds another plan; says what differs.
        StorageError: the folder cannot be written, or its plan cannot be read.
    """
    path = folder / PLAN_FILE
    if path.exists():
        _require_same(load_plan(folder), plan, path)
        return plan_hash(plan)
    write_object(path, {"plan_hash": plan_hash(plan), **asdict(plan)})
    return plan_hash(plan)


def load_plan(folder: Path) -> EvaluationPlan:
    """Read the plan of an evaluation folder.

    Raises:
        StorageError: there is none, it cannot be read, or it was changed by hand.
    """
    path = folder / PLAN_FILE
    body = read_object(path)
    written = body.pop("plan_hash", None)
    plan = decode(EvaluationPlan, body, str(path))
    if written != plan_hash(plan):
        raise StorageError(
            f"{path} was changed after it was written (hash {written!r}, now {plan_hash(plan)!r}): start a new folder"
        )
    return plan


def _require_same(old: EvaluationPlan, new: EvaluationPlan, path: Path) -> None:
    if old == new:
        return
    differ = [
        f.name for f in fields(EvaluationPlan) if getattr(old, f.name) != getattr(new, f.name)
    ]
    raise UserError(
        f"{path} holds another plan ({', '.join(differ)} differ): a plan is fixed before its first episode; use a new folder"
    )

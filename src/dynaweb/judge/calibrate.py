"""Where the judge's bars stand: set on held-out attempts, stored with the model.

A judge is good at some tasks and bad at others. One bar for all is too high for the first, so that
nothing is learnt there, or too low for the second, so that failures are rewarded; so each task has its
own. And it has two edges, since a judge that says failure of everything it is not sure of punishes the
agent's own successes: between the edges the verdict is unknown, and the attempt leaves its group (ours).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dynaweb.errors import StorageError, UserError
from dynaweb.judge.config import Bar, JudgeConfig
from dynaweb.runs.atomic import read_json
from dynaweb.runs.jsonfile import decode, write_record

CALIBRATION_FILE = "judge.json"

NOTHING_PASSES = math.nextafter(1.0, 2.0)
"""An upper edge that no probability reaches."""

LEAST = 3
"""A task with fewer failures shares the common upper edge, one with fewer successes the lower."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """An attempt's probability of success by the judge, and its real ending."""

    task: str
    score: float
    succeeded: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationConfig:
    """Which errors the judge may make, as shares of the attempts its bars are set on."""

    false_positive_rate: float = 0.05
    """Of real failures, those it may call success, in [0, 1)."""
    false_negative_rate: float = 0.05
    """Of real successes, those it may call failure, in [0, 1); the rest of what is not sure is unknown."""
    precision: float = 0.85
    """Of what it calls success, at least this share is one, in [0, 1]. Where the agent mostly fails, few false
    positives are still most of what is rewarded; a task without such a bar has no dreamed successes."""

    def __post_init__(self) -> None:
        for name in ("false_positive_rate", "false_negative_rate"):
            if not 0.0 <= getattr(self, name) < 1.0:
                raise UserError(
                    f"calibration {name} {getattr(self, name)!r} is out of range: use 0 up to 1"
                )
        if not 0.0 <= self.precision <= 1.0:
            raise UserError(f"calibration precision {self.precision!r} is out of range: use 0 to 1")


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """Bars, and how many attempts they were set on."""

    bar: Bar
    """For tasks that were not among the attempts."""
    by_task: Mapping[str, Bar] = field(default_factory=dict)
    failures: int
    successes: int

    def judge_config(self) -> JudgeConfig:
        """Settings of a judge with these bars."""
        return JudgeConfig(bar=self.bar, by_task=self.by_task)


def calibrate(scored: Sequence[Scored], config: CalibrationConfig) -> Bar:
    """The widest verdicts that keep both error rates and the precision.

    Success begins at the lowest probability that no more than the allowed share of failures reaches and
    above which enough are successes; failure ends at the highest that no more than the allowed share of
    successes stays below.

    Raises:
        UserError: no failures or no successes to set it on.
    """
    bad = sorted((s.score for s in scored if not s.succeeded), reverse=True)
    good = sorted(s.score for s in scored if s.succeeded)
    if not bad or not good:
        raise UserError(
            f"a judge cannot be calibrated on {len(good)} successes and {len(bad)} failures: "
            "collect held-out attempts that end in both"
        )
    return _ordered(_upper(bad, good, config), _lower(good, bad, config))


def calibrate_tasks(scored: Sequence[Scored], config: CalibrationConfig) -> Calibration:
    """A bar for each task, with the common one's edges where a task has too few attempts of a kind.

    Raises:
        UserError: see `calibrate`.
    """
    common = calibrate(scored, config)
    by_task: dict[str, Bar] = {}
    for task in sorted({s.task for s in scored}):
        mine = [s for s in scored if s.task == task]
        bad = sorted((s.score for s in mine if not s.succeeded), reverse=True)
        good = sorted(s.score for s in mine if s.succeeded)
        upper = _upper(bad, good, config) if len(bad) >= LEAST else common.success
        lower = _lower(good, bad, config) if len(good) >= LEAST else common.failure
        by_task[task] = _ordered(upper, lower)
    succeeded = sum(s.succeeded for s in scored)
    return Calibration(
        bar=common, by_task=by_task, failures=len(scored) - succeeded, successes=succeeded
    )


def _upper(bad: Sequence[float], good: Sequence[float], config: CalibrationConfig) -> float:
    """Lowest success that may pass, with a margin below; above 1 when none may. `bad` falls, `good` rises."""
    limit = bad[math.floor(config.false_positive_rate * len(bad))]
    for i, score in enumerate(good):
        passed, wrong = len(good) - i, sum(s >= score for s in bad)
        if score > limit and passed >= config.precision * (passed + wrong):
            return _between(max(s for s in bad if s < score), score)
    return NOTHING_PASSES


def _lower(good: Sequence[float], bad: Sequence[float], config: CalibrationConfig) -> float:
    """Lowest success that must not be lost, with a margin below. `good` rises."""
    limit = good[math.floor(config.false_negative_rate * len(good))]
    return _between(max((s for s in bad if s < limit), default=limit), limit)


def _between(low: float, high: float) -> float:
    """Half way, so that rounding does not decide; `low` is below it, whatever there is between them."""
    middle = (low + high) / 2
    return middle if middle > low else high


def _ordered(upper: float, lower: float) -> Bar:
    """A judge that tells all apart needs no gap: then both edges are in the middle."""
    if lower > upper:
        upper = lower = (upper + lower) / 2
    return Bar(success=upper, failure=lower)


def save_calibration(calibration: Calibration, folder: Path) -> None:
    """Write it beside the model, at once or not at all."""
    write_record(folder / CALIBRATION_FILE, calibration)


def load_calibration(folder: Path) -> Calibration:
    """Read it back.

    Raises:
        StorageError: there is none, or it is damaged.
    """
    path = folder / CALIBRATION_FILE
    try:
        fields = read_json(path)
        if fields is not None:
            return decode(Calibration, fields, str(path))
    except (StorageError, UserError) as error:
        raise StorageError(f"{error}; calibrate the judge again") from error
    raise StorageError(f"no {CALIBRATION_FILE} in {str(folder)!r}: calibrate the judge")

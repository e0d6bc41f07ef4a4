"""Where the judge's bar stands: measured on held-out attempts, stored with the model."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from dynaweb.errors import StorageError, UserError
from dynaweb.records.fieldcodec import codec_for
from dynaweb.runs.atomic import read_json, write_json

CALIBRATION_FILE = "judge.json"

UNTESTED = 0.5
"""Bar of tasks in which no failure has been seen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """A threshold and what it costs on the attempts it was set on."""

    threshold: float
    """Least probability of success that counts as success."""
    wanted_false_positive_rate: float
    false_positives: int
    """Failures at or above the threshold."""
    failures: int
    true_positives: int
    """Successes at or above the threshold."""
    successes: int
    by_task: Mapping[str, float] = field(default_factory=dict)
    """Task -> bar of its own, see `calibrate_tasks`."""


def calibrate(
    scores: Sequence[float], succeeded: Sequence[bool], *, wanted_false_positive_rate: float = 0.05
) -> Calibration:
    """The lowest threshold whose false-positive rate is at most the wanted one.

    Args:
        scores: the judge's probability of success, one an attempt.
        succeeded: what the real web said of the same attempts.
        wanted_false_positive_rate: share of failures that may be called success.

    Raises:
        UserError: no failures or no successes to set it on, or a rate outside [0, 1).
    """
    if not 0.0 <= wanted_false_positive_rate < 1.0:
        raise UserError(
            f"false-positive rate {wanted_false_positive_rate!r} is out of range: use 0 up to 1"
        )
    bad = sorted((s for s, ok in zip(scores, succeeded, strict=True) if not ok), reverse=True)
    good = [s for s, ok in zip(scores, succeeded, strict=True) if ok]
    if not bad or not good:
        raise UserError(
            f"a judge cannot be calibrated on {len(good)} successes and {len(bad)} failures: "
            "collect held-out attempts that end in both"
        )
    allowed = math.floor(wanted_false_positive_rate * len(bad))
    threshold = _just_above(bad[allowed], scores)
    return Calibration(
        threshold=threshold,
        wanted_false_positive_rate=wanted_false_positive_rate,
        false_positives=sum(s >= threshold for s in bad),
        failures=len(bad),
        true_positives=sum(s >= threshold for s in good),
        successes=len(good),
    )


def calibrate_tasks(
    scores: Sequence[float],
    succeeded: Sequence[bool],
    tasks: Sequence[str],
    *,
    wanted_false_positive_rate: float = 0.05,
    least_failures: int = 3,
) -> Calibration:
    """A bar for each task; the pooled one (`threshold`) is for tasks that are not among these attempts.

    A judge is good at some tasks and bad at others. One bar for all is too high for the first, so that
    nothing is learnt there, or too low for the second, so that failures are rewarded. Where a task's
    failures look like successes its bar is so high that nothing passes: then experts alone are
    rewarded, and the task is learnt by imitation or not at all (ours).

    Args:
        scores: the judge's probability of success, one an attempt.
        succeeded: what the real web said of the same attempts.
        tasks: of the same attempts.
        wanted_false_positive_rate: share of failures that may be called success, task by task.
        least_failures: a task with fewer shares the common bar.

    Raises:
        UserError: see `calibrate`.
    """
    pooled = calibrate(scores, succeeded, wanted_false_positive_rate=wanted_false_positive_rate)
    failures: dict[str, list[float]] = {}
    for score, ok, task in zip(scores, succeeded, tasks, strict=True):
        failures.setdefault(task, []).extend([] if ok else [score])
    bars = {
        task: _bar(
            bad,
            [s for s, t in zip(scores, tasks, strict=True) if t == task],
            wanted_false_positive_rate,
        )
        for task, bad in failures.items()
        if len(bad) >= least_failures
    }
    # a task whose failures are few has the bar of all attempts, one without any the middle
    few = {t: pooled.threshold if bad else UNTESTED for t, bad in failures.items() if t not in bars}
    by_task = bars | few
    passed = [(ok, s >= by_task[t]) for s, ok, t in zip(scores, succeeded, tasks, strict=True)]
    return replace(
        pooled,
        by_task=by_task,
        false_positives=sum(hit and not ok for ok, hit in passed),
        true_positives=sum(hit and ok for ok, hit in passed),
    )


def _bar(bad: Sequence[float], scores: Sequence[float], wanted: float) -> float:
    allowed = math.floor(wanted * len(bad))
    return _just_above(sorted(bad, reverse=True)[allowed], scores)


def _just_above(score: float, scores: Sequence[float]) -> float:
    """Half way to the next higher score, so that rounding does not decide."""
    higher = [s for s in scores if s > score]
    return (score + min(higher)) / 2 if higher else math.nextafter(score, 2.0)


def save_calibration(calibration: Calibration, folder: Path) -> None:
    """Write it beside the model, at once or not at all."""
    write_json(folder / CALIBRATION_FILE, asdict(calibration))


def load_calibration(folder: Path) -> Calibration:
    """Read it back.

    Raises:
        StorageError: there is none, or it is damaged.
    """
    path = folder / CALIBRATION_FILE
    annotation: object = Calibration
    try:
        fields = read_json(path)
        calibration = None if fields is None else codec_for(annotation).decode(fields, str(path))
    except StorageError as error:
        raise StorageError(f"{error}; calibrate the judge again") from error
    if calibration is None:
        raise StorageError(f"no {CALIBRATION_FILE} in {str(folder)!r}: calibrate the judge")
    assert isinstance(calibration, Calibration)
    return calibration

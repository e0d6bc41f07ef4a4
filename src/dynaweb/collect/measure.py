"""How good the experts are: the table of the dataset card."""

from collections.abc import Sequence
from dataclasses import dataclass

from dynaweb.collect.experts import EXPERTS
from dynaweb.collect.run import FAULTS, CollectConfig, Job, MakeEnvironment, run_jobs
from dynaweb.errors import UserError
from dynaweb.records.trajectory import Behaviour, Outcome, Trajectory
from dynaweb.runs.progress import Progress, silent

MAX_STEPS = 15
"""Enough for the longest script, and some detours."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpertScore:
    """One task's expert on fresh seeds."""

    task: str
    successes: int
    n: int
    """Attempts whose world held."""
    faults: int
    """Attempts whose world failed, after retries."""
    mean_steps: float
    """Actions of a successful attempt, mean; 0.0 when there was none."""
    max_steps: int
    tree_chars: int
    """Characters of the longest page, a rough guide to the length of prompts."""


async def measure_experts(
    tasks: Sequence[str],
    seeds: Sequence[int],
    make_env: MakeEnvironment,
    config: CollectConfig,
    progress: Progress = silent,
) -> list[ExpertScore]:
    """Let every task's expert attempt every seed.

    Args:
        tasks: names; those of `EXPERTS`.
        seeds: pages.
        make_env: an environment for a worker.
        config: workers and retries.
        progress: called after every attempt.

    Raises:
        UserError: no expert for a task.
    """
    for task in tasks:
        if task not in EXPERTS:
            raise UserError(f"no expert for task {task!r}; there are {', '.join(EXPERTS)}")
    jobs = [
        Job(task=t, seed=s, policy="expert", behaviour=Behaviour.EXPERT, max_steps=MAX_STEPS)
        for t in tasks
        for s in seeds
    ]
    last: dict[str, list[Trajectory]] = {t: [] for t in tasks}
    done = 0

    def keep(job: Job, attempts: tuple[Trajectory, ...]) -> None:
        nonlocal done
        done += 1
        last[job.task].append(attempts[-1])
        progress("measure experts", done, len(jobs), job.task)

    await run_jobs(jobs, make_env, lambda job: EXPERTS[job.task], config, keep)
    return [_score(task, found) for task, found in last.items()]


def _score(task: str, attempts: Sequence[Trajectory]) -> ExpertScore:
    held = [t for t in attempts if t.reason not in FAULTS]
    won = [len(t.steps) for t in held if t.outcome is Outcome.SUCCESS]
    pages = [len(s.observation.tree) for t in held for s in t.steps]
    return ExpertScore(
        task=task,
        successes=len(won),
        n=len(held),
        faults=len(attempts) - len(held),
        mean_steps=sum(won) / len(won) if won else 0.0,
        max_steps=max(won, default=0),
        tree_chars=max(pages, default=0),
    )

"""Many episodes, several at a time, into one append-only file: the first level of data collection (WebWorld 3.1).

The file is written in the order of the jobs, whatever the number of workers: the same jobs give the
same bytes. The same call again goes on where the last one stopped, even if that was killed.
"""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from dynaweb.contracts import Agent, Environment
from dynaweb.errors import UserError
from dynaweb.records.codec import dump, load_as
from dynaweb.records.seeds import derive_seed
from dynaweb.records.trajectory import Behaviour, Reason, Trajectory
from dynaweb.rollout.episode import EpisodeConfig, run_episode
from dynaweb.rollout.workers import work_through
from dynaweb.runs.jsonl import JsonlWriter, read_prefix
from dynaweb.runs.progress import Progress, silent

FAULTS = frozenset(
    {
        Reason.BROWSER_FAULT,
        Reason.WORLD_MODEL_FAULT,
        Reason.SAMPLER_FAULT,
        Reason.JUDGE_FAULT,
    }
)
"""Endings that say nothing about the policy: the attempt is kept as `unknown`, and made again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One episode to be had. Task, seed and policy name it: the same job is never done twice."""

    task: str
    seed: int
    policy: str
    """Name of the policy in file names and ids: `expert`, `random`, `noisy`, `sft`, ..."""
    behaviour: Behaviour
    max_steps: int = 10
    """Actions before the attempt is a failure."""
    repeat: int = 0
    """Several attempts of one policy at one page differ in this."""

    @property
    def job_id(self) -> str:
        """`expert/click-test/17`, with `+1` for a repeat."""
        again = f"+{self.repeat}" if self.repeat else ""
        return f"{self.policy}/{self.task}/{self.seed}{again}"


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectConfig:
    """How episodes are collected."""

    workers: int = 4
    """Episodes at a time in this process; each has an environment of its own."""
    retries: int = 2
    """More attempts at a job whose world failed (browser crash, timeout)."""
    seed: int = 0
    """Seed of the agents' own choices, together with the job's name."""
    license: str = "MIT"
    """Licence of the pages, written on every trajectory (MiniWoB++: MIT)."""
    origin: str = "miniwob-1.1.0"
    """Where the pages come from, written on every trajectory."""

    def __post_init__(self) -> None:
        if not 1 <= self.workers <= 256:
            raise UserError(f"collect workers {self.workers!r} is out of range: use 1 to 256")
        if not 0 <= self.retries <= 10:
            raise UserError(f"collect retries {self.retries!r} is out of range: use 0 to 10")


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectResult:
    """What a call to `collect_episodes` found and did."""

    trajectories: tuple[Trajectory, ...]
    """Every attempt in the file that belongs to the jobs, unknown ones too, in the order of the jobs."""
    resumed: int
    """Jobs that were done before this call."""
    unknown: int
    """Jobs left without a known outcome after all retries."""


MakeAgent = Callable[[Job], Agent]
MakeEnvironment = Callable[[], Environment]
Keep = Callable[[Job, tuple[Trajectory, ...]], None]


async def collect_episodes(
    jobs: Sequence[Job],
    make_env: MakeEnvironment,
    make_agent: MakeAgent,
    out: Path,
    config: CollectConfig,
    progress: Progress = silent,
) -> CollectResult:
    """Have every job's episode, and keep each in `out` (JSON lines of `Trajectory`).

    Args:
        jobs: what to do; two jobs must not have one id.
        make_env: an environment for a worker; called once for each.
        make_agent: the agent for a job; called once for each attempt.
        out: file to append to; its folder must exist. Attempts in it are not made again.
        config: workers and retries.
        progress: called after every finished job.

    Raises:
        UserError: no such task, or a job stands there twice.
        StorageError: the file is damaged or cannot be written.
    """
    _require_distinct(jobs)
    with ExitStack() as stack:
        writer = stack.enter_context(JsonlWriter(out, sync=False))
        known = _attempts(out)
        open_jobs = [j for j in jobs if not _is_done(known.get(j.job_id, ()), config.retries)]
        resumed = done = len(jobs) - len(open_jobs)

        def keep(job: Job, attempts: tuple[Trajectory, ...]) -> None:
            nonlocal done
            done += 1
            writer.extend(map(dump, attempts))
            known[job.job_id] = known.get(job.job_id, ()) + attempts
            progress("collect", done, len(jobs), job.job_id)

        progress("collect", done, len(jobs))
        await run_jobs(
            open_jobs, make_env, make_agent, config, keep, {k: len(v) for k, v in known.items()}
        )
    mine = [known.get(j.job_id, ()) for j in jobs]
    return CollectResult(
        trajectories=tuple(t for attempts in mine for t in attempts),
        resumed=resumed,
        unknown=sum(not attempts or attempts[-1].reason in FAULTS for attempts in mine),
    )


async def run_jobs(
    jobs: Sequence[Job],
    make_env: MakeEnvironment,
    make_agent: MakeAgent,
    config: CollectConfig,
    keep: Keep,
    made: dict[str, int] | None = None,
) -> None:
    """Have the episodes without a file: `keep` gets each job's attempts, in the order of the jobs.

    Args:
        jobs: what to do.
        make_env: an environment for a worker.
        make_agent: the agent for an attempt.
        config: workers and retries.
        keep: called once for each job.
        made: attempts that a job has had before, by job id.

    Raises:
        UserError: no such task.
    """

    async def attempts(env: Environment, job: Job) -> tuple[Trajectory, ...]:
        return await _attempt(env, make_agent, job, (made or {}).get(job.job_id, 0), config)

    await work_through(jobs, make_env, attempts, keep, workers=config.workers)


async def _attempt(
    env: Environment, make_agent: MakeAgent, job: Job, before: int, config: CollectConfig
) -> tuple[Trajectory, ...]:
    """Attempts at one job until the world holds."""
    attempts: list[Trajectory] = []
    for nth in range(before, config.retries + 1):
        again = f"~{nth}" if nth else ""
        trajectory = await run_episode(
            env,
            make_agent(job),
            trajectory_id=f"{job.job_id}{again}",
            task=job.task,
            seed=job.seed,
            config=EpisodeConfig(max_steps=job.max_steps),
            behaviour=job.behaviour,
            episode_seed=derive_seed(config.seed, job.job_id),
            origin=config.origin,
            license=config.license,
        )
        attempts.append(trajectory)
        if trajectory.reason not in FAULTS:
            break
    return tuple(attempts)


def read_trajectories(path: Path) -> list[Trajectory]:
    """Every whole line of a file of trajectories; a torn last line is left out.

    Raises:
        StorageError: the file is damaged before its end, or holds something else.
    """
    return [load_as(Trajectory, line) for line in read_prefix(path).lines]


def _attempts(path: Path) -> dict[str, tuple[Trajectory, ...]]:
    by_job: dict[str, tuple[Trajectory, ...]] = {}
    for t in read_trajectories(path):
        job_id = t.trajectory_id.split("~")[0]
        by_job[job_id] = (*by_job.get(job_id, ()), t)
    return by_job


def _is_done(attempts: tuple[Trajectory, ...], retries: int) -> bool:
    return bool(attempts) and (attempts[-1].reason not in FAULTS or len(attempts) > retries)


def _require_distinct(jobs: Sequence[Job]) -> None:
    seen: set[str] = set()
    for job in jobs:
        if job.job_id in seen:
            raise UserError(
                f"job {job.job_id!r} stands there twice: use `repeat` for more attempts"
            )
        seen.add(job.job_id)

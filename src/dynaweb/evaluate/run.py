"""Run an evaluation: plan on disk first, then every arm on every page, then the tables.

Raw episodes are kept (`episodes/ARM.jsonl`); the tables can always be made again from them. The same
call again goes on where the last one stopped.
"""

from collections.abc import Callable, Mapping
from pathlib import Path

from dynaweb.collect.run import (
    CollectConfig,
    Job,
    MakeEnvironment,
    collect_episodes,
    read_trajectories,
)
from dynaweb.contracts import Agent
from dynaweb.errors import StorageError, UserError
from dynaweb.evaluate.plan import PLAN_FILE, EvaluationPlan, load_plan, save_plan
from dynaweb.evaluate.results import RESULTS_FILE, EvaluationResults, analyse
from dynaweb.records.trajectory import Behaviour, Trajectory
from dynaweb.runs.jsonfile import write_record
from dynaweb.runs.progress import Progress, silent


async def run_evaluation(
    plan: EvaluationPlan,
    folder: Path,
    agents: Mapping[str, Callable[[], Agent]],
    make_env: MakeEnvironment,
    config: CollectConfig,
    progress: Progress = silent,
) -> EvaluationResults:
    """Evaluate every arm and write the tables.

    Args:
        plan: what to measure; saved before the first episode.
        folder: evaluation folder; made if need be.
        agents: how to make each arm's agent, at the plan's temperature.
        make_env: a real environment for a worker.
        config: workers and retries.
        progress: called after every episode.

    Raises:
        UserError: another plan or another agent's episodes are in the folder, or an arm has no agent.
        StorageError: a file is damaged or cannot be written.
    """
    if lacking := [a for a in plan.arms if a not in agents]:
        raise UserError(f"the plan has arm {lacking[0]!r} and no agent was given for it")
    for arm in plan.arms:
        await evaluate_arm(plan, arm, folder, agents[arm](), make_env, config, progress)
    return analyse_folder(folder)


async def evaluate_arm(
    plan: EvaluationPlan,
    arm: str,
    folder: Path,
    agent: Agent,
    make_env: MakeEnvironment,
    config: CollectConfig,
    progress: Progress = silent,
) -> tuple[Trajectory, ...]:
    """Every page of the plan once, by one arm; pages that are done are not done again.

    Raises:
        UserError: no such arm, another plan, or episodes of another agent.
        StorageError: a file is damaged or cannot be written.
    """
    if arm not in plan.arms:
        raise UserError(f"the plan has no arm {arm!r}: it has {', '.join(plan.arms)}")
    _require_plan_first(folder)
    save_plan(plan, folder)
    out = episodes_file(folder, arm)
    out.parent.mkdir(exist_ok=True)
    _require_same_agent(out, arm, agent.version)
    jobs = [
        Job(task=t, seed=s, policy=arm, behaviour=Behaviour.AGENT, max_steps=plan.max_steps)
        for t in plan.tasks
        for s in plan.seeds
    ]

    def named(stage: str, done: int, total: int | None, note: str = "") -> None:
        progress(f"evaluate {arm}", done, total, note)

    result = await collect_episodes(jobs, make_env, lambda job: agent, out, config, named)
    return last_attempts(result.trajectories)


def analyse_folder(folder: Path) -> EvaluationResults:
    """Make the tables from the plan and the raw episodes, and write them.

    Raises:
        UserError: an arm lacks pages. StorageError: a file is missing, damaged or not writable.
    """
    plan = load_plan(folder)
    episodes = {
        a: last_attempts(tuple(read_trajectories(episodes_file(folder, a)))) for a in plan.arms
    }
    results = analyse(plan, episodes)
    write_record(folder / RESULTS_FILE, results)
    return results


def episodes_file(folder: Path, arm: str) -> Path:
    """Where an arm's raw episodes are."""
    return folder / "episodes" / f"{arm}.jsonl"


def last_attempts(trajectories: tuple[Trajectory, ...]) -> tuple[Trajectory, ...]:
    """The last attempt at every job: the ones before it were broken off by the world (collect.run)."""
    return tuple({t.trajectory_id.split("~")[0]: t for t in trajectories}.values())


def _require_plan_first(folder: Path) -> None:
    if (folder / "episodes").exists() and not (folder / PLAN_FILE).exists():
        raise StorageError(
            f"{folder} holds episodes and no plan: a plan comes first; use a new folder"
        )


def _require_same_agent(out: Path, arm: str, version: str) -> None:
    others = {t.policy_version for t in read_trajectories(out)} - {version}
    if others:
        raise UserError(
            f"{out} holds episodes of {min(others)!r} and arm {arm!r} is now {version!r}: use a new folder"
        )

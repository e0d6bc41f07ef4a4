"""What DynaWeb has to beat: the same time on the same demonstrations, and the same live steps."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import ceil
from pathlib import Path

from dynaweb.collect.run import read_trajectories
from dynaweb.recipes.collecting import EPISODES, FIRST_AGENT, OPENINGS, live_steps, sampled_agent
from dynaweb.recipes.live import FILTERED_SEEDS, collect_live, make_jobs
from dynaweb.recipes.policy import only_successes, train_policy
from dynaweb.recipes.stage import Run
from dynaweb.records.trajectory import Behaviour, Trajectory

SFT_MORE = "sft_more"
FILTERED = "filtered_bc"
OWN = "sft_own"


def matched_steps(run: Run) -> int:
    """Optimiser steps that take as long as DynaWeb's trainings took, by the first agent's pace.

    Fixed before a control is trained, from times that are on disk by then.
    """
    if not run.config.controls.match_time:
        return run.config.controls.steps
    pace = run.seconds("sft") / max(run.number("sft", "steps"), 1)
    own = run.seconds(OWN) if run.config.policy.own_epochs else 0.0
    spent = run.seconds("world") + own + run.seconds("gspo")
    return max(1, round(spent / pace))


def train_more(run: Run, policy: Path, demonstrations: Sequence[Trajectory]) -> Path:
    """Control 1: supervised training goes on, on the same demonstrations."""
    return _continue(run, SFT_MORE, policy, demonstrations)


def live_budget(run: Run) -> int:
    """Real actions that DynaWeb spent beside the demonstrations: audits, live groups and held-out pages included."""
    stages = ["exploration", "attempts", "held_out"]
    stages += [OPENINGS] if run.config.data.openings else []
    spent = sum(run.number(s, "live_steps") for s in stages)
    gspo = run.number("gspo", "audit_live_steps") + run.number("gspo", "live_group_steps")
    return round(spent + gspo)


def filtered_attempts(run: Run, policy: Path, own: Sequence[Trajectory]) -> list[Trajectory]:
    """Control 2's experience: the first agent's attempts, as many real steps as DynaWeb took.

    Those that DynaWeb made count and are not made twice; the rest are on fresh pages.
    """
    budget = live_budget(run)
    inputs = {"budget": budget, "policy": run.made(policy), "own": len(own)}

    def work(folder: Path) -> Mapping[str, object]:
        agent = sampled_agent(run, policy)
        made: list[Trajectory] = []
        rounds = 0
        while (left := budget - live_steps(own) - live_steps(made)) > 0:
            known = [*own, *made]
            mean = live_steps(known) / max(len(known), 1) or 1.0
            rounds += max(1, ceil(left / mean / len(run.config.tasks)))
            seeds = range(FILTERED_SEEDS, FILTERED_SEEDS + rounds)
            limit = run.config.evaluation.max_steps
            jobs = make_jobs(run.config.tasks, seeds, FIRST_AGENT, Behaviour.AGENT, limit)

            def named(stage: str, done: int, total: int | None, note: str = "") -> None:
                run.progress("filtered attempts", done, total, note)

            result = collect_live(jobs, lambda job: agent, folder / EPISODES, run.config, named)
            made = list(result.trajectories)
        return {"live_steps": live_steps(own) + live_steps(made), "budget": budget}

    run.stage("filtered_attempts", inputs, work)
    return [*own, *read_trajectories(run.path("filtered_attempts") / EPISODES)]


def train_filtered(
    run: Run, policy: Path, demonstrations: Sequence[Trajectory], own: Sequence[Trajectory]
) -> Path:
    """Control 2: demonstrations and the agent's own real successes, filtered by the real reward."""
    return _continue(run, FILTERED, policy, [*demonstrations, *only_successes(own)])


def _continue(run: Run, name: str, policy: Path, data: Sequence[Trajectory]) -> Path:
    steps = matched_steps(run)
    inputs = {
        "policy": run.made(policy),
        "steps": steps,
        "attempts": sorted(t.trajectory_id for t in data),
    }

    def work(folder: Path) -> Mapping[str, object]:
        how = replace(run.config.policy.fit, steps=steps, epochs=None, max_seconds=None)
        return train_policy(
            data,
            folder,
            words=policy,
            how=how,
            config=run.config,
            progress=run.progress,
            stage=name,
            begin=policy,
        )

    run.stage(name, inputs, work)
    return run.path(name)

"""Evaluation in a scripted world: plan first, resumable, tables follow from raw episodes."""

import pytest
from tests.conformance.toy import TASKS, ToyEnvironment

from dynaweb.collect.run import CollectConfig, read_trajectories
from dynaweb.errors import BrowserError, StorageError, UserError
from dynaweb.evaluate.plan import PLAN_FILE, Comparison, EvaluationPlan
from dynaweb.evaluate.results import RESULTS_FILE, EvaluationResults
from dynaweb.evaluate.run import analyse_folder, episodes_file, evaluate_arm, run_evaluation
from dynaweb.records.action import Click, Noop
from dynaweb.records.trajectory import Step
from dynaweb.runs.jsonfile import read_record

PLAN = EvaluationPlan(
    tasks=TASKS[:2],
    seeds=(1_000_000, 1_000_001, 1_000_002),
    arms=("idle", "keen"),
    comparisons=(Comparison(treatment="keen", control="idle", primary=True),),
    max_steps=4,
)


class Idle:
    version = "idle@1"

    async def decide(self, goal, past, observation, seed):
        return Step(observation=observation, action=Noop())


class Keen:
    """Ticks the box that the goal names, and submits."""

    version = "keen@1"

    async def decide(self, goal, past, observation, seed):
        wanted = goal.split()[1]
        line = next((x for x in observation.tree.split("\n") if f"'{wanted}'" in x), "")
        if "checkbox" in line and "false" in line:
            return Step(observation=observation, action=Click(line.strip()[1:].split("]")[0]))
        submit = next(x for x in observation.tree.split("\n") if "'Submit'" in x)
        return Step(observation=observation, action=Click(submit.strip()[1:].split("]")[0]))


AGENTS = {"idle": Idle, "keen": Keen}


async def test_evaluation_end_to_end(tmp_path):
    results = await run_evaluation(PLAN, tmp_path, AGENTS, ToyEnvironment, CollectConfig(workers=2))
    idle, keen = results.arms
    assert (idle.rate.successes, idle.rate.n) == (0, 6)
    assert keen.by_task[0].rate.successes == 3  # toy-check is what it can do
    assert results.comparisons[0].paired.episodes.wins == 3
    assert read_record(EvaluationResults, tmp_path / RESULTS_FILE) == results
    assert analyse_folder(tmp_path) == results


async def test_taken_up_after_a_kill_it_ends_the_same(tmp_path):
    whole = await run_evaluation(PLAN, tmp_path / "a", AGENTS, ToyEnvironment, CollectConfig())
    await evaluate_arm(PLAN, "idle", tmp_path / "b", Idle(), ToyEnvironment, CollectConfig())
    path = episodes_file(tmp_path / "b", "idle")
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])
    assert (
        await run_evaluation(PLAN, tmp_path / "b", AGENTS, ToyEnvironment, CollectConfig()) == whole
    )
    assert path.read_bytes() == data
    assert len(read_trajectories(path)) == PLAN.episodes_per_arm


async def test_another_agent_under_the_same_name_is_refused(tmp_path):
    await evaluate_arm(PLAN, "idle", tmp_path, Idle(), ToyEnvironment, CollectConfig())
    with pytest.raises(UserError, match="'idle@1' and arm 'idle' is now 'keen@1'"):
        await evaluate_arm(PLAN, "idle", tmp_path, Keen(), ToyEnvironment, CollectConfig())


async def test_the_plan_comes_first(tmp_path):
    await evaluate_arm(PLAN, "idle", tmp_path, Idle(), ToyEnvironment, CollectConfig())
    (tmp_path / PLAN_FILE).unlink()
    with pytest.raises(StorageError, match="a plan comes first"):
        await evaluate_arm(PLAN, "idle", tmp_path, Idle(), ToyEnvironment, CollectConfig())


async def test_arms_without_agents_are_named(tmp_path):
    with pytest.raises(UserError, match="arm 'keen' and no agent"):
        await run_evaluation(PLAN, tmp_path, {"idle": Idle}, ToyEnvironment, CollectConfig())
    with pytest.raises(UserError, match="no arm 'dozing'"):
        await evaluate_arm(PLAN, "dozing", tmp_path, Idle(), ToyEnvironment, CollectConfig())


class Flaky(ToyEnvironment):
    """Its browser dies at every second reset."""

    resets = 0

    async def reset(self, task, seed, start=None):
        Flaky.resets += 1
        if Flaky.resets % 2:
            raise BrowserError("it died")
        return await super().reset(task, seed, start)


class Dead(ToyEnvironment):
    async def reset(self, task, seed, start=None):
        raise BrowserError("it is dead")


async def test_a_browser_that_dies_costs_no_arm_a_failure(tmp_path):
    Flaky.resets = 0
    flaky = await run_evaluation(PLAN, tmp_path / "a", AGENTS, Flaky, CollectConfig(workers=1))
    steady = await run_evaluation(PLAN, tmp_path / "b", AGENTS, ToyEnvironment, CollectConfig())
    assert flaky == steady
    assert len(read_trajectories(episodes_file(tmp_path / "a", "keen"))) == 12


async def test_what_stays_unknown_is_counted_and_never_zero(tmp_path):
    await evaluate_arm(PLAN, "idle", tmp_path, Idle(), Dead, CollectConfig(retries=1))
    await evaluate_arm(PLAN, "keen", tmp_path, Keen(), ToyEnvironment, CollectConfig())
    results = analyse_folder(tmp_path)
    assert (results.arms[0].rate.n, results.arms[0].rate.unknown) == (0, 6)
    assert results.arms[0].rate.rate is None
    assert results.comparisons[0].paired.difference is None
    assert results.comparisons[0].paired.left_out == 6

"""The proof: every arm on the same unseen pages in the real browser, by a plan fixed beforehand."""

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path

from dynaweb.browser.environment import miniwob_world
from dynaweb.collect.run import CollectConfig
from dynaweb.contracts import Agent
from dynaweb.evaluate.plan import Comparison, EvaluationPlan, plan_hash, save_plan
from dynaweb.evaluate.run import run_evaluation
from dynaweb.recipes.collecting import FIRST_AGENT
from dynaweb.recipes.config import RecipeConfig
from dynaweb.recipes.controls import FILTERED, SFT_MORE
from dynaweb.recipes.policy import load_agent
from dynaweb.recipes.stage import Run

DYNAWEB = "dynaweb"


def evaluation_plan(config: RecipeConfig) -> EvaluationPlan:
    """Tasks, seeds, arms and analysis; a function of the recipe alone."""
    how = config.evaluation
    return EvaluationPlan(
        tasks=config.tasks,
        seeds=tuple(range(how.first_seed, how.first_seed + how.episodes)),
        arms=(FIRST_AGENT, SFT_MORE, FILTERED, DYNAWEB),
        comparisons=(
            Comparison(treatment=DYNAWEB, control=SFT_MORE, primary=True),
            Comparison(treatment=DYNAWEB, control=FILTERED, primary=True),
            Comparison(treatment=DYNAWEB, control=FIRST_AGENT),
            Comparison(treatment=FILTERED, control=FIRST_AGENT),
            Comparison(treatment=SFT_MORE, control=FIRST_AGENT),
        ),
        max_steps=how.max_steps,
        temperature=0.0,
        statistics=how.statistics,
    )


def arms_in_words(config: RecipeConfig) -> Mapping[str, str]:
    """What each arm was trained on, for people."""
    own = "its own real successes, then " if config.policy.own_epochs else ""
    share = f"{config.gspo.mix.expert_share:.0%}"
    matched = "DynaWeb's training time" if config.controls.match_time else "a fixed number of steps"
    base = config.policy.base
    read = "exercises in reading made-up pages, then " if base.find or base.mixed else ""
    return {
        FIRST_AGENT: f"{read}{config.data.experts} demonstrations a task",
        SFT_MORE: f"the same demonstrations for longer: {matched}",
        FILTERED: f"the demonstrations and its own real successes, of as many live steps as DynaWeb took, for {matched}",
        DYNAWEB: f"the demonstrations, {own}GSPO in dreams, up to {share} of a group's members experts",
    }


def fix_plan(run: Run) -> None:
    """Write the plan before anything is collected or trained."""
    plan = evaluation_plan(run.config)

    def work(folder: Path) -> Mapping[str, object]:
        save_plan(plan, folder)
        return {"plan": plan_hash(plan)}

    run.stage("plan", plan_hash(plan), work)


def evaluate(run: Run, policies: Mapping[str, Path]) -> None:
    """Every arm's episodes and the tables."""
    plan = evaluation_plan(run.config)
    inputs = {
        "plan": plan_hash(plan),
        "policies": {arm: run.made(path) for arm, path in policies.items()},
    }

    def agent_of(arm: str, path: Path) -> Callable[[], Agent]:
        how = run.config.agent_at(plan.temperature)
        return lambda: load_agent(path, arm, how, threads=run.config.live_threads)

    def work(folder: Path) -> Mapping[str, object]:
        async def go() -> None:
            async with miniwob_world(run.config.browser) as make_env:
                how = CollectConfig(workers=run.config.live_workers, seed=run.config.seed)
                agents = {arm: agent_of(arm, path) for arm, path in policies.items()}
                await run_evaluation(plan, folder, agents, make_env, how, run.progress)

        asyncio.run(go())
        return {"plan": plan_hash(plan)}

    run.stage("evaluation", inputs, work)

"""The stages that make real episodes: demonstrations, exploration, the first agent's own attempts."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from dynaweb.collect.experts import EXPERTS
from dynaweb.collect.explore import NoisyExpert, Opener, RandomAgent
from dynaweb.collect.run import Job, MakeAgent, read_trajectories
from dynaweb.contracts import Agent
from dynaweb.dataset.card import dataset_card
from dynaweb.errors import UserError
from dynaweb.recipes.live import (
    AGENT_SEEDS,
    EXPERT_SEEDS,
    NOISY_SEEDS,
    OPENING_SEEDS,
    RANDOM_SEEDS,
    collect_live,
    make_jobs,
)
from dynaweb.recipes.policy import load_agent
from dynaweb.recipes.stage import Run
from dynaweb.records.seeds import derive_seed
from dynaweb.records.trajectory import Behaviour, Trajectory
from dynaweb.runs.atomic import write_text

EPISODES = "episodes.jsonl"
OPENINGS = "openings"
FIRST_AGENT = "sft"
"""Name of the agent that demonstrations alone have made; also its arm in the evaluation."""


def experts(run: Run) -> list[Trajectory]:
    """Demonstrations: what every arm begins with."""
    config = run.config
    if lacking := [t for t in config.tasks if t not in EXPERTS]:
        raise UserError(
            f"task {lacking[0]!r} has no scripted expert: see `dynaweb tasks --experts`"
        )
    seeds = range(EXPERT_SEEDS, EXPERT_SEEDS + config.data.experts)
    steps = {t: max(config.evaluation.max_steps, EXPERTS[t].steps + 2) for t in config.tasks}
    jobs = [
        Job(task=t, seed=s, policy="expert", behaviour=Behaviour.EXPERT, max_steps=steps[t])
        for s in seeds
        for t in config.tasks
    ]
    return _stage(run, "experts", jobs, lambda job: EXPERTS[job.task])


def exploration(run: Run) -> list[Trajectory]:
    """What experts never do: random actions, and experts that err (papers F22)."""
    data, limit = run.config.data, run.config.evaluation.max_steps
    random_jobs = make_jobs(
        run.config.tasks,
        range(RANDOM_SEEDS, RANDOM_SEEDS + data.random),
        "random",
        Behaviour.RANDOM,
        limit,
    )
    noisy_jobs = make_jobs(
        run.config.tasks,
        range(NOISY_SEEDS, NOISY_SEEDS + data.noisy),
        "noisy",
        Behaviour.RANDOM,
        limit,
    )
    return _stage(run, "exploration", [*random_jobs, *noisy_jobs], lambda job: _explorer(run, job))


def attempts(run: Run, policy: Path) -> list[Trajectory]:
    """The first agent's own attempts, its real failures above all, on pages for training."""
    data = run.config.data
    seeds = range(AGENT_SEEDS, AGENT_SEEDS + data.agent)
    jobs = _agent_jobs(run, seeds)
    return _stage(run, "attempts", jobs, _sampled(run, policy), made_by=policy)


def openings(run: Run) -> list[Trajectory]:
    """First pages that nobody has acted on: dreams begin from them, and nothing else is learnt from them."""
    count = run.config.data.openings
    if not count:
        return []
    seeds = range(OPENING_SEEDS, OPENING_SEEDS + count)
    jobs = make_jobs(run.config.tasks, seeds, "opener", Behaviour.RANDOM, 1)
    return _stage(run, OPENINGS, jobs, lambda job: Opener())


def held_out(run: Run, policy: Path) -> list[Trajectory]:
    """Attempts on pages that nothing is trained on: they measure world model and judge."""
    data, tasks, limit = run.config.data, run.config.tasks, run.config.evaluation.max_steps
    first = data.first_held_out + data.held_out
    last = first + data.held_out_noisy
    by_chance = range(last, last + data.held_out_random)
    jobs = [
        *_agent_jobs(run, range(data.first_held_out, first)),
        *make_jobs(tasks, range(first, last), "noisy", Behaviour.RANDOM, limit),
        *make_jobs(tasks, by_chance, "random", Behaviour.RANDOM, limit),
    ]
    agent = _sampled(run, policy)
    return _stage(
        run,
        "held_out",
        jobs,
        lambda job: agent(job) if job.policy == FIRST_AGENT else _explorer(run, job),
        made_by=policy,
    )


def _agent_jobs(run: Run, seeds: Sequence[int]) -> list[Job]:
    limit = run.config.evaluation.max_steps
    return make_jobs(run.config.tasks, seeds, FIRST_AGENT, Behaviour.AGENT, limit)


def _sampled(run: Run, policy: Path) -> MakeAgent:
    """The first agent with the temperature of exploration, loaded when it is first needed."""
    loaded: list[Agent] = []

    def make(job: Job) -> Agent:
        if not loaded:
            loaded.append(sampled_agent(run, policy))
        return loaded[0]

    return make


def sampled_agent(run: Run, policy: Path) -> Agent:
    """The first agent, exploring."""
    how = run.config.agent_at(run.config.data.agent_temperature)
    return load_agent(policy, FIRST_AGENT, how, threads=run.config.live_threads)


def _explorer(run: Run, job: Job) -> Agent:
    if job.policy == "random":
        return RandomAgent(invalid_fraction=run.config.data.noise.invalid_fraction)
    attempt = derive_seed(run.config.seed, "noisy", job.job_id)
    return NoisyExpert(expert=EXPERTS[job.task], attempt_seed=attempt, config=run.config.data.noise)


def _stage(
    run: Run, name: str, jobs: Sequence[Job], make: MakeAgent, made_by: Path | None = None
) -> list[Trajectory]:
    inputs = {"jobs": [j.job_id for j in jobs], "seed": run.config.seed, "agent": run.made(made_by)}

    def work(folder: Path) -> Mapping[str, object]:
        def named(stage: str, done: int, total: int | None, note: str = "") -> None:
            run.progress(name, done, total, note)

        result = collect_live(jobs, make, folder / EPISODES, run.config, named)
        card = dataset_card(result.trajectories, title=f"{run.config.name}: {name}")
        write_text(folder / "README.md", card)
        return {
            "episodes": len(jobs),
            "live_steps": live_steps(result.trajectories),
            "unknown": result.unknown,
        }

    run.stage(name, inputs, work)
    return read_trajectories(run.path(name) / EPISODES)


def live_steps(trajectories: Sequence[Trajectory]) -> int:
    """Real actions that these attempts took: what live experience costs."""
    return sum(len(t.steps) for t in trajectories)

"""The one loop in which anything is ever attempted, real or imagined.

Blame (contracts): the policy's own faults are error observations and, in the end, failures; faults of
browser, world model, sampler or judge end the attempt as `unknown` and are written on it. Any other
exception is a bug and escapes.
"""

from dataclasses import dataclass, replace

from dynaweb.agent.reply import read_reply
from dynaweb.contracts import Agent, Environment, Judge, StepResult
from dynaweb.errors import (
    BrowserError,
    DynawebError,
    JudgeError,
    SamplerError,
    UserError,
    WorldModelError,
)
from dynaweb.records.action import Action, ReportInfeasible, SendMsgToUser
from dynaweb.records.observation import Observation
from dynaweb.records.seeds import derive_seed
from dynaweb.records.trajectory import Behaviour, Outcome, Reason, Start, Step, Trajectory, World
from dynaweb.rollout.verdict import needs_verdict, with_verdict

_FAULTS: dict[type[DynawebError], Reason] = {
    BrowserError: Reason.BROWSER_FAULT,
    WorldModelError: Reason.WORLD_MODEL_FAULT,
    SamplerError: Reason.SAMPLER_FAULT,
    JudgeError: Reason.JUDGE_FAULT,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeConfig:
    """How long an attempt may last."""

    max_steps: int = 10
    """Actions before the attempt is a failure for running out of steps."""

    def __post_init__(self) -> None:
        if self.max_steps < 1:
            raise UserError(f"max_steps {self.max_steps!r} is out of range: use 1 or more")


@dataclass(slots=True)
class _Attempt:
    """What has happened so far; the loop's only mutable state."""

    goal: str = ""
    steps: tuple[Step, ...] = ()
    final: Observation | None = None
    reward: float | None = None
    raw_reward: float | None = None
    reason: Reason = Reason.OUT_OF_STEPS
    detail: str = ""


async def run_episode(
    env: Environment,
    agent: Agent,
    *,
    trajectory_id: str,
    task: str,
    seed: int,
    config: EpisodeConfig,
    behaviour: Behaviour,
    start: Start | None = None,
    episode_seed: int = 0,
    judge: Judge | None = None,
    origin: str = "",
    license: str = "",  # the record's field name
    world_model_version: str = "",
) -> Trajectory:
    """Attempt a task once.

    Args:
        env: live or dreamed.
        agent: who decides.
        trajectory_id: name of the attempt, unique in its run.
        task: task name the environment knows.
        seed: the task's seed (which page, which goal).
        config: step limit.
        behaviour: who the agent is, for the record.
        start: a stored state to begin from; None for the task's first page.
        episode_seed: seed of the agent's own choices.
        judge: asked when the attempt ended and the world itself gave no reward.
        origin: site or package the pages come from.
        license: licence of those pages.
        world_model_version: which model dreams; empty when live.

    Raises:
        UserError: no such task.
    """
    attempt = _Attempt()
    past = start.past if start is not None else ()
    try:
        observation = await env.reset(task, seed, start)
        attempt.goal = env.goal
        await _walk(env, agent, attempt, observation, past, config.max_steps, episode_seed)
    except tuple(_FAULTS) as error:
        attempt.reason = next(r for kind, r in _FAULTS.items() if isinstance(error, kind))
        attempt.detail = f"{type(error).__name__}: {error}"
    trajectory = Trajectory(
        trajectory_id=trajectory_id,
        task=task,
        goal=attempt.goal or (start.goal if start is not None else ""),
        seed=seed,
        steps=attempt.steps,
        final=attempt.final,
        past=past,
        outcome=_outcome(attempt),
        reason=attempt.reason,
        detail=attempt.detail,
        raw_reward=attempt.raw_reward,
        world=env.world,
        behaviour=behaviour,
        policy_version=agent.version,
        world_model_version=world_model_version if env.world is World.DREAM else "",
        license=license,
        origin=origin,
    )
    if judge is None or not needs_verdict(trajectory):
        return trajectory
    return with_verdict(trajectory, judge.judge([trajectory])[0])


async def _walk(
    env: Environment,
    agent: Agent,
    attempt: _Attempt,
    observation: Observation,
    past: tuple[Step, ...],
    max_steps: int,
    episode_seed: int,
) -> None:
    while len(attempt.steps) < max_steps:
        at = derive_seed(episode_seed, "step", len(attempt.steps))
        step = await agent.decide(env.goal, past + attempt.steps, observation, at)
        if step.action is None:
            attempt.steps += (step,)
            observation = replace(observation, last_action_error=_refusal(step))
            attempt.final = observation
            continue
        attempt.steps += (step,)
        attempt.final = None  # if the world breaks now, nobody knows what the action did
        result = await env.step(step.action)
        if result.fault is not None:
            attempt.steps = (*attempt.steps[:-1], replace(step, fault=result.fault))
        observation = result.observation
        attempt.final = observation
        _note_reward(attempt, result)
        if result.terminated or result.truncated:
            attempt.reason = _end_reason(step.action, result)
            return


def _end_reason(action: Action, result: StepResult) -> Reason:
    if not result.terminated:
        return Reason.OUT_OF_STEPS
    return (
        Reason.ANSWERED
        if isinstance(action, SendMsgToUser | ReportInfeasible)
        else Reason.TASK_ENDED
    )


def _note_reward(attempt: _Attempt, result: StepResult) -> None:
    if result.reward is not None:
        attempt.reward = result.reward
    raw = result.info.get("raw_reward")
    if isinstance(raw, int | float):
        attempt.raw_reward = float(raw)


def _refusal(step: Step) -> str:
    """Why the reply was not an action, for the agent to read."""
    text = step.generations[-1].raw_text if step.generations else step.thought
    return read_reply(text).problem or "no action in the reply"


def _outcome(attempt: _Attempt) -> Outcome:
    if attempt.reason in _FAULTS.values():
        return Outcome.UNKNOWN
    if attempt.reason is Reason.OUT_OF_STEPS:
        return Outcome.FAILURE
    if attempt.reward is None:  # the world does not say: a judge may
        return Outcome.UNKNOWN
    return Outcome.SUCCESS if attempt.reward > 0 else Outcome.FAILURE

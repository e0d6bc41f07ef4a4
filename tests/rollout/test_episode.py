"""The episode loop in the scripted toy world: blame, limits, histories, verdicts."""

from dataclasses import dataclass, field

import pytest
from tests.conformance.toy import ToyEnvironment, solution

from dynaweb.contracts import StepResult
from dynaweb.errors import BrowserError, SamplerError
from dynaweb.records.action import Action, Click
from dynaweb.records.observation import Observation
from dynaweb.records.trajectory import (
    Behaviour,
    Fault,
    Outcome,
    Reason,
    Start,
    Step,
    Trajectory,
    Verdict,
)
from dynaweb.rollout.episode import EpisodeConfig, run_episode
from dynaweb.rollout.verdict import needs_verdict, with_verdict


@dataclass
class Scripted:
    """Says what it is told, and remembers what it was shown."""

    actions: list[Action | None]
    version: str = "scripted"
    pasts: list[int] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    async def decide(
        self, goal: str, past: tuple[Step, ...], observation: Observation, seed: int
    ) -> Step:
        self.pasts.append(len(past))
        self.errors.append(observation.last_action_error)
        action = self.actions[len(self.pasts) - 1]
        fault = Fault.NO_ACTION if action is None else None
        return Step(observation=observation, action=action, fault=fault)


async def attempt(
    agent: Scripted, env: ToyEnvironment | None = None, steps: int = 5, **more: object
) -> Trajectory:
    return await run_episode(
        env or ToyEnvironment(),
        agent,
        trajectory_id="t",
        task="toy-check",
        seed=3,
        config=EpisodeConfig(max_steps=steps),
        behaviour=Behaviour.AGENT,
        **more,  # type: ignore[arg-type]
    )


async def test_a_solved_task_is_a_success_with_its_pages() -> None:
    actions = list(solution("toy-check", 3))
    t = await attempt(Scripted([*actions]))
    assert (t.outcome, t.reason, t.reward) == (Outcome.SUCCESS, Reason.TASK_ENDED, 1.0)
    assert [s.action for s in t.steps] == actions
    assert t.final is not None and len(t.transitions()) == len(actions)
    assert t.transitions()[-1].terminal


async def test_the_policys_own_faults_cost_steps_and_are_shown_to_it() -> None:
    agent = Scripted([None, Click("99"), Click("1")])
    t = await attempt(agent, steps=3)
    assert (t.outcome, t.reason, t.reward) == (Outcome.FAILURE, Reason.OUT_OF_STEPS, 0.0)
    assert [s.fault for s in t.steps] == [Fault.NO_ACTION, Fault.MISSING_ELEMENT, None]
    assert agent.errors[1] and "99" in agent.errors[2]


class Breaking(ToyEnvironment):
    async def step(self, action: Action) -> StepResult:
        raise BrowserError("tab crashed")


class Speechless(Scripted):
    async def decide(
        self, goal: str, past: tuple[Step, ...], observation: Observation, seed: int
    ) -> Step:
        raise SamplerError("no answer")


async def test_other_peoples_faults_are_unknown_and_never_a_zero() -> None:
    broken = await attempt(Scripted([Click("1")]), Breaking())
    assert (broken.outcome, broken.reason, broken.reward) == (
        Outcome.UNKNOWN,
        Reason.BROWSER_FAULT,
        None,
    )
    assert "tab crashed" in broken.detail and len(broken.steps) == 1
    silent = await attempt(Speechless([]))
    assert (silent.reason, silent.steps) == (Reason.SAMPLER_FAULT, ())


async def test_an_attempt_from_the_middle_knows_its_past() -> None:
    first = await attempt(Scripted([*solution("toy-check", 3)]))
    start: Start = first.start_at(1)
    agent = Scripted([*solution("toy-check", 3)[1:]])
    t = await attempt(agent, start=start)
    assert t.outcome is Outcome.SUCCESS
    assert agent.pasts[0] == 1 and len(t.past) == 1
    assert t.steps[0].observation == first.steps[1].observation


async def test_a_verdict_is_given_only_to_those_that_wait_for_one() -> None:
    done = await attempt(Scripted([*solution("toy-check", 3)]))
    assert not needs_verdict(done)
    with pytest.raises(ValueError, match="not waiting"):
        with_verdict(done, Verdict(outcome=Outcome.FAILURE))

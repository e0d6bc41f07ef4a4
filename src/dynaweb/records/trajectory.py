"""One attempt at one task, from first page to last; and groups of attempts."""

from dataclasses import dataclass
from enum import StrEnum

from dynaweb.records.action import Action
from dynaweb.records.observation import Observation


class World(StrEnum):
    """Where the pages came from."""

    LIVE = "live"
    DREAM = "dream"


class Behaviour(StrEnum):
    """Who chose the actions. A partly random expert counts as random: it is not a demonstration."""

    EXPERT = "expert"
    RANDOM = "random"
    AGENT = "agent"
    HUMAN = "human"


class Outcome(StrEnum):
    """How an attempt ended; `unknown` is nobody's reward (contracts: outcome and blame)."""

    SUCCESS = "success"
    FAILURE = "failure"
    UNKNOWN = "unknown"


class Reason(StrEnum):
    """Why an attempt ended."""

    TASK_ENDED = "task_ended"
    ANSWERED = "answered"
    OUT_OF_STEPS = "out_of_steps"
    RECORDING_STOPPED = "recording_stopped"
    """The record does not say how the attempt ended, and nobody is to blame: a file of another tool, a crawl that was killed or trimmed."""
    BROWSER_FAULT = "browser_fault"
    WORLD_MODEL_FAULT = "world_model_fault"
    JUDGE_FAULT = "judge_fault"
    SAMPLER_FAULT = "sampler_fault"


class Fault(StrEnum):
    """What was wrong with an action: the same classes in the browser and in the dream."""

    NO_ACTION = "no_action"
    MALFORMED = "malformed"
    MISSING_ELEMENT = "missing_element"
    DISABLED = "disabled"
    NOT_EDITABLE = "not_editable"
    NOT_AN_OPTION = "not_an_option"
    IMPOSSIBLE = "impossible"
    """Fits the page's text, but the page did not let it happen: obscured, detached, no history."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Generation:
    """One reply of a sampler. Training reads the ids; the text is never re-encoded."""

    prompt_ids: tuple[int, ...]
    completion_ids: tuple[int, ...]
    """Tokens the policy wrote, the end token included when it wrote one."""
    logprobs: tuple[float, ...]
    """Natural log-probability of each completion token under the sampling distribution."""
    temperature: float
    seed: int
    policy_version: str
    raw_text: str
    finish: str
    """`stop` (end token) or `length` (ran out of tokens)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """The page the agent saw, what it thought, what it did."""

    observation: Observation
    thought: str = ""
    action: Action | None = None
    """None when the reply held no action."""
    fault: Fault | None = None
    """Why the action did not happen; None when it did."""
    generations: tuple[Generation, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Transition:
    """One step of the web: page, action, next page."""

    observation: Observation
    action: Action
    next_observation: Observation
    terminal: bool = False
    """The episode ended here; the next page is what was left on screen."""
    fault: Fault | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """Where an episode begins: also what `snapshot` returns and `restore` takes."""

    task: str
    seed: int
    goal: str
    observation: Observation
    prefix: tuple[Action, ...] = ()
    """Actions that lead from the task's first page here, for replay in a real browser."""
    past: tuple[Step, ...] = ()
    """The same as steps, so that an agent that starts here sees its history."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trajectory:
    """Steps in order, and how the attempt ended."""

    trajectory_id: str
    task: str
    goal: str
    seed: int
    steps: tuple[Step, ...]
    final: Observation | None = None
    """What was on screen after the last action; None if the episode broke before it was seen."""
    past: tuple[Step, ...] = ()
    """Steps before the start; empty when the attempt began at the task's first page."""
    outcome: Outcome
    reason: Reason
    detail: str = ""
    """One line for people: the error behind a fault, the evidence behind a verdict."""
    raw_reward: float | None = None
    """The task's own graded reward, where it has one."""
    world: World
    behaviour: Behaviour
    policy_version: str = ""
    world_model_version: str = ""
    license: str = ""
    origin: str = ""
    """Site or package the pages came from."""

    @property
    def reward(self) -> float | None:
        """1.0, 0.0, or None when unknown."""
        return {Outcome.SUCCESS: 1.0, Outcome.FAILURE: 0.0, Outcome.UNKNOWN: None}[self.outcome]

    @property
    def start(self) -> Start:
        """Where the attempt began.

        Raises:
            ValueError: a trajectory without steps has no start.
        """
        return self.start_at(0)

    def start_at(self, index: int) -> Start:
        """The state before step `index`, as a place to begin from."""
        if not 0 <= index < len(self.steps):
            raise ValueError(f"trajectory {self.trajectory_id!r} has no step {index}")
        past = self.past + self.steps[:index]
        done = tuple(s.action for s in past if s.action is not None)
        return Start(
            task=self.task,
            seed=self.seed,
            goal=self.goal,
            observation=self.steps[index].observation,
            prefix=done,
            past=past,
        )

    def suffix(self, index: int) -> "Trajectory":
        """The same attempt, begun at step `index`: the expert member of a group that starts there."""
        if not 0 <= index < len(self.steps):
            raise ValueError(f"trajectory {self.trajectory_id!r} has no step {index}")
        return Trajectory(
            trajectory_id=f"{self.trajectory_id}@{index}",
            task=self.task,
            goal=self.goal,
            seed=self.seed,
            steps=self.steps[index:],
            final=self.final,
            past=self.past + self.steps[:index],
            outcome=self.outcome,
            reason=self.reason,
            detail=self.detail,
            raw_reward=self.raw_reward,
            world=self.world,
            behaviour=self.behaviour,
            policy_version=self.policy_version,
            world_model_version=self.world_model_version,
            license=self.license,
            origin=self.origin,
        )

    def transitions(self) -> tuple[Transition, ...]:
        """Every step of the web in this attempt; steps without an action or a next page are left out."""
        pages = [s.observation for s in self.steps[1:]] + (
            [self.final] if self.final is not None else []
        )
        ended = self.reason in (Reason.TASK_ENDED, Reason.ANSWERED)
        return tuple(
            Transition(
                observation=step.observation,
                action=step.action,
                next_observation=page,
                terminal=ended and i == len(self.steps) - 1,
                fault=step.fault,
            )
            for i, (step, page) in enumerate(zip(self.steps, pages, strict=False))
            if step.action is not None
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Attempts of one task from one start state."""

    start: Start
    members: tuple[Trajectory, ...]

    def __post_init__(self) -> None:
        here = self.start
        for m in self.members:
            same = (m.task, m.seed, m.goal) == (here.task, here.seed, here.goal)
            if not same or not m.steps or m.steps[0].observation.tree != here.observation.tree:
                raise ValueError(
                    f"trajectory {m.trajectory_id!r} does not begin at the group's start ({here.task!r}, seed {here.seed})"
                )


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """A judgement and what it rests on."""

    outcome: Outcome
    evidence: str = ""
    """What the judge was shown, for people."""
    score: float | None = None
    """Probability of success, where the judge gives one; in [0, 1]."""

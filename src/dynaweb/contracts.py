"""The few things a stage may ask of another without knowing which one it is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal, Protocol, TypeAlias

from dynaweb.records.action import Action
from dynaweb.records.delta import Delta
from dynaweb.records.observation import Observation
from dynaweb.records.trajectory import Fault, Generation, Start, Step, Trajectory, Verdict, World


@dataclass(frozen=True, slots=True, kw_only=True)
class StepResult:
    """What came of one action."""

    observation: Observation
    reward: float | None = None
    """1.0 or 0.0 when the world itself has judged the episode; None otherwise (a judge may)."""
    terminated: bool = False
    """The task is over."""
    truncated: bool = False
    """The world stopped the episode for a reason of its own (off-site, step limit)."""
    fault: Fault | None = None
    """The policy's own fault with this action; the observation then says why. The episode goes on."""
    info: Mapping[str, float | str] = field(default_factory=dict)
    """`raw_reward`, timings in seconds, model confidence."""


class Environment(Protocol):
    """A place with pages: Chromium, or a world model's imagination."""

    @property
    def world(self) -> World:
        """Live or dream; written on trajectories."""
        ...

    @property
    def goal(self) -> str:
        """What the user wants; known after `reset`."""
        ...

    async def reset(self, task: str, seed: int, start: Start | None = None) -> Observation:
        """Show the task's first page, or the page of `start`.

        Raises:
            UserError: no such task. BrowserError, WorldModelError: the world failed.
        """
        ...

    async def step(self, action: Action) -> StepResult:
        """Do it and show what came of it; a bad action is a `fault`, not an exception."""
        ...

    async def snapshot(self) -> Start:
        """The present state, as a place to begin from."""
        ...

    async def restore(self, state: Start) -> Observation:
        """Go back to a state that `snapshot` returned."""
        ...

    async def close(self) -> None:
        """Free everything; safe to call twice."""
        ...


class Agent(Protocol):
    """Something that decides."""

    @property
    def version(self) -> str:
        """Which policy this is; written on trajectories."""
        ...

    async def decide(
        self, goal: str, past: tuple[Step, ...], observation: Observation, seed: int
    ) -> Step:
        """Read the page, think, act. A reply without an action is a step with a fault.

        Raises:
            SamplerError: the model failed.
        """
        ...


class PredictionStatus(StrEnum):
    """How a prediction came about."""

    OK = "ok"
    REPAIRED = "repaired"
    INVALID = "invalid"


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """An imagined next page."""

    observation: Observation
    delta: Delta | None
    status: PredictionStatus
    confidence: float
    """Probability the model gave its own words, in [0, 1]; 1.0 where a rule decided."""
    terminal: bool = False
    fault: Fault | None = None
    """Set when the validity gate refused the action; the page is then unchanged but for the error."""
    by_rule: bool = False
    """No model was asked."""
    raw_text: str = ""
    unanswered: bool = False
    """The model could not be reached; the status is invalid. Nobody's answer: it counts in no score, and is asked again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Imagine:
    """One question to a world model."""

    history: tuple[Observation, ...]
    """Pages so far, the present one last; at least one."""
    action: Action
    done: tuple[Action | None, ...] = ()
    """What was done on the pages before the present one, in order; None where a reply held no action. Empty when
    it is not known, else one entry for each of them."""
    goal: str | None = None
    """Hidden by default: a model that knows the goal tends to grant it."""
    seed: int = 0


class WorldModel(Protocol):
    """Something that imagines what an action does."""

    @property
    def version(self) -> str:
        """Which model this is; written on dreams."""
        ...

    def predict(self, questions: Sequence[Imagine]) -> list[Prediction]:
        """Next pages, in order; one batch. Never raises for a bad reply: the status says so."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleRequest:
    """One question to a sampler."""

    prompt_ids: tuple[int, ...]
    max_new_tokens: int
    temperature: float
    """0.0 means greedy."""
    seed: int


class Sampler(Protocol):
    """Tokens in, tokens and log-probabilities out."""

    @property
    def version(self) -> str:
        """Version of the weights that answer."""
        ...

    def sample(self, requests: Sequence[SampleRequest]) -> list[Generation]:
        """Replies in order; one batch. A request's result depends on its own seed alone."""
        ...


class Judge(Protocol):
    """Something that says how an attempt ended."""

    def judge(self, trajectories: Sequence[Trajectory]) -> list[Verdict]:
        """Verdicts in order; `unknown` when the judge could not tell or failed."""
        ...


ChatRole: TypeAlias = Literal["system", "user", "assistant"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatMessage:
    """One turn of a conversation."""

    role: ChatRole
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatRequest:
    """One question in words, to a model that has its own template and tokenizer."""

    messages: tuple[ChatMessage, ...]
    """Oldest first; at least one, the last of them not the assistant's."""
    max_new_tokens: int
    temperature: float = 0.0
    """0.0 means greedy."""
    seed: int = 0
    stop: tuple[str, ...] = ()
    """Texts that end the reply; they are not part of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatReply:
    """What a model answered, or why it did not."""

    text: str
    """Empty when it failed."""
    finish: Literal["stop", "length", "error"]
    model: str
    """Name that answered, as the server gives it."""
    prompt_tokens: int | None = None
    """None when the server does not count."""
    completion_tokens: int | None = None
    mean_logprob: float | None = None
    """Natural log, mean over the reply's tokens; None when the server does not say."""
    error: str = ""
    """Why it failed after all tries: transport, deadline, refusal; empty otherwise."""


class ChatModel(Protocol):
    """Words in, words out: an endpoint, or local weights behind their chat template."""

    @property
    def version(self) -> str:
        """Which model this is; written on what it makes."""
        ...

    def chat(self, requests: Sequence[ChatRequest]) -> list[ChatReply]:
        """Replies in order, asked side by side. Never raises for a failed request: `finish` says so.

        Raises:
            SamplerError: no request can succeed (no such host, refused key, no such model).
        """
        ...

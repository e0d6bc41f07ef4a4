"""A world model that is asked in words: one loop for every form, with everything that goes wrong counted.

A form says how a question is put and how replies become a page (`ChatForm`); this says when: rules and gate first, then
memory, then a batch of requests, then retries. A reply that is no page is invalid, never a page; a mended one is `repaired`.
"""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol, TypeAlias

from dynaweb.contracts import (
    ChatMessage,
    ChatModel,
    ChatReply,
    ChatRequest,
    Imagine,
    Prediction,
    PredictionStatus,
)
from dynaweb.records.delta import Delta
from dynaweb.records.observation import Observation
from dynaweb.records.seeds import derive_seed
from dynaweb.world.answers import Answers, Tried, invalid_prediction, question_key
from dynaweb.world.flaws import Flaw, Mend, UnusableReplyError
from dynaweb.world.forms import ChatFormConfig
from dynaweb.world.ruled import Ruled

UNKNOWN_CONFIDENCE = 0.5
"""Where a model does not say how probable its words were (`ChatReply.mean_logprob` is None): neither sure nor unsure."""

SEEDS = 2**31
"""Seeds of requests are below it: not every server takes longer ones."""

Messages: TypeAlias = tuple[ChatMessage, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Put:
    """A question in words."""

    messages: Messages
    stop: tuple[str, ...] = ()
    left_out: int = 0
    """Earlier turns that did not fit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question that no rule settled (`answers.Asked`)."""

    imagine: Imagine
    ruled: Ruled
    put: Put
    key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Imagined:
    """A usable next page."""

    page: Observation
    delta: Delta | None
    raw_text: str
    """All that the model wrote for it."""
    terminal: bool = False
    mends: frozenset[Mend] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """No page."""

    flaw: Flaw
    raw_text: str = ""


Outcome: TypeAlias = Imagined | Failed
FollowUp: TypeAlias = Callable[[Sequence[tuple[Question, Put]]], list[ChatReply]]
"""Asks once more about some of the questions, in one batch."""


class ChatForm(Protocol):
    """How a question is put, and how replies become a page."""

    @property
    def name(self) -> str:
        """Of the form, for versions."""
        ...

    def put(self, question: Imagine, ruled: Ruled) -> Put:
        """The question in words."""
        ...

    def read(
        self, questions: Sequence[Question], replies: Sequence[ChatReply], ask: FollowUp
    ) -> list[Outcome]:
        """What the replies say, in order; `ask` for what a form asks next."""
        ...


class ChatWorldModel:
    """A `contracts.WorldModel` over a `contracts.ChatModel`."""

    def __init__(self, chat: ChatModel, form: ChatForm, config: ChatFormConfig) -> None:
        """Ask `chat` as `form` says."""
        self._chat = chat
        self._form = form
        self._config = config
        self._counts: Counter[str] = Counter()
        self._answers = Answers(
            self._ask,
            self._attempt,
            retries=config.retries,
            cache_entries=config.cache_entries,
        )

    @property
    def version(self) -> str:
        """Which model this is: form and model."""
        return f"{self._form.name}:{self._chat.version}"

    @property
    def counts(self) -> Mapping[str, int]:
        """What happened so far, by name.

        `asked` questions and `tries`; `invalid.FLAW` and `mended.MEND` per try; `confidence_unknown`; `turns_left_out`, earlier
        turns that did not fit into a prompt.
        """
        return dict(self._counts)

    def predict(self, questions: Sequence[Imagine]) -> list[Prediction]:
        """Next pages, in order; one batch for what is new.

        Raises:
            SamplerError: the model cannot be asked at all.
        """
        return self._answers.predict(questions)

    def _ask(self, question: Imagine, ruled: Ruled) -> Question:
        put = self._form.put(question, ruled)
        said = "\x1f".join(f"{m.role}\x1e{m.content}" for m in put.messages)
        key = question_key(question, ruled, said, drawn=self._config.temperature > 0)
        return Question(imagine=question, ruled=ruled, put=put, key=key)

    def _attempt(self, questions: list[Question], number: int) -> list[Tried]:
        """One try of each; those that are too long are not asked."""
        if number == 0:
            self._counts["asked"] += len(questions)
            self._counts["turns_left_out"] += sum(q.put.left_out for q in questions)
        fitting = [q for q in questions if self._fits(q.put)]
        replies = self._replies([(q, q.put) for q in fitting], number, "")
        outcomes = self._form.read(
            fitting, replies, lambda asked: self._replies(asked, number, "next")
        )
        by_key = {
            q.key: (outcome, reply)
            for q, outcome, reply in zip(fitting, outcomes, replies, strict=True)
        }
        return [self._tried(q, *by_key.get(q.key, (None, None))) for q in questions]

    def _fits(self, put: Put) -> bool:
        chars = sum(len(m.content) for m in put.messages)
        return chars <= self._config.max_prompt_tokens * self._config.chars_per_token

    def _replies(
        self, asked: Sequence[tuple[Question, Put]], number: int, stage: str
    ) -> list[ChatReply]:
        config = self._config
        if not asked:
            return []
        self._counts["tries"] += len(asked)
        requests = [
            ChatRequest(
                messages=put.messages,
                max_new_tokens=config.max_new_tokens,
                temperature=config.temperature if number == 0 else config.retry_temperature,
                seed=derive_seed(0, "imagine", q.key, stage, number) % SEEDS,
                stop=put.stop,
            )
            for q, put in asked
        ]
        return self._chat.chat(requests)

    def _tried(self, question: Question, outcome: Outcome | None, reply: ChatReply | None) -> Tried:
        page = question.ruled.page
        if outcome is None or reply is None:
            self._counts[f"invalid.{Flaw.PROMPT_TOO_LONG}"] += 1
            return Tried(prediction=invalid_prediction(page, "", 0.0), failed=True)
        if isinstance(outcome, Failed):
            self._counts[f"invalid.{outcome.flaw}"] += 1
            failed = outcome.flaw is Flaw.NO_REPLY
            text = f"(no reply: {reply.error or 'unknown'})" if failed else outcome.raw_text
            said = confidence_of_reply(reply) if reply.text else 0.0
            prediction = replace(invalid_prediction(page, text, said), unanswered=failed)
            return Tried(prediction=prediction, failed=failed)
        self._counts.update(f"mended.{m}" for m in sorted(outcome.mends))
        self._counts["confidence_unknown"] += reply.mean_logprob is None
        prediction = Prediction(
            observation=outcome.page,
            delta=outcome.delta,
            status=PredictionStatus.REPAIRED if outcome.mends else PredictionStatus.OK,
            confidence=confidence_of_reply(reply),
            terminal=outcome.terminal,
            raw_text=outcome.raw_text,
        )
        return Tried(prediction=prediction)


def confidence_of_reply(reply: ChatReply) -> float:
    """Geometric mean of the token probabilities; `UNKNOWN_CONFIDENCE` where the server does not say."""
    if reply.mean_logprob is None or math.isnan(reply.mean_logprob):
        return UNKNOWN_CONFIDENCE
    return math.exp(min(reply.mean_logprob, 0.0))


def outcomes_of(
    questions: Sequence[Question],
    replies: Sequence[ChatReply],
    read: Callable[[Question, ChatReply], Imagined],
) -> list[Outcome]:
    """Where one reply is one page: what each says, in order."""
    return [_outcome_of(r, partial(read, q)) for q, r in zip(questions, replies, strict=True)]


def _outcome_of(reply: ChatReply, read: Callable[[ChatReply], Imagined]) -> Outcome:
    """What a reply says, or why it says nothing usable."""
    try:
        return read(reply)
    except UnusableReplyError as unusable:
        return Failed(flaw=unusable.flaw, raw_text=reply.text)

"""The web, imagined: rules first, then a language model that writes what else changes (DynaWeb 3.2).

One answer per question: greedy by default, and remembered, so that the same page and action give the
same page however often and in whatever batch they are asked. Words that are no change, or that do not
fit the page, are never shown as a page: after the retries the prediction is invalid.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from dynaweb.axtree.apply import apply
from dynaweb.axtree.text import parse_delta
from dynaweb.contracts import Imagine, Prediction, PredictionStatus, Sampler, SampleRequest
from dynaweb.errors import DeltaError
from dynaweb.lm.language import EncodedPrompt, Language
from dynaweb.records.delta import DeltaKind
from dynaweb.records.observation import Observation
from dynaweb.records.seeds import derive_seed
from dynaweb.records.trajectory import Generation
from dynaweb.world.answers import Answers, Tried, invalid_prediction, question_key
from dynaweb.world.config import WorldModelConfig
from dynaweb.world.examples import world_prompt
from dynaweb.world.ruled import Ruled


@dataclass(frozen=True, slots=True)
class _Asked:
    """A question that no rule settled."""

    ruled: Ruled
    imagine: Imagine
    prompt: EncodedPrompt
    key: str


class PatchWorldModel:
    """A `contracts.WorldModel` that writes changes."""

    def __init__(
        self,
        sampler: Sampler,
        language: Language,
        config: WorldModelConfig,
    ) -> None:
        """Ask `sampler`, whose model reads and writes `language`."""
        self._sampler = sampler
        self._language = language
        self._config = config
        self._answers = Answers(
            self._ask, self._attempt, retries=config.retries, cache_entries=config.cache_entries
        )

    @property
    def version(self) -> str:
        """Which model this is."""
        return self._sampler.version

    def predict(self, questions: Sequence[Imagine]) -> list[Prediction]:
        """Next pages, in order; one batch for what is new.

        Raises:
            SamplerError: the language model itself failed.
        """
        return self._answers.predict(questions)

    def _ask(self, question: Imagine, ruled: Ruled) -> _Asked:
        how = self._config
        prompt = world_prompt(
            ruled, question, show_goal=how.show_goal, past_actions=how.past_actions
        )
        key = question_key(question, ruled, prompt, drawn=how.temperature > 0)
        return _Asked(ruled, question, self._language.encode(prompt), key)

    def _attempt(self, asked: list[_Asked], number: int) -> list[Tried]:
        """One try of each; questions that are too long are not asked."""
        fits = [a for a in asked if len(a.prompt.ids) <= self._config.max_prompt_tokens]
        replies = self._sampler.sample([self._request(a, number) for a in fits]) if fits else []
        read = {
            a.key: read_prediction(a.ruled.page, a.imagine, a.prompt.read(written))
            for a, written in zip(fits, replies, strict=True)
        }
        return [
            Tried(prediction=read[a.key])
            if a.key in read
            else Tried(prediction=invalid_prediction(a.ruled.page, "", 0.0), failed=True)
            for a in asked
        ]

    def _request(self, asked: _Asked, attempt: int) -> SampleRequest:
        config = self._config
        seed = asked.imagine.seed if config.temperature > 0 else 0
        return SampleRequest(
            prompt_ids=asked.prompt.ids,
            max_new_tokens=config.max_new_tokens,
            temperature=config.temperature if attempt == 0 else config.retry_temperature,
            seed=derive_seed(seed, "imagine", asked.key, attempt),
        )


def read_prediction(page: Observation, question: Imagine, reply: Generation) -> Prediction:
    """A model's words as a page; invalid when they are no change that fits.

    Args:
        page: the page after the rules.
        question: what was asked.
        reply: what the model wrote.
    """
    confidence = confidence_of(reply)
    if reply.finish != "stop":
        return invalid_prediction(page, reply.raw_text, confidence)
    try:
        delta = parse_delta(reply.raw_text)
        ended = delta.kind is DeltaKind.TERMINAL
        after = page if ended else apply(page, question.action, delta)
    except DeltaError:
        return invalid_prediction(page, reply.raw_text, confidence)
    return Prediction(
        observation=after,
        delta=delta,
        status=PredictionStatus.OK,
        confidence=confidence,
        terminal=ended,
        raw_text=reply.raw_text,
    )


def confidence_of(reply: Generation) -> float:
    """Geometric mean of the token probabilities; 0.0 for an empty reply."""
    n = len(reply.logprobs)
    return math.exp(min(sum(reply.logprobs) / n, 0.0)) if n else 0.0

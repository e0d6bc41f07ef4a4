"""The web, imagined: rules first, then a language model that writes what else changes (DynaWeb 3.2).

One answer per question: greedy by default, and remembered, so that the same page and action give the
same page however often and in whatever batch they are asked. Words that are no change, or that do not
fit the page, are never shown as a page: after the retries the prediction is invalid.
"""

import math
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

from dynaweb.axtree.apply import apply
from dynaweb.axtree.text import parse_delta
from dynaweb.contracts import Imagine, Prediction, PredictionStatus, Sampler, SampleRequest
from dynaweb.errors import DeltaError
from dynaweb.lm.language import EncodedPrompt, Language
from dynaweb.records.action import print_action
from dynaweb.records.delta import DeltaKind
from dynaweb.records.observation import Observation
from dynaweb.records.seeds import derive_seed
from dynaweb.records.trajectory import Generation
from dynaweb.world.config import WorldModelConfig
from dynaweb.world.examples import world_prompt
from dynaweb.world.rules import Ruled, apply_rules


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
        self._remembered: OrderedDict[str, Prediction] = OrderedDict()

    @property
    def version(self) -> str:
        """Which model this is."""
        return self._sampler.version

    def predict(self, questions: Sequence[Imagine]) -> list[Prediction]:
        """Next pages, in order; one batch for what is new.

        Raises:
            SamplerError: the language model itself failed.
        """
        ruled = [apply_rules(q.history, q.action) for q in questions]
        asked = {
            i: self._ask(q, r)
            for i, (q, r) in enumerate(zip(questions, ruled, strict=True))
            if not r.settled
        }
        fresh = {a.key: a for a in asked.values() if a.key not in self._remembered}
        answers = self._imagine(list(fresh.values()))
        answers |= {a.key: self._remembered[a.key] for a in asked.values() if a.key not in fresh}
        self._remember(answers)
        return [answers[asked[i].key] if i in asked else _settled(r) for i, r in enumerate(ruled)]

    def _ask(self, question: Imagine, ruled: Ruled) -> _Asked:
        how = self._config
        prompt = world_prompt(
            ruled, question, show_goal=how.show_goal, past_actions=how.past_actions
        )
        drawn = str(question.seed) if self._config.temperature > 0 else ""
        key = "\x1f".join((print_action(question.action), _state(ruled.page), prompt, drawn))
        return _Asked(ruled, question, self._language.encode(prompt), key)

    def _imagine(self, asked: list[_Asked]) -> dict[str, Prediction]:
        """One greedy pass, then retries for what could not be used."""
        fits = [a for a in asked if len(a.prompt.ids) <= self._config.max_prompt_tokens]
        out = {a.key: _invalid(a.ruled.page, "", 0.0) for a in asked}
        left = fits
        for attempt in range(self._config.retries + 1):
            if not left:
                break
            replies = self._sampler.sample([self._request(a, attempt) for a in left])
            for a, written in zip(left, replies, strict=True):
                reply = a.prompt.read(written)
                out[a.key] = read_prediction(a.ruled.page, a.imagine, reply, retried=attempt > 0)
            left = [a for a in left if out[a.key].status is PredictionStatus.INVALID]
        return out

    def _request(self, asked: _Asked, attempt: int) -> SampleRequest:
        config = self._config
        seed = asked.imagine.seed if config.temperature > 0 else 0
        return SampleRequest(
            prompt_ids=asked.prompt.ids,
            max_new_tokens=config.max_new_tokens,
            temperature=config.temperature if attempt == 0 else config.retry_temperature,
            seed=derive_seed(seed, "imagine", asked.key, attempt),
        )

    def _remember(self, answers: dict[str, Prediction]) -> None:
        for key, prediction in answers.items():
            self._remembered[key] = prediction
            self._remembered.move_to_end(key)
        while len(self._remembered) > self._config.cache_entries:
            self._remembered.popitem(last=False)


def read_prediction(
    page: Observation, question: Imagine, reply: Generation, *, retried: bool
) -> Prediction:
    """A model's words as a page; invalid when they are no change that fits.

    Args:
        page: the page after the rules.
        question: what was asked.
        reply: what the model wrote.
        retried: whether this was not the first try.
    """
    confidence = confidence_of(reply)
    if reply.finish != "stop":
        return _invalid(page, reply.raw_text, confidence)
    try:
        delta = parse_delta(reply.raw_text)
        ended = delta.kind is DeltaKind.TERMINAL
        after = page if ended else apply(page, question.action, delta)
    except DeltaError:
        return _invalid(page, reply.raw_text, confidence)
    return Prediction(
        observation=after,
        delta=delta,
        status=PredictionStatus.REPAIRED if retried else PredictionStatus.OK,
        confidence=confidence,
        terminal=ended,
        raw_text=reply.raw_text,
    )


def confidence_of(reply: Generation) -> float:
    """Geometric mean of the token probabilities; 0.0 for an empty reply."""
    n = len(reply.logprobs)
    return math.exp(min(sum(reply.logprobs) / n, 0.0)) if n else 0.0


def _invalid(page: Observation, raw_text: str, confidence: float) -> Prediction:
    return Prediction(
        observation=page,
        delta=None,
        status=PredictionStatus.INVALID,
        confidence=confidence,
        raw_text=raw_text,
    )


def _settled(ruled: Ruled) -> Prediction:
    return Prediction(
        observation=ruled.page,
        delta=None,
        status=PredictionStatus.OK,
        confidence=1.0,
        terminal=ruled.terminal,
        fault=ruled.fault,
        by_rule=True,
    )


def _state(page: Observation) -> str:
    """Everything besides the tree that the next page depends on."""
    return repr((page.url, page.title, page.tabs, page.active_tab, page.scroll, page.focused))

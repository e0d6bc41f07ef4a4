"""A language model as a judge: two replies are scored, nothing is written (DynaWeb 3.3).

The probability of `success` against `failure` is read from the scores, so the page cannot make the
judge say anything else, and a threshold set on real attempts decides. A judge that fails says unknown.
"""

import math
from collections.abc import Sequence
from typing import Protocol

from dynaweb.contracts import Judge
from dynaweb.errors import SamplerError
from dynaweb.judge.config import Bar, JudgeConfig
from dynaweb.judge.evidence import judge_prompt, rule_verdict
from dynaweb.lm.language import Language
from dynaweb.prompts.judge import FAILURE, SUCCESS
from dynaweb.records.trajectory import Outcome, Trajectory, Verdict

_LARGEST = 700.0
"""`exp` of more overflows."""


class Scorer(Protocol):
    """A sampler that can say how likely a reply is."""

    def score(
        self, prompts: Sequence[Sequence[int]], choices: Sequence[Sequence[Sequence[int]]]
    ) -> list[list[float]]:
        """Natural log-probability of each choice after its prompt."""
        ...


class LmJudge:
    """A `contracts.Judge` that reads the probability of success from a language model."""

    def __init__(
        self,
        scorer: Scorer,
        language: Language,
        config: JudgeConfig,
    ) -> None:
        """Score with `scorer`, whose model reads `language`; the bars are in `config`."""
        self._scorer = scorer
        self._language = language
        self._config = config

    def judge(self, trajectories: Sequence[Trajectory]) -> list[Verdict]:
        """Verdicts in order; rules first, then one batch for the rest."""
        ruled = [rule_verdict(t, answers_count=self._config.answers_count) for t in trajectories]
        open_ones = [t for t, v in zip(trajectories, ruled, strict=True) if v is None]
        asked = iter(self._ask(open_ones))
        return [next(asked) if v is None else v for v in ruled]

    def _ask(self, trajectories: list[Trajectory]) -> list[Verdict]:
        language = self._language
        prompts = [language.encode(judge_prompt(t.goal, t.past + t.steps)) for t in trajectories]
        short = [p for p in prompts if len(p.ids) <= self._config.max_prompt_tokens]
        replies = [[language.encode_reply(p, word) for word in (SUCCESS, FAILURE)] for p in short]
        try:
            scored = iter(self._scorer.score([p.ids for p in short], replies) if short else [])
        except SamplerError as error:
            return [_unknown(f"the judge failed: {error}") for _ in trajectories]
        return [
            self._verdict(next(scored), self._config.bar_of(t.task))
            if len(p.ids) <= self._config.max_prompt_tokens
            else _unknown(f"the question has {len(p.ids)} tokens")
            for p, t in zip(prompts, trajectories, strict=True)
        ]

    def _verdict(self, logprobs: Sequence[float], bar: Bar) -> Verdict:
        score = probability_of_first(logprobs)
        return _unknown("the judge gave no number") if math.isnan(score) else decide(score, bar)


def decide(score: float, bar: Bar) -> Verdict:
    """What a probability of success comes to under a bar."""
    evidence = f"probability of success {score:.3f}, success from {bar.success:.3f}, failure below {bar.failure:.3f}"
    return Verdict(outcome=_outcome(score, bar), evidence=evidence, score=score)


def _outcome(score: float, bar: Bar) -> Outcome:
    if score >= bar.success:
        return Outcome.SUCCESS
    return Outcome.FAILURE if score < bar.failure else Outcome.UNKNOWN


def probability_of_first(logprobs: Sequence[float]) -> float:
    """Probability of the first of two replies, given that it is one of them; in [0, 1]."""
    first, second = logprobs
    gap = second - first
    return 0.0 if gap > _LARGEST else 1.0 / (1.0 + math.exp(gap))


def _unknown(why: str) -> Verdict:
    return Verdict(outcome=Outcome.UNKNOWN, evidence=why)


def _conforms(judge: LmJudge) -> Judge:
    """Typed proof that the class is what the contract asks for."""
    return judge

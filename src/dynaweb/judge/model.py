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
from dynaweb.prompts.judge import FAILURE, SUCCESS
from dynaweb.prompts.pointers import EVERY_WORD, Lexicon
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


class ReplyEncoder(Protocol):
    """The part of a tokenizer that is needed here."""

    @property
    def eos_id(self) -> int:
        """Token that ends a reply."""
        ...

    def encode(self, text: str) -> list[int]:
        """Text to token ids."""
        ...


class LmJudge:
    """A `contracts.Judge` that reads the probability of success from a language model."""

    def __init__(
        self,
        scorer: Scorer,
        tokenizer: ReplyEncoder,
        config: JudgeConfig,
        lexicon: Lexicon = EVERY_WORD,
    ) -> None:
        """Score with `scorer`; the bars are in `config`, names are pointed at as in training."""
        self._lexicon = lexicon
        self._scorer = scorer
        self._tokenizer = tokenizer
        self._config = config
        self._replies = [[*tokenizer.encode(word), tokenizer.eos_id] for word in (SUCCESS, FAILURE)]

    def judge(self, trajectories: Sequence[Trajectory]) -> list[Verdict]:
        """Verdicts in order; rules first, then one batch for the rest."""
        ruled = [rule_verdict(t, answers_count=self._config.answers_count) for t in trajectories]
        open_ones = [t for t, v in zip(trajectories, ruled, strict=True) if v is None]
        asked = iter(self._ask(open_ones))
        return [next(asked) if v is None else v for v in ruled]

    def _ask(self, trajectories: list[Trajectory]) -> list[Verdict]:
        prompts = [
            self._tokenizer.encode(self._lexicon.point(judge_prompt(t.goal, t.past + t.steps)).text)
            for t in trajectories
        ]
        short = [p for p in prompts if len(p) <= self._config.max_prompt_tokens]
        try:
            scored = iter(self._scorer.score(short, [self._replies] * len(short)) if short else [])
        except SamplerError as error:
            return [_unknown(f"the judge failed: {error}") for _ in trajectories]
        return [
            self._verdict(next(scored), self._config.bar_of(t.task))
            if len(p) <= self._config.max_prompt_tokens
            else _unknown(f"the question has {len(p)} tokens")
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

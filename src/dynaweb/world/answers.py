"""What every world model does around its model: rules first, one answer to a question, a few tries.

The same page and action give the same page however often and in whatever batch they are asked, unless answers
are drawn; a question is asked once, and its answer remembered.
"""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Generic, Protocol, TypeVar

from dynaweb.contracts import Imagine, Prediction, PredictionStatus
from dynaweb.records.action import print_action
from dynaweb.records.observation import Observation
from dynaweb.world.ruled import Ruled, settled_prediction
from dynaweb.world.rules import apply_rules


class Asked(Protocol):
    """A question that no rule settled."""

    @property
    def key(self) -> str:
        """The same for questions with the same answer."""
        ...


Q = TypeVar("Q", bound=Asked)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """What came of one try."""

    prediction: Prediction
    failed: bool = False
    """The model could not be asked: another try now is of no use, and the next question may do better."""


class Answers(Generic[Q]):
    """Predictions for questions, from rules, memory and tries."""

    def __init__(
        self,
        ask: Callable[[Imagine, Ruled], Q],
        attempt: Callable[[list[Q], int], list[Tried]],
        *,
        retries: int,
        cache_entries: int,
    ) -> None:
        """Nothing is remembered yet.

        Args:
            ask: the question that rules leave.
            attempt: answers questions in order, in one batch; the second argument counts tries from 0.
            retries: further tries for what was invalid.
            cache_entries: answers remembered, oldest forgotten first.
        """
        self._ask = ask
        self._attempt = attempt
        self._retries = retries
        self._cache_entries = cache_entries
        self._remembered: OrderedDict[str, Prediction] = OrderedDict()

    def predict(self, questions: Sequence[Imagine]) -> list[Prediction]:
        """Next pages, in order; one batch for what is new."""
        ruled = [apply_rules(q.history, q.action) for q in questions]
        asked = {
            i: self._ask(q, r)
            for i, (q, r) in enumerate(zip(questions, ruled, strict=True))
            if not r.settled
        }
        known = {
            a.key: self._remembered[a.key] for a in asked.values() if a.key in self._remembered
        }
        tried = self._try({a.key: a for a in asked.values() if a.key not in known})
        answers = known | {key: t.prediction for key, t in tried.items()}
        self._remember(known | {key: t.prediction for key, t in tried.items() if not t.failed})
        return [
            answers[asked[i].key] if i in asked else settled_prediction(r)
            for i, r in enumerate(ruled)
        ]

    def _try(self, fresh: dict[str, Q]) -> dict[str, Tried]:
        """One pass, then retries for what could not be used."""
        out: dict[str, Tried] = {}
        left = list(fresh.values())
        for number in range(self._retries + 1):
            if not left:
                break
            for asked, tried in zip(left, self._attempt(left, number), strict=True):
                out[asked.key] = _mended(tried) if number else tried
            left = [a for a in left if _again(out[a.key])]
        return out

    def _remember(self, answers: dict[str, Prediction]) -> None:
        for key, prediction in answers.items():
            self._remembered[key] = prediction
            self._remembered.move_to_end(key)
        while len(self._remembered) > self._cache_entries:
            self._remembered.popitem(last=False)


def question_key(question: Imagine, ruled: Ruled, said: str, *, drawn: bool) -> str:
    """What an answer depends on: the action, the page, the words of the prompt, and the seed where answers are drawn."""
    seed = str(question.seed) if drawn else ""
    return "\x1f".join((print_action(question.action), page_state(ruled.page), said, seed))


def page_state(page: Observation) -> str:
    """Everything besides the tree that the next page depends on."""
    return repr((page.url, page.title, page.tabs, page.active_tab, page.scroll, page.focused))


def invalid_prediction(page: Observation, raw_text: str, confidence: float) -> Prediction:
    """No usable page: the page before, marked."""
    return Prediction(
        observation=page,
        delta=None,
        status=PredictionStatus.INVALID,
        confidence=confidence,
        raw_text=raw_text,
    )


def _again(tried: Tried) -> bool:
    return tried.prediction.status is PredictionStatus.INVALID and not tried.failed


def _mended(tried: Tried) -> Tried:
    """A second try that works is marked."""
    if tried.prediction.status is not PredictionStatus.OK:
        return tried
    return replace(tried, prediction=replace(tried.prediction, status=PredictionStatus.REPAIRED))

"""World models with a known worth."""

from collections.abc import Callable, Sequence

from dynaweb.contracts import Imagine, Prediction, PredictionStatus
from dynaweb.records.observation import Observation
from dynaweb.records.trajectory import Trajectory
from dynaweb.world.rules import apply_rules
from dynaweb.world.steps import known_steps


def said(page: Observation, **more: object) -> Prediction:
    given = {"delta": None, "status": PredictionStatus.OK, "confidence": 1.0, **more}
    return Prediction(observation=page, **given)  # type: ignore[arg-type]


class Truth:
    """Knows what really happened, and what the gate says."""

    version = "truth"

    def __init__(self, attempts: Sequence[Trajectory]) -> None:
        self._next = {repr((k.history, k.action)): k for t in attempts for k in known_steps(t)}

    def predict(self, questions: Sequence[Imagine]) -> list[Prediction]:
        return [self._one(q) for q in questions]

    def _one(self, q: Imagine) -> Prediction:
        ruled = apply_rules(q.history, q.action)
        known = self._next.get(repr((q.history, q.action)))
        if known is None:
            return said(ruled.page, by_rule=ruled.settled)
        return said(known.next_page, terminal=known.terminal, by_rule=ruled.settled)


class Says:
    """Answers by a function of the question, with no gate and no rules; counts the questions."""

    version = "says"

    def __init__(self, answer: Callable[[Imagine], Prediction]) -> None:
        self._answer = answer
        self.asked = 0

    def predict(self, questions: Sequence[Imagine]) -> list[Prediction]:
        self.asked += len(questions)
        return [self._answer(q) for q in questions]

"""World models without a model: what every number of a trained one has to stand beside (papers F7, F28).

The gate and the rules stand in front of them as they stand in front of the trained model, so that what is
compared is knowledge of the site, not of browsers.
"""

from collections.abc import Sequence

from dynaweb.axtree.apply import apply
from dynaweb.axtree.carry import carry
from dynaweb.axtree.match import Match, match
from dynaweb.axtree.place import Places
from dynaweb.axtree.text import print_delta
from dynaweb.axtree.tree import find_element, read_tree
from dynaweb.contracts import Imagine, Prediction, PredictionStatus
from dynaweb.errors import DeltaError
from dynaweb.records.action import Action, target_bids
from dynaweb.records.delta import Delta, DeltaKind
from dynaweb.world.examples import change_after_rules
from dynaweb.world.nearest import Neighbour, TransitionIndex
from dynaweb.world.ruled import Ruled, settled_prediction
from dynaweb.world.rules import apply_rules

_NOTHING = Delta(kind=DeltaKind.NONE)


class CopyWorldModel:
    """Nothing ever happens, beyond what the rules know."""

    @property
    def version(self) -> str:
        """Which model this is."""
        return "copy"

    def predict(self, questions: Sequence[Imagine]) -> list[Prediction]:
        """The same pages again, in order."""
        return [_copied(q) for q in questions]


class NearestWorldModel:
    """What happened the last time: the change of the most similar real step, said of this page (ours).

    Where that change speaks of elements that this page does not have, nothing changes, and the status is
    `repaired`. Confidence is the similarity.
    """

    def __init__(self, index: TransitionIndex) -> None:
        """Remember the steps of `index`."""
        self._index = index

    @property
    def version(self) -> str:
        """Which model this is."""
        return f"nearest-of-{len(self._index.steps)}"

    def predict(self, questions: Sequence[Imagine]) -> list[Prediction]:
        """Next pages, in order."""
        return [self._imagine(q) for q in questions]

    def _imagine(self, question: Imagine) -> Prediction:
        ruled = apply_rules(question.history, question.action)
        if ruled.settled:
            return settled_prediction(ruled)
        found = self._index.nearest(question.history[-1], question.action)
        if not found:
            return _unchanged(ruled, PredictionStatus.OK, 0.0)
        return _as_there(ruled, question, found[0])


def _copied(question: Imagine) -> Prediction:
    ruled = apply_rules(question.history, question.action)
    if ruled.settled:
        return settled_prediction(ruled)
    return _unchanged(ruled, PredictionStatus.OK, 1.0)


def _unchanged(ruled: Ruled, status: PredictionStatus, confidence: float) -> Prediction:
    return Prediction(observation=ruled.page, delta=_NOTHING, status=status, confidence=confidence)


def _as_there(ruled: Ruled, question: Imagine, neighbour: Neighbour) -> Prediction:
    """The neighbour's change on this page; nothing where it does not fit."""
    known = neighbour.known
    over_there = apply_rules(known.history, known.action)
    delta = change_after_rules(over_there, known)
    ended = delta.kind is DeltaKind.TERMINAL
    try:
        if not ended:
            there, here = (Places(read_tree(r.page.tree)) for r in (over_there, ruled))
            pairs = _paired(there, here, known.action, question.action)
            delta = carry(delta, there, here, pairs)
        page = ruled.page if ended else apply(ruled.page, question.action, delta)
    except DeltaError:
        return _unchanged(ruled, PredictionStatus.REPAIRED, neighbour.similarity)
    return Prediction(
        observation=page,
        delta=delta,
        status=PredictionStatus.OK,
        confidence=neighbour.similarity,
        terminal=ended,
        raw_text=print_delta(delta),
    )


def _paired(there: Places, here: Places, done: Action, doing: Action) -> Match:
    """Pairs of the two pages' elements; what the two actions act on is one element, whatever it is called."""
    pairs = match(there, here)
    for old, new in zip(target_bids(done), target_bids(doing), strict=False):
        i, j = find_element(there.tree, old), find_element(here.tree, new)
        if i is None or j is None or pairs[i] == j:
            continue
        pairs = [None if to == j else to for to in pairs]
        pairs[i] = j
    return pairs

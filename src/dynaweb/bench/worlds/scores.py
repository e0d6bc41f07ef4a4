"""What one prediction is worth, number by number: each speaks of the steps that it can speak of, and of no others.

The change that counts is the one after the rules, so a model that copies the page gets nothing for a step on
which something changed (papers F7). An answer that cannot be used is wrong, not left out.
"""

from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass, replace

from dynaweb.axtree.diff import diff, without_renumbering
from dynaweb.axtree.measure import delta_f1
from dynaweb.axtree.same import same_page
from dynaweb.axtree.tree import Tree, read_tree
from dynaweb.bench.determined import Tasks
from dynaweb.bench.fidelity import Compared, Regime, compare_step
from dynaweb.bench.worlds.answers import Answer
from dynaweb.bench.worlds.cases import Case
from dynaweb.contracts import Prediction, PredictionStatus
from dynaweb.records.delta import Delta
from dynaweb.records.observation import Observation
from dynaweb.world.rules import apply_rules
from dynaweb.world.shown import as_shown

CRITERIA = 4
"""Of the full-page judge; each gives 0 to 1."""

NOTHING_KNOWN = Tasks(strings=frozenset())
"""Determined here means: page, action and goal say every new string."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepScores:
    """One prediction. None: the number says nothing about such a step.

    Pages are compared as an agent sees them, but for the words of an error: those are the browser's own, and a recording
    tells them of actions that worked.
    """

    local_exact: float | None = None
    """Parts of the page changed beyond what rules know: 1 if the predicted page is the real one, up to the numbers of new elements (DynaWeb 5.2)."""
    local_determined: float | None = None
    """The same where page, action and goal say every new string."""
    local_f1: float | None = None
    """The same steps: F1 over the single facts of predicted and true change after the rules, in [0, 1]."""
    full_exact: float | None = None
    """The page was replaced: 1 if the predicted page is the real one."""
    full_structure: float | None = None
    """The same steps: F1 over the pages' elements as a multiset of (role, name), in [0, 1]."""
    full_title: float | None = None
    """The same steps: 1 if the title is right."""
    full_url: float | None = None
    """The same steps: 1 if the address is right, its fragment included."""
    full_judged: float | None = None
    """The same steps: sum of the judge's four criteria, in [0, 4] (DynaWeb 5.2); None where there is no judge or its reply was unusable."""
    full_wrong: float | None = None
    """The same steps: 1 if at least two of the four criteria are below 0.25: completely wrong (the bar is ours)."""
    unchanged_exact: float | None = None
    """Nothing changed and no rule settled it: 1 if nothing was said to change."""
    by_rules_exact: float | None = None
    """The rules had made the whole change beforehand: 1 if nothing was added."""
    settled_exact: float | None = None
    """A rule settled the step without a model: 1 if it was right."""
    ended_said: float | None = None
    """The episode ended: 1 if that was said."""
    ended_early: float | None = None
    """The episode went on: 1 if it was said to end. Lower is better."""
    kind_right: float | None = None
    """Asked, and the episode went on: 1 if nothing, a part or the whole page was said to change, whichever was true (papers F19)."""
    invalid: float | None = None
    """Asked: 1 if the answer was no usable page. Lower is better."""
    repaired: float | None = None
    """Asked: 1 if the answer was usable only at a retry, after mending, or by a fallback."""
    duplicate_ids: float | None = None
    """Asked, usable answers: 1 if an id stands on the page twice that did not before (papers F4). Lower is better."""
    id_drift: float | None = None
    """Asked, usable answers where the page was not replaced: share of its untouched elements that got another id (papers F5). Lower is better."""
    blocked_invented: float | None = None
    """The browser refused the action and nothing changed: 1 if something was said to happen (papers F2). Lower is better."""
    seconds: float | None = None
    """Asked: wall clock of a prediction, in its batch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """A prediction beside the truth."""

    case: Case
    compared: Compared
    scores: StepScores
    guess: Delta | None
    """The predicted change after the rules; None where the answer was unusable or said that the episode ended."""


def score(case: Case, answer: Answer) -> Scored:
    """Compare; the judge's numbers are added later (`judging.py`)."""
    known = replace(case.known, next_page=_without_error(case.known.next_page))
    said = _without_error(answer.prediction.observation)
    compared = compare_step(known, replace(answer.prediction, observation=said), NOTHING_KNOWN)
    page = apply_rules(case.known.history, case.known.action).page
    usable = is_usable(compared)
    guess = _change(page, compared) if usable and not answer.prediction.terminal else None
    scores = _by_regime(compared, guess, usable)
    if not answer.prediction.by_rule:
        scores = _of_answer(scores, compared, guess, page, answer)
    return Scored(case=case, compared=compared, scores=scores, guess=guess)


def _without_error(page: Observation) -> Observation:
    return replace(page, last_action_error="")


def is_usable(compared: Compared) -> bool:
    """Whether the answer is a page."""
    return compared.prediction.status is not PredictionStatus.INVALID


def _change(page: Observation, c: Compared) -> Delta:
    predicted = as_shown(c.prediction.observation, page)
    return without_renumbering(diff(as_shown(page, page), c.known.action, predicted))


def _by_regime(c: Compared, guess: Delta | None, usable: bool) -> StepScores:
    right = float(c.right)
    match c.regime:
        case Regime.LOCAL:
            return StepScores(
                local_exact=right,
                local_determined=right if c.determined else None,
                local_f1=0.0 if guess is None else delta_f1(guess, c.truth),
            )
        case Regime.FULL_PAGE:
            return _full_page(c, right, usable and not c.prediction.terminal)
        case Regime.UNCHANGED:
            return StepScores(unchanged_exact=right)
        case Regime.BY_RULES:
            return StepScores(by_rules_exact=right)
        case Regime.SETTLED:
            return StepScores(settled_exact=right)
        case Regime.ENDED:
            return StepScores(ended_said=right)


def _full_page(c: Compared, right: float, is_page: bool) -> StepScores:
    said, true = c.prediction.observation, c.known.next_page
    return StepScores(
        full_exact=right,
        full_structure=structure_f1(said, true) if is_page else 0.0,
        full_title=float(is_page and said.title == true.title),
        full_url=float(is_page and said.url == true.url),
    )


def _of_answer(
    scores: StepScores, c: Compared, guess: Delta | None, page: Observation, answer: Answer
) -> StepScores:
    """What is asked of every answer of a model."""
    status, goes_on = c.prediction.status, not c.known.terminal
    scores = replace(
        scores,
        ended_early=float(c.prediction.terminal) if goes_on else None,
        kind_right=float(guess is not None and guess.kind is c.truth.kind) if goes_on else None,
        invalid=float(status is PredictionStatus.INVALID),
        repaired=float(status is PredictionStatus.REPAIRED),
        blocked_invented=float(says_happened(c.known.history[-1], c.prediction))
        if was_blocked(c)
        else None,
        seconds=answer.seconds,
    )
    if guess is None:
        return scores
    before, after = read_tree(page.tree), read_tree(c.prediction.observation.tree)
    stays = c.regime in (Regime.LOCAL, Regime.UNCHANGED, Regime.BY_RULES)
    return replace(
        scores,
        duplicate_ids=float(bool(twice(after) - twice(before))),
        id_drift=drift(before, after) if stays else None,
    )


def structure_f1(one: Observation, other: Observation) -> float:
    """F1 over two pages' elements as a multiset of (role, name), in [0, 1]."""
    a, b = (Counter((n.role, n.name) for n in read_tree(o.tree)) for o in (one, other))
    return 2 * sum((a & b).values()) / (sum(a.values()) + sum(b.values()))


def twice(tree: Tree) -> set[str]:
    """Ids that more than one element has."""
    counts = Counter(n.bid for n in tree if n.bid is not None)
    return {bid for bid, n in counts.items() if n > 1}


def drift(before: Tree, after: Tree) -> float | None:
    """Share of the elements told apart by role and name on both pages whose id differs; None without one."""
    old, new = _unmistakable(before), _unmistakable(after)
    both = old.keys() & new.keys()
    return sum(old[what] != new[what] for what in both) / len(both) if both else None


def _unmistakable(tree: Tree) -> dict[Hashable, str]:
    counts = Counter((n.role, n.name) for n in tree)
    return {
        (n.role, n.name): n.bid
        for n in tree
        if n.bid is not None and n.name and counts[n.role, n.name] == 1
    }


def was_blocked(c: Compared) -> bool:
    """Whether the browser refused the action and left the page as it was."""
    known = c.known
    return (
        known.fault is not None
        and not known.terminal
        and not _moved(known.history[-1], known.next_page)
    )


def says_happened(before: Observation, prediction: Prediction) -> bool:
    """Whether the prediction has something happen; a message that the action failed is none."""
    return prediction.terminal or _moved(before, prediction.observation)


def _moved(before: Observation, after: Observation) -> bool:
    here, there = (_without_error(as_shown(page, before)) for page in (before, after))
    return not same_page(here, there)

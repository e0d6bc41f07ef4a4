"""What the measurements come to, as plain records: counts, so that a report can put intervals on them."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """How many of how many."""

    hits: int = 0
    n: int = 0

    @property
    def fraction(self) -> float | None:
        """In [0, 1]; None when nothing was counted, which is not 0."""
        return self.hits / self.n if self.n else None

    def __add__(self, other: "Share") -> "Share":
        return Share(hits=self.hits + other.hits, n=self.n + other.n)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mean:
    """A mean over so many."""

    total: float = 0.0
    n: int = 0

    @property
    def value(self) -> float | None:
        """None when nothing was counted."""
        return self.total / self.n if self.n else None

    def __add__(self, other: "Mean") -> "Mean":
        return Mean(total=self.total + other.total, n=self.n + other.n)


@dataclass(frozen=True, slots=True, kw_only=True)
class FidelityRow:
    """Imagined next pages against real ones, for one task or for all.

    Every step is in exactly one of `local`, `full_page`, `unchanged`, `by_rules`, `settled` and
    `ended`; the other fields are views of these.
    """

    task: str
    """Name of the task; `all` for the sum."""
    local: Share = Share()
    """Exact next pages where parts of the page changed beyond what rules know."""
    local_determined: Share = Share()
    """The part of `local` that page, action and goal determine, see `determined.py`."""
    full_page: Share = Share()
    """Exact next pages where the page was replaced."""
    full_page_determined: Share = Share()
    """The part of `full_page` that page, action and goal determine."""
    unchanged: Share = Share()
    """Steps that changed nothing and that no rule settled: said to change nothing."""
    by_rules: Share = Share()
    """Steps whose whole change the rules made beforehand: nothing was added."""
    settled: Share = Share()
    """Steps that a rule settled without a model: the rule was right."""
    ended: Share = Share()
    """Steps that ended the episode: said to end it (recall)."""
    end_precision: Share = Share()
    """Of the steps said to end the episode, those that did."""
    invalid: Share = Share()
    """Model answers that were no usable change; n is the number of questions to the model."""
    repaired: Share = Share()
    """Model answers that were usable only at a retry."""
    copy: Share = Share()
    """Baseline on `local` and `full_page` together: the page as it was is the next page."""
    rules_only: Share = Share()
    """Baseline on the same: the rules without the model."""
    any_page: Share = Share()
    """Exact next pages over all steps that did not end the episode."""
    any_page_copy: Share = Share()
    """Copy baseline on the same."""
    element_f1: Mean = Mean()
    """Of changed lines, over all steps that changed something and did not end the episode."""
    element_f1_copy: Mean = Mean()
    """Copy baseline on the same: 0 by construction, shown so that nobody has to believe it."""

    @property
    def right(self) -> Share:
        """Steps of any kind imagined rightly: the page, or that the episode ends."""
        return self.any_page + self.ended

    def __add__(self, other: "FidelityRow") -> "FidelityRow":
        fields = [f for f in self.__slots__ if f != "task"]
        return FidelityRow(
            task=self.task, **{f: getattr(self, f) + getattr(other, f) for f in fields}
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class FidelityReport:
    """How good the world model is on pages it has never seen."""

    world_model: str
    """Version of the model."""
    total: FidelityRow
    by_task: tuple[FidelityRow, ...]
    steps: int
    seeds: int
    """Different (task, seed) pairs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeRow:
    """Verdicts against the truth, for one task or for all."""

    task: str
    false_positives: Share = Share()
    """Of the real failures, those called success. Unknown verdicts count in n, never as hits."""
    recall: Share = Share()
    """Of the real successes, those called success."""
    false_negatives: Share = Share()
    """Of the real successes, those called failure; the rest are unknown."""
    unknown: Share = Share()
    """Verdicts that were neither."""

    @property
    def right(self) -> Share:
        """Verdicts that are the truth; an unknown one is none."""
        lost = self.recall.n - self.recall.hits - self.false_negatives.hits
        failures = self.false_positives.n - self.false_positives.hits
        told = failures - (self.unknown.hits - lost)
        return Share(hits=self.recall.hits + told, n=self.unknown.n)

    @property
    def right_of_decided(self) -> Share:
        """The same of the verdicts that are success or failure."""
        return Share(hits=self.right.hits, n=self.unknown.n - self.unknown.hits)

    @property
    def commoner(self) -> Share:
        """Attempts that end as most of the task do: what a judge gets right that knows nothing else."""
        return Share(hits=max(self.recall.n, self.false_positives.n), n=self.unknown.n)

    def __add__(self, other: "JudgeRow") -> "JudgeRow":
        return JudgeRow(
            task=self.task,
            false_positives=self.false_positives + other.false_positives,
            recall=self.recall + other.recall,
            false_negatives=self.false_negatives + other.false_negatives,
            unknown=self.unknown + other.unknown,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeReport:
    """How good the judge is on attempts it has never seen."""

    population: str
    """Whose attempts these are, for people: `first agent's real attempts`."""
    total: JudgeRow
    by_task: tuple[JudgeRow, ...]
    asked_total: JudgeRow
    """The same without the attempts that a rule decided (out of steps and the like)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DepthRow:
    """Dreams against their replay in the real web, at one depth."""

    depth: int
    """Actions since the start, from 1."""
    pages_equal: Share = Share()
    """Dreamed pages at this depth that equal the real ones; a dream that has ended or gone wrong
    earlier counts as its replay says, see `w2r.py`."""
    endings_equal: Share = Share()
    """Of the dreams still going on at this depth, those whose end (or not) is the real one."""
    success_precision: Share = Share()
    """Of the dreams that ended as a success at this depth, those that are real successes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayReport:
    """Dreams replayed for real (Word2World's consistency ratio, by depth)."""

    rows: tuple[DepthRow, ...]
    dreams: int
    unmapped: Share
    """Actions whose element could not be found on the real page; each ends its replay as a failure."""
    success_precision: Share
    """Of all dreams judged a success, those that are real ones."""
    success_recall: Share
    """Of all replays that succeed, those that the dream called a success."""
    dreamed_success: Share
    """Dreams judged a success, of those judged; an estimate of the model, never a result."""
    real_success: Share
    """The same dreams' actions in the real web."""
    broken: int
    """Replays that the browser broke off; in no other number."""

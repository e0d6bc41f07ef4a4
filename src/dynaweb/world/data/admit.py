"""Which attempts and transitions are let in, and on which side: streaming, and every step is accounted for.

`steps == kept + sum(dropped)` at any time. What is let in depends on the attempts in their order and on the configuration only, so a
run that was killed comes to the same by reading its files again.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from urllib.parse import urlsplit

from dynaweb.dataset.split import is_held_out
from dynaweb.records.trajectory import Trajectory
from dynaweb.world.data.keys import (
    Neighbours,
    Sketch,
    Sketcher,
    action_key,
    address,
    answer_key,
    question_key,
)
from dynaweb.world.data.mask import mask_trajectory
from dynaweb.world.data.rejected import changed_nothing, rejection_of
from dynaweb.world.data.settings import DataConfig, SplitBy, Unchanged
from dynaweb.world.steps import Known, known_steps

TRAIN, HELD_OUT = "train", "held_out"
SIDES = (TRAIN, HELD_OUT)

_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """A transition that was let in."""

    known: Known
    key: str
    """Of its page and action, `keys.question_key`."""
    sketch: Sketch | None
    unchanged: bool
    """Its next page shows the same."""
    rejection: str
    """Why its action failed, `rejected.rejection_of`; empty when it did not."""
    follows: bool
    """Its page is the one that the transition let in before it led to; what lies between changed nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Admitted:
    """An attempt, and what of it was let in."""

    trajectory: Trajectory
    """Masked, where that is wished."""
    side: str
    site: str
    kept: tuple[Kept, ...]
    pruned: tuple[Known, ...]
    """Transitions that changed nothing and were left out for it."""
    dropped: Counter[str]
    """Reason -> steps."""

    @property
    def steps(self) -> int:
        """Steps of the attempt: `len(kept) + dropped.total()`."""
        return len(self.trajectory.steps)


def site_of(trajectory: Trajectory) -> str:
    """The host that the attempt began on; for pages served on this machine, where they come from."""
    host = urlsplit(trajectory.steps[0].observation.url).netloc if trajectory.steps else ""
    local = not host or host.rpartition(":")[0] in _LOOPBACK or host in _LOOPBACK
    return (trajectory.origin or "local") if local else host


def group_of(trajectory: Trajectory, by: SplitBy) -> tuple[str, int]:
    """What goes to one side as a whole, as `dataset.split.is_held_out` takes it."""
    match by:
        case SplitBy.TASK:
            return trajectory.task, 0
        case SplitBy.SITE:
            return site_of(trajectory), 0
        case SplitBy.PAGE:
            return trajectory.task, trajectory.seed


def group_name(trajectory: Trajectory, by: SplitBy) -> str:
    """The same, for people and for comparing data sets."""
    name, seed = group_of(trajectory, by)
    return f"{name}/{seed}" if by is SplitBy.PAGE else name


@dataclass(slots=True)
class Admission:
    """What was met so far; feed it attempts in order."""

    config: DataConfig
    sketcher: Sketcher | None
    """None: near-duplicates are neither left out nor measured."""
    masked: Counter[str] = field(default_factory=Counter)
    """Kind of personal detail -> times it was replaced."""
    noted: Counter[str] = field(default_factory=Counter)
    """What was kept although it is odd."""
    _met: set[str] = field(default_factory=set)
    _answers: dict[str, str] = field(default_factory=dict)
    _owner: dict[str, str] = field(default_factory=dict)
    _near: Neighbours = field(default_factory=Neighbours)
    _per_url: Counter[str] = field(default_factory=Counter)
    _per_action: Counter[str] = field(default_factory=Counter)

    def admit(self, trajectory: Trajectory) -> Admitted:
        """Decide on one attempt."""
        rules = self.config.filter
        if rules.mask_personal:
            trajectory = mask_trajectory(trajectory, self.masked)
        split = self.config.split
        group = group_of(trajectory, split.by)
        held = is_held_out(*group, fraction=split.held_out, split_seed=self.config.seed)
        side = HELD_OUT if held else TRAIN
        dropped: Counter[str] = Counter()
        kept: list[Kept] = []
        pruned: list[Known] = []
        refused = self._refuse_whole(trajectory)
        if refused:
            dropped[refused] = len(trajectory.steps)
        else:
            self._steps(trajectory, side, kept, pruned, dropped)
        return Admitted(
            trajectory=trajectory,
            side=side,
            site=site_of(trajectory),
            kept=tuple(kept),
            pruned=tuple(pruned),
            dropped=dropped,
        )

    def claim(self, keys: Iterable[str], side: str) -> bool:
        """Whether questions may be taught on a side: none of them stands on the other one; they belong to this one from now on."""
        wanted = tuple(keys)
        if any(self._owner.get(key, side) != side for key in wanted):
            return False
        self._owner.update(dict.fromkeys(wanted, side))
        return True

    def _refuse_whole(self, trajectory: Trajectory) -> str:
        rules = self.config.filter
        if rules.max_turns and len(trajectory.steps) > rules.max_turns:
            return "attempt_over_max_turns"
        word = _keyword(trajectory, rules.keywords)
        return f"keyword {word!r}" if word else ""

    def _steps(
        self,
        trajectory: Trajectory,
        side: str,
        kept: list[Kept],
        pruned: list[Known],
        dropped: Counter[str],
    ) -> None:
        known = {k.index: k for k in known_steps(trajectory)}
        follows = False
        for at, step in enumerate(trajectory.steps):
            found = known.get(at)
            if found is None:
                dropped["no_action" if step.action is None else "no_next_page"] += 1
                follows = False
                continue
            if not found.history[-1].tree.strip() or not found.next_page.tree.strip():
                dropped["page_not_recorded"] += 1
                follows = False
                continue
            if self.config.filter.unchanged is Unchanged.PRUNE and changed_nothing(found):
                dropped["changed_nothing"] += 1
                pruned.append(found)
                continue
            made = self._transition(self._quiet(found), side, follows=follows)
            if isinstance(made, Kept):
                kept.append(made)
            else:
                dropped[made] += 1
            follows = isinstance(made, Kept)

    def _quiet(self, known: Known) -> Known:
        """Without an error that was reported although the page changed: the page is what happened."""
        after = known.next_page
        if known.fault is not None or not after.last_action_error or changed_nothing(known):
            return known
        self.noted["error left out that was reported although the page changed"] += 1
        return replace(known, next_page=replace(after, last_action_error=""))

    def _transition(self, known: Known, side: str, *, follows: bool) -> Kept | str:
        rules = self.config.filter
        page, action = known.history[-1], known.action
        key = question_key(page, action)
        if self._owner.get(key, side) != side:
            return "page_and_action_on_the_other_side"
        answer = answer_key(known.next_page)
        if rules.duplicates and key + answer in self._met:
            return "duplicate"
        about, place = action_key(page, action), address(page)
        sketch = None if self.sketcher is None else self.sketcher.sketch(page, known.next_page)
        if rules.near_duplicate and sketch is not None:
            likeness, _ = self._near.nearest(about, sketch)
            if likeness >= rules.near_duplicate:
                return "near_duplicate"
        if rules.per_url and self._per_url[place] >= rules.per_url:
            return "over_per_url"
        if rules.per_action and self._per_action[about] >= rules.per_action:
            return "over_per_action"
        if self._answers.setdefault(key, answer) != answer:
            self.noted["same page and action, another next page"] += 1
        self._owner[key] = side
        self._met.add(key + answer)
        if rules.near_duplicate and sketch is not None:
            self._near.add(about, sketch, "")
        self._per_url[place] += 1
        self._per_action[about] += 1
        return Kept(
            known=known,
            key=key,
            sketch=sketch,
            unchanged=changed_nothing(known),
            rejection=rejection_of(known),
            follows=follows,
        )


def _keyword(trajectory: Trajectory, words: Iterable[str]) -> str:
    """The first word that the attempt holds."""
    for word in words:
        pattern = re.compile(rf"(?<!\w){re.escape(word)}(?!\w)", re.IGNORECASE)
        if any(pattern.search(text) for text in _texts(trajectory)):
            return word
    return ""


def _texts(trajectory: Trajectory) -> Iterator[str]:
    yield trajectory.goal
    pages = [s.observation for s in trajectory.steps]
    for page in pages + ([trajectory.final] if trajectory.final is not None else []):
        yield page.url
        yield page.title
        yield page.tree

"""What the world model learns from: page and action in, the rest of the change out (DynaWeb 3.2).

The page in the prompt has the rules applied (`rules.py`), so the change to learn is only what no rule
knows. Steps that a rule settles teach nothing and are left out; every step that is left out is counted
under its reason: `steps_in == sum of counts + sum of dropped`.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from dynaweb.axtree.apply import apply
from dynaweb.axtree.diff import diff, without_renumbering
from dynaweb.axtree.label import label_action
from dynaweb.axtree.text import parse_delta, print_delta
from dynaweb.contracts import Imagine
from dynaweb.errors import DeltaError, UserError
from dynaweb.prompts.lines import MAX_DONE
from dynaweb.prompts.predict import render_predict
from dynaweb.records.delta import Delta, DeltaKind
from dynaweb.records.seeds import derive_seed
from dynaweb.records.trajectory import Trajectory
from dynaweb.world.rules import Ruled, apply_rules
from dynaweb.world.shown import as_shown, equal_as_shown
from dynaweb.world.steps import Known, known_steps

MOST_SHOWN = 1000
"""Largest value of `most_shown`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExamplesConfig:
    """Which steps are kept."""

    show_goal: bool = False
    """Put the goal into the prompt; off by default, see `prompts.predict`."""
    past_actions: int = 0
    """Actions before the present one that the prompt shows, the latest ones; as in `WorldModelConfig`."""
    cap: int = 400
    """Most different examples of one (task, kind of action, kind of change)."""
    plain_cap: int = 400
    """The same for the answers that are one word, `none` and `end`: most steps, and little to learn."""
    most_shown: int = 1
    """An example that several steps said is shown as often in an epoch, up to this."""
    rare: int = 0
    """Where the changes of one (task, kind of action) are shown less often than this in an epoch, all its examples
    are shown more, each up to `most_shown` times; 0 for never (ours: what is rare is what a model gets wrong)."""
    max_change_chars: int = 1500
    """Longer changes are left out: a small model can't write them."""

    def __post_init__(self) -> None:
        for name in ("cap", "plain_cap"):
            if getattr(self, name) < 1:
                raise UserError(f"{name} {getattr(self, name)!r} is out of range: use 1 or more")
        if not 1 <= self.most_shown <= MOST_SHOWN:
            raise UserError(
                f"most_shown {self.most_shown!r} is out of range: use 1 to {MOST_SHOWN}"
            )
        if not 0 <= self.past_actions <= MAX_DONE:
            raise UserError(
                f"past_actions {self.past_actions!r} is out of range: use 0 to {MAX_DONE}"
            )
        if self.rare < 0:
            raise UserError(f"rare {self.rare!r} is out of range: use 0 or more")
        if self.max_change_chars < 16:
            raise UserError(
                f"max_change_chars {self.max_change_chars!r} is out of range: use 16 or more"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class WorldExample:
    """A question and its answer, in the words the model reads and writes."""

    task: str
    prompt: str
    completion: str
    kind: DeltaKind
    count: int
    """How many steps said exactly this."""
    weight: float
    """Share of this answer among all answers to the same prompt, in (0, 1]."""
    shown: int = 1
    """How often it is shown in an epoch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorldExamples:
    """Examples, and what became of every step."""

    examples: tuple[WorldExample, ...]
    steps_in: int
    dropped: Mapping[str, int]
    """Reason -> steps."""


_PLAIN = (DeltaKind.NONE, DeltaKind.TERMINAL)


@dataclass(frozen=True, slots=True)
class Said:
    """The example of one step, before equal ones are counted together."""

    task: str
    action: str
    kind: DeltaKind
    prompt: str
    completion: str


def world_examples(
    trajectories: Iterable[Trajectory], config: ExamplesConfig, *, seed: int
) -> WorldExamples:
    """Build examples from real attempts; the same input gives the same examples in the same order."""
    counts: Counter[Said] = Counter()
    dropped: Counter[str] = Counter()
    steps_in = 0
    for trajectory in trajectories:
        for known in known_steps(trajectory):
            steps_in += 1
            said = say(known, config)
            if isinstance(said, Said):
                counts[said] += 1
            else:
                dropped[said] += 1
    kept = _capped(counts, config, seed)
    for said in counts.keys() - kept:
        dropped["capped"] += counts[said]
    answers: Counter[str] = Counter()
    for said in kept:
        answers[said.prompt] += counts[said]
    shown = _shown(kept, counts, config)
    examples = tuple(
        WorldExample(
            task=said.task,
            prompt=said.prompt,
            completion=said.completion,
            kind=said.kind,
            count=n,
            weight=n / answers[said.prompt],
            shown=shown[said],
        )
        for said, n in counts.items()
        if said in kept
    )
    return WorldExamples(examples=examples, steps_in=steps_in, dropped=dict(dropped))


def world_prompt(ruled: Ruled, asked: Imagine, *, show_goal: bool, past_actions: int) -> str:
    """The question, as the model is asked it in training and in dreams."""
    done = done_before(asked, past_actions)
    did = label_action(asked.action, asked.history[-1])
    return render_predict(ruled.page.tree, did, asked.goal if show_goal else None, done)


def done_before(asked: Imagine, past_actions: int) -> list[str]:
    """Labelled actions before the present one, oldest first, of the latest `past_actions` pages."""
    earlier = list(zip(asked.done, asked.history, strict=False))
    latest = earlier[len(earlier) - min(past_actions, len(earlier)) :]
    return [label_action(action, page) for action, page in latest if action is not None]


def change_after_rules(ruled: Ruled, known: Known) -> Delta:
    """What no rule knew: the change from the page after the rules to the real next page."""
    page = as_shown(ruled.page, ruled.page)
    target = as_shown(known.next_page, ruled.page)
    return without_renumbering(diff(page, known.action, target, terminal=known.terminal))


def say(known: Known, config: ExamplesConfig) -> Said | str:
    """The example of a step, or the reason why it has none."""
    ruled = apply_rules(known.history, known.action)
    if ruled.settled:
        return f"settled_by_{ruled.rule}"
    if known.fault is not None:
        return f"refused_by_the_page_{known.fault.value}"
    delta = change_after_rules(ruled, known)
    completion = print_delta(delta)
    if len(completion) > config.max_change_chars:
        return "change_too_long"
    if not known.terminal and not _gives(ruled, known, completion):
        return "change_not_expressible"
    return Said(
        task=known.task,
        action=type(known.action).__name__,
        kind=delta.kind,
        prompt=world_prompt(
            ruled, known.asked, show_goal=config.show_goal, past_actions=config.past_actions
        ),
        completion=completion,
    )


def _gives(ruled: Ruled, known: Known, completion: str) -> bool:
    """Whether the words, read back and applied, give the real page."""
    try:
        page = apply(ruled.page, known.action, parse_delta(completion))
    except DeltaError:
        return False
    return equal_as_shown(page, known.next_page, ruled.page)


def _capped(counts: Counter[Said], config: ExamplesConfig, seed: int) -> set[Said]:
    """At most so many examples of a kind; which ones is a hash, so that order does not matter."""
    groups: dict[tuple[str, str, DeltaKind], list[Said]] = defaultdict(list)
    for said in counts:
        groups[said.task, said.action, said.kind].append(said)
    kept: set[Said] = set()
    for (_, _, kind), alike in groups.items():
        cap = config.plain_cap if kind in _PLAIN else config.cap
        alike.sort(key=lambda s: derive_seed(seed, "cap", s.prompt, s.completion))
        kept.update(alike[:cap])
    return kept


def _shown(kept: set[Said], counts: Mapping[Said, int], config: ExamplesConfig) -> dict[Said, int]:
    """How often each example is shown: as often as it was seen, and more where a task has few changes.

    All answers to one kind of action are scaled alike, so that a model still sees how often a page changes.
    """
    groups: dict[tuple[str, str], list[Said]] = defaultdict(list)
    for said in kept:
        groups[said.task, said.action].append(said)
    shown: dict[Said, int] = {}
    for alike in groups.values():
        times = {said: min(counts[said], config.most_shown) for said in alike}
        changes = sum(n for said, n in times.items() if said.kind not in _PLAIN)
        scale = max(1, -(-config.rare // changes)) if changes else 1
        shown |= {said: min(n * scale, config.most_shown) for said, n in times.items()}
    return shown

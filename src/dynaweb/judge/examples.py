"""What the judge learns from: real endings, and made ones whose verdict is certain (ours).

A judge that has seen mostly success passes failures (feasibility run). So failures weigh as much as
successes in every task, and where real ones are few, they are made from successes in three ways, each
a failure for sure:

- *swapped*: the same attempt under another goal of the task;
- *retargeted*: the goal asks for another element of the page, or for slightly other text;
- *truncated*: the attempt before its end (the task had not ended, so it had not succeeded).
"""

import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from dynaweb.axtree.tree import read_tree
from dynaweb.errors import UserError
from dynaweb.judge.evidence import judge_prompt, rule_verdict
from dynaweb.prompts.judge import FAILURE, SUCCESS
from dynaweb.records.action import Fill, target_bids
from dynaweb.records.seeds import derive_seed
from dynaweb.records.trajectory import Outcome, Step, Trajectory

MAX_WEIGHT = 4.0
"""A rare verdict is not repeated more than this: it would be learnt by heart."""


class Origin(StrEnum):
    """Where an example's verdict comes from."""

    SUCCESS = "success"
    FAILURE = "failure"
    SWAPPED = "swapped"
    RETARGETED = "retargeted"
    TRUNCATED = "truncated"


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeExamplesConfig:
    """How many made failures stand beside the real endings."""

    swapped: int = 1
    """Goal-swapped failures made of each success."""
    retargeted: int = 1
    """Retargeted failures made of each success."""
    truncated_fraction: float = 0.25
    """Truncated failures for each success of at least two steps, as a fraction of the successes."""
    answers_count: bool = False
    """As in `JudgeConfig`."""

    def __post_init__(self) -> None:
        for name in ("swapped", "retargeted"):
            if not 0 <= getattr(self, name) <= 10:
                raise UserError(f"{name} {getattr(self, name)!r} is out of range: use 0 to 10")
        if not 0.0 <= self.truncated_fraction <= 1.0:
            raise UserError(
                f"truncated_fraction {self.truncated_fraction!r} is out of range: use 0 to 1"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeExample:
    """A question and its verdict, in the words the model reads and writes."""

    task: str
    prompt: str
    completion: str
    origin: Origin
    weight: float
    """Such that in every task failures weigh as much as successes; at most `MAX_WEIGHT`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeExamples:
    """Examples, and what became of every attempt."""

    examples: tuple[JudgeExample, ...]
    attempts_in: int
    dropped: Mapping[str, int]
    """Reason -> attempts."""


def judge_examples(
    trajectories: Sequence[Trajectory], config: JudgeExamplesConfig, *, seed: int
) -> JudgeExamples:
    """Build examples from real attempts; the same input gives the same examples."""
    dropped: Counter[str] = Counter()
    kept: list[Trajectory] = []
    for t in trajectories:
        verdict = rule_verdict(t, answers_count=config.answers_count)
        if verdict is not None:
            dropped[f"settled_by_rule: {verdict.evidence}"] += 1
        elif t.outcome is Outcome.UNKNOWN:
            dropped["outcome_unknown"] += 1
        else:
            kept.append(t)
    said: dict[tuple[str, str, str], Origin] = {}
    for t, origin in _all(kept, config, seed):
        prompt = judge_prompt(t.goal, t.past + t.steps)
        word = SUCCESS if origin is Origin.SUCCESS else FAILURE
        said.setdefault((t.task, prompt, word), origin)
    _drop_contradictions(said)
    return JudgeExamples(
        examples=_weighed(said), attempts_in=len(trajectories), dropped=dict(dropped)
    )


def _all(
    kept: list[Trajectory], config: JudgeExamplesConfig, seed: int
) -> Iterable[tuple[Trajectory, Origin]]:
    by_task: dict[str, list[Trajectory]] = defaultdict(list)
    for t in kept:
        by_task[t.task].append(t)
    for t in kept:
        if t.outcome is Outcome.FAILURE:
            yield t, Origin.FAILURE
            continue
        yield t, Origin.SUCCESS
        rng = random.Random(derive_seed(seed, "judge", t.trajectory_id))
        yield from _made(t, by_task[t.task], config, rng)


def _made(
    t: Trajectory, others: list[Trajectory], config: JudgeExamplesConfig, rng: random.Random
) -> Iterable[tuple[Trajectory, Origin]]:
    for _ in range(config.swapped):
        goal = swapped_goal(t, others, rng)
        if goal is not None:
            yield replace(t, goal=goal), Origin.SWAPPED
    for _ in range(config.retargeted):
        goal = retargeted_goal(t, rng)
        if goal is not None:
            yield replace(t, goal=goal), Origin.RETARGETED
    if len(t.steps) > 1 and rng.random() < config.truncated_fraction:
        cut = t.steps[: rng.randrange(1, len(t.steps))]
        if cut[-1].action is not None and cut[-1].fault is None:
            yield replace(t, steps=cut), Origin.TRUNCATED


def swapped_goal(
    trajectory: Trajectory, others: Sequence[Trajectory], rng: random.Random
) -> str | None:
    """Another goal of the task; None when a few draws find only goals that ask the same."""
    for _ in range(6):
        goal = rng.choice(others).goal
        if _asks(goal) != _asks(trajectory.goal):
            return goal
    return None


def _asks(goal: str) -> Counter[str]:
    """What a goal asks, whatever the order of its words."""
    return Counter(re.findall(r"\w+", goal.lower()))


def retargeted_goal(trajectory: Trajectory, rng: random.Random) -> str | None:
    """The goal with a name or a text that the agent acted on replaced by another one."""
    choices = [c for s in trajectory.steps for c in _targets(s, trajectory.goal)]
    rng.shuffle(choices)
    for old, others in choices:
        new = rng.choice(others) if others else _misspelled(old, rng)
        if new:
            return new.join(_whole(old).split(trajectory.goal))
    return None


def _targets(step: Step, goal: str) -> list[tuple[str, list[str]]]:
    """Strings of the goal that the step used, each with what else the page offers in its place."""
    action = step.action
    if isinstance(action, Fill):
        return [(action.value, [])] if _stands_in(action.value, goal) else []
    tree = read_tree(step.observation.tree)
    found: list[tuple[str, list[str]]] = []
    for bid in target_bids(action) if action is not None else ():
        for node in tree:
            if node.bid == bid and node.name and _stands_in(node.name, goal):
                others = sorted(
                    {
                        n.name
                        for n in tree
                        if n.role == node.role and n.name and not _stands_in(n.name, goal)
                    }
                )
                found += [(node.name, others)] if others else []
    return found


def _whole(text: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(text)}(?!\w)")


def _stands_in(text: str, goal: str) -> bool:
    return bool(text.strip()) and _whole(text).search(goal) is not None


def _misspelled(text: str, rng: random.Random) -> str:
    """One letter or digit changed; empty when there is none to change."""
    places = [i for i, c in enumerate(text) if c.isascii() and c.isalnum()]
    if not places:
        return ""
    i = rng.choice(places)
    letters = "0123456789" if text[i].isdigit() else "abcdefghijklmnopqrstuvwxyz"
    new = rng.choice([c for c in letters if c != text[i].lower()])
    return text[:i] + (new.upper() if text[i].isupper() else new) + text[i + 1 :]


def _drop_contradictions(said: dict[tuple[str, str, str], Origin]) -> None:
    """A made failure that some real success contradicts is no failure."""
    for task, prompt, word in list(said):
        if word == FAILURE and (task, prompt, SUCCESS) in said:
            origin = said[task, prompt, FAILURE]
            if origin is not Origin.FAILURE:
                del said[task, prompt, FAILURE]


def _weighed(said: Mapping[tuple[str, str, str], Origin]) -> tuple[JudgeExample, ...]:
    """Failures and successes of a task weigh the same; a task with one kind only keeps weight 1."""
    counts = Counter((task, word) for task, _, word in said)
    out: list[JudgeExample] = []
    for (task, prompt, word), origin in said.items():
        good, bad = counts[task, SUCCESS], counts[task, FAILURE]
        balanced = (good + bad) / (2 * counts[task, word]) if good and bad else 1.0
        weight = min(balanced, MAX_WEIGHT)
        out.append(
            JudgeExample(task=task, prompt=prompt, completion=word, origin=origin, weight=weight)
        )
    return tuple(out)

"""Attempts into token rows: one row for each reply the policy wrote, in the ids it was written in.

No text is encoded here, so rollout and training can never disagree about tokens. The exception is the
expert, who wrote none: `render_expert` says its actions in the policy's own prompt and grammar.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from dynaweb.agent.lm_agent import act_prompt
from dynaweb.batch.advantage import Credit
from dynaweb.batch.source import Source, source_of
from dynaweb.lm.language import Language
from dynaweb.records.action import print_action
from dynaweb.records.trajectory import Generation, Trajectory


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One prompt and what the policy wrote after it."""

    prompt_ids: tuple[int, ...]
    completion_ids: tuple[int, ...]
    """At least one token."""
    sampled_logprobs: tuple[float, ...] = field(default=(), compare=False)
    """What the sampler said of each completion token; empty for an expert. Only watched, never trained on."""


class Objective(StrEnum):
    """What an attempt's tokens are trained with."""

    RATIO = "ratio"
    """GSPO's clipped importance ratio."""
    SHAPED = "shaped"
    """LUFFY's shaped probability: no ratio, no clip."""
    LIKELIHOOD = "likelihood"
    """Mean negative log-probability of a token; no advantage."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainTrajectory:
    """What the trainer knows of an attempt: rows, how good, how often."""

    name: str
    source: Source
    """For the log only; the loss treats all alike."""
    reward: float
    advantage: float
    copies: int
    """Weight in the batch mean: the same expert may be several members of a group."""
    rows: tuple[Row, ...]
    objective: Objective = Objective.RATIO
    """Which loss reads the rows."""

    @property
    def policy_tokens(self) -> int:
        """Tokens the policy wrote: the length of the sequence in GSPO's ratio."""
        return sum(len(r.completion_ids) for r in self.rows)

    @property
    def tokens(self) -> int:
        """Prompt and completion tokens, the cost of a forward pass."""
        return sum(len(r.prompt_ids) + len(r.completion_ids) for r in self.rows)


def train_trajectories(
    credits: Iterable[Credit], *, experts: Objective = Objective.RATIO
) -> list[TrainTrajectory]:
    """Rows of every attempt; attempts of equal words and worth become one with more copies.

    A sharp policy often dreams the same thing twice, and one expert stands in for half a group: the
    gradient is the same and the forward passes are saved.

    Args:
        credits: attempts and what they are worth.
        experts: which loss reads the experts among them.

    Raises:
        ValueError: an attempt holds no token of the policy's, so its ratio is undefined.
    """
    return _merged(
        TrainTrajectory(
            name=c.trajectory.trajectory_id,
            source=c.source,
            reward=c.reward,
            advantage=c.advantage,
            copies=1,
            rows=rows_of(c.trajectory),
            objective=experts if c.source is Source.EXPERT else Objective.RATIO,
        )
        for c in credits
    )


def imitated(shown: Sequence[Trajectory]) -> list[TrainTrajectory]:
    """Rows of experts whose likelihood is raised, whatever a group says; equal ones become one with more copies.

    Raises:
        ValueError: an expert that was not rendered in the policy's words, or is no success.
    """
    for t in shown:
        if t.reward != 1.0:
            raise ValueError(f"trajectory {t.trajectory_id!r} is no success: nothing to imitate")
    return _merged(
        TrainTrajectory(
            name=t.trajectory_id,
            source=source_of(t),
            reward=1.0,
            advantage=0.0,
            copies=1,
            rows=rows_of(t),
            objective=Objective.LIKELIHOOD,
        )
        for t in shown
    )


def _merged(attempts: Iterable[TrainTrajectory]) -> list[TrainTrajectory]:
    merged: dict[tuple[Objective, Source, float, float, tuple[Row, ...]], TrainTrajectory] = {}
    for a in attempts:
        key = (a.objective, a.source, a.reward, a.advantage, a.rows)
        known = merged.get(key)
        merged[key] = a if known is None else replace(known, copies=known.copies + 1)
    return list(merged.values())


def rows_of(trajectory: Trajectory) -> tuple[Row, ...]:
    """One row a reply, retries included, in the order they were written.

    Raises:
        ValueError: no reply holds a token.
    """
    rows = tuple(
        Row(
            prompt_ids=g.prompt_ids,
            completion_ids=g.completion_ids,
            sampled_logprobs=g.logprobs,
        )
        for step in trajectory.steps
        for g in step.generations
        if g.completion_ids
    )
    if not rows:
        raise ValueError(
            f"trajectory {trajectory.trajectory_id!r} holds no policy tokens; an expert is rendered first"
        )
    return rows


def render_expert(trajectory: Trajectory, language: Language) -> Trajectory:
    """The expert's attempt as if the policy had written it: its prompt, its grammar, its end token.

    Raises:
        ValueError: a step has no action or a fault; such an attempt demonstrates nothing.
    """
    steps = []
    past = trajectory.past
    for step in trajectory.steps:
        if step.action is None or step.fault is not None:
            raise ValueError(f"expert {trajectory.trajectory_id!r} has a step that did not act")
        text = print_action(step.action)
        prompt = language.encode(act_prompt(trajectory.goal, past, step.observation))
        generation = _written(prompt.ids, language.encode_reply(prompt, text), text)
        steps.append(replace(step, thought="", generations=(generation,)))
        past = (*past, step)
    return replace(trajectory, steps=tuple(steps))


def _written(prompt_ids: tuple[int, ...], completion_ids: tuple[int, ...], text: str) -> Generation:
    return Generation(
        prompt_ids=prompt_ids,
        completion_ids=completion_ids,
        logprobs=(),
        temperature=1.0,
        seed=0,
        policy_version="expert",
        raw_text=text,
        finish="stop",
    )

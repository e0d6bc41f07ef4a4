"""Made-up attempts to train on: random ids, since speed does not depend on what they say."""

import random
from collections.abc import Sequence
from dataclasses import replace

from transformers import PreTrainedModel

from dynaweb.batch.source import Source
from dynaweb.batch.tokens import Row, TrainTrajectory
from dynaweb.gspo.batch import attempt_logps

GROUP = 8
"""Attempts of one task and start."""
STEPS = 3
"""Replies of an attempt."""
PROMPT = (40, 180)
"""Shortest and longest prompt, tokens: from below the median of MiniWoB++ pages to their ninth decile."""
REPLY = (6, 18)
"""Shortest and longest reply, tokens."""


def made_groups(groups: int, vocabulary: int, seed: int) -> list[TrainTrajectory]:
    """Groups whose attempts share their first prompt; half of them succeeded."""
    stream = random.Random(seed)
    made: list[TrainTrajectory] = []
    for g in range(groups):
        first = _ids(stream, vocabulary, *PROMPT)
        for k in range(GROUP):
            prompts = [first, *(_ids(stream, vocabulary, *PROMPT) for _ in range(STEPS - 1))]
            rows = [(p, _ids(stream, vocabulary, *REPLY)) for p in prompts]
            made.append(_attempt(f"{g}-{k}", k, rows))
    return made


def made_rows(
    rows: int, prompt: int, reply: int, vocabulary: int, seed: int
) -> list[TrainTrajectory]:
    """Attempts of one prompt and one reply, all of one length, no prompt twice."""
    stream = random.Random(seed)
    return [
        _attempt(
            str(n),
            n,
            [(_ids(stream, vocabulary, prompt, prompt), _ids(stream, vocabulary, reply, reply))],
        )
        for n in range(rows)
    ]


def with_sampled(
    model: PreTrainedModel, attempts: Sequence[TrainTrajectory], budget: int
) -> list[TrainTrajectory]:
    """The attempts with log-probabilities as if the model had sampled them, so that an update compares them as always."""
    logps = attempt_logps(model, attempts, budget=budget, temperature=1.0)
    found: list[TrainTrajectory] = []
    for attempt, logp in zip(attempts, logps, strict=True):
        rest = iter(logp.tolist())
        rows = [
            replace(r, sampled_logprobs=tuple(next(rest) for _ in r.completion_ids))
            for r in attempt.rows
        ]
        found.append(replace(attempt, rows=tuple(rows)))
    return found


def _attempt(
    name: str, number: int, rows: Sequence[tuple[tuple[int, ...], tuple[int, ...]]]
) -> TrainTrajectory:
    won = number % 2
    return TrainTrajectory(
        name=name,
        source=Source.DREAM,
        reward=float(won),
        advantage=won - 0.5,
        copies=1,
        rows=tuple(Row(prompt_ids=p, completion_ids=c) for p, c in rows),
    )


def _ids(stream: random.Random, vocabulary: int, shortest: int, longest: int) -> tuple[int, ...]:
    return tuple(stream.randrange(3, vocabulary) for _ in range(stream.randint(shortest, longest)))

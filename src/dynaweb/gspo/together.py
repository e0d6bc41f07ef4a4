"""What the ranks of a run tell each other: attempts, log-probabilities, what a step saw, and what broke.

Everything that decides how a run goes on is the same on every rank: each makes a share of the attempts and reads a
share of every step, then all hear of all. It is said as text, in the form of stored records and JSON, whose numbers
come back as they were; nothing is unpickled. Alone, nothing is said and nothing is done differently.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

import torch
from jaxtyping import Float
from torch import Tensor
from transformers import PreTrainedModel

from dynaweb.batch.tokens import TrainTrajectory
from dynaweb.dream.run import DreamRequest
from dynaweb.errors import TrainingError
from dynaweb.gspo.batch import attempt_logps
from dynaweb.gspo.config import UpdateConfig
from dynaweb.gspo.groups import Attempt
from dynaweb.gspo.guard import BrokenUpdateError, Trouble
from dynaweb.gspo.tally import Tally
from dynaweb.records.codec import dump, load
from dynaweb.records.trajectory import Trajectory
from dynaweb.train.crew import Crew

T = TypeVar("T")


def shared_attempts(attempt: Attempt, crew: Crew, *, by_first: bool = False) -> Attempt:
    """The same attempts, each rank making a share of them; every rank must ask, and gets all, in order.

    A share is a run of neighbours, so that most members of a group have their prefix read once.

    Args:
        attempt: makes attempts.
        crew: the ranks.
        by_first: the first rank makes them all: what is made in one browser, and kept in one folder.
    """
    if crew.world == 1:
        return attempt

    def together(requests: Sequence[DreamRequest]) -> list[Trajectory]:
        shares = 1 if by_first else crew.world
        ends = [len(requests) * n // shares for n in range(shares + 1)]
        mine = requests[ends[crew.rank] : ends[crew.rank + 1]] if crew.rank < shares else ()
        made = attempt(mine) if mine else []
        said = crew.exchange("\n".join(map(dump, made)))
        return [_trajectory(line) for text in said for line in text.split("\n") if line]

    return together


def _trajectory(line: str) -> Trajectory:
    found = load(line)
    assert isinstance(found, Trajectory)
    return found


def share_of(items: Sequence[T], size: Callable[[T], int], crew: Crew) -> list[T]:
    """This rank's share: dealt out in turn, the largest first, so that shares are about as large as each other."""
    return [items[i] for i in dealt([size(x) for x in items], crew.world)[crew.rank]]


def dealt(sizes: Sequence[int], world: int) -> list[list[int]]:
    """Which items each rank has; alone all, in the order they have."""
    if world == 1:
        return [list(range(len(sizes)))]
    order = sorted(range(len(sizes)), key=lambda i: -sizes[i])
    return [order[rank::world] for rank in range(world)]


def shared_logps(
    model: PreTrainedModel,
    attempts: Sequence[TrainTrajectory],
    config: UpdateConfig,
    crew: Crew,
) -> list[Float[Tensor, " _"]]:
    """As `attempt_logps`, each rank asking for a share; inside `Crew.apart`."""
    shares = dealt([a.tokens for a in attempts], crew.world)
    logps = attempt_logps(
        model,
        [attempts[i] for i in shares[crew.rank]],
        budget=config.token_budget,
        temperature=config.temperature,
    )
    if crew.world == 1:
        return logps
    said = crew.exchange(json.dumps([t.tolist() for t in logps]))
    known = {
        i: torch.tensor(values, device=model.device)
        for share, text in zip(shares, said, strict=True)
        for i, values in zip(share, json.loads(text), strict=True)
    }
    return [known[i] for i in range(len(attempts))]


@contextmanager
def tallied(crew: Crew, tally: Tally) -> Iterator[Tally]:
    """What this rank counts of a step; afterwards `tally` has it from all, and what broke on one has broken on all.

    Raises:
        BrokenUpdateError, TrainingError: on every rank, what the first that broke said.
    """
    if crew.world == 1:
        yield tally
        return
    mine, broken = Tally(), None
    try:
        yield mine
    except TrainingError as error:
        broken = error
    for said in crew.exchange(_said(broken)):
        if said:
            raise _meant(said) from broken
    tally.add([Tally.heard(text) for text in crew.exchange(mine.said())])


def _said(broken: TrainingError | None) -> str:
    if broken is None:
        return ""
    what = broken.what.value if isinstance(broken, BrokenUpdateError) else ""
    return f"{what}\n{broken}"


def _meant(said: str) -> TrainingError:
    what, _, message = said.partition("\n")
    return BrokenUpdateError(Trouble(what), message) if what else TrainingError(message)

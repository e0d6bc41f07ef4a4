"""Several processes that train one model: DDP (every rank holds it whole) or FSDP2 (every rank holds a part).

`torchrun` starts them. Every rank sees the same batches in the same order and takes every so many-th row of each
step, so that a step is the step one process would make, up to the order of sums. Ranks that have fewer rows than
others read one more with weight 0: all make the same number of passes, as collectives demand. Gradients are
summed once a step, over its last pass. Work whose passes cannot be counted beforehand goes `apart`: each rank for
itself, with one pass of weight 0 at its end that sums. The first rank alone writes; checkpoints hold whole tensors,
so a training goes on at any number of ranks.
"""

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Literal, TypeAlias

import torch
import torch.distributed as dist
from torch import Tensor
from torch.nn.parallel import DistributedDataParallel
from transformers import PreTrainedModel

from dynaweb.errors import UserError
from dynaweb.train.batch import Example, split_batch
from dynaweb.train.checkpoint import Checkpoint, latest_checkpoint
from dynaweb.train.config import FitConfig, Precision
from dynaweb.train.crew import Alone, Crew, trained, whole
from dynaweb.train.logprob import layout
from dynaweb.train.loss import arithmetic, not_finite, step_weight, token_shares
from dynaweb.train.shards import PROBE, Scorer, shard, unsharded

Sharding: TypeAlias = Literal["ddp", "fsdp"]

LONGEST_WAIT = timedelta(hours=12)
"""For other ranks: the first one may be making rows. A rank that dies ends the others through torchrun."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranks:
    """Where this process stands among those that `torchrun` started."""

    rank: int = 0
    """From 0."""
    world: int = 1
    """Processes in all."""
    local: int = 0
    """Number on this machine: the GPU it takes."""
    sharding: Sharding = "ddp"
    """What every rank holds."""

    def __post_init__(self) -> None:
        if not 0 <= self.rank < self.world or self.local < 0:
            raise UserError(
                f"rank {self.rank!r} of {self.world!r} (local {self.local!r}) cannot be: start the ranks with torchrun"
            )
        if self.sharding not in ("ddp", "fsdp"):
            raise UserError(f"sharding is {self.sharding!r}: use 'ddp' or 'fsdp'")


@contextmanager
def joined(ranks: Ranks, *, cpu: bool = False) -> Iterator[torch.device]:
    """The process group while the context lasts, and the device of this rank; alone there is no group.

    Args:
        ranks: who takes part.
        cpu: leave GPUs alone.
    """
    gpu = torch.cuda.is_available() and not cpu
    device = torch.device("cuda", ranks.local) if gpu else torch.device("cpu")
    if ranks.world == 1:
        yield device
        return
    if gpu:
        torch.cuda.set_device(device)
    dist.init_process_group(
        "nccl" if gpu else "gloo",
        rank=ranks.rank,
        world_size=ranks.world,
        timeout=LONGEST_WAIT,
    )
    try:
        yield device
    finally:
        dist.destroy_process_group()


@contextmanager
def in_step(ranks: Ranks) -> Iterator[None]:
    """The first rank goes through the context alone, then the others, who find what it left on disk."""
    if ranks.rank:
        dist.barrier()
    yield
    if ranks.world > 1 and not ranks.rank:
        dist.barrier()


def exchanged(text: str, ranks: Ranks, device: torch.device) -> list[str]:
    """What every rank says, in their order; inside `joined`, and every rank must ask."""
    if ranks.world == 1:
        return [text]
    said = bytearray(f"{text}\n".encode())
    length = torch.tensor(len(said), device=device)
    lengths = [torch.zeros_like(length) for _ in range(ranks.world)]
    dist.all_gather(lengths, length)
    room = torch.zeros(max(int(n) for n in lengths), dtype=torch.uint8, device=device)
    room[: len(said)] = torch.frombuffer(said, dtype=torch.uint8).to(device)
    heard = [torch.zeros_like(room) for _ in range(ranks.world)]
    dist.all_gather(heard, room)
    return [
        t[: int(n) - 1].cpu().numpy().tobytes().decode()
        for t, n in zip(heard, lengths, strict=True)
    ]


@contextmanager
def crew_of(model: PreTrainedModel, ranks: Ranks, precision: Precision) -> Iterator[Crew]:
    """The crew that trains a model on its device; with FSDP2 the model's weights are sharded in place.

    The context must end inside that of `joined`.

    Raises:
        UserError: a model whose layers are not known, so that it cannot be sharded.
    """
    if ranks.world == 1:
        yield Alone(model)
        return
    scorer = Scorer(model)
    if ranks.sharding == "fsdp":
        shards = shard(scorer, ranks.world, precision)

        def spoken(together: bool) -> AbstractContextManager[object]:
            shards.set_requires_gradient_sync(together)
            return nullcontext()

        yield _Together(ranks, model, scorer, spoken, lambda: unsharded(shards))
        return
    copies = DistributedDataParallel(scorer, gradient_as_bucket_view=True)
    try:
        yield _Together(
            ranks,
            model,
            copies,
            lambda last: nullcontext() if last else copies.no_sync(),
            nullcontext,
        )
    finally:
        # A reducer that outlives its group ends the group's threads while it holds Python's lock, which those
        # threads may be waiting for to let go of their last tensor: one training in three never ended.
        del copies.reducer, copies.logger


class _Together:
    """A crew of several ranks."""

    def __init__(
        self,
        ranks: Ranks,
        model: PreTrainedModel,
        scorer: torch.nn.Module,
        spoken: Callable[[bool], AbstractContextManager[object]],
        apart: Callable[[], AbstractContextManager[None]],
    ) -> None:
        """`spoken(last)`: a pass inside it sums gradients over ranks if it is the last of its step."""
        self._ranks = ranks
        self._model = model
        self._scorer = scorer
        self._spoken = spoken
        self._apart = apart
        self._trained = list(trained(model).values())

    @property
    def rank(self) -> int:
        """Number of this process."""
        return self._ranks.rank

    @property
    def world(self) -> int:
        """Processes in all."""
        return self._ranks.world

    @property
    def first(self) -> bool:
        """Rank 0."""
        return self._ranks.rank == 0

    def accumulate(self, batch: Sequence[Example], config: FitConfig) -> float:
        """See `Crew.accumulate`; DDP and FSDP2 take the mean over ranks, hence the factor."""
        device, loss = self._model.device, 0.0
        total, passes = step_weight(batch, config.normalise), self._share(batch, config)
        for i, rows in enumerate(passes):
            share_N = token_shares(rows, total, config.normalise).to(device)
            with self._spoken(i == len(passes) - 1):
                with arithmetic(device, config):
                    part = -(self._scorer(*layout(rows)) * share_N).sum()
                (part * self._ranks.world).backward()
            loss += part.item()
        return self._summed(loss)

    def clock(self) -> float:
        """The first rank's monotonic clock."""
        held = self._alike(time.monotonic())
        dist.broadcast(held, src=0)
        return held.item()

    def gathered(self, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """One tensor after the other, on the first rank in ordinary memory."""
        found: dict[str, Tensor] = {}
        for name, tensor in tensors.items():
            full = whole(tensor)
            if self.first:
                found[name] = full.detach().cpu()
        return found

    def newest(self, folder: Path) -> Checkpoint | None:
        """The first rank looks first: it sets damaged ones aside."""
        found = latest_checkpoint(folder) if self.first else None
        dist.barrier()
        return found if self.first else latest_checkpoint(folder)

    def exchange(self, text: str) -> list[str]:
        """See `exchanged`."""
        return exchanged(text, self._ranks, self._model.device)

    def apart(self) -> AbstractContextManager[None]:
        """DDP holds whole weights anyway and hooks into passes through its wrapper alone; FSDP2 gathers them here."""
        return self._apart()

    def sum_gradients(self) -> None:
        """By one more pass, of weight 0, which is what the wrappers hook into; they take the mean, hence the factor."""
        with self._spoken(True):
            (self._scorer(*layout([PROBE])).sum() * 0.0).backward()
        for p in self._trained:
            if p.grad is not None:
                p.grad.mul_(self._ranks.world)

    def _share(self, batch: Sequence[Example], config: FitConfig) -> list[list[Example]]:
        """This rank's passes over a step, as many on every rank; dummies have weight 0."""
        parts = [_passes(batch[r :: self._ranks.world], config) for r in range(self._ranks.world)]
        most = max(len(p) for p in parts)
        dummy = replace(min(batch, key=lambda e: e.length), weight=0.0)
        mine = parts[self._ranks.rank]
        return mine + [[dummy]] * (most - len(mine))

    def _summed(self, loss: float) -> float:
        held = self._alike(loss)
        dist.all_reduce(held)
        total = held.item()
        if not math.isfinite(total):
            self._model.zero_grad(set_to_none=True)
            raise not_finite(total)
        return total

    def _alike(self, value: float) -> Tensor:
        return torch.tensor(value, dtype=torch.float64, device=self._model.device)


def _passes(rows: Sequence[Example], config: FitConfig) -> list[list[Example]]:
    cut = split_batch(range(len(rows)), [e.length for e in rows], config.micro_tokens)
    return [[rows[i] for i in part] for part in cut]

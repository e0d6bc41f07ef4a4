"""What each rank of tests/train/test_ranks.py does; torchrun starts it."""

import os
import signal
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file
from transformers import LlamaForCausalLM

from dynaweb.errors import UserError
from dynaweb.lm.config import ModelConfig
from dynaweb.lm.model import build_model
from dynaweb.train.batch import Example
from dynaweb.train.config import FitConfig, OptimizerConfig
from dynaweb.train.crew import Crew, trained
from dynaweb.train.fit import FitRow, fit
from dynaweb.train.optimizer import Optimizer
from dynaweb.train.ranks import Ranks, crew_of, joined

SHAPE = ModelConfig(hidden=16, layers=2, heads=2, ffn=32, context=64)
VOCAB = 32
SETTING = FitConfig(
    steps=12,
    batch_tokens=96,
    micro_tokens=48,
    warmup_steps=2,
    seed=3,
    log_every=1,
    checkpoint_seconds=1e-9,
    optimizer=OptimizerConfig(name="adamw"),
)
KILLED_AT = 5


def rows(count: int = 61) -> list[Example]:
    """Of uneven lengths and weights, some with a silent part."""
    stream = torch.Generator().manual_seed(1)
    made = []
    for n in torch.randint(3, 20, (count,), generator=stream).tolist():
        ids = torch.randint(2, VOCAB, (n,), generator=stream).tolist()
        silent = ((1, 2),) if n % 3 == 0 else ()
        made.append(
            Example(
                prompt_ids=tuple(ids),
                completion_ids=(*ids[-2:], 1),
                weight=0.5 + n / 20,
                silent=silent,
            )
        )
    return made


def steps() -> list[Sequence[Example]]:
    """Of five rows, of one, and of more than fit in one pass."""
    made = rows()
    return [made[:5], made[5:6], made[6:20]]


def first_model() -> LlamaForCausalLM:
    return build_model(SHAPE, VOCAB, 0)


def gradients(model: LlamaForCausalLM, crew: Crew) -> tuple[dict[str, torch.Tensor], list[float]]:
    """Of each step, and the losses."""
    found: dict[str, torch.Tensor] = {}
    losses = []
    for number, batch in enumerate(steps()):
        losses.append(crew.accumulate(batch, SETTING))
        grads = {n: p.grad for n, p in model.named_parameters() if p.grad is not None}
        found |= {f"{number}/{n}": g.clone() for n, g in crew.gathered(grads).items()}
        model.zero_grad(set_to_none=True)
    return found, losses


def kill(row: FitRow) -> None:
    if row.step == KILLED_AT:
        os.kill(os.getpid(), signal.SIGKILL)


def main(out: Path, sharding: str, doing: str) -> None:
    torch.set_num_threads(1)
    ranks = Ranks(
        rank=int(os.environ["RANK"]),  # noqa: TID251 - torchrun says it so
        world=int(os.environ["WORLD_SIZE"]),  # noqa: TID251
        sharding=sharding,  # type: ignore[arg-type]  # checked by the record
    )
    with joined(ranks):
        model = first_model()
        with crew_of(model, ranks, "fp32") as crew:
            if sharding == "fsdp":
                with pytest.raises(UserError, match=r"muon.*whole"):
                    Optimizer(model, OptimizerConfig(name="muon"))
            if doing == "gradients":
                found, losses = gradients(model, crew)
                if crew.first:
                    found["losses"] = torch.tensor(losses, dtype=torch.float64)
                    save_file(found, out / f"{sharding}-gradients.safetensors")
            progress = kill if doing == "die" else None
            fit(model, rows(), replace(SETTING), out / sharding, progress, crew)
            weights = crew.gathered(trained(model))
            if crew.first:
                save_file(weights, out / f"{sharding}.safetensors")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3])

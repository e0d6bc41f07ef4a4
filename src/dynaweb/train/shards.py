"""The model as the wrappers of torch see it: one forward pass to hook into, and FSDP2 around its layers."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import FSDPModule, MixedPrecisionPolicy, fully_shard
from transformers import PreTrainedModel

from dynaweb.errors import UserError
from dynaweb.train.batch import Example
from dynaweb.train.config import Precision
from dynaweb.train.logprob import laid_logprobs, layout

PROBE: Final = Example(prompt_ids=(0,), completion_ids=(0,))
"""The shortest row that every model can read."""


class Scorer(torch.nn.Module):
    """Log-probabilities as one forward pass, which is what the wrappers hook into."""

    def __init__(self, model: PreTrainedModel) -> None:
        super().__init__()
        self.model = model

    def forward(
        self, ids_BT: Int[Tensor, "B T"], row_N: Int[Tensor, " N"], place_N: Int[Tensor, " N"]
    ) -> Float[Tensor, " N"]:
        """As `laid_logprobs`."""
        return laid_logprobs(self.model, ids_BT, row_N, place_N)


def shard(scorer: Scorer, world: int, precision: Precision) -> FSDPModule:
    """Split the model's weights over the ranks, in place: each layer by itself, and the rest.

    Args:
        scorer: around the model, on its device.
        world: ranks.
        precision: of the arithmetic.

    Raises:
        UserError: a model whose layers are not known.
    """
    model = scorer.model
    mesh = init_device_mesh(model.device.type, (world,))
    half = torch.bfloat16 if precision == "bf16" else None
    policy = MixedPrecisionPolicy(
        param_dtype=half, reduce_dtype=torch.float32, cast_forward_inputs=False
    )
    kinds = set(model._no_split_modules or ())
    layers = [m for m in model.modules() if type(m).__name__ in kinds]
    if not layers:
        raise UserError(
            f"{type(model).__name__} does not say what its layers are, so FSDP2 cannot shard it: use --sharding ddp"
        )
    for layer in layers:
        fully_shard(layer, mesh=mesh, mp_policy=policy)
    return fully_shard(scorer, mesh=mesh, mp_policy=policy)


@contextmanager
def unsharded(shards: FSDPModule) -> Iterator[None]:
    """Whole weights and gradients on every rank while it lasts: passes through the model wait for no other rank.

    Gradients that were not summed before the end are forgotten.
    """
    assert isinstance(shards, torch.nn.Module)
    _keep_whole(shards, True)
    # the first module that is asked is taken for the root, so it is the outermost; the pass leaves all weights whole
    with torch.no_grad():
        shards(*layout([PROBE]))
    try:
        yield
    finally:
        shards.zero_grad(set_to_none=True)
        for part in shards.modules():
            if isinstance(part, FSDPModule):
                part.reshard()
        _keep_whole(shards, False)


def _keep_whole(shards: FSDPModule, keep: bool) -> None:
    shards.set_reshard_after_forward(not keep)
    shards.set_reshard_after_backward(not keep)
    shards.set_requires_gradient_sync(not keep)

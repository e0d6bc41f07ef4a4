"""AdamW, or Muon for the hidden matrices with AdamW for the rest; state as named tensors."""

import math
from collections.abc import Iterable, Mapping
from typing import Final

import torch
from torch import Tensor
from torch.distributed.tensor import DTensor
from transformers import PreTrainedModel

from dynaweb.errors import StorageError, TrainingError, UserError
from dynaweb.train.config import OptimizerConfig
from dynaweb.train.crew import sharded_like, whole

NEWTON_SCHULZ: Final = (3.4445, -4.7750, 2.0315)
"""Coefficients of the quintic iteration (Keller Jordan's Muon; the same as torch.optim.Muon's)."""
NEWTON_SCHULZ_STEPS: Final = 5


class Muon(torch.optim.Optimizer):
    """Momentum whose update is made orthogonal, in the precision of the weights.

    torch.optim.Muon does this in bfloat16, which CPUs without such units emulate; it also goes
    matrix by matrix where equal shapes can share one batched product. Scale as in torch's
    `adjust_lr_fn="original"`: sqrt(max(1, rows / columns)).
    """

    def __init__(
        self, params: Iterable[Tensor], *, lr: float, momentum: float, weight_decay: float
    ) -> None:
        super().__init__(
            list(params), {"lr": lr, "momentum": momentum, "weight_decay": weight_decay}
        )

    @torch.no_grad()
    def step(self, closure: None = None) -> None:  # type: ignore[override]  # no closure is supported
        """Apply the gradients once."""
        for group in self.param_groups:
            shapes: dict[torch.Size, list[Tensor]] = {}
            for p in group["params"]:
                if p.grad is not None:
                    shapes.setdefault(p.shape, []).append(p)
            for params in shapes.values():
                self._update(params, group["lr"], group["momentum"], group["weight_decay"])

    def _update(self, params: list[Tensor], lr: float, momentum: float, decay: float) -> None:
        buffers = [self.state[p].setdefault("momentum", torch.zeros_like(p)) for p in params]
        grads = [p.grad for p in params if p.grad is not None]
        torch._foreach_lerp_(buffers, grads, 1.0 - momentum)
        nesterov = torch._foreach_lerp(grads, buffers, momentum)
        updates = orthogonalise(torch.stack(list(nesterov)))
        rows, columns = params[0].shape
        torch._foreach_mul_(params, 1.0 - lr * decay)
        torch._foreach_add_(
            params, list(updates.unbind(0)), alpha=-lr * math.sqrt(max(1.0, rows / columns))
        )


def orthogonalise(matrices: Tensor) -> Tensor:
    """Nearest orthogonal matrices, roughly: singular values land between 0.7 and 1.2.

    Args:
        matrices: Shape (count, rows, columns).
    """
    a, b, c = NEWTON_SCHULZ
    tall = matrices.shape[1] > matrices.shape[2]
    x = matrices.transpose(1, 2) if tall else matrices
    x = x / x.norm(dim=(1, 2), keepdim=True).clamp(min=1e-7)
    for _ in range(NEWTON_SCHULZ_STEPS):
        gram = x @ x.transpose(1, 2)
        x = a * x + (b * gram + c * gram @ gram) @ x
    result: Tensor = x.transpose(1, 2) if tall else x
    return result


class Optimizer:
    """One or two optimisers over all parameters of a model, behind one step."""

    def __init__(self, model: PreTrainedModel, config: OptimizerConfig) -> None:
        """Refuse half precision on a CPU.

        Raises:
            UserError: bfloat16 or float16 weights on a CPU: hundreds of times slower, and too coarse for GSPO.
        """
        named: list[tuple[str, Tensor]] = [
            (n, p) for n, p in model.named_parameters() if p.requires_grad
        ]
        half = next(
            (
                n
                for n, p in named
                if p.device.type == "cpu" and p.dtype in (torch.bfloat16, torch.float16)
            ),
            None,
        )
        if half is not None:
            raise UserError(
                f"weights {half!r} are in half precision on a CPU: load the model in float32"
            )
        embeddings = {
            id(p)
            for layer in (model.get_input_embeddings(), model.get_output_embeddings())
            for p in layer.parameters()
        }
        hidden = [(n, p) for n, p in named if p.ndim == 2 and id(p) not in embeddings]
        on_muon = hidden if config.name == "muon" else []
        if any(isinstance(p, DTensor) for _, p in on_muon):
            raise UserError(
                "optimizer 'muon' needs every matrix whole, and FSDP2 shards them: use optimizer 'adamw', or sharding 'ddp'"
            )
        rest = [(n, p) for n, p in named if all(p is not q for _, q in on_muon)]
        self._clip_norm = config.clip_norm
        self._parameters = [p for _, p in named]
        self._parts: list[tuple[str, torch.optim.Optimizer, list[tuple[str, Tensor]], float]] = []
        if rest:
            groups = [
                {
                    "params": [p for _, p in rest if p.ndim >= 2],
                    "weight_decay": config.weight_decay,
                },
                {"params": [p for _, p in rest if p.ndim < 2], "weight_decay": 0.0},
            ]
            adamw = torch.optim.AdamW(
                [g for g in groups if g["params"]],
                lr=config.learning_rate,
                betas=(config.beta1, config.beta2),
                fused=True,
            )
            self._parts.append(("adamw", adamw, rest, config.learning_rate))
        if on_muon:
            muon = Muon(
                [p for _, p in on_muon],
                lr=config.muon_learning_rate,
                momentum=config.muon_momentum,
                weight_decay=config.weight_decay,
            )
            self._parts.append(("muon", muon, on_muon, config.muon_learning_rate))

    def step(self, scale: float, limit: float = math.inf) -> float:
        """Clip, apply and clear the gradients; returns their norm before clipping.

        Args:
            scale: Of the peak learning rates, in [0, 1].
            limit: Largest norm before clipping that is applied at all.

        Raises:
            TrainingError: a gradient is not finite, or past the limit. The weights are as they were.
        """
        norm = float(whole(torch.nn.utils.clip_grad_norm_(self._parameters, self._clip_norm)))
        if not math.isfinite(norm) or norm > limit:
            self.clear()
            raise TrainingError(
                f"gradient norm is {norm!r}: lower the learning rate, or look for a broken example"
            )
        for _, optimizer, _, peak in self._parts:
            for group in optimizer.param_groups:
                group["lr"] = peak * scale
            optimizer.step()
        self.clear()
        return norm

    def clear(self) -> None:
        """Forget the gradients."""
        for _, optimizer, _, _ in self._parts:
            optimizer.zero_grad(set_to_none=True)

    def state(self) -> dict[str, Tensor]:
        """All state, by `optimiser/parameter/name`."""
        return {
            f"{kind}/{name}/{key}": value
            for kind, optimizer, named, _ in self._parts
            for name, p in named
            for key, value in optimizer.state.get(p, {}).items()
        }

    def restore(self, state: Mapping[str, Tensor]) -> None:
        """Take over what `state` returned; what was there before is forgotten.

        Raises:
            StorageError: it belongs to other parameters or another optimiser.
        """
        for _, optimizer, _, _ in self._parts:
            optimizer.state.clear()
        known = {
            f"{kind}/{name}": (optimizer, p)
            for kind, optimizer, named, _ in self._parts
            for name, p in named
        }
        for key, value in state.items():
            where, _, item = key.rpartition("/")
            if where not in known:
                raise StorageError(
                    f"optimiser state {key!r} fits no parameter of this model and optimiser"
                )
            optimizer, p = known[where]
            if value.ndim and value.shape != p.shape:
                raise StorageError(
                    f"optimiser state {key!r} has shape {tuple(value.shape)}, the parameter {tuple(p.shape)}"
                )
            optimizer.state[p][item] = sharded_like(value, p).to(p.device, copy=True)

"""Activations recomputed instead of kept: long rows and large models fit, for about a third more arithmetic."""

from functools import partial

from torch.utils.checkpoint import checkpoint
from transformers import PreTrainedModel
from transformers.modeling_layers import GradientCheckpointingLayer

from dynaweb.errors import UserError


def recompute_activations(model: PreTrainedModel) -> None:
    """From now on, until `model.eval()`, every layer computes its forward pass twice and keeps only its input.

    Losses and gradients are the same. Layers alone are put in training mode, not what is inside them: dropout stays off.

    Raises:
        UserError: the model's layers cannot.
    """
    layers = [m for m in model.modules() if isinstance(m, GradientCheckpointingLayer)]
    if not layers:
        raise UserError(
            f"{type(model).__name__} cannot recompute its activations: set recompute to false"
        )
    for layer in layers:
        layer.gradient_checkpointing = True
        again = partial(checkpoint, use_reentrant=False)
        layer._gradient_checkpointing_func = again  # type: ignore[assignment]  # no module
        layer.training = True

"""LoRA: small matrices beside frozen weights, by the package peft; adapters are safetensors in peft's own layout."""

import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import torch
from peft import LoraConfig, PeftModel, inject_adapter_in_model
from peft.tuners.tuners_utils import BaseTunerLayer
from peft.utils import get_peft_model_state_dict
from safetensors.torch import save_file
from torch import Tensor
from transformers import PreTrainedModel

from dynaweb.errors import StorageError, UserError
from dynaweb.lm.config import AdapterConfig
from dynaweb.lm.model import check_head, load_model
from dynaweb.runs.atomic import write_json

WEIGHTS = "adapter_model.safetensors"
ABOUT = "adapter_config.json"


def add_adapters(model: PreTrainedModel, config: AdapterConfig, seed: int) -> None:
    """Put adapters beside all linear layers but the output layer, and freeze everything else.

    The model computes what it computed before until they are trained. The seed decides their first weights.

    Raises:
        UserError: adapters are off (`rank` 0), or the model has no linear layer.
    """
    if not config.rank:
        raise UserError("adapter rank is 0: use 1 or more")
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        inject_adapter_in_model(_peft_config(model, config), model)
    for name, p in model.named_parameters():
        p.requires_grad_("lora_" in name)


def adapters_of(model: PreTrainedModel) -> AdapterConfig:
    """How the model's adapters were made.

    Raises:
        UserError: it has none.
    """
    found = getattr(model, "peft_config", {}).get("default")
    if not isinstance(found, LoraConfig):
        raise UserError("the model has no adapters: train it with adapters first")
    return AdapterConfig(rank=found.r, alpha=int(found.lora_alpha))


def _peft_config(model: PreTrainedModel, config: AdapterConfig) -> LoraConfig:
    head = model.get_output_embeddings()
    names = sorted(
        {
            name.rpartition(".")[2]
            for name, layer in model.named_modules()
            if isinstance(layer, torch.nn.Linear) and layer is not head
        }
    )
    if not names:
        raise UserError(
            f"{type(model).__name__} has no linear layers beside its output: train it whole"
        )
    return LoraConfig(
        r=config.rank,
        lora_alpha=config.alpha,
        lora_dropout=0.0,
        target_modules=names,
        task_type="CAUSAL_LM",
    )


@contextmanager
def without_adapters(model: PreTrainedModel) -> Iterator[None]:
    """The model as it was before `add_adapters`, while it lasts; adapters keep their weights."""
    layers = [m for m in model.modules() if isinstance(m, BaseTunerLayer)]
    for layer in layers:
        layer.enable_adapters(False)
    try:
        yield
    finally:
        for layer in layers:
            layer.enable_adapters(True)


def save_adapters(
    model: PreTrainedModel,
    weights: Mapping[str, Tensor],
    config: AdapterConfig,
    folder: Path,
    base: str,
) -> None:
    """Write the adapters alone; `peft` and `load_adapted` read them.

    Args:
        model: with adapters.
        weights: trained weights by name, whole.
        config: as they were made.
        folder: what is written.
        base: the model that they belong to, for the record.
    """
    folder.mkdir(parents=True, exist_ok=True)
    named = get_peft_model_state_dict(model, state_dict=dict(weights))
    tensors = {
        f"base_model.model.{k}": v.detach().cpu().contiguous() for k, v in sorted(named.items())
    }
    save_file(tensors, folder / WEIGHTS, metadata={"format": "pt"})
    about = _plain_config(config, sorted(_targets(model)), base)
    write_json(folder / ABOUT, about)


def _targets(model: PreTrainedModel) -> set[str]:
    return {n.rpartition(".")[2] for n, m in model.named_modules() if isinstance(m, BaseTunerLayer)}


def _plain_config(config: AdapterConfig, targets: list[str], base: str) -> dict[str, object]:
    return {
        "peft_type": "LORA",
        "task_type": "CAUSAL_LM",
        "base_model_name_or_path": base,
        "r": config.rank,
        "lora_alpha": config.alpha,
        "lora_dropout": 0.0,
        "bias": "none",
        "target_modules": targets,
        "inference_mode": True,
    }


def load_adapted(base: Path, adapters: Path) -> PreTrainedModel:
    """A model with its adapters merged into it.

    Raises:
        StorageError: one of the two is missing or damaged, or they do not belong together.
    """
    if not (adapters / WEIGHTS).is_file():
        raise StorageError(f"no adapters in {str(adapters)!r}: expected {WEIGHTS} there")
    model = load_model(base)
    try:
        with warnings.catch_warnings():
            # peft asks transformers by a name that is on its way out
            warnings.simplefilter("ignore", FutureWarning)
            held = PeftModel.from_pretrained(model, str(adapters), use_safetensors=True)
        merged: PreTrainedModel = held.merge_and_unload()
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        raise StorageError(
            f"adapters in {str(adapters)!r} do not fit the model in {str(base)!r}: {error}"
        ) from error
    check_head(merged)
    merged.eval()
    return merged

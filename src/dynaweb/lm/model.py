"""Weights: a small Llama from scratch, or any Hugging Face causal LM from a folder. Safetensors only."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TypedDict

import torch
from safetensors import SafetensorError
from transformers import (
    AutoModelForCausalLM,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedModel,
)
from transformers.utils import logging

from dynaweb.errors import MissingDependencyError, StorageError, UserError
from dynaweb.lm.config import ModelConfig as ModelConfig

ARCHITECTURE_FILE = "config.json"


def build_model(config: ModelConfig, vocab_size: int, seed: int) -> LlamaForCausalLM:
    """A new model in fp32 with tied embeddings; the same seed gives the same weights.

    Args:
        config: Its shape.
        vocab_size: Ids of the tokenizer it will read.
        seed: Of the initial weights; torch's global generator is left as it was.

    Raises:
        UserError: a vocabulary without room.
    """
    if vocab_size < 2:
        raise UserError(f"vocabulary size is {vocab_size!r}: use the tokenizer's vocab_size")
    llama = LlamaConfig(
        vocab_size=vocab_size,
        hidden_size=config.hidden,
        intermediate_size=config.ffn,
        num_hidden_layers=config.layers,
        num_attention_heads=config.heads,
        num_key_value_heads=config.heads,
        max_position_embeddings=config.context,
        rope_parameters={"rope_type": "default", "rope_theta": config.rope_theta},
        tie_word_embeddings=True,
        bos_token_id=None,
        eos_token_id=None,
        pad_token_id=None,
        dtype="float32",
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = LlamaForCausalLM(llama)
    model.eval()
    return model


def save_model(model: PreTrainedModel, folder: Path) -> None:
    """Write `config.json` and `model.safetensors`; readable by `transformers` as it is.

    The weights arrive last and whole, so a folder that has them is complete.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder, prefix=".writing-") as aside, _no_progress_bars():
        model.save_pretrained(aside)
        for path in sorted(Path(aside).iterdir(), key=lambda p: p.suffix == ".safetensors"):
            with path.open("rb") as stream:
                os.fsync(stream.fileno())
            path.replace(folder / path.name)


def load_model(path: Path) -> PreTrainedModel:
    """Read a causal LM from a folder or a GGUF file, in fp32. Code beside it is never run, pickles never read.

    Raises:
        StorageError: no model there, damaged, or a kind whose output layer we cannot split off.
        MissingDependencyError: a GGUF file, and a package that reads it is missing.
    """
    require_model(path)
    try:
        with _no_progress_bars():
            model: PreTrainedModel = AutoModelForCausalLM.from_pretrained(
                **pretrained_source(path), dtype=torch.float32, use_safetensors=True
            )
    except (OSError, ValueError, KeyError, RuntimeError, SafetensorError) as error:
        raise StorageError(f"cannot read the model in {str(path)!r}: {error}") from error
    check_head(model)
    model.eval()
    return model


def require_model(path: Path) -> None:
    """Say in plain words that there is nothing to read, before transformers says it in its own.

    Raises:
        StorageError: neither a folder with a model nor a GGUF file.
    """
    if not is_gguf(path) and not (path / ARCHITECTURE_FILE).is_file():
        raise StorageError(
            f"no model in {str(path)!r}: expected {ARCHITECTURE_FILE} and model.safetensors there, or a .gguf file"
        )


def is_gguf(path: Path) -> bool:
    """A file of llama.cpp's format: configuration, tokenizer and weights in one; quantised ones become fp32."""
    return path.suffix.lower() == ".gguf" and path.is_file()


class PretrainedSource(TypedDict):
    """Where and how transformers reads; nothing is fetched and nothing is run."""

    pretrained_model_name_or_path: str
    gguf_file: str | None
    trust_remote_code: bool
    local_files_only: bool


def pretrained_source(path: Path) -> PretrainedSource:
    """The arguments of transformers' `from_pretrained` for a folder or a GGUF file.

    Raises:
        MissingDependencyError: a GGUF file, and a package that reads it is missing.
    """
    gguf = is_gguf(path)
    if gguf and not all(map(find_spec, ("gguf", "accelerate"))):
        raise MissingDependencyError(
            f"reading {path.name!r} needs more packages: pip install 'dynaweb[gguf]'"
        )
    return PretrainedSource(
        pretrained_model_name_or_path=str(path.parent if gguf else path),
        gguf_file=path.name if gguf else None,
        trust_remote_code=False,
        local_files_only=True,
    )


@contextmanager
def _no_progress_bars() -> Iterator[None]:
    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()


def context_length(model: PreTrainedModel) -> int:
    """Most tokens, prompt and completion together, that the model can read."""
    return int(model.config.get_text_config().max_position_embeddings)


def hidden_states(model: PreTrainedModel, ids: torch.Tensor) -> torch.Tensor:
    """Last hidden states, before the output layer; causal, no padding mask, dropout off.

    Rows may be padded on the right with anything: causal attention never looks there.
    """
    states: torch.Tensor = model.base_model(input_ids=ids, use_cache=False).last_hidden_state
    return states


def output_logits(model: PreTrainedModel, states: torch.Tensor) -> torch.Tensor:
    """The output layer alone, in fp32."""
    logits: torch.Tensor = model.get_output_embeddings()(states)
    return logits.float()


@torch.no_grad()
def check_head(model: PreTrainedModel) -> None:
    """Refuse a model whose logits are not `output layer of last hidden states`.

    Raises:
        StorageError: such a model (scaled or capped logits); training would optimise another function.
    """
    probe = torch.arange(4, device=model.device)[None]
    whole = model(input_ids=probe, use_cache=False).logits.float()
    if not torch.allclose(whole, output_logits(model, hidden_states(model, probe)), atol=1e-4):
        raise StorageError(
            f"{type(model).__name__} rescales its logits: not supported, use a Llama, Qwen or SmolLM kind"
        )

"""Weights: a small Llama from scratch, or any Hugging Face causal LM from a folder. Safetensors only."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch
from safetensors import SafetensorError
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedModel,
)
from transformers.utils import logging

from dynaweb.errors import StorageError, UserError
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


def load_model(folder: Path) -> PreTrainedModel:
    """Read a causal LM from a folder, in fp32. Code in the folder is never run, pickles never read.

    Raises:
        StorageError: no model there, damaged, or a kind whose output layer we cannot split off.
    """
    path = folder / ARCHITECTURE_FILE
    if not path.is_file():
        raise StorageError(
            f"no model in {str(folder)!r}: expected {ARCHITECTURE_FILE} and model.safetensors there"
        )
    try:
        config = AutoConfig.from_pretrained(
            str(folder), trust_remote_code=False, local_files_only=True
        )
        with _no_progress_bars():
            model: PreTrainedModel = AutoModelForCausalLM.from_pretrained(
                str(folder),
                config=config,
                dtype=torch.float32,
                use_safetensors=True,
                trust_remote_code=False,
                local_files_only=True,
            )
    except (OSError, ValueError, KeyError, RuntimeError, SafetensorError) as error:
        raise StorageError(f"cannot read the model in {str(folder)!r}: {error}") from error
    check_head(model)
    model.eval()
    return model


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

from pathlib import Path

import pytest
import torch
from transformers import GPT2Config, GPT2LMHeadModel, Qwen2Config, Qwen2ForCausalLM

from dynaweb.contracts import SampleRequest
from dynaweb.errors import StorageError, UserError
from dynaweb.lm.model import ModelConfig, build_model, check_head, load_model, save_model
from dynaweb.lm.sampler import TorchSampler
from dynaweb.lm.tokenizer import train_tokenizer
from dynaweb.train.logprob import completion_logprobs

TINY = ModelConfig(hidden=16, layers=1, heads=2, ffn=32, context=32)


def test_the_default_is_about_two_million_parameters_in_fp32() -> None:
    model = build_model(ModelConfig(), 2048, 0)
    assert 2.1e6 < sum(p.numel() for p in model.parameters()) < 2.3e6
    assert all(p.dtype == torch.float32 for p in model.parameters())


def test_the_seed_decides_and_the_global_generator_is_left_alone() -> None:
    state = torch.random.get_rng_state()
    a, b, c = (build_model(TINY, 20, s) for s in (0, 0, 1))
    assert torch.equal(torch.random.get_rng_state(), state)
    assert all(torch.equal(x, y) for x, y in zip(a.parameters(), b.parameters(), strict=True))
    assert not all(torch.equal(x, y) for x, y in zip(a.parameters(), c.parameters(), strict=True))


def test_saved_and_loaded_is_the_same_and_nothing_is_left_over(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = build_model(TINY, 20, 0)
    for _ in range(2):
        save_model(model, tmp_path)
    loaded = load_model(tmp_path)
    assert all(
        torch.equal(x, y) for x, y in zip(model.parameters(), loaded.parameters(), strict=True)
    )
    assert loaded.get_output_embeddings().weight is loaded.get_input_embeddings().weight
    assert {p.name for p in tmp_path.iterdir()} <= {
        "config.json",
        "generation_config.json",
        "model.safetensors",
    }
    assert capsys.readouterr() == ("", "")


def test_bad_folders_are_named(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="no model in"):
        load_model(tmp_path)
    save_model(build_model(TINY, 20, 0), tmp_path)
    weights = tmp_path / "model.safetensors"
    data = weights.read_bytes()
    weights.write_bytes(data[: len(data) // 2])
    with pytest.raises(StorageError, match="cannot read the model"):
        load_model(tmp_path)
    weights.rename(tmp_path / "pytorch_model.bin")
    with pytest.raises(StorageError, match="cannot read the model"):
        load_model(tmp_path)


@pytest.mark.parametrize(
    ("field", "value"),
    [("hidden", 15), ("hidden", 0), ("heads", 16), ("context", 3), ("rope_theta", 1.0)],
)
def test_impossible_shapes_are_named(field: str, value: float) -> None:
    with pytest.raises(UserError, match=field):
        ModelConfig(**{"hidden": 16, "heads": 2, field: value})


def grouped() -> Qwen2ForCausalLM:
    return Qwen2ForCausalLM(
        Qwen2Config(
            vocab_size=300,
            hidden_size=32,
            intermediate_size=32,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=2,
        )
    )


def other() -> GPT2LMHeadModel:
    return GPT2LMHeadModel(
        GPT2Config(
            vocab_size=300,
            n_embd=32,
            n_layer=2,
            n_head=2,
            n_positions=64,
            bos_token_id=0,
            eos_token_id=0,
        )
    )


@pytest.mark.parametrize("build", [grouped, other])
def test_other_architectures_take_the_same_path(tmp_path: Path, build) -> None:  # type: ignore[no-untyped-def]
    save_model(build(), tmp_path)
    model = load_model(tmp_path)
    sampler = TorchSampler(model, train_tokenizer(["a"], 300), "v")
    asked = [
        SampleRequest(prompt_ids=(5,) * (1 + i % 4), max_new_tokens=5, temperature=1.0, seed=i)
        for i in range(8)
    ]
    replies = sampler.sample(asked)
    with torch.no_grad():
        for row, reply in zip(completion_logprobs(model, replies), replies, strict=True):
            assert row.tolist() == pytest.approx(reply.logprobs, abs=1e-5)


def test_a_model_that_rescales_its_logits_is_refused() -> None:
    model = build_model(TINY, 20, 0)
    whole = model.forward
    model.forward = lambda **given: _halved(whole(**given))  # type: ignore[method-assign]
    with pytest.raises(StorageError, match="rescales its logits"):
        check_head(model)


def _halved(output):  # type: ignore[no-untyped-def]
    output.logits = output.logits / 2
    return output

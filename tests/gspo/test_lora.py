"""Adapters trained by GSPO: the base stays, checkpoints hold the adapters alone, and a run goes on to the same bytes."""

import dataclasses
import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from tests.gspo import toys
from tests.gspo.rank_work import ADAPTERS
from tests.gspo.test_update import attempts, config, model
from torch import Tensor
from transformers import PreTrainedModel

from dynaweb.batch.mix import MixConfig
from dynaweb.gspo.batch import attempt_logps
from dynaweb.gspo.config import ClipConfig, GspoConfig, UpdateConfig
from dynaweb.gspo.digest import digest_of
from dynaweb.gspo.train import train_gspo
from dynaweb.gspo.update import score_old
from dynaweb.lm.adapters import add_adapters, load_adapted, save_adapters
from dynaweb.lm.model import save_model
from dynaweb.train.config import OptimizerConfig
from dynaweb.train.crew import trained

pytestmark = pytest.mark.usefixtures("one_thread")

LEARNING = GspoConfig(
    iterations=8,
    groups=4,
    resample_rounds=0,
    max_new_tokens=8,
    mix=MixConfig(group_size=8, expert_share=0.0),
    update=UpdateConfig(
        optimizer=OptimizerConfig(name="adamw", learning_rate=5e-3, weight_decay=0.0),
        clip=ClipConfig(low=0.2, high=0.2, reference_tokens=None),
        warmup_steps=4,
        kl=0.01,
    ),
)


def adapted(half_trained: PreTrainedModel) -> PreTrainedModel:
    policy = toys.copy_weights(half_trained)
    add_adapters(policy, ADAPTERS, seed=3)
    return policy


def frozen(policy: PreTrainedModel) -> dict[str, Tensor]:
    return {n: p.detach().clone() for n, p in policy.named_parameters() if "lora_" not in n}


def test_it_learns_and_goes_on_to_the_same_bytes(
    half_trained: PreTrainedModel, tmp_path: Path
) -> None:
    policy = adapted(half_trained)
    before = frozen(policy)
    train_gspo(toys.parts(policy), LEARNING, tmp_path / "straight")
    rows = [json.loads(x) for x in (tmp_path / "straight" / "metrics.jsonl").open()]
    reward = [r["dream/reward"] or 0.0 for r in rows]
    assert sum(reward[:2]) / 2 < 0.7 and sum(reward[-2:]) / 2 > sum(reward[:2]) / 2 + 0.2, reward
    assert rows[0]["update/kl"] < rows[-1]["update/kl"], "the reference is the base"
    after = frozen(policy)
    assert before.keys() == after.keys() and all(
        torch.equal(before[n], w) for n, w in after.items()
    )
    held = load_file(tmp_path / "straight" / "checkpoints" / "step-00000008" / "model.safetensors")
    assert held.keys() == trained(policy).keys() and all("lora_" in n for n in held)

    cut = tmp_path / "cut"
    train_gspo(toys.parts(adapted(half_trained)), dataclasses.replace(LEARNING, iterations=3), cut)
    again = adapted(half_trained)
    assert train_gspo(toys.parts(again), LEARNING, cut).resumed_from == 3
    assert digest_of(cut) == digest_of(tmp_path / "straight")

    save_model(toys.copy_weights(half_trained), tmp_path / "base")
    save_adapters(again, dict(trained(again)), ADAPTERS, tmp_path / "adapters", "base")
    merged = load_adapted(tmp_path / "base", tmp_path / "adapters")
    ids = torch.arange(2, 30)[None]
    with torch.no_grad():
        assert torch.allclose(merged(ids).logits, again(ids).logits, atol=1e-4)
        assert not torch.allclose(merged(ids).logits, half_trained(ids).logits, atol=1e-2)


def test_the_reference_is_the_policy_without_its_adapters() -> None:
    policy, some = model(0), attempts()[:3]
    base = attempt_logps(policy, some, budget=4096, temperature=1.0)
    add_adapters(policy, ADAPTERS, seed=1)
    with torch.no_grad():
        for p in trained(policy).values():
            p.add_(0.1)
    scored = score_old(policy, policy, some, config())
    for s, wanted in zip(scored, base, strict=True):
        assert s.reference_logp_T is not None
        assert torch.equal(s.reference_logp_T, wanted)
        assert not torch.allclose(s.old_logp_T, wanted, atol=1e-3)
    assert all(p.requires_grad == ("lora_" in n) for n, p in policy.named_parameters())

"""What is learnt of a reply, at which rate, and in which precision."""

import math
from itertools import pairwise
from pathlib import Path

import pytest
import torch

from dynaweb.errors import UserError
from dynaweb.lm.config import ModelConfig
from dynaweb.lm.model import build_model
from dynaweb.train.batch import Example, examples_checksum
from dynaweb.train.config import FitConfig
from dynaweb.train.fit import fit
from dynaweb.train.logprob import completion_logprobs
from dynaweb.train.loss import accumulate_gradients, check_precision, token_shares
from dynaweb.train.schedule import learning_rate_scale

TINY = ModelConfig(hidden=16, layers=1, heads=2, ffn=32, context=64)
TALK = Example(prompt_ids=(3, 4), completion_ids=(5, 1, 6, 7, 8, 1), silent=((2, 4),), weight=2.0)
SHORT = Example(prompt_ids=(9,), completion_ids=(10, 1))


def test_silent_tokens_have_no_share_and_the_others_share_alike() -> None:
    assert TALK.learnt == 4 and TALK.length == 8
    shares = token_shares([TALK, SHORT], 10.0, "token").tolist()
    assert shares == pytest.approx([0.2, 0.2, 0, 0, 0.2, 0.2, 0.1, 0.1])
    shares = token_shares([TALK, SHORT], 3.0, "example").tolist()
    assert shares == pytest.approx([1 / 6, 1 / 6, 0, 0, 1 / 6, 1 / 6, 1 / 6, 1 / 6])


@pytest.mark.parametrize("micro", [64, 1])
def test_the_loss_is_the_mean_over_learnt_tokens(micro: int) -> None:
    model = build_model(TINY, 16, 0)
    talk, short = (t.detach() for t in completion_logprobs(model, [TALK, SHORT]))
    wanted = -(2.0 * float(talk[[0, 1, 4, 5]].sum()) + float(short.sum())) / 10.0
    how = FitConfig(steps=1, micro_tokens=micro)
    assert accumulate_gradients(model, [TALK, SHORT], how) == pytest.approx(wanted, rel=1e-5)


def test_what_is_silent_makes_examples_others() -> None:
    open_one = Example(prompt_ids=TALK.prompt_ids, completion_ids=TALK.completion_ids, weight=2.0)
    assert examples_checksum([TALK]) != examples_checksum([open_one])


def test_a_cosine_rises_and_falls_along_half_a_wave() -> None:
    how = FitConfig(steps=100, schedule="cosine", warmup_fraction=0.1)
    scales = [learning_rate_scale(s, 100, how) for s in range(100)]
    assert scales[:10] == pytest.approx([(s + 1) / 10 for s in range(10)])
    assert scales[55] == pytest.approx(0.5)
    assert scales[99] == pytest.approx(0.5 * (1 + math.cos(math.pi * 89 / 90)))
    assert all(a >= b for a, b in pairwise(scales[9:]))


@pytest.mark.parametrize("given", [{"schedule": "cosine"}, {"warmup_fraction": 0.1}])
def test_a_training_on_the_clock_cannot_know_where_the_wave_ends(given: dict[str, object]) -> None:
    with pytest.raises(UserError, match="max_seconds"):
        FitConfig(max_seconds=10.0, **given)  # type: ignore[arg-type]
    with pytest.raises(UserError, match="schedule"):
        FitConfig(steps=1, schedule="stairs")  # type: ignore[arg-type]


def test_recomputed_activations_change_nothing_but_the_passes_through_a_layer(
    tmp_path: Path,
) -> None:
    passes = []
    weights = []
    for recompute in (False, True):
        model = build_model(TINY, 16, 0)
        inside = model.base_model.layers[0].mlp.gate_proj
        seen: list[int] = []
        inside.register_forward_hook(lambda *_, seen=seen: seen.append(1))
        how = FitConfig(steps=3, batch_tokens=64, recompute=recompute)
        fit(model, [TALK, SHORT], how, tmp_path / f"{recompute}")
        passes.append(len(seen))
        weights.append([p.detach().clone() for p in model.parameters()])
        assert not any(m.training for m in model.modules())
    assert passes == [3, 6]
    assert all(torch.equal(a, b) for a, b in zip(*weights, strict=True))


def test_half_precision_is_refused_on_a_cpu_with_the_reason() -> None:
    with pytest.raises(UserError, match="emulated"):
        check_precision(torch.device("cpu"), FitConfig(steps=1, precision="bf16"))
    check_precision(torch.device("cuda"), FitConfig(steps=1, precision="bf16"))

"""N steps are k steps, a resume and N - k steps, for every k; and what is damaged on the way is set aside."""

import dataclasses
import json
import logging
import random
from pathlib import Path

import pytest
import torch
from tests.gspo import toys
from transformers import PreTrainedModel

from dynaweb.batch.mix import MixConfig
from dynaweb.dream.starts import StartsConfig
from dynaweb.errors import StorageError, UserError
from dynaweb.gspo.config import DemonstrationsConfig, GspoConfig, UpdateConfig
from dynaweb.gspo.digest import PIECES, digest_of
from dynaweb.gspo.train import train_gspo
from dynaweb.train.config import OptimizerConfig

pytestmark = pytest.mark.usefixtures("one_thread")

N = 5
MIXED = GspoConfig(
    iterations=N,
    groups=2,
    resample_rounds=1,
    starts=StartsConfig(adapt=True),
    max_new_tokens=8,
    mix=MixConfig(group_size=4, expert_share=0.5),
    update=UpdateConfig(
        optimizer=OptimizerConfig(name="muon", learning_rate=3e-4, muon_learning_rate=1e-3),
        kl=0.01,
        demonstrations=DemonstrationsConfig(weight=0.5, batch_tokens=200),
    ),
)
"""Experts in every group, both optimisers, KL, demonstrations, adapting starts: all that has a cursor."""


@pytest.fixture(scope="module")
def straight(half_trained: PreTrainedModel, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("straight")
    run(half_trained, folder, N)
    return folder


def run(half_trained: PreTrainedModel, folder: Path, iterations: int) -> int | None:
    parts = toys.parts(toys.copy_weights(half_trained))
    config = dataclasses.replace(MIXED, iterations=iterations)
    return train_gspo(parts, config, folder).resumed_from


def test_every_k_ends_with_the_same_hashes(
    half_trained: PreTrainedModel, straight: Path, tmp_path: Path
) -> None:
    wanted = digest_of(straight)
    assert tuple(wanted) == PIECES
    rows = [json.loads(line) for line in (straight / "metrics.jsonl").read_text().splitlines()]
    assert sum(r["expert/members"] for r in rows) > 0, "experts are mixed in"
    for k in range(1, N):
        folder = tmp_path / str(k)
        assert run(half_trained, folder, k) is None
        assert digest_of(folder) != wanted
        assert run(half_trained, folder, N) == k
        assert digest_of(folder) == wanted, f"resumed after {k}"


def test_no_random_generator_is_part_of_a_run(
    half_trained: PreTrainedModel, straight: Path, tmp_path: Path
) -> None:
    """A checkpoint holds none, so training may not read one."""
    parts = toys.parts(toys.copy_weights(half_trained))
    torch.manual_seed(1234)
    random.random()
    before = torch.get_rng_state()
    train_gspo(parts, MIXED, tmp_path)
    assert torch.equal(torch.get_rng_state(), before)
    assert digest_of(tmp_path) == digest_of(straight)


@pytest.mark.parametrize("wound", ["cut", "flipped", "missing", "unmarked"])
def test_a_damaged_checkpoint_is_set_aside_and_the_one_before_is_taken(
    half_trained: PreTrainedModel,
    straight: Path,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    wound: str,
) -> None:
    run(half_trained, tmp_path, N - 1)
    newest = tmp_path / "checkpoints" / f"step-{N - 1:08d}"
    assert newest.is_dir() and newest.with_name(f"step-{N - 2:08d}").is_dir(), "two are kept"
    file = newest / "optimizer.safetensors"
    whole = file.read_bytes()
    match wound:
        case "cut":
            file.write_bytes(whole[: len(whole) // 2])
        case "flipped":
            file.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
        case "missing":
            file.unlink()
        case "unmarked":
            (newest / "COMPLETE.json").unlink()
    assert run(half_trained, tmp_path, N) == N - 2
    assert digest_of(tmp_path) == digest_of(straight)
    assert f"damaged-step-{N - 1:08d}" in caplog.text and f"iteration {N - 2}" in caplog.text
    assert newest.with_name(f"damaged-step-{N - 1:08d}").is_dir(), "nothing is deleted"
    assert [r.levelno for r in caplog.records].count(logging.ERROR) == 1


def test_with_no_whole_checkpoint_the_run_begins_anew(
    half_trained: PreTrainedModel,
    straight: Path,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    run(half_trained, tmp_path, 1)
    (tmp_path / "checkpoints" / "step-00000001" / "state.json").write_text("{")
    assert run(half_trained, tmp_path, N) is None
    assert digest_of(tmp_path) == digest_of(straight)
    assert "from its beginning" in caplog.text


def test_metrics_that_lost_rows_are_refused(half_trained: PreTrainedModel, tmp_path: Path) -> None:
    run(half_trained, tmp_path, 2)
    (tmp_path / "metrics.jsonl").unlink()
    with pytest.raises(StorageError, match="holds 0 of the 2 rows"):
        run(half_trained, tmp_path, N)


def test_nothing_to_hash_is_said(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no whole checkpoint"):
        digest_of(tmp_path)

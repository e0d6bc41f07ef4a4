import dataclasses
import json
import logging
from collections.abc import Sequence
from pathlib import Path

import pytest
import torch
from tests.gspo import toys
from transformers import PreTrainedModel

from dynaweb.batch.mix import MixConfig
from dynaweb.dream.starts import StartsConfig
from dynaweb.errors import StorageError, UserError
from dynaweb.gspo.audit import AuditReport, Replayed
from dynaweb.gspo.config import (
    PRESETS,
    AuditConfig,
    ClipConfig,
    DemonstrationsConfig,
    GspoConfig,
    Level,
    UpdateConfig,
)
from dynaweb.gspo.parts import Parts
from dynaweb.gspo.train import train_gspo
from dynaweb.records.trajectory import Trajectory
from dynaweb.train.config import OptimizerConfig

pytestmark = pytest.mark.usefixtures("one_thread")

QUICK = GspoConfig(
    iterations=3,
    groups=2,
    starts=StartsConfig(adapt=True),
    max_new_tokens=8,
    mix=MixConfig(group_size=4, expert_share=0.0),
    update=UpdateConfig(
        optimizer=OptimizerConfig(name="adamw", learning_rate=3e-4, weight_decay=0.0),
        kl=0.01,
        demonstrations=DemonstrationsConfig(weight=0.5, batch_tokens=200),
    ),
)


def parts(half_trained: PreTrainedModel) -> Parts:
    return toys.parts(toys.copy_weights(half_trained))


def rows(folder: Path) -> list[dict[str, float | None]]:
    lines = (folder / "metrics.jsonl").read_text().splitlines()
    return [{k: v for k, v in json.loads(line).items() if not k.endswith("_sec")} for line in lines]


def weights(p: Parts) -> torch.Tensor:
    return torch.cat([w.detach().flatten() for w in p.policy.parameters()])


def test_dreams_with_experts_teach_the_task(half_trained: PreTrainedModel, tmp_path: Path) -> None:
    """From ticking either box to ticking the right one: the whole loop, one optimiser, real gradients."""
    config = dataclasses.replace(
        QUICK,
        iterations=8,
        groups=4,
        resample_rounds=0,
        mix=MixConfig(group_size=8, expert_share=0.0),
        update=UpdateConfig(
            optimizer=OptimizerConfig(name="adamw", learning_rate=1e-3, weight_decay=0.0),
            clip=ClipConfig(low=0.2, high=0.2, reference_tokens=None),
            warmup_steps=4,
        ),
    )
    train_gspo(parts(half_trained), config, tmp_path)
    reward = [r["dream/reward"] or 0.0 for r in rows(tmp_path)]
    first, last = sum(reward[:2]) / 2, sum(reward[-2:]) / 2
    assert first < 0.7 and last > first + 0.2, reward


def test_resuming_anywhere_ends_the_same_to_the_bit(
    half_trained: PreTrainedModel, tmp_path: Path
) -> None:
    straight = parts(half_trained)
    train_gspo(straight, QUICK, tmp_path / "straight")
    for k in (1, 2):
        folder = tmp_path / f"cut{k}"
        train_gspo(parts(half_trained), dataclasses.replace(QUICK, iterations=k), folder)
        again = parts(half_trained)
        result = train_gspo(again, QUICK, folder)
        assert result.resumed_from == k and result.iterations == 3
        assert torch.equal(weights(again), weights(straight))
        assert rows(folder) == rows(tmp_path / "straight")


def test_a_run_killed_between_checkpoints_repeats_what_was_lost(
    half_trained: PreTrainedModel, tmp_path: Path
) -> None:
    class Killed(BaseException):
        pass

    def kill(stage: str, done: int, total: int | None, note: str = "") -> None:
        if done == 3:  # the last checkpoint is of iteration 2
            raise Killed

    config = dataclasses.replace(QUICK, iterations=4, checkpoint_every=2)
    straight, again = parts(half_trained), parts(half_trained)
    train_gspo(straight, config, tmp_path / "straight")
    with pytest.raises(Killed):
        train_gspo(parts(half_trained), config, tmp_path / "killed", kill)
    assert len(rows(tmp_path / "killed")) == 3
    result = train_gspo(again, config, tmp_path / "killed")
    assert result.resumed_from == 2
    assert torch.equal(weights(again), weights(straight))
    assert rows(tmp_path / "killed") == rows(tmp_path / "straight")


def test_a_finished_run_is_only_loaded(half_trained: PreTrainedModel, tmp_path: Path) -> None:
    one, other = parts(half_trained), parts(half_trained)
    short = dataclasses.replace(QUICK, iterations=1)
    train_gspo(one, short, tmp_path)
    before = rows(tmp_path)
    train_gspo(other, short, tmp_path)
    assert torch.equal(weights(one), weights(other)) and rows(tmp_path) == before
    assert other.sampler.version == "toy+gspo1"


def test_a_folder_of_another_run_is_refused(half_trained: PreTrainedModel, tmp_path: Path) -> None:
    short = dataclasses.replace(QUICK, iterations=1)
    train_gspo(parts(half_trained), short, tmp_path)
    with pytest.raises(StorageError, match="another config"):
        train_gspo(parts(half_trained), dataclasses.replace(short, seed=9), tmp_path)
    other = parts(half_trained)
    with torch.no_grad():
        next(iter(other.policy.parameters())).add_(1.0)
    with pytest.raises(StorageError, match="initial_weights"):
        train_gspo(other, short, tmp_path)


def test_other_demonstrations_are_another_run(
    half_trained: PreTrainedModel, tmp_path: Path
) -> None:
    short = dataclasses.replace(QUICK, iterations=1)
    train_gspo(parts(half_trained), short, tmp_path)
    other = parts(half_trained)
    other = dataclasses.replace(other, demonstrations=other.demonstrations[:-1])
    with pytest.raises(StorageError, match="another demonstrations"):
        train_gspo(other, short, tmp_path)


def untrue(iteration: int, dreams: Sequence[Trajectory]) -> AuditReport:
    return AuditReport(
        replayed=(
            Replayed(depth=2, dreams=5, dreamed_success=4, real_success=1, confirmed=1, unmapped=1),
        ),
        live_steps=9,
    )


@pytest.mark.parametrize("stop", [False, True])
def test_untrue_dreams_warn_and_may_stop(
    half_trained: PreTrainedModel,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    stop: bool,
) -> None:
    config = dataclasses.replace(
        QUICK, iterations=2, audit=AuditConfig(every=1, dreams=3, bar=0.5, stop=stop)
    )
    seen: list[int] = []

    def audit(iteration: int, dreams: Sequence[Trajectory]) -> AuditReport:
        seen.append(len(dreams))
        return untrue(iteration, dreams)

    p = dataclasses.replace(parts(half_trained), audit=audit)
    with caplog.at_level(logging.WARNING):
        result = train_gspo(p, config, tmp_path)
    assert "25% of dreamed successes were real" in caplog.text and "a gap of 60%" in caplog.text
    assert result.stopped_by_audit is stop and result.iterations == (1 if stop else 2)
    assert seen == [3] * result.iterations
    row = rows(tmp_path)[0]
    assert (row["audit/precision"], row["audit/confirmed_depth_2"]) == (0.25, 1.0)
    again = train_gspo(dataclasses.replace(parts(half_trained), audit=audit), config, tmp_path)
    assert again.stopped_by_audit is stop, "a stopped run stays stopped"


def test_no_starts_is_the_callers_mistake(half_trained: PreTrainedModel, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no place for a dream"):
        train_gspo(dataclasses.replace(parts(half_trained), starts=()), QUICK, tmp_path)


def test_a_narrow_band_is_warned_about(
    half_trained: PreTrainedModel, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    update = UpdateConfig(
        optimizer=OptimizerConfig(name="adamw", learning_rate=1e-2, weight_decay=0.0),
        clip=ClipConfig(low=1e-6, high=1e-6, reference_tokens=None),
        mini_batches=8,
    )
    config = dataclasses.replace(QUICK, iterations=1, update=update)
    with caplog.at_level(logging.WARNING):
        train_gspo(parts(half_trained), config, tmp_path)
    assert "of ratios are clipped" in caplog.text


def test_one_optimiser_step_a_batch_is_warned_about(
    half_trained: PreTrainedModel, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    config = dataclasses.replace(QUICK, iterations=1, update=UpdateConfig(mini_batches=1))
    with caplog.at_level(logging.WARNING):
        train_gspo(parts(half_trained), config, tmp_path)
    assert "every ratio is 1" in caplog.text
    assert rows(tmp_path)[0]["update/ratio_is_one"] == 1.0


def test_presets_are_the_values_on_record() -> None:
    paper, reported = PRESETS["gspo-paper"](), PRESETS["dynaweb-reported"]()
    assert (paper.update.clip.low, paper.update.clip.high) == (3e-4, 4e-4)
    assert (paper.update.mini_batches, paper.update.kl) == (4, 0.0)
    assert paper.update.clip.reference_tokens is None and paper.update.level is Level.TRAJECTORY
    assert reported.update.clip.low == reported.update.clip.high == 0.2
    assert (reported.mix.group_size, reported.mix.expert_share) == (8, 0.5)
    assert reported.dream.max_steps == 5


def test_bad_settings_are_named() -> None:
    with pytest.raises(UserError, match="mini_batches 0"):
        UpdateConfig(mini_batches=0)
    with pytest.raises(UserError, match=r"clip low 0\.0"):
        ClipConfig(low=0.0)
    with pytest.raises(UserError, match="iterations 0"):
        GspoConfig(iterations=0)
    with pytest.raises(UserError, match="do not add up"):
        Replayed(depth=1, dreams=2, dreamed_success=1, real_success=2, confirmed=2)

"""Real breakage: rewards that are no number, weights that turn into NaN, learning rates that wreck, stale samplers."""

import dataclasses
import json
import math
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from tests.gspo import toys
from transformers import PreTrainedModel

from dynaweb.batch.mix import MixConfig
from dynaweb.batch.tokens import TrainTrajectory, train_trajectories
from dynaweb.errors import SamplerError, TrainingError, UserError
from dynaweb.gspo import train
from dynaweb.gspo.config import ClipConfig, GspoConfig, UpdateConfig
from dynaweb.gspo.digest import digest_of
from dynaweb.gspo.failures import NOTE, Trying
from dynaweb.gspo.fresh import PolicyVersion
from dynaweb.gspo.guard import BrokenUpdateError, Trouble, require_sound
from dynaweb.gspo.limits import GateConfig, GuardConfig, OnTrouble
from dynaweb.gspo.parts import Parts
from dynaweb.gspo.train import train_gspo
from dynaweb.lm.sampler import TorchSampler
from dynaweb.train.checkpoint import latest_checkpoint
from dynaweb.train.config import OptimizerConfig

pytestmark = pytest.mark.usefixtures("one_thread")

PLAIN = GspoConfig(
    iterations=4,
    groups=2,
    resample_rounds=0,
    max_new_tokens=8,
    mix=MixConfig(group_size=4, expert_share=0.5),
    update=UpdateConfig(
        optimizer=OptimizerConfig(name="adamw", learning_rate=3e-4, weight_decay=0.0),
        clip=ClipConfig(low=0.2, high=0.2, reference_tokens=None),
    ),
)


def guarded(config: GspoConfig = PLAIN, **changes: object) -> GspoConfig:
    update = dataclasses.replace(config.update, guard=GuardConfig(**changes))
    return dataclasses.replace(config, update=update)


SKIPPING = guarded(on_trouble=OnTrouble.SKIP)


@pytest.fixture
def parts(half_trained: PreTrainedModel) -> Parts:
    return toys.parts(toys.copy_weights(half_trained))


def rows(folder: Path) -> list[dict[str, float | None]]:
    return [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]


def assert_sound(folder: Path) -> None:
    """No checkpoint holds anything that is not finite."""
    found = latest_checkpoint(folder / "checkpoints")
    assert found is not None
    for group in ("model", "optimizer"):
        assert all(bool(torch.isfinite(t).all()) for t in found.tensors(group).values())


def poison(monkeypatch: pytest.MonkeyPatch, at: int, worth: float) -> None:
    """The first attempt of one batch is worth something absurd, as a broken reward would make it."""
    calls = iter(range(1000))

    def poisoned(*args: object, **more: object) -> list[TrainTrajectory]:
        made = train_trajectories(*args, **more)
        if made and next(calls) == at:
            made[0] = dataclasses.replace(made[0], advantage=worth)
        return made

    monkeypatch.setattr(train, "train_trajectories", poisoned)


@pytest.mark.parametrize(
    ("worth", "what"), [(math.nan, "advantage"), (math.inf, "advantage"), (1e9, "loss")]
)
def test_a_poisoned_reward_is_skipped_and_counted(
    parts: Parts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, worth: float, what: str
) -> None:
    poison(monkeypatch, 1, worth)
    result = train_gspo(parts, SKIPPING, tmp_path)
    told = rows(tmp_path)
    assert result.iterations == 4
    assert [r["guard/skipped"] for r in told] == [0.0, 1.0, 0.0, 0.0]
    assert told[1][f"guard/skipped_{what}"] == 1.0 and "update/loss" not in told[1]
    assert_sound(tmp_path)


def test_a_poisoned_reward_stops_and_the_checkpoint_before_is_good(
    parts: Parts, half_trained: PreTrainedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as poisoned:
        poison(poisoned, 1, math.nan)
        with pytest.raises(BrokenUpdateError, match="advantage is nan"):
            train_gspo(parts, PLAIN, tmp_path / "broken")
    assert len(rows(tmp_path / "broken")) == 1
    assert_sound(tmp_path / "broken")
    again = toys.parts(toys.copy_weights(half_trained))
    assert train_gspo(again, PLAIN, tmp_path / "broken").resumed_from == 1
    train_gspo(toys.parts(toys.copy_weights(half_trained)), PLAIN, tmp_path / "straight")
    assert digest_of(tmp_path / "broken") == digest_of(tmp_path / "straight")
    assert not (tmp_path / "broken" / NOTE).exists(), "what passes in the end is forgotten"


def break_weights(policy: PreTrainedModel, after: int) -> Callable[..., None]:
    def progress(stage: str, done: int, total: int | None, note: str = "") -> None:
        if done == after:
            with torch.no_grad():
                next(iter(policy.parameters()))[0, 0] = math.nan

    return progress


def test_weights_that_turn_into_nan_stop_the_run(parts: Parts, tmp_path: Path) -> None:
    with pytest.raises(BrokenUpdateError, match="not finite") as told:
        train_gspo(parts, PLAIN, tmp_path, break_weights(parts.policy, 2))
    assert told.value.what is Trouble.WEIGHTS
    assert_sound(tmp_path)
    assert len(rows(tmp_path)) == 2


def test_or_those_before_are_put_back(
    parts: Parts, half_trained: PreTrainedModel, tmp_path: Path
) -> None:
    """Then nothing but the count tells that it happened."""
    train_gspo(parts, SKIPPING, tmp_path / "mended", break_weights(parts.policy, 2))
    train_gspo(toys.parts(toys.copy_weights(half_trained)), SKIPPING, tmp_path / "straight")
    mended, straight = digest_of(tmp_path / "mended"), digest_of(tmp_path / "straight")
    assert (mended["weights"], mended["optimizer"]) == (straight["weights"], straight["optimizer"])
    assert [r["guard/restored"] for r in rows(tmp_path / "mended")] == [0.0, 0.0, 1.0, 0.0]


def absurd(config: GspoConfig) -> GspoConfig:
    wild = dataclasses.replace(config.update.optimizer, learning_rate=1e3)
    return dataclasses.replace(
        config, update=dataclasses.replace(config.update, optimizer=wild, warmup_steps=0)
    )


@pytest.mark.parametrize("mini_batches", [1, 2])
def test_an_absurd_learning_rate_never_reaches_a_checkpoint(
    parts: Parts, half_trained: PreTrainedModel, tmp_path: Path, mini_batches: int
) -> None:
    """One step wrecks the policy with finite weights; with one mini-batch nothing in the update asks it again."""
    wild = absurd(guarded(on_trouble=OnTrouble.SKIP, most_skipped=2))
    wild = dataclasses.replace(
        wild, iterations=12, update=dataclasses.replace(wild.update, mini_batches=mini_batches)
    )
    with pytest.raises(BrokenUpdateError, match="3 updates broke in a row"):
        train_gspo(parts, wild, tmp_path)
    told = rows(tmp_path)
    assert sum(r["guard/skipped"] for r in told) == 2.0
    assert not any(r.get("update/optimizer_steps") for r in told), "no other update was made"
    for mine, first in zip(parts.policy.parameters(), half_trained.parameters(), strict=True):
        assert torch.equal(mine, first), "every update was taken back whole"
    found = latest_checkpoint(tmp_path / "checkpoints")
    assert found is not None and found.tensors("optimizer") == {}


def test_updates_taken_back_in_a_row_are_counted_over_a_resume(
    parts: Parts, half_trained: PreTrainedModel, tmp_path: Path
) -> None:
    wild = absurd(guarded(on_trouble=OnTrouble.SKIP, most_skipped=2))
    wild = dataclasses.replace(wild, iterations=12)
    train_gspo(parts, dataclasses.replace(wild, iterations=2), tmp_path)
    with pytest.raises(BrokenUpdateError, match="3 updates broke in a row"):
        train_gspo(toys.parts(toys.copy_weights(half_trained)), wild, tmp_path)


def test_the_same_failure_twice_ends_the_loop(
    parts: Parts, half_trained: PreTrainedModel, tmp_path: Path
) -> None:
    with pytest.raises(BrokenUpdateError):
        train_gspo(parts, absurd(PLAIN), tmp_path)
    for _ in range(2):  # the second failure says it, the third try is refused before it dreams
        again = toys.parts(toys.copy_weights(half_trained))
        with pytest.raises(TrainingError, match=r"iteration 1 has failed 2 times in the same way"):
            train_gspo(again, absurd(PLAIN), tmp_path)
    assert again.world.batches == [] or again.sampler.version == "toy", "nothing was dreamt"
    (tmp_path / NOTE).unlink()
    with pytest.raises(BrokenUpdateError):
        train_gspo(toys.parts(toys.copy_weights(half_trained)), absurd(PLAIN), tmp_path)


def test_only_what_would_come_again_is_noted(tmp_path: Path) -> None:
    for passing in (SamplerError("no route to host"), OSError("disk full"), KeyboardInterrupt()):
        for _ in range(3):
            with pytest.raises(type(passing)), Trying(tmp_path, 1):
                raise passing
    for bug, told in ((RuntimeError, "shapes"), (TrainingError, "has failed 2 times")):
        with pytest.raises(bug, match=told), Trying(tmp_path, 1):
            raise RuntimeError("shapes do not match")
    with pytest.raises(ValueError), Trying(tmp_path, 2):
        raise ValueError("another iteration is counted anew")
    with Trying(tmp_path, 2):
        pass
    assert not (tmp_path / NOTE).exists()


class Lagging(TorchSampler):
    """Answers with the weights of so many updates ago, as an engine that dreams while the policy trains."""

    def lag(self, by: int) -> "Lagging":
        self._by, self._known = by, []
        return self

    def update(self, model: PreTrainedModel, version: str) -> None:
        self._known.append((toys.copy_weights(model), version))
        super().update(*self._known[max(0, len(self._known) - 1 - self._by)])


def lagging(half_trained: PreTrainedModel, by: int) -> Parts:
    p = toys.parts(toys.copy_weights(half_trained))
    sampler = Lagging(p.policy, toys.tokenizer(), "toy").lag(by)
    return dataclasses.replace(p, sampler=sampler)


FASTER = dataclasses.replace(
    PLAIN,
    update=dataclasses.replace(
        PLAIN.update,
        optimizer=OptimizerConfig(name="adamw", learning_rate=3e-3, weight_decay=0.0),
        warmup_steps=0,
    ),
)


def allowing(staleness: int) -> GspoConfig:
    return dataclasses.replace(
        FASTER, update=dataclasses.replace(FASTER.update, max_staleness=staleness)
    )


def test_a_sampler_that_lags_is_refused(half_trained: PreTrainedModel, tmp_path: Path) -> None:
    with pytest.raises(
        TrainingError, match=r"sampled 1 updates before 'toy\+gspo1'.*max_staleness"
    ):
        train_gspo(lagging(half_trained, 1), allowing(0), tmp_path)
    with pytest.raises(TrainingError, match="sampled 2 updates before"):
        train_gspo(lagging(half_trained, 2), allowing(1), tmp_path / "two")


def test_or_corrected_by_its_own_probabilities(
    half_trained: PreTrainedModel, tmp_path: Path
) -> None:
    """The first step's ratios are no longer 1: they are between the weights that dreamt and those in training."""
    once = dataclasses.replace(
        allowing(1), update=dataclasses.replace(allowing(1).update, mini_batches=1)
    )
    train_gspo(lagging(half_trained, 1), once, tmp_path)
    told = rows(tmp_path)
    assert [bool(r["update/stale_attempts"]) for r in told] == [False, True, True, True]
    assert [r["update/lag_max"] for r in told] == [0.0, 1.0, 1.0, 1.0]
    assert told[0]["update/ratio_is_one"] == 1.0
    assert all(r["update/ratio_is_one"] == 0.0 for r in told[1:])
    assert told[1]["update/sampler_gap"] is None, "a gap to other weights says nothing"


def test_a_sampler_that_hides_its_lag_is_found_by_its_probabilities(
    half_trained: PreTrainedModel, tmp_path: Path
) -> None:
    p = toys.parts(toys.copy_weights(half_trained))

    class Lying(TorchSampler):
        def update(self, model: PreTrainedModel, version: str) -> None:
            self._version = version  # and the old weights stay

    hidden = dataclasses.replace(
        p, sampler=Lying(toys.copy_weights(half_trained), toys.tokenizer(), "toy")
    )
    with pytest.raises(TrainingError, match="sampler and trainer differ"):
        train_gspo(hidden, FASTER, tmp_path)


def test_weights_of_another_policy_are_refused(
    half_trained: PreTrainedModel, tmp_path: Path
) -> None:
    p = toys.parts(toys.copy_weights(half_trained))

    class Stranger(TorchSampler):
        def update(self, model: PreTrainedModel, version: str) -> None:
            super().update(model, "somebody")

    other = dataclasses.replace(p, sampler=Stranger(p.policy, toys.tokenizer(), "toy"))
    with pytest.raises(TrainingError, match="sampled by 'somebody'"):
        train_gspo(other, PLAIN, tmp_path)


@pytest.mark.parametrize(
    ("other", "lag"),
    [
        ("a", 7),
        ("a+gspo7", 0),
        ("a+gspo5", 2),
        ("a+gspo8", None),
        ("b+gspo7", None),
        ("a+gspo", None),
        ("a+gspo7x", None),
        ("", None),
    ],
)
def test_lag_between_versions(other: str, lag: int | None) -> None:
    assert PolicyVersion(name="a", updates=7).lag(other) == lag


def test_limits_are_checked() -> None:
    require_sound(Trouble.RATIO, [1.0, 9.9], 10.0)
    with pytest.raises(BrokenUpdateError, match=r"ratio 11 is past update.guard's limit of 10"):
        require_sound(Trouble.RATIO, [1.0, 11.0], 10.0)
    for wrong in (
        {"ratio_limit": 1.0},
        {"ratio_limit": 1e6},
        {"most_skipped": 0},
        {"loss_limit": 0.0},
    ):
        with pytest.raises(UserError, match=f"guard {next(iter(wrong))}"):
            GuardConfig(**wrong)
    with pytest.raises(UserError, match="gate confidence"):
        GateConfig(confidence=1.0)
    with pytest.raises(UserError, match="max_staleness"):
        UpdateConfig(max_staleness=-1)

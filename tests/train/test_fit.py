import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch

from dynaweb.errors import StorageError, TrainingError, UserError
from dynaweb.lm.model import ModelConfig, build_model
from dynaweb.train.batch import Example
from dynaweb.train.config import FitConfig, OptimizerConfig
from dynaweb.train.fit import FitRow, fit, learning_rate_scale

TINY = ModelConfig(hidden=16, layers=2, heads=2, ffn=32, context=64)
VOCAB = 32


def copying(count: int = 60) -> list[Example]:
    """The reply repeats the last two tokens of the prompt."""
    stream = torch.Generator().manual_seed(1)
    rows = [torch.randint(2, VOCAB, (int(n),), generator=stream).tolist() for n in torch.randint(3, 12, (count,), generator=stream)]
    return [Example(prompt_ids=tuple(r), completion_ids=(*r[-2:], 1)) for r in rows]


def config(steps: int, **changed: object) -> FitConfig:
    return FitConfig(steps=steps, batch_tokens=96, warmup_steps=2, seed=3, log_every=3, **changed)  # type: ignore[arg-type]


def weights(model: torch.nn.Module) -> list[torch.Tensor]:
    return [p.detach().clone() for p in model.parameters()]


class Stopped(Exception):
    pass


def stop_at(step: int):
    def progress(row: FitRow) -> None:
        if row.step == step:
            raise Stopped

    return progress


@pytest.mark.parametrize("name", ["adamw", "muon"])
@pytest.mark.parametrize("k", [1, 4, 7, 11])
def test_stopped_and_continued_is_the_same_to_the_bit(tmp_path: Path, name: str, k: int) -> None:
    setting = config(12, checkpoint_seconds=1e-9, optimizer=OptimizerConfig(name=name))
    straight = build_model(TINY, VOCAB, 0)
    whole = fit(straight, copying(), setting, tmp_path / "straight")
    broken = build_model(TINY, VOCAB, 0)
    every = FitConfig(**{**{f: getattr(setting, f) for f in FitConfig.__dataclass_fields__}, "log_every": 1})
    with pytest.raises(Stopped):
        fit(broken, copying(), every, tmp_path / "broken", stop_at(k))
    resumed = build_model(TINY, VOCAB, 0)
    rest = fit(resumed, copying(), setting, tmp_path / "broken")
    assert rest.resumed_from == (k - 1 or None)
    assert all(torch.equal(a, b) for a, b in zip(weights(straight), weights(resumed), strict=True))
    assert rest.tokens == whole.tokens


def test_learns_to_copy(tmp_path: Path) -> None:
    model = build_model(ModelConfig(hidden=32, layers=2, heads=4, ffn=64, context=64), VOCAB, 0)
    rows: list[FitRow] = []
    fit(model, copying(200), FitConfig(steps=150, batch_tokens=1024), tmp_path, rows.append)
    assert rows[-1].loss < 0.5 * rows[0].loss

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from dynaweb.errors import StorageError, TrainingError, UserError
from dynaweb.lm.model import ModelConfig, build_model
from dynaweb.train.batch import Example
from dynaweb.train.config import FitConfig, OptimizerConfig
from dynaweb.train.fit import FitRow, fit
from dynaweb.train.loss import accumulate_gradients
from dynaweb.train.schedule import learning_rate_scale

TINY = ModelConfig(hidden=16, layers=2, heads=2, ffn=32, context=64)
VOCAB = 32
SETTING = FitConfig(steps=12, batch_tokens=96, warmup_steps=2, seed=3, log_every=3)


def copying(count: int = 60) -> list[Example]:
    """The reply repeats the last two tokens of the prompt."""
    stream = torch.Generator().manual_seed(1)
    lengths = torch.randint(3, 12, (count,), generator=stream).tolist()
    rows = [torch.randint(2, VOCAB, (n,), generator=stream).tolist() for n in lengths]
    return [Example(prompt_ids=tuple(r), completion_ids=(*r[-2:], 1)) for r in rows]


def same_weights(a: torch.nn.Module, b: torch.nn.Module) -> bool:
    return all(torch.equal(x, y) for x, y in zip(a.parameters(), b.parameters(), strict=True))


class StoppedError(Exception):
    pass


def stop_at(step: int) -> Callable[[FitRow], None]:
    def progress(row: FitRow) -> None:
        if row.step == step:
            raise StoppedError

    return progress


@pytest.mark.parametrize("name", ["adamw", "muon"])
def test_stopped_anywhere_and_continued_is_the_same_to_the_bit(tmp_path: Path, name: str) -> None:
    setting = replace(SETTING, checkpoint_seconds=1e-9, optimizer=OptimizerConfig(name=name))  # type: ignore[arg-type]
    straight = build_model(TINY, VOCAB, 0)
    whole = fit(straight, copying(), setting, tmp_path / "straight")
    for k in (1, 2, 5, 8, 12):
        with pytest.raises(StoppedError):
            fit(
                build_model(TINY, VOCAB, 0),
                copying(),
                replace(setting, log_every=1),
                tmp_path / f"{k}",
                stop_at(k),
            )
        resumed = build_model(TINY, VOCAB, 0)
        rest = fit(resumed, copying(), setting, tmp_path / f"{k}")
        assert rest.resumed_from == (k - 1 or None)
        assert same_weights(straight, resumed)
        assert rest.tokens == whole.tokens


def test_a_resumed_training_leaves_the_same_rows(tmp_path: Path) -> None:
    setting = replace(SETTING, checkpoint_seconds=1e-9)
    for where, stop in (("straight", None), ("stopped", stop_at(9))):
        try:
            fit(build_model(TINY, VOCAB, 0), copying(), setting, tmp_path / where, stop)
        except StoppedError:
            with (tmp_path / where / "metrics.jsonl").open("a") as stream:
                stream.write('{"step": 9')
            fit(build_model(TINY, VOCAB, 0), copying(), setting, tmp_path / where)
    timings = ("tokens_per_sec", "elapsed_sec")
    straight, stopped = (
        [
            {k: v for k, v in json.loads(line).items() if k not in timings}
            for line in (tmp_path / where / "metrics.jsonl").open()
        ]
        for where in ("straight", "stopped")
    )
    assert [row["step"] for row in straight] == [3, 6, 9, 12]
    assert stopped == straight


def test_called_again_it_only_loads(tmp_path: Path) -> None:
    trained, loaded = build_model(TINY, VOCAB, 0), build_model(TINY, VOCAB, 0)
    first = fit(trained, copying(), SETTING, tmp_path)
    again = fit(loaded, copying(), replace(SETTING, log_every=5), tmp_path)
    assert same_weights(trained, loaded)
    assert again == replace(first, resumed_from=12)


CHILD = """
import sys
from pathlib import Path
import torch
torch.set_num_threads(1)
from dataclasses import replace
from tests.train.test_fit import SETTING, TINY, VOCAB, build_model, copying, fit
fit(build_model(TINY, VOCAB, 0), copying(), replace(SETTING, steps=2000, checkpoint_seconds=1e-9), Path(sys.argv[1]))
"""


@pytest.mark.usefixtures("one_thread")
def test_killed_it_continues_to_the_same_bytes(tmp_path: Path) -> None:
    root = Path(__file__).parents[2]
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, str(tmp_path)],
        cwd=root,
        env={"PYTHONPATH": f"{root}/src:{root}"},
    )
    try:
        deadline = time.monotonic() + 100
        while not list(tmp_path.glob("checkpoints/step-*3")) and time.monotonic() < deadline:
            time.sleep(0.01)
    finally:
        child.send_signal(signal.SIGKILL)
        child.wait()
    resumed, straight = build_model(TINY, VOCAB, 0), build_model(TINY, VOCAB, 0)
    reached = max(int(p.name[5:]) for p in tmp_path.glob("checkpoints/step-*"))
    assert 3 <= reached < 2000
    # The child's plan is 2000 steps; train both on to that plan's step `reached + 5` only.
    setting = replace(SETTING, steps=2000, checkpoint_seconds=1e-9, log_every=1)
    for model, folder in ((resumed, tmp_path), (straight, tmp_path / "straight")):
        with pytest.raises(StoppedError):
            fit(model, copying(), setting, folder, stop_at(reached + 5))
    assert same_weights(resumed, straight)


def test_learns_to_copy(tmp_path: Path) -> None:
    model = build_model(ModelConfig(hidden=32, layers=2, heads=4, ffn=64, context=64), VOCAB, 0)
    rows: list[FitRow] = []
    fit(model, copying(200), FitConfig(steps=150, batch_tokens=1024), tmp_path, rows.append)
    assert rows[-1].loss < 0.5 * rows[0].loss


def test_a_number_of_steps_repeats_a_training_on_the_clock(tmp_path: Path) -> None:
    clocked, counted = build_model(TINY, VOCAB, 0), build_model(TINY, VOCAB, 0)
    by_clock = replace(SETTING, steps=None, max_seconds=0.6)
    made = fit(clocked, copying(), by_clock, tmp_path / "clock")
    assert made.steps > 1
    fit(counted, copying(), replace(SETTING, steps=made.steps), tmp_path / "count")
    assert same_weights(clocked, counted)


def test_epochs_see_every_example_so_many_times(tmp_path: Path) -> None:
    examples = copying(40)
    result = fit(
        build_model(TINY, VOCAB, 0), examples, replace(SETTING, steps=None, epochs=2.0), tmp_path
    )
    assert result.tokens == 2 * sum(e.length for e in examples)


def test_no_steps_leave_the_model_alone(tmp_path: Path) -> None:
    model = build_model(TINY, VOCAB, 0)
    result = fit(model, copying(), replace(SETTING, steps=0), tmp_path)
    assert (result.steps, result.tokens) == (0, 0)
    assert same_weights(model, build_model(TINY, VOCAB, 0))


@pytest.mark.parametrize("normalise", ["token", "example"])
def test_the_loss_is_the_hand_formula_in_any_number_of_passes(normalise: str) -> None:
    rows = [
        replace(e, weight=w, completion_ids=e.completion_ids[: 1 + i % 3])
        for i, (e, w) in enumerate(zip(copying(6), (1, 0.5, 2, 0.1, 1, 3), strict=True))
    ]
    model = build_model(TINY, VOCAB, 0)
    top = bottom = 0.0
    for e in rows:
        ids = torch.tensor([e.prompt_ids + e.completion_ids])
        with torch.no_grad():
            logp = model(input_ids=ids).logits[0].log_softmax(-1)
        nll = [-float(logp[len(e.prompt_ids) + j - 1, t]) for j, t in enumerate(e.completion_ids)]
        top += e.weight * (sum(nll) if normalise == "token" else sum(nll) / len(nll))
        bottom += e.weight * (len(nll) if normalise == "token" else 1)
    gradients = []
    for micro_tokens in (10_000, 30, 1):
        setting = replace(SETTING, normalise=normalise, micro_tokens=micro_tokens)  # type: ignore[arg-type]
        model.zero_grad()
        assert accumulate_gradients(model, rows, setting) == pytest.approx(top / bottom, rel=1e-5)
        gradients.append(
            torch.cat([p.grad.flatten() for p in model.parameters() if p.grad is not None])
        )
    for other in gradients[1:]:
        torch.testing.assert_close(other, gradients[0], rtol=1e-4, atol=1e-6)


def test_not_a_number_stops_and_leaves_the_last_checkpoint_good(tmp_path: Path) -> None:
    model = build_model(TINY, VOCAB, 0)

    def poison(row: FitRow) -> None:
        if row.step == 6:
            with torch.no_grad():
                model.get_output_embeddings().weight[5, 0] = torch.nan

    setting = replace(SETTING, checkpoint_seconds=1e-9)
    with pytest.raises(TrainingError, match="not finite"):
        fit(model, copying(), setting, tmp_path, poison)
    resumed, straight = build_model(TINY, VOCAB, 0), build_model(TINY, VOCAB, 0)
    assert fit(resumed, copying(), setting, tmp_path).resumed_from == 5
    fit(straight, copying(), setting, tmp_path / "straight")
    assert same_weights(resumed, straight)


def test_an_endless_gradient_leaves_weights_alone() -> None:
    from dynaweb.train.optimizer import Optimizer

    model = build_model(TINY, VOCAB, 0)
    optimizer = Optimizer(model, OptimizerConfig())
    for p in model.parameters():
        p.grad = torch.full_like(p, torch.inf)
    with pytest.raises(TrainingError, match="gradient norm"):
        optimizer.step(1.0)
    assert same_weights(model, build_model(TINY, VOCAB, 0))


def test_another_training_in_the_folder_is_refused(tmp_path: Path) -> None:
    fit(build_model(TINY, VOCAB, 0), copying(), SETTING, tmp_path)
    for model, examples, setting, what in (
        (build_model(TINY, VOCAB, 1), copying(), SETTING, "first weights"),
        (build_model(TINY, VOCAB, 0), copying(20), SETTING, "examples"),
        (build_model(TINY, VOCAB, 0), copying(), replace(SETTING, seed=4), "configuration"),
    ):
        with pytest.raises(StorageError, match=what):
            fit(model, examples, setting, tmp_path)


def test_bad_input_is_named(tmp_path: Path) -> None:
    model = build_model(TINY, VOCAB, 0)
    fine = Example(prompt_ids=(3,), completion_ids=(4,))
    for examples, message in (
        ([], "no examples"),
        ([fine, replace(fine, prompt_ids=())], "example 1 has an empty"),
        ([replace(fine, prompt_ids=(3,) * 64)], "65 tokens, the model reads 64"),
        ([replace(fine, weight=0.0)], r"weight 0\.0"),
    ):
        with pytest.raises(UserError, match=message):
            fit(model, examples, SETTING, tmp_path)
    with pytest.raises(UserError, match="half precision on a CPU"):
        fit(build_model(TINY, VOCAB, 0).bfloat16(), [fine], SETTING, tmp_path)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "exactly one"),
        ({"steps": 1, "epochs": 1.0}, "exactly one"),
        ({"steps": -1}, "steps"),
        ({"epochs": 0.0}, "epochs"),
        ({"max_seconds": float("nan")}, "max_seconds"),
        ({"steps": 1, "batch_tokens": 0}, "batch_tokens"),
        ({"steps": 1, "decay_fraction": 1.0}, "decay_fraction"),
        ({"steps": 1, "normalise": "row"}, "normalise"),
    ],
)
def test_impossible_configurations_are_named(given: dict[str, object], message: str) -> None:
    with pytest.raises(UserError, match=message):
        FitConfig(**given)  # type: ignore[arg-type]


def test_the_rate_rises_stays_and_falls_to_zero() -> None:
    setting = FitConfig(steps=100, warmup_steps=10, decay_fraction=0.4)
    scales = [learning_rate_scale(s, 100, setting) for s in range(100)]
    assert scales[0] == pytest.approx(0.1)
    assert scales[9:61] == [1.0] * 52
    assert scales[80] == pytest.approx(0.5)
    assert 0.0 < scales[99] < 0.03
    assert [learning_rate_scale(s, None, setting) for s in range(60)] == scales[:60]

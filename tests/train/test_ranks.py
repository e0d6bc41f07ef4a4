"""Two ranks are one process: same order, same gradients, same weights, one writer, one checkpoint for any number."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from tests.train.rank_work import KILLED_AT, SETTING, first_model, gradients, rows

from dynaweb.errors import UserError
from dynaweb.train.crew import Alone, trained
from dynaweb.train.fit import fit
from dynaweb.train.ranks import Ranks

ROOT = Path(__file__).parents[2]
pytestmark = [pytest.mark.timeout(400), pytest.mark.usefixtures("one_thread")]


def two_ranks(out: Path, sharding: str, doing: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    return subprocess.run(
        [*command, "-m", "tests.train.rank_work", str(out), sharding, doing],
        cwd=ROOT,
        env={
            "PYTHONPATH": f"{ROOT}/src:{ROOT}",
            "PATH": str(Path(sys.executable).parent),
            "OMP_NUM_THREADS": "1",
        },
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


@pytest.fixture(scope="module", params=["ddp", "fsdp"])
def sharding(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def together(sharding: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp(f"two-{sharding}")
    done = two_ranks(out, sharding, "gradients")
    assert done.returncode == 0, done.stderr[-2000:]
    return out


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, torch.Tensor]]:
    out = tmp_path_factory.mktemp("one")
    model = first_model()
    fit(model, rows(), SETTING, out)
    return out, {n: p.detach() for n, p in trained(model).items()}


def test_gradients_of_uneven_steps_are_those_of_one_process(sharding: str, together: Path) -> None:
    found = load_file(together / f"{sharding}-gradients.safetensors")
    model = first_model()
    wanted, losses = gradients(model, Alone(model))
    assert found.pop("losses").tolist() == pytest.approx(losses, abs=1e-6)
    assert found.keys() == wanted.keys() and len(wanted) > 20
    for name, gradient in wanted.items():
        assert float((found[name] - gradient).abs().max()) < 1e-6, name


def test_weights_after_all_steps_are_those_of_one_process(
    sharding: str, together: Path, alone: tuple[Path, dict[str, torch.Tensor]]
) -> None:
    found, first = load_file(together / f"{sharding}.safetensors"), first_model()
    moved = max(float((found[n] - p.detach()).abs().max()) for n, p in trained(first).items())
    assert moved > 1e-3
    for name, weights in alone[1].items():
        assert float((found[name] - weights).abs().max()) < 1e-6, name


def test_metrics_are_of_all_ranks_and_written_once(
    sharding: str, together: Path, alone: tuple[Path, dict[str, torch.Tensor]]
) -> None:
    mine, one = (
        [json.loads(line) for line in (folder / "metrics.jsonl").open()]
        for folder in (together / sharding, alone[0])
    )
    assert [r["step"] for r in mine] == [r["step"] for r in one] == list(range(1, 13))
    for key in ("loss", "grad_norm", "lr"):
        assert [r[key] for r in mine] == pytest.approx([r[key] for r in one], abs=1e-5)
    assert sorted(p.name for p in (together / sharding / "checkpoints").iterdir()) == [
        "step-00000011",
        "step-00000012",
    ]


@pytest.mark.slow
def test_killed_ranks_go_on_to_the_same_bytes_and_one_process_can_take_over(
    sharding: str, together: Path, tmp_path: Path
) -> None:
    assert two_ranks(tmp_path, sharding, "die").returncode != 0
    reached = {p.name for p in (tmp_path / sharding / "checkpoints").glob("step-*")}
    assert f"step-{KILLED_AT - 1:08d}" in reached and len(reached) == 2
    shutil.copytree(tmp_path / sharding, tmp_path / "taken-over")
    assert two_ranks(tmp_path, sharding, "go on").returncode == 0
    straight = load_file(together / f"{sharding}.safetensors")
    resumed = load_file(tmp_path / f"{sharding}.safetensors")
    assert all(torch.equal(straight[n], w) for n, w in resumed.items())
    model = first_model()
    result = fit(model, rows(), SETTING, tmp_path / "taken-over")
    assert result.resumed_from == KILLED_AT - 1
    for name, weights in trained(model).items():
        assert float((straight[name] - weights.detach()).abs().max()) < 1e-6, name


def test_ranks_that_cannot_be_are_refused() -> None:
    for given in ({"rank": 2, "world": 2}, {"sharding": "zero"}, {"rank": -1}):
        with pytest.raises(UserError, match=r"torchrun|sharding"):
            Ranks(**given)  # type: ignore[arg-type]  # wrong on purpose

"""Two ranks of GSPO are one process: same gradients, same attempts, same weights, one writer, any number goes on."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from safetensors.torch import load_file, save_file
from tests.gspo.rank_work import KILLED_AT, RUN, WEIGHTS, run
from transformers import PreTrainedModel

from dynaweb.gspo.digest import digest_of
from dynaweb.train.ranks import Ranks

ROOT = Path(__file__).parents[2]
pytestmark = [pytest.mark.timeout(900), pytest.mark.usefixtures("one_thread")]


def two_ranks(out: Path, sharding: str, *doings: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    return subprocess.run(
        [*command, "-m", "tests.gspo.rank_work", str(out), sharding, *doings],
        cwd=ROOT,
        env={
            "PYTHONPATH": f"{ROOT}/src:{ROOT}",
            "PATH": str(Path(sys.executable).parent),
            "OMP_NUM_THREADS": "1",
        },
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def begun(half_trained: PreTrainedModel, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("begun")
    weights = {n: p.detach().clone() for n, p in half_trained.named_parameters()}
    save_file(weights, out / WEIGHTS)
    return out


@pytest.fixture(scope="module")
def alone(begun: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("one")
    shutil.copy(begun / WEIGHTS, out)
    run(out, ("gradients", "train", "lora"), Ranks())
    return out


@pytest.fixture(scope="module", params=["ddp", "fsdp"])
def sharding(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def together(sharding: str, begun: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp(f"two-{sharding}")
    shutil.copy(begun / WEIGHTS, out)
    done = two_ranks(out, sharding, "gradients", "train", "lora")
    assert done.returncode == 0, done.stderr[-3000:]
    return out


def furthest(one: Path, other: Path) -> float:
    mine, theirs = (
        load_file(f / "checkpoints" / f"step-{RUN.iterations:08d}" / "model.safetensors")
        for f in (one, other)
    )
    assert mine.keys() == theirs.keys()
    return max(float((mine[n] - theirs[n]).abs().max()) for n in mine)


def rows(folder: Path) -> list[dict[str, float | None]]:
    return [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]


def test_gradients_of_uneven_steps_are_those_of_one_process(
    sharding: str, together: Path, alone: Path
) -> None:
    found = load_file(together / f"{sharding}-gradients.safetensors")
    wanted = load_file(alone / "alone-gradients.safetensors")
    assert found.pop("seen").tolist() == pytest.approx(wanted.pop("seen").tolist(), abs=1e-6)
    assert found.keys() == wanted.keys() and len(wanted) > 50
    assert max(float(g.abs().max()) for g in wanted.values()) > 1e-3
    for name, gradient in wanted.items():
        assert float((found[name] - gradient).abs().max()) < 1e-6, name


@pytest.mark.parametrize("kind", ["", "-lora"])
def test_a_run_is_that_of_one_process_and_written_once(
    sharding: str, together: Path, alone: Path, kind: str
) -> None:
    mine, one = together / f"{sharding}{kind}", alone / f"alone{kind}"
    assert furthest(mine, one) < 1e-5
    told, wanted = rows(mine), rows(one)
    assert [r["iteration"] for r in told] == [1.0, 2.0, 3.0]
    for a, b in zip(told, wanted, strict=True):
        assert a.keys() == b.keys()
        for key in (k for k in b if not k.endswith("_sec") and k != "update/sampler_gap"):
            same = b[key] if b[key] is None else pytest.approx(b[key], abs=1e-5, rel=1e-4)
            assert a[key] == same, key
    assert sum(r["update/optimizer_steps"] or 0 for r in wanted) >= 6
    assert sorted(p.name for p in (mine / "checkpoints").iterdir()) == [
        "step-00000002",
        "step-00000003",
    ]


@pytest.mark.slow
def test_killed_ranks_go_on_to_the_same_bytes_and_one_process_can_take_over(
    sharding: str, together: Path, alone: Path, tmp_path: Path
) -> None:
    shutil.copy(together / WEIGHTS, tmp_path)
    assert two_ranks(tmp_path, sharding, "die").returncode != 0
    reached = {p.name for p in (tmp_path / sharding / "checkpoints").glob("step-*")}
    assert f"step-{KILLED_AT:08d}" in reached
    shutil.copytree(tmp_path / sharding, tmp_path / "alone")
    done = two_ranks(tmp_path, sharding, "train")
    assert done.returncode == 0, done.stderr[-3000:]
    assert digest_of(tmp_path / sharding) == digest_of(together / sharding)
    run(tmp_path, ("train",), Ranks())
    assert furthest(tmp_path / "alone", alone / "alone") < 1e-5

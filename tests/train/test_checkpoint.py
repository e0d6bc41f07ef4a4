import shutil
from pathlib import Path

import pytest
import torch

from dynaweb.errors import StorageError
from dynaweb.train import checkpoint
from dynaweb.train.checkpoint import latest_checkpoint, save_checkpoint


def save(folder: Path, step: int) -> Path:
    return save_checkpoint(
        folder,
        step,
        {"model": {"w": torch.full((3,), float(step))}, "optimizer": {}},
        {"note": f"at {step}"},
    )


def test_the_newest_comes_back_and_two_are_kept(tmp_path: Path) -> None:
    assert latest_checkpoint(tmp_path) is None
    for step in (1, 2, 10):
        save(tmp_path, step)
    found = latest_checkpoint(tmp_path)
    assert found is not None
    assert (found.step, found.state, found.damaged) == (10, {"note": "at 10"}, ())
    assert found.tensors("model")["w"].tolist() == [10.0] * 3
    assert found.tensors("optimizer") == {}
    assert sorted(p.name for p in tmp_path.iterdir()) == ["step-00000002", "step-00000010"]
    with pytest.raises(StorageError, match="no readable 'other'"):
        found.tensors("other")


@pytest.mark.parametrize("file", ["model.safetensors", "state.json", "COMPLETE.json"])
@pytest.mark.parametrize("damage", ["cut", "flip", "delete"])
def test_a_damaged_one_is_set_aside_and_the_one_before_is_used(
    tmp_path: Path, file: str, damage: str
) -> None:
    save(tmp_path, 1)
    path = save(tmp_path, 2) / file
    data = path.read_bytes()
    if damage == "delete":
        path.unlink()
    else:
        path.write_bytes(
            data[:-3] if damage == "cut" else data[:-3] + bytes([data[-3] ^ 1]) + data[-2:]
        )
    found = latest_checkpoint(tmp_path)
    assert found is not None
    assert (found.step, found.damaged) == (1, ("damaged-step-00000002",))
    again = latest_checkpoint(tmp_path)
    assert again is not None
    assert (again.step, again.damaged) == (1, ())
    save(tmp_path, 2)
    assert (latest_checkpoint(tmp_path) or found).step == 2


@pytest.mark.parametrize("call", ["save_file", "_checksum", "sync", "_delete"])
def test_a_failure_at_any_point_leaves_a_whole_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    for step in (1, 2):
        save(tmp_path, step)

    def full(*args: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(checkpoint, call, full)
        with pytest.raises(StorageError, match="No space left"):
            save(tmp_path, 3)
    found = latest_checkpoint(tmp_path)
    assert found is not None
    assert found.step == (3 if call == "_delete" else 2)
    save(tmp_path, 4)
    assert (latest_checkpoint(tmp_path) or found).step == 4


def test_leftovers_of_a_kill_are_ignored_and_swept(tmp_path: Path) -> None:
    whole = save(tmp_path, 1)
    shutil.copytree(whole, tmp_path / ".writing-00000002")
    shutil.copytree(whole, tmp_path / ".deleted-00000000")
    assert (latest_checkpoint(tmp_path) or pytest.fail("none")).step == 1
    save(tmp_path, 2)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["step-00000001", "step-00000002"]

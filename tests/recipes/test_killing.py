"""The sweep that kills: it finds a training that does not go on as it should, and passes one that does."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from dynaweb.errors import TrainingError
from dynaweb.recipes.killing import sweep
from dynaweb.runs.progress import silent

TRAINER = """
import hashlib, json, sys, time
from pathlib import Path

run, honest = Path(sys.argv[1]), sys.argv[2] == "honest"
stage = run / "gspo"
stage.mkdir(parents=True, exist_ok=True)
if sys.argv[2] == "failing" and run.name != "whole":
    sys.exit("dynaweb: the disk is full")
with (run / "sessions.jsonl").open("a") as file:
    file.write("{}\\n")
rows = stage / "metrics.jsonl"
done = len(rows.read_text().splitlines()) if rows.exists() else 0
forgot = done and not honest
for i in range(done, 8):
    time.sleep(0.05)
    with rows.open("a") as file:
        file.write(json.dumps({"iteration": i, "resumed": bool(forgot), "a_sec": time.time()}) + "\\n")
final = stage / "checkpoints" / "step-00000008"
final.mkdir(parents=True, exist_ok=True)
(final / "model.safetensors").write_bytes(b"weights")
(final / "optimizer.safetensors").write_bytes(b"moments")
(final / "state.json").write_text(json.dumps({"step": 8, "state": {"next_start": 3}}))
sums = {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in final.iterdir() if p.name != "COMPLETE.json"}
(final / "COMPLETE.json").write_text(json.dumps({"format": 1, "sha256": sums}))
(stage / "model.safetensors").write_bytes(b"weights")
"""
"""Leaves what a training leaves, a row every 50 ms; `honest` or not about having been killed."""


def swept(out: Path, kind: str, kills: int = 3):
    def command(run: Path) -> list[str]:
        return [sys.executable, "-c", TRAINER, str(run), kind]

    return sweep(out, command, kills=kills, seed=1, progress=silent)


def test_a_training_that_goes_on_as_it_should(tmp_path: Path) -> None:
    rounds = swept(tmp_path, "honest")
    assert rounds[0].kills == () and rounds[0].different == (), "the one that is left alone"
    assert sum(len(r.kills) for r in rounds) == 3
    assert all(r.different == () and len(r.equal) == 5 for r in rounds)
    assert all(0 <= k.iterations <= 8 for r in rounds for k in r.kills)
    before = (tmp_path / "rounds.jsonl").read_bytes()
    assert swept(tmp_path, "honest") == rounds, "a finished sweep is only read"
    assert (tmp_path / "rounds.jsonl").read_bytes() == before


def test_one_that_does_not_is_found_out(tmp_path: Path) -> None:
    rounds = swept(tmp_path, "forgetful", kills=6)
    hit = [r for r in rounds if any(k.iterations for k in r.kills)]
    assert hit and all("metrics" in r.different and "weights" in r.equal for r in hit)


def test_one_that_fails_ends_the_sweep_with_its_last_line(tmp_path: Path) -> None:
    with pytest.raises(TrainingError, match="exit code 1 and said: dynaweb: the disk is full"):
        swept(tmp_path, "failing")


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.timeout(3000)
def test_the_smoke_recipes_dreams_survive_any_kill(tmp_path: Path) -> None:
    """The command that a user has, with real pages, world model, judge, policy and audit."""
    dynaweb = Path(sys.executable).with_name("dynaweb")
    longer = ["--set", "gspo.iterations=6", "--kills", "8"]
    done = subprocess.run(
        [dynaweb, "bench", "resume", *longer, "--out", tmp_path / "sweep", "--json", "-q"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    rounds = json.loads(done.stdout)
    assert sum(len(r["kills"]) for r in rounds) == 8
    assert all(not r["different"] for r in rounds)

"""A run that is killed again and again ends as one that was left alone, byte for byte."""

import hashlib
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

DYNAWEB = Path(sys.executable).with_name("dynaweb")
SMOKE = (
    "demo",
    "--size",
    "smoke",
    "--set",
    "controls.match_time=false",
    "--set",
    "controls.steps=20",
)
"""The controls' steps are given: matched to measured time, they would differ between any two runs."""

MADE = (
    "experts/episodes.jsonl",
    "exploration/episodes.jsonl",
    "base/model.safetensors",
    "sft/model.safetensors",
    "attempts/episodes.jsonl",
    "world/model.safetensors",
    "fidelity/fidelity.json",
    "fidelity/judge.json",
    "gspo/model.safetensors",
    "sft_more/model.safetensors",
    "filtered_bc/model.safetensors",
    "evaluation/episodes/dynaweb.jsonl",
    "evaluation/results.json",
)


def digests(run: Path) -> dict[str, str]:
    return {name: hashlib.sha256((run / name).read_bytes()).hexdigest() for name in MADE}


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.timeout(3000)
@pytest.mark.parametrize("seed", [0])
def test_killed_at_any_stage_it_ends_the_same(tmp_path: Path, seed: int) -> None:
    subprocess.run([DYNAWEB, *SMOKE, "--out", tmp_path / "whole"], check=True, capture_output=True)
    rng = random.Random(seed)
    killed = tmp_path / "killed"
    kills: list[float] = []
    while True:
        patience = rng.uniform(4.0, 30.0)
        with subprocess.Popen(
            [DYNAWEB, *SMOKE, "--out", killed],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        ) as child:
            try:
                _, said = child.communicate(timeout=patience)
                assert child.returncode == 0, said[-2000:]
                break
            except subprocess.TimeoutExpired:
                child.send_signal(signal.SIGKILL)
                child.communicate()
                kills.append(patience)
        assert len(kills) < 60, "no progress between kills"
    assert len(kills) >= 4
    assert digests(killed) == digests(tmp_path / "whole")

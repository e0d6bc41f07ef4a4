"""`dynaweb bench learning` as a user runs it: real browser, real training, killed and run again."""

import hashlib
import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from dynaweb.evaluate.learning import MeasuredPoint
from dynaweb.evaluate.statistics import EpisodeOutcome
from dynaweb.recipes.learning.closing import episodes_table, paid_before
from dynaweb.recipes.learning.config import Arm, sized
from dynaweb.recipes.learning.ready import Costs
from dynaweb.recipes.learning.run import all_runs, run_name
from dynaweb.records.trajectory import Outcome

DYNAWEB = Path(sys.executable).with_name("dynaweb")
SMOKE = ("bench", "learning", "--size", "smoke", "--jobs", "2", "--quiet")
COSTS = Costs(
    experts=100,
    world=900,
    openings=50,
    tasks_dreamt=("a",),
    gain="",
    judge_false_positives=None,
    judge_recall=None,
    local_determined=None,
)


def test_arms_pay_for_what_they_learn_from():
    paid = {arm: paid_before(arm, COSTS) for arm in Arm}
    assert paid[Arm.SFT] == paid[Arm.SFT_MORE] == 100
    assert paid[Arm.LIVE] == paid[Arm.FILTERED] == 150
    assert paid[Arm.DREAMS] == paid[Arm.DREAMS_ONLY] == paid[Arm.UNTRAINED] == 1050


def test_raw_outcomes_are_a_sign_a_page():
    signs = {"s": Outcome.SUCCESS, "f": Outcome.FAILURE, "u": Outcome.UNKNOWN}

    def made(task: str, pages: dict[int, str]) -> list[EpisodeOutcome]:
        return [EpisodeOutcome(task=task, seed=p, outcome=signs[o]) for p, o in pages.items()]

    point = MeasuredPoint(
        arm="live",
        seed=1,
        checkpoint=2,
        live_steps=70,
        seconds=1.0,
        episodes=(
            *made("b", {5: "s", 3: "f", 1: "u"}),
            *made("a", {9: "s"}),
            *made("c", {1: "f", 2: "f", 4: "s"}),
        ),
    )
    assert episodes_table([point]).splitlines() == [
        "arm,seed,checkpoint,live_steps,task,pages,outcomes",
        "live,1,2,70,a,9,1",
        "live,1,2,70,b,1-5/2,?01",
        "live,1,2,70,c,1 2 4,001",
    ]


def test_nothing_is_told_before_there_is_anything(tmp_path):
    done = subprocess.run(
        [DYNAWEB, *SMOKE, "--so-far", "--out", tmp_path / "none"], capture_output=True, text=True
    )
    assert done.returncode == 2
    assert "costs.json" in done.stderr and len(done.stderr.splitlines()) == 1


def digests(out: Path) -> dict[str, str]:
    """Weights at every checkpoint, and every run's raw outcomes."""
    found = {
        f"{run_name(arm, seed)}/{n}": out
        / "runs" / run_name(arm, seed) / "training" / f"checkpoint-{n}" / "model.safetensors"
        for arm, seed in all_runs(sized("smoke"))
        if arm is not Arm.SFT
        for n in (1, 2)
    }  # fmt: skip
    return {
        name: hashlib.sha256(path.read_bytes()).hexdigest()
        for name, path in (found | {"outcomes": out / "episodes.csv"}).items()
    }


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.timeout(3000)
def test_killed_it_goes_on_and_ends_the_same(tmp_path):
    left_alone, killed = tmp_path / "alone", tmp_path / "killed"
    subprocess.run([DYNAWEB, *SMOKE, "--out", left_alone], check=True, capture_output=True)
    kills = 0
    while True:
        with subprocess.Popen(
            [DYNAWEB, *SMOKE, "--out", killed],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        ) as child:
            try:
                _, said = child.communicate(timeout=35.0)
                if "another process" in said:  # a run of the killed command that is still ending
                    continue
                assert child.returncode == 0, said[-2000:]
                break
            except subprocess.TimeoutExpired:
                child.send_signal(signal.SIGKILL)
                child.communicate()
                kills += 1
        assert kills < 60, "no progress between kills"
    assert kills
    assert digests(killed) == digests(left_alone)
    page = tmp_path / "page.md"
    page.write_text(
        "a\n<!-- dynaweb bench learning: begin -->\nold\n<!-- dynaweb bench learning: end -->\nb\n",
        encoding="utf-8",
    )
    done = subprocess.run(
        [DYNAWEB, *SMOKE, "--so-far", "--json", "--into", page, "--out", killed],
        check=True,
        capture_output=True,
        text=True,
    )
    report = json.loads(done.stdout)
    assert not report["results"]["missing"]
    assert len(report["results"]["comparisons"]) == 12
    text = page.read_text(encoding="utf-8")
    assert "old" not in text and text.startswith("a\n") and text.endswith("b\n")
    assert "![Real success against live steps spent](learning.svg)" in text
    assert (tmp_path / "learning.svg").exists()
    assert (tmp_path / "learning-episodes.csv").read_text("utf-8").count("\n") > 20

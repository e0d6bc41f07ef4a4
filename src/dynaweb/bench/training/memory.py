"""Most memory that one update holds beyond the loaded model, each size in a process of its own."""

import json
import resource
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

import torch

from dynaweb.bench.training.made import made_groups
from dynaweb.bench.training.update import STILL
from dynaweb.bench.training.wish import TrainWish
from dynaweb.errors import TrainingError
from dynaweb.gspo.config import UpdateConfig
from dynaweb.gspo.update import update_policy
from dynaweb.lm.config import ModelConfig
from dynaweb.lm.model import build_model
from dynaweb.runs.jsonfile import read_record, write_record
from dynaweb.train.optimizer import Optimizer

TIMES = (1, 4, 16)
LIMIT_SEC = 3600


@dataclass(frozen=True, slots=True, kw_only=True)
class Peak:
    """Memory of one update."""

    rows: int
    tokens: int
    peak_mib: float
    """Most resident memory of the process."""
    update_mib: float
    """Of it, what was not there when the model was loaded and asked once."""


def measure_peak(wish: TrainWish, times: int, folder: Path) -> Peak:
    """Make one update in another process.

    Raises:
        TrainingError: that process failed; its last words are said.
    """
    job = folder / "job.json"
    job.write_text(json.dumps(_job(wish, times)), "utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "dynaweb.bench.training.memory", str(job)],
        capture_output=True,
        text=True,
        timeout=LIMIT_SEC,
        check=False,
    )
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise TrainingError(f"the update whose memory is measured failed: {last}")
    return read_record(Peak, folder / "peak.json")


def _job(wish: TrainWish, times: int) -> dict[str, object]:
    return {
        "model": asdict(wish.model),
        "vocabulary": wish.vocabulary,
        "groups": wish.memory_groups * times,
        "token_budget": wish.token_budget,
        "threads": wish.threads,
    }


def _peak_mib() -> float:
    """Most resident memory of this process so far."""
    try:
        status = Path("/proc/self/status").read_text("utf-8")
    except OSError:  # not Linux
        found = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return found / 2**20 if sys.platform == "darwin" else found / 2**10
    # Linux counts the parent's memory into a child's ru_maxrss
    words = next(line for line in status.splitlines() if line.startswith("VmHWM:")).split()
    return int(words[1]) / 2**10


def _work(job: Path) -> None:
    told = json.loads(job.read_text("utf-8"))
    torch.set_num_threads(told["threads"])
    config = UpdateConfig(optimizer=STILL, token_budget=told["token_budget"])
    model = build_model(ModelConfig(**told["model"]), told["vocabulary"], seed=0)
    optimizer = Optimizer(model, config.optimizer)
    attempts = made_groups(told["groups"], told["vocabulary"], seed=0)
    with torch.no_grad():
        model(input_ids=torch.zeros(1, 1, dtype=torch.long))
    before = _peak_mib()
    update_policy(model, optimizer, attempts, config, seed=0, steps_before=0)
    after = _peak_mib()
    peak = Peak(
        rows=sum(len(a.rows) for a in attempts),
        tokens=sum(a.tokens for a in attempts),
        peak_mib=after,
        update_mib=after - before,
    )
    write_record(job.parent / "peak.json", peak)


if __name__ == "__main__":
    _work(Path(sys.argv[1]))

"""What a run stands at, as hashes: two runs are the same when every one of them is.

Weights, optimiser, cursor and metrics are what decides how a run goes on. There is no state of a random
generator among them: all chance is drawn from seeds by what it is for (`records.seeds`), and a test holds that.
"""

import hashlib
import json
from pathlib import Path

from dynaweb.errors import UserError
from dynaweb.gspo.progress import METRICS
from dynaweb.gspo.state import CHECKPOINTS
from dynaweb.runs.jsonl import read_prefix
from dynaweb.train.checkpoint import latest_checkpoint

PIECES = ("weights", "optimizer", "cursor", "metrics")
"""Keys of a digest, in the order they are shown."""


def digest_of(folder: Path) -> dict[str, str]:
    """SHA-256 of each piece of the newest checkpoint, and of the metrics but for wall clock.

    Raises:
        UserError: the folder holds no whole checkpoint.
    """
    found = latest_checkpoint(folder / CHECKPOINTS)
    if found is None:
        raise UserError(f"{str(folder)!r} holds no whole checkpoint: train there first")
    cursor = {"step": found.step, **found.state}
    rows = [json.loads(line) for line in read_prefix(folder / METRICS).lines]
    told = [{k: v for k, v in row.items() if not k.endswith("_sec")} for row in rows]
    return {
        "weights": _sha(found.folder / "model.safetensors"),
        "optimizer": _sha(found.folder / "optimizer.safetensors"),
        "cursor": _hash(cursor),
        "metrics": _hash(told),
    }


def _sha(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _hash(value: object) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()

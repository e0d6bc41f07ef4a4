"""One update by us and by TRL's `GRPOTrainer`, in turn, on the same weights and token ids, given as files."""

import json
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import torch
from transformers import PreTrainedModel

from dynaweb.batch.tokens import TrainTrajectory
from dynaweb.bench.training.made import made_rows
from dynaweb.bench.training.update import STILL
from dynaweb.bench.training.wish import TrainWish, Versus, seconds, versus
from dynaweb.errors import MissingDependencyError, TrainingError
from dynaweb.gspo.config import ClipConfig, UpdateConfig
from dynaweb.gspo.gradient import accumulate
from dynaweb.gspo.tally import Tally
from dynaweb.gspo.update import score_old, update_policy
from dynaweb.lm.model import build_model, save_model
from dynaweb.train.optimizer import Optimizer

SIDE = Path(__file__).with_name("trl_side.py")
INSTALL = "pip install 'dynaweb[parity]'"
CLIP = ClipConfig(low=0.05, high=0.07, reference_tokens=None)
APART = 0.1
"""How far the weights that pi_old is taken from in the check lie from the policy's, as a share of the way to others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rivalry:
    """Speed beside TRL, and whether both compute the same."""

    speed: Versus
    our_loss: float
    """Against log-probabilities of other weights, so that ratios differ from 1."""
    their_loss: float


class Rival:
    """TRL in its own process."""

    def __init__(self, asked: IO[str], told: IO[str], log: Path) -> None:
        self._asked = asked
        self._told = told
        self._log = log

    def ask(self, what: str) -> dict[str, float]:
        """Have `check` or `update` done.

        Raises:
            TrainingError: it ended; its last words are said.
        """
        try:
            self._asked.write(what + "\n")
            self._asked.flush()
            line = self._told.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            last = (self._log.read_text("utf-8", "replace").strip().splitlines() or ["no words"])[
                -1
            ]
            raise TrainingError(f"TRL ended before it answered {what!r}: {last}")
        found: dict[str, float] = json.loads(line)
        return found


def measure_rival(
    wish: TrainWish, python: str, folder: Path, said: Callable[[int, float], None]
) -> Rivalry:
    """An update by both, and the loss of both.

    Args:
        wish: sizes.
        python: interpreter that has TRL.
        folder: for what is exchanged.
        said: told after each pair.

    Raises:
        MissingDependencyError: the interpreter is not there, or lacks TRL.
        TrainingError: TRL failed.
    """
    require_trl(python)
    model = build_model(wish.rival_model, wish.rival_vocabulary, seed=0)
    before = build_model(wish.rival_model, wish.rival_vocabulary, seed=1)
    with torch.no_grad():
        for p, q in zip(model.parameters(), before.parameters(), strict=True):
            q.copy_(p.lerp(q, APART))
    attempts = made_rows(
        wish.rival_rows, wish.rival_prompt, wish.rival_reply, wish.rival_vocabulary, seed=0
    )
    _exchange(folder, wish, model, before, attempts)
    # one optimiser step, as TRL makes one of a batch this small
    config = UpdateConfig(
        optimizer=STILL, clip=CLIP, mini_batches=1, token_budget=wish.token_budget
    )
    optimizer = Optimizer(model, STILL)
    with _running(python, folder) as trl:
        loss = _loss(model, before, attempts, config)
        their_loss = trl.ask("check")["loss"]
        speed = versus(
            "update, prompts not shared",
            "TRL",
            sum(a.tokens for a in attempts),
            lambda: seconds(
                lambda: update_policy(model, optimizer, attempts, config, seed=0, steps_before=0)
            ),
            lambda: trl.ask("update")["seconds"],
            repeats=wish.repeats,
            said=said,
        )
    return Rivalry(speed=speed, our_loss=loss, their_loss=their_loss)


def require_trl(python: str) -> None:
    """Say early that TRL is missing.

    Raises:
        MissingDependencyError: no such interpreter, or it lacks TRL.
    """
    try:
        done = subprocess.run(
            [python, "-c", "import importlib.util as u; print(u.find_spec('trl') is not None)"],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise MissingDependencyError(
            f"cannot run {python!r} ({error}): give --trl-python an interpreter that has TRL"
        ) from error
    if done.stdout.strip() != "True":
        raise MissingDependencyError(
            f"{python!r} has no TRL: {INSTALL}, give --trl-python another interpreter, or leave the part 'trl' out"
        )


def _loss(
    model: PreTrainedModel,
    before: PreTrainedModel,
    attempts: list[TrainTrajectory],
    config: UpdateConfig,
) -> float:
    tally = Tally()
    accumulate(model, score_old(before, None, attempts, config), config, tally)
    model.zero_grad()
    return tally.loss


def _exchange(
    folder: Path,
    wish: TrainWish,
    model: PreTrainedModel,
    before: PreTrainedModel,
    attempts: list[TrainTrajectory],
) -> None:
    save_model(model, folder / "policy")
    save_model(before, folder / "before")
    job = {
        "threads": wish.threads,
        "vocabulary": wish.rival_vocabulary,
        "low": CLIP.low,
        "high": CLIP.high,
        "learning_rate": STILL.learning_rate,
        "prompts": [r.prompt_ids for a in attempts for r in a.rows],
        "replies": [r.completion_ids for a in attempts for r in a.rows],
        "advantages": [a.advantage for a in attempts],
    }
    (folder / "job.json").write_text(json.dumps(job), "utf-8")


@contextmanager
def _running(python: str, folder: Path) -> Iterator[Rival]:
    log = folder / "trl.log"
    with (
        log.open("w", encoding="utf-8") as errors,
        subprocess.Popen(
            # -P: the side's own folder must not hide packages by its file names
            [python, "-P", str(SIDE), str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        ) as process,
    ):
        assert process.stdin is not None and process.stdout is not None
        try:
            yield Rival(process.stdin, process.stdout, log)
        finally:
            process.terminate()

"""An update that breaks leaves no trace: it is found before a checkpoint could hold it, and taken back.

Broken is what is not finite, or past its limit (`limits.GuardConfig`): advantages, log-probabilities, ratios,
loss, gradients, weights. Weights can be finite and wrecked, as after one step of an absurd learning rate, so
after the last step the policy is asked once more about the attempts it has just learnt from.
"""

import logging
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import StrEnum

import torch
from torch import Tensor
from transformers import PreTrainedModel

from dynaweb.batch.summary import Metrics
from dynaweb.errors import TrainingError
from dynaweb.gspo.limits import GuardConfig, OnTrouble
from dynaweb.train.crew import trained
from dynaweb.train.fit import check_finite
from dynaweb.train.optimizer import Optimizer

log = logging.getLogger(__name__)


class Trouble(StrEnum):
    """What broke."""

    ADVANTAGE = "advantage"
    """Of an attempt: a reward that is no number."""
    LOGPROB = "logprob"
    """Of a token under pi_old: the weights were broken before."""
    LOSS = "loss"
    RATIO = "ratio"
    GRADIENT = "gradient"
    DRIFT = "drift"
    """Of the policy from what it said before the update."""
    WEIGHTS = "weights"


class BrokenUpdateError(TrainingError):
    """An update that must not be kept."""

    def __init__(self, what: Trouble, message: str) -> None:
        super().__init__(message)
        self.what = what


@contextmanager
def naming(what: Trouble) -> Iterator[None]:
    """Failures of training inside the block are this trouble."""
    try:
        yield
    except BrokenUpdateError:
        raise
    except TrainingError as error:
        raise BrokenUpdateError(what, str(error)) from error


def require_sound(what: Trouble, values: Sequence[float], limit: float = math.inf) -> None:
    """Refuse values that are not finite, or larger than the limit in absolute value.

    Raises:
        BrokenUpdateError: names the first.
    """
    for value in values:
        if not math.isfinite(value):
            raise BrokenUpdateError(
                what,
                f"{what.value} is {value!r}: lower update.optimizer.learning_rate, or look for a broken reward",
            )
        if abs(value) > limit:
            raise BrokenUpdateError(
                what,
                f"{what.value} {value:.4g} is past update.guard's limit of {limit:g}: lower update.optimizer.learning_rate",
            )


class Guard:
    """Keeps the last sound weights of a run, where it may have to go back to them."""

    def __init__(
        self,
        policy: PreTrainedModel,
        optimizer: Optimizer,
        config: GuardConfig,
        *,
        in_a_row: int = 0,
    ) -> None:
        """Take the present weights as sound.

        Args:
            policy: in training.
            optimizer: of the policy.
            config: limits, and what follows.
            in_a_row: updates taken back just before, in an earlier session.
        """
        self._policy, self._optimizer, self._config = policy, optimizer, config
        self.in_a_row = in_a_row
        """Updates taken back since the last that was kept."""
        self._sound: tuple[Mapping[str, Tensor], Mapping[str, Tensor]] | None = None
        self._keep()

    def begin(self) -> Metrics:
        """Before an iteration: the weights are as the last update left them, or are put back.

        Raises:
            BrokenUpdateError: they are not finite, and the configuration says to stop.
        """
        try:
            with naming(Trouble.WEIGHTS):
                check_finite(self._policy)
        except BrokenUpdateError as error:
            if self._sound is None:
                raise
            log.warning("%s; those of the last sound update are put back", error)
            self._go_back()
            return {"guard/restored": 1.0}
        return {"guard/restored": 0.0}

    def update(self, work: Callable[[], Metrics]) -> Metrics:
        """Do an update and keep it, or take it back.

        Args:
            work: changes the weights; returns metrics that start with `update/`.

        Returns:
            The update's metrics, or none of them when it was taken back; and `guard/...`.

        Raises:
            BrokenUpdateError: it broke and the configuration says to stop, or too many broke in a row.
        """
        try:
            metrics = work()
            with naming(Trouble.WEIGHTS):
                check_finite(self._policy)
        except BrokenUpdateError as error:
            self._optimizer.clear()
            self._take_back(error)
            return counted(error.what)
        if metrics["update/optimizer_steps"]:  # else nothing was tried
            self.in_a_row = 0
            self._keep()
        return metrics | counted(None)

    def _take_back(self, error: BrokenUpdateError) -> None:
        if self._sound is None:
            raise error
        self._go_back()
        self.in_a_row += 1
        if self.in_a_row > self._config.most_skipped:
            raise BrokenUpdateError(
                error.what, f"{self.in_a_row} updates broke in a row, the last one because: {error}"
            ) from error
        log.warning("an update is taken back: %s", error)

    def _keep(self) -> None:
        if self._config.on_trouble is OnTrouble.SKIP:
            weights = {n: p.detach().clone() for n, p in trained(self._policy).items()}
            self._sound = (weights, {k: v.clone() for k, v in self._optimizer.state().items()})

    def _go_back(self) -> None:
        assert self._sound is not None
        weights, state = self._sound
        with torch.no_grad():
            for name, parameter in trained(self._policy).items():
                parameter.copy_(weights[name])
        self._optimizer.restore(state)


def counted(broken: Trouble | None) -> Metrics:
    """Which trouble took an update back: a count of 0 or 1 for each."""
    counts: Metrics = {f"guard/skipped_{t.value}": float(t is broken) for t in Trouble}
    return {"guard/skipped": float(broken is not None), **counts}

"""Demonstrations as a supervised loss beside the dreams, so that dreaming does not overwrite them (ours).

An expert inside a group teaches only where the group's members differ, and a task whose groups do not is
not spoken for by any gradient: what the policy could do there is lost (log, entries 19 and 26). Here every
optimiser step also reads a batch of demonstrations of all tasks, those that are not dreamt of included.
"""

from collections.abc import Iterator, Sequence
from itertools import islice

from transformers import PreTrainedModel

from dynaweb.gspo.config import DemonstrationsConfig
from dynaweb.train.batch import Example, all_batches, examples_checksum
from dynaweb.train.config import FitConfig
from dynaweb.train.crew import Crew
from dynaweb.train.loss import accumulate_gradients, step_weight


class Demonstrations:
    """An endless seeded sequence of batches; the n-th optimiser step of a run reads the n-th."""

    def __init__(
        self, examples: Sequence[Example], config: DemonstrationsConfig, *, seed: int
    ) -> None:
        self._examples = examples if config.weight > 0.0 else ()
        self._weight = config.weight
        self._how = FitConfig(steps=1, batch_tokens=config.batch_tokens)
        self._seed = seed

    def batches(self, first: int) -> Iterator[list[Example]]:
        """Those of the optimiser steps from number `first` on; none when nothing is demonstrated."""
        if not self._examples:
            return
        lengths = [e.length for e in self._examples]
        order = all_batches(lengths, self._how.batch_tokens, self._seed)
        for batch in islice(order, first, None):
            yield [self._examples[i] for i in batch]

    def accumulate(
        self, model: PreTrainedModel, batch: Sequence[Example], crew: Crew | None = None
    ) -> float:
        """Add the gradient of a batch to the model's; the mean loss of a token, in nats, unweighted.

        Of several ranks each reads its share, and says its part of the mean.

        Raises:
            TrainingError: the loss is not finite.
        """
        total = step_weight(batch, self._how.normalise)
        mine = batch if crew is None else batch[crew.rank :: crew.world]
        return accumulate_gradients(model, mine, self._how, scale=self._weight, total=total)

    def checksum(self) -> str:
        """What makes two sets of demonstrations the same."""
        return examples_checksum(self._examples)

"""From a batch of scored attempts to new weights: several optimiser steps, each over a part of the batch."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from itertools import zip_longest
from random import Random

from transformers import PreTrainedModel

from dynaweb.batch.expert import ExpertMode
from dynaweb.batch.summary import Metrics, mean_or_none
from dynaweb.batch.tokens import Objective, TrainTrajectory
from dynaweb.gspo.batch import Scored, micro_batches
from dynaweb.gspo.config import UpdateConfig
from dynaweb.gspo.demonstrations import Demonstrations
from dynaweb.gspo.fresh import NO_LAG, against_sampler, lag_metrics, require_same_weights
from dynaweb.gspo.gradient import accumulate, imitate
from dynaweb.gspo.guard import Trouble, naming, require_sound
from dynaweb.gspo.tally import Tally
from dynaweb.gspo.together import share_of, shared_logps, tallied
from dynaweb.records.seeds import derive_seed
from dynaweb.train.crew import Alone, Crew
from dynaweb.train.optimizer import Optimizer


def score_old(
    policy: PreTrainedModel,
    reference: PreTrainedModel | None,
    attempts: Sequence[TrainTrajectory],
    config: UpdateConfig,
    crew: Crew | None = None,
) -> list[Scored]:
    """pi_old of every token, by the trainer's own code path; the sampler's numbers are never used.

    Args:
        policy: pi_old.
        reference: the initial policy; the policy itself where that is what it is without its adapters. None: no KL.
        attempts: attempts.
        config: budget and temperature.
        crew: the ranks that share the work; this process alone when not given.
    """
    crew = crew or Alone(policy)
    old = shared_logps(policy, attempts, config, crew)
    if reference is None:
        return [Scored(attempt=a, old_logp_T=o) for a, o in zip(attempts, old, strict=True)]
    with _as_it_began(policy) if reference is policy else nullcontext():
        first = shared_logps(reference, attempts, config, crew)
    return [
        Scored(attempt=a, old_logp_T=o, reference_logp_T=r)
        for a, o, r in zip(attempts, old, first, strict=True)
    ]


def _as_it_began(policy: PreTrainedModel) -> AbstractContextManager[None]:
    from dynaweb.lm.adapters import without_adapters  # noqa: PLC0415 - an extra

    return without_adapters(policy)


def update_policy(
    model: PreTrainedModel,
    optimizer: Optimizer,
    attempts: Sequence[TrainTrajectory],
    config: UpdateConfig,
    *,
    seed: int,
    steps_before: int,
    reference: PreTrainedModel | None = None,
    shown: Demonstrations | None = None,
    lags: Mapping[str, int] = NO_LAG,
    crew: Crew | None = None,
) -> Metrics:
    """Train on one batch of attempts.

    Args:
        model: the policy; changed in place, kept in evaluation mode (no dropout).
        optimizer: of the policy.
        attempts: with advantages, those of exactly 0 still count in the denominator; or to imitate.
        config: loss and steps.
        seed: which attempt goes into which mini-batch.
        steps_before: optimiser steps of earlier updates, for the warm-up.
        reference: the initial policy, for the KL term; see `score_old`.
        shown: demonstrations, for the supervised term.
        lags: name of an attempt -> updates that its sampler lagged (`fresh`); 0 when it is not in it.
        crew: who does it: this process alone when not given, else ranks that all call this with the same attempts.

    Returns:
        Metrics of the update; empty of steps when there was nothing to train on.

    Raises:
        BrokenUpdateError: something is not finite, or past its limit (`guard`). The weights may have moved.
        TrainingError: the sampler is not the policy that is trained.
    """
    crew = crew or Alone(model)
    model.eval()
    require_sound(Trouble.ADVANTAGE, [a.advantage for a in attempts])
    graded = [a for a in attempts if a.objective is not Objective.LIKELIHOOD]
    imitated = [a for a in attempts if a.objective is Objective.LIKELIHOOD]
    with crew.apart():
        scored = score_old(model, reference if config.kl > 0.0 else None, graded, config, crew)
    require_sound(Trouble.LOGPROB, [float(s.old_logp_T.sum()) for s in scored])
    tally = Tally(sampler_gap=require_same_weights(scored, lags, config.sampler_gap_limit))
    tally.note_old(scored)
    scored = against_sampler(scored, lags)
    batches = shown.batches(steps_before) if shown is not None else iter(())
    for batch, beside in _mini_batches(scored, imitated, config, seed):
        steps = steps_before + tally.steps
        with crew.apart():
            step_gradients(model, batch, beside, config, tally, steps, crew)
            if shown is not None and (demonstrated := next(batches, None)):
                with naming(Trouble.LOSS), tallied(crew, tally) as mine:
                    mine.shown.append(shown.accumulate(model, demonstrated, crew))
            crew.sum_gradients()
        rate = warm(steps, config.warmup_steps)
        with naming(Trouble.GRADIENT):
            tally.grad_norms.append(optimizer.step(rate, config.guard.gradient_limit))
        tally.steps += 1
    with crew.apart():
        drift = _drift(model, scored, config, crew)
    return tally.metrics() | lag_metrics(scored, lags) | drift


def step_gradients(
    model: PreTrainedModel,
    batch: Sequence[Scored],
    beside: Sequence[TrainTrajectory],
    config: UpdateConfig,
    tally: Tally,
    steps: int,
    crew: Crew,
) -> None:
    """Of one optimiser step, by this rank on its share; sound on all ranks, or broken on all."""
    mu = config.experts.mu(steps)
    with tally.watched(config.guard), tallied(crew, tally) as mine:
        if batch and mu < 1.0:
            some = share_of(batch, lambda s: s.attempt.tokens, crew)
            accumulate(model, some, config, mine, scale=1.0 - mu, step=batch)
        if beside:
            shown = share_of(beside, lambda a: a.tokens, crew)
            imitate(model, shown, config, mine, steps, step=beside)


def _mini_batches(
    scored: Sequence[Scored],
    imitated: Sequence[TrainTrajectory],
    config: UpdateConfig,
    seed: int,
) -> Iterator[tuple[list[Scored], list[TrainTrajectory]]]:
    """For each optimiser step, attempts that are compared and experts that are imitated.

    Beside each other in equal parts; with `hard_only` the imitation is a last step of its own (ReLIFT).
    """
    own_step = config.experts.mode is ExpertMode.HARD_ONLY
    beside = [] if own_step else list(imitated)
    for epoch in range(config.epochs):
        order, also = list(range(len(scored))), list(range(len(beside)))
        Random(derive_seed(seed, "mini", epoch)).shuffle(order)
        Random(derive_seed(seed, "imitated", epoch)).shuffle(also)
        steps = zip_longest(
            cut(order, config.mini_batches), cut(also, config.mini_batches), fillvalue=()
        )
        for one, other in steps:
            yield [scored[i] for i in one], [beside[i] for i in other]
    if own_step and imitated:
        yield [], list(imitated)


def _drift(
    model: PreTrainedModel, scored: Sequence[Scored], config: UpdateConfig, crew: Crew
) -> Metrics:
    """Ask the policy once more: nothing else would see what the last step did before a checkpoint holds it.

    A wrecked policy has sound weights and forgets what it said a moment ago; one that has collapsed says everything
    with equal probability.

    Raises:
        BrokenUpdateError: it no longer finds its own words likely, or a log-probability is not finite.
    """
    # half a pass: it costs a forward pass, and a policy that is wrecked is so everywhere
    some = next(micro_batches([s.attempt for s in scored], max(1, config.token_budget // 2)), [])
    asked = [scored[i] for i in some]
    now = shared_logps(model, [s.attempt for s in asked], config, crew)
    falls = [float((s.old_logp_T - t).mean()) for t, s in zip(now, asked, strict=True)]
    require_sound(Trouble.DRIFT, falls)
    drift = mean_or_none([max(0.0, fall) for fall in falls])
    require_sound(Trouble.DRIFT, [drift or 0.0], config.guard.drift_limit)
    return {"update/drift": drift}


def warm(steps: int, warmup_steps: int) -> float:
    """Share of the full learning rate after so many optimiser steps, in (0, 1]."""
    return min(1.0, (steps + 1) / (warmup_steps + 1))


def cut(order: Sequence[int], count: int) -> list[Sequence[int]]:
    """Into at most `count` parts whose sizes differ by at most one; nothing is dropped."""
    count = min(count, len(order))
    return [order[i * len(order) // count : (i + 1) * len(order) // count] for i in range(count)]

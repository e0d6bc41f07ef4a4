"""What each rank of tests/gspo/test_ranks.py does; torchrun starts it."""

import dataclasses
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from tests.gspo import toys
from tests.gspo.test_update import attempts, config, model
from torch import Tensor
from transformers import PreTrainedModel

from dynaweb.batch.expert import ExpertMode
from dynaweb.batch.mix import MixConfig
from dynaweb.batch.tokens import Objective, TrainTrajectory
from dynaweb.dream.starts import StartsConfig
from dynaweb.gspo.config import DemonstrationsConfig, GspoConfig, UpdateConfig
from dynaweb.gspo.demonstrations import Demonstrations
from dynaweb.gspo.limits import GuardConfig, OnTrouble
from dynaweb.gspo.sources import ExpertConfig
from dynaweb.gspo.tally import Tally
from dynaweb.gspo.together import tallied
from dynaweb.gspo.train import train_gspo
from dynaweb.gspo.update import score_old, step_gradients
from dynaweb.lm.adapters import add_adapters
from dynaweb.lm.config import AdapterConfig
from dynaweb.train.batch import Example
from dynaweb.train.config import OptimizerConfig
from dynaweb.train.crew import Crew, trained
from dynaweb.train.ranks import Ranks, crew_of, joined

SETTINGS = config(token_budget=60, experts=ExpertConfig(mode=ExpertMode.SFT, mu_peak=0.3))
"""Long attempts go in parts, and experts are imitated beside."""
RUN = GspoConfig(
    iterations=3,
    groups=2,
    resample_rounds=1,
    starts=StartsConfig(adapt=True),
    max_new_tokens=8,
    mix=MixConfig(group_size=4, expert_share=0.5),
    update=UpdateConfig(
        optimizer=OptimizerConfig(name="adamw", learning_rate=3e-4, weight_decay=0.0),
        kl=0.01,
        demonstrations=DemonstrationsConfig(weight=0.5, batch_tokens=200),
        guard=GuardConfig(on_trouble=OnTrouble.SKIP),
    ),
)
KILLED_AT = 2
ADAPTERS = AdapterConfig(rank=4, alpha=8)
WEIGHTS = "half-trained.safetensors"


def steps() -> list[tuple[list[TrainTrajectory], list[TrainTrajectory]]]:
    """What is compared and what is imitated: many of both, one attempt for two ranks, and nothing but imitation."""
    some = attempts()
    shaped = [dataclasses.replace(a, objective=Objective.SHAPED) for a in some[5:7]]
    shown = [dataclasses.replace(a, objective=Objective.LIKELIHOOD) for a in some[6:9]]
    return [(some[:5] + shaped, shown), (some[:1], []), ([], shown)]


def gradients(policy: PreTrainedModel, crew: Crew) -> tuple[dict[str, Tensor], list[float]]:
    """Of each step, off-policy, demonstrations beside; and what the step saw."""
    found: dict[str, Tensor] = {}
    seen: list[float] = []
    rows = [Example(prompt_ids=(n, 5), completion_ids=(7,) * (n + 1)) for n in range(5)]
    shown = Demonstrations(rows, DemonstrationsConfig(weight=0.5), seed=0)
    for number, (batch, beside) in enumerate(steps()):
        tally = Tally()
        with crew.apart():
            scored = score_old(policy, None, batch, SETTINGS, crew)
            moved = [dataclasses.replace(s, old_logp_T=s.old_logp_T - 0.01) for s in scored]
            step_gradients(policy, moved, beside, SETTINGS, tally, 0, crew)
            with tallied(crew, tally) as mine:
                mine.shown.append(shown.accumulate(policy, rows[: 5 - 2 * number], crew))
            crew.sum_gradients()
        grads = {n: p.grad for n, p in trained(policy).items() if p.grad is not None}
        found |= {f"{number}/{n}": g.clone() for n, g in crew.gathered(grads).items()}
        policy.zero_grad(set_to_none=True)
        seen += [tally.loss, *tally.imitated, *tally.shown, *sorted(tally.ratios), *tally.shaped]
    return found, seen


def policy_of(weights: Path, *, adapted: bool) -> PreTrainedModel:
    policy = toys.blank()
    with torch.no_grad():
        for name, value in load_file(weights).items():
            policy.get_parameter(name).copy_(value)
    if adapted:
        add_adapters(policy, ADAPTERS, seed=3)
    return policy


def kill(stage: str, done: int, total: int | None, note: str = "") -> None:
    if done == KILLED_AT:
        os.kill(os.getpid(), signal.SIGKILL)


def run(out: Path, doings: Sequence[str], ranks: Ranks) -> None:
    name = ranks.sharding if ranks.world > 1 else "alone"
    with joined(ranks, cpu=True):
        if "gradients" in doings:
            policy = model(0)
            with crew_of(policy, ranks, "fp32") as crew:
                found, seen = gradients(policy, crew)
                if crew.first:
                    found["seen"] = torch.tensor(seen, dtype=torch.float64)
                    save_file(found, out / f"{name}-gradients.safetensors")
        if "train" in doings or "die" in doings:
            parts = toys.parts(policy_of(out / WEIGHTS, adapted=False))
            if "die" in doings:
                train_gspo(parts, RUN, out / name, kill, ranks=ranks)
            train_gspo(parts, RUN, out / name, ranks=ranks)
        if "lora" in doings:
            parts = toys.parts(policy_of(out / WEIGHTS, adapted=True))
            train_gspo(parts, RUN, out / f"{name}-lora", ranks=ranks)


def main(out: Path, sharding: str, *doings: str) -> None:
    torch.set_num_threads(1)
    ranks = Ranks(
        rank=int(os.environ["RANK"]),  # noqa: TID251 - torchrun says it so
        world=int(os.environ["WORLD_SIZE"]),  # noqa: TID251
        sharding=sharding,  # type: ignore[arg-type]  # checked by the record
    )
    run(out, doings, ranks)


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])

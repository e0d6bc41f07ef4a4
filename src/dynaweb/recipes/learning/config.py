"""The plan of `dynaweb bench learning`: arms, budgets in steps, pages and comparisons. Importable without torch.

It is fixed here, in a commit before its first evaluation. Budgets are optimiser steps and iterations, never seconds:
a busy machine changes how long a run takes and nothing else.
"""

from dataclasses import dataclass, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from dynaweb.errors import UserError
from dynaweb.evaluate.plan import Comparison
from dynaweb.gspo.config import AuditConfig
from dynaweb.recipes.config import BaseConfig, EvaluationConfig, RecipeConfig
from dynaweb.recipes.presets import smoke, study
from dynaweb.train.config import FitConfig

FIRST_PAGE: Final = 5_000_000
"""Seed of the first page of the evaluation: nothing else has looked at those from here on."""


class Arm(StrEnum):
    """A way on from the first agent."""

    SFT = "sft"
    SFT_MORE = "sft_more"
    DREAMS = "dreams_experts"
    LIVE = "live"
    DREAMS_ONLY = "dreams_only"
    UNTRAINED = "dreams_untrained"
    FILTERED = "filtered_bc"


SEEDED: Final = (Arm.SFT_MORE, Arm.DREAMS, Arm.LIVE)
"""Trained with every seed; the others with the first."""

DREAMERS: Final = frozenset({Arm.DREAMS, Arm.DREAMS_ONLY, Arm.UNTRAINED})
"""Pay for the attempts that world model and judge were made from."""

AT_PAGES: Final = frozenset({Arm.LIVE, Arm.FILTERED})
"""Pay for attempts at real pages while they learn."""

IN_WORDS: Final = MappingProxyType(
    {
        Arm.SFT: "the first agent: demonstrations alone",
        Arm.SFT_MORE: "supervised training goes on, on the same demonstrations",
        Arm.DREAMS: "GSPO in dreams, half of a group's members experts where its start has one",
        Arm.LIVE: "live on-policy GSPO: fresh attempts at fresh real pages, nothing else, in every group",
        Arm.DREAMS_ONLY: "GSPO in dreams without any demonstration, in groups or beside them",
        Arm.UNTRAINED: "as dreams_experts, in the weights that the world model's training began with; the trained judge",
        Arm.FILTERED: "supervised training on the demonstrations and the successes among the attempts of the live run of its seed",
    }
)

COMPARISONS: Final = (
    Comparison(treatment=Arm.DREAMS, control=Arm.SFT_MORE, primary=True),
    Comparison(treatment=Arm.DREAMS, control=Arm.LIVE, primary=True),
    Comparison(treatment=Arm.LIVE, control=Arm.SFT_MORE),
    *(Comparison(treatment=arm, control=Arm.SFT) for arm in Arm if arm is not Arm.SFT),
    Comparison(treatment=Arm.DREAMS, control=Arm.DREAMS_ONLY),
    Comparison(treatment=Arm.DREAMS, control=Arm.UNTRAINED),
    Comparison(treatment=Arm.LIVE, control=Arm.FILTERED),
)
"""Asked of the agents at their last checkpoint, on pages and seeds that both have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LearningConfig:
    """One measurement: what all arms share, and what each may spend."""

    name: str
    """What the size is called: `full` or `smoke`."""
    recipe: RecipeConfig
    """Tasks, data, first agent, world model and judge, made once; `gspo` is that of the arm with experts, whose
    iterations are given below; `evaluation` has pages and statistics."""
    seeds: tuple[int, ...] = (0, 1, 2)
    """Of the arms: order of batches, starts, replies. The first agent and the world model are the same for all."""
    sft_steps: tuple[int, ...]
    """Optimiser steps at each checkpoint of the supervised arms; each part warms up and decays by itself."""
    dream_iterations: tuple[int, ...]
    """Iterations at each checkpoint of the arms that dream."""
    live_iterations: tuple[int, ...]
    """Iterations at each checkpoint of live GSPO."""
    live_groups: int = 8
    """Groups of an iteration of live GSPO; none is made again."""

    def __post_init__(self) -> None:
        budgets = {
            n: getattr(self, n) for n in ("sft_steps", "dream_iterations", "live_iterations")
        }
        for name, budget in budgets.items():
            if not budget or any(b <= a for a, b in zip((0, *budget), budget, strict=False)):
                raise UserError(
                    f"learning {name} {budget!r} must rise from checkpoint to checkpoint, from 1"
                )
            if len(budget) != self.checkpoints:
                raise UserError(
                    f"learning {name} has {len(budget)} checkpoints, sft_steps {self.checkpoints}: give all as many"
                )
        if not self.seeds or len(set(self.seeds)) != len(self.seeds):
            raise UserError(f"learning seeds {self.seeds!r} must be one or more, each once")
        if self.live_groups < 1:
            raise UserError(f"learning live_groups {self.live_groups!r} must be 1 or more")
        if len(self.seeds) > self.recipe.evaluation.episodes:
            raise UserError(
                f"evaluation episodes {self.recipe.evaluation.episodes!r} are fewer than the seeds, which share "
                "the pages of a checkpoint: use as many or more"
            )
        if not self.recipe.data.openings:
            raise UserError("data openings is 0: live GSPO needs fresh first pages to begin from")

    @property
    def checkpoints(self) -> int:
        """Times that a run is evaluated."""
        return len(self.sft_steps)

    def seeds_of(self, arm: Arm) -> tuple[int, ...]:
        """Seeds that an arm is trained with."""
        return self.seeds if arm in SEEDED else self.seeds[:1]

    def pages(self, seed: int, checkpoint: int) -> tuple[int, ...]:
        """Page seeds of an evaluation: all at the last checkpoint; before it the seeds share them out."""
        how = self.recipe.evaluation
        first, share = how.first_seed, self.seeds.index(seed)
        every = range(first, first + how.episodes)
        return tuple(every if checkpoint == self.checkpoints else every[share :: len(self.seeds)])


def full() -> LearningConfig:
    """Fifteen tasks, fifteen unseen pages each, three seeds; a run trains two to four minutes on one quiet core."""
    whole = study()
    recipe = replace(
        whole,
        name="learning",
        tasks=(
            "choose-list", "click-button-sequence", "click-checkboxes-transfer", "click-dialog-2", "click-link",
            "click-option", "click-scroll-list", "click-tab", "enter-password", "enter-text-dynamic",
            "form-sequence-2", "form-sequence-3", "login-user-popup", "multi-orderings", "read-table",
        ),
        data=replace(whole.data, random=3, noisy=9, agent=16, openings=8, held_out=10, held_out_noisy=2),
        policy=replace(
            whole.policy,
            base=BaseConfig(find=12_000, mixed=6_000),
            fit=replace(whole.policy.fit, epochs=60.0),
            own_epochs=0.0,
        ),
        world=replace(
            whole.world,
            train=replace(whole.world.train, verdict_exercises=1000),
            fit=FitConfig(epochs=4.0, batch_tokens=2048),
        ),
        gspo=replace(
            whole.gspo,
            groups=12,
            resample_rounds=1,
            mix=replace(whole.gspo.mix, expert_share=0.5, live_share=0.0),
            audit=AuditConfig(every=0),
        ),
        evaluation=EvaluationConfig(episodes=15, first_seed=FIRST_PAGE, max_steps=7),
        threads=1,
    )  # fmt: skip
    return LearningConfig(
        name="full",
        recipe=recipe,
        sft_steps=(150, 300),
        dream_iterations=(4, 8),
        live_iterations=(3, 6),
    )


def tiny() -> LearningConfig:
    """Every arm, real and tiny: does it hold together. Its numbers mean nothing."""
    whole = smoke()
    recipe = replace(
        whole,
        name="learning-smoke",
        data=replace(whole.data, openings=2),
        policy=replace(whole.policy, own_epochs=0.0),
        gspo=replace(whole.gspo, audit=AuditConfig(every=0)),
        threads=1,
    )
    return LearningConfig(
        name="smoke",
        recipe=recipe,
        seeds=(0, 1),
        sft_steps=(2, 4),
        dream_iterations=(1, 2),
        live_iterations=(1, 2),
        live_groups=2,
    )


SIZES: Final = MappingProxyType({"full": full, "smoke": tiny})
"""Name on the command line -> plan."""


def sized(name: str) -> LearningConfig:
    """A plan by name.

    Raises:
        UserError: no such plan.
    """
    if name not in SIZES:
        raise UserError(f"--size {name!r}: use one of {', '.join(SIZES)}")
    return SIZES[name]()

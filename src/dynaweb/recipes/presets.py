"""The recipes that ship: `smoke` (CI), `demo` (`make demo`), `study` (`make study`).

Tasks, seeds and analysis of the study are fixed here, in a commit before its first evaluation.
"""

from dataclasses import replace

from dynaweb.agent.lm_agent import AgentConfig
from dynaweb.batch.mix import MixConfig
from dynaweb.dream.starts import StartsConfig
from dynaweb.errors import UserError
from dynaweb.gspo.config import AuditConfig, ClipConfig, GspoConfig, UpdateConfig
from dynaweb.recipes.config import (
    DataConfig,
    EvaluationConfig,
    PolicyConfig,
    RecipeConfig,
    WorldConfig,
)
from dynaweb.train.config import FitConfig, OptimizerConfig
from dynaweb.world.training import WorldTrainConfig

DEMO_TASKS = (
    "choose-list",
    "click-checkboxes",
    "click-option",
    "enter-password",
    "enter-text-dynamic",
    "login-user",
    "multi-layouts",
    "read-table",
)

STUDY_TASKS = (
    "choose-list",
    "click-button",
    "click-button-sequence",
    "click-checkboxes",
    "click-checkboxes-transfer",
    "click-dialog-2",
    "click-link",
    "click-option",
    "click-scroll-list",
    "click-tab",
    "click-widget",
    "copy-paste",
    "email-inbox-delete",
    "email-inbox-important",
    "enter-date",
    "enter-password",
    "enter-text",
    "enter-text-dynamic",
    "enter-time",
    "find-word",
    "focus-text-2",
    "form-sequence-2",
    "form-sequence-3",
    "login-user",
    "login-user-popup",
    "multi-layouts",
    "multi-orderings",
    "read-table",
    "read-table-2",
    "use-spinner",
)


def study() -> RecipeConfig:
    """The proof: thirty tasks, twenty unseen pages each, four arms."""
    return RecipeConfig(
        name="study",
        tasks=STUDY_TASKS,
        data=DataConfig(experts=10, random=4, noisy=12, agent=36, held_out=24, held_out_noisy=3),
        policy=PolicyConfig(fit=FitConfig(epochs=25.0, batch_tokens=2048)),
        world=WorldConfig(
            train=WorldTrainConfig(renamed_copies=0, judge_fraction=0.6),
            fit=FitConfig(epochs=4.0, batch_tokens=2048),
        ),
        gspo=GspoConfig(
            iterations=40,
            groups=16,
            mix=MixConfig(group_size=8, expert_share=0.5, live_share=0.25),
            starts=StartsConfig(intermediate_share=0.3),
            update=UpdateConfig(
                optimizer=OptimizerConfig(name="adamw", learning_rate=5e-4, weight_decay=0.0),
                clip=ClipConfig(low=0.2, high=0.2, reference_tokens=None),
                kl=0.05,
                temperature=1.3,
            ),
            audit=AuditConfig(every=20, dreams=24),
        ),
        evaluation=EvaluationConfig(episodes=20, max_steps=8),
    )


def demo() -> RecipeConfig:
    """The same recipe at eight tasks and ten pages an arm: minutes, and a wide interval."""
    full = study()
    return replace(
        full,
        name="demo",
        tasks=DEMO_TASKS,
        data=DataConfig(experts=10, random=4, noisy=12, agent=24, held_out=12, held_out_noisy=2),
        world=replace(full.world, fit=FitConfig(epochs=4.0, batch_tokens=2048)),
        gspo=replace(full.gspo, iterations=8, audit=AuditConfig(every=4, dreams=12)),
        evaluation=EvaluationConfig(episodes=10, max_steps=8),
    )


def smoke() -> RecipeConfig:
    """Every stage, real and tiny: does the machine hold together. Its numbers mean nothing."""
    return replace(
        demo(),
        name="smoke",
        tasks=("click-option", "enter-text-dynamic"),
        data=DataConfig(experts=4, random=1, noisy=4, agent=4, held_out=5, held_out_noisy=2),
        policy=PolicyConfig(vocab_size=640, fit=FitConfig(epochs=30.0, batch_tokens=1024)),
        agent=AgentConfig(max_new_tokens=16),
        world=WorldConfig(
            train=WorldTrainConfig(renamed_copies=0), fit=FitConfig(epochs=8.0, batch_tokens=1024)
        ),
        gspo=GspoConfig(
            iterations=2,
            groups=2,
            max_new_tokens=16,
            mix=MixConfig(group_size=4, expert_share=0.5),
            audit=AuditConfig(every=2, dreams=4),
        ),
        evaluation=EvaluationConfig(episodes=2, max_steps=4),
        final_audit_dreams=6,
    )


PRESETS = {"smoke": smoke, "demo": demo, "study": study}
"""Name -> recipe."""


def preset(name: str) -> RecipeConfig:
    """A recipe by name.

    Raises:
        UserError: no such recipe.
    """
    if name not in PRESETS:
        raise UserError(f"no recipe {name!r}: use one of {', '.join(PRESETS)}")
    return PRESETS[name]()

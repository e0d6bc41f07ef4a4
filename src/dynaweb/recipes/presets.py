"""The recipes that ship: `smoke` (CI), `demo` (`make demo`), `study` (`make study`), `fidelity` (`dynaweb world study`).

Tasks, seeds and analysis of the study are fixed here, in a commit before its first evaluation.
"""

from dataclasses import replace

from dynaweb.agent.lm_agent import AgentConfig
from dynaweb.axtree.lexicon import LexiconConfig
from dynaweb.batch.advantage import AdvantageConfig
from dynaweb.batch.mix import MixConfig
from dynaweb.browser.config import BrowserConfig
from dynaweb.dream.config import DreamConfig
from dynaweb.dream.starts import StartsConfig
from dynaweb.errors import UserError
from dynaweb.gspo.config import (
    AuditConfig,
    ClipConfig,
    DemonstrationsConfig,
    GspoConfig,
    UpdateConfig,
)
from dynaweb.gspo.limits import GateConfig
from dynaweb.judge.examples import JudgeExamplesConfig
from dynaweb.lm.config import ModelConfig
from dynaweb.recipes.config import (
    BaseConfig,
    DataConfig,
    EvaluationConfig,
    PolicyConfig,
    RecipeConfig,
    WorldConfig,
)
from dynaweb.train.config import FitConfig, OptimizerConfig
from dynaweb.world.config import WorldModelConfig
from dynaweb.world.examples import ExamplesConfig
from dynaweb.world.training import WorldTrainConfig

PAST_ACTIONS = 2
"""Actions before the present one that the world model is shown."""

EXPLORING = 2.0
"""Temperature of attempts and dreams: an agent that has learnt all its demonstrations teach is so sure of itself
that at 1 it does the same thing eight times."""

FRESH_PAGES = 3_000_000
"""Seed of the first page of an evaluation: those from 1,000,000 and from 2,000,000 on have been looked at by studies."""

DEMO_TASKS = (
    "choose-list",
    "click-checkboxes",
    "click-option",
    "enter-text-dynamic",
    "form-sequence-3",
    "login-user-popup",
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
    "email-inbox-delete",
    "email-inbox-important",
    "enter-password",
    "enter-text-dynamic",
    "enter-time",
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


# The world models of these recipes are told the goal: on MiniWoB++ what a click does hangs on the task (a star ends the
# one that asks for stars and is only lit in the others), and the goal is the only place that says which task it is.
def study() -> RecipeConfig:
    """The proof: twenty-five tasks, twenty unseen pages each, four arms."""
    return RecipeConfig(
        name="study",
        tasks=STUDY_TASKS,
        data=DataConfig(
            experts=10,
            random=4,
            noisy=12,
            agent=36,
            agent_temperature=EXPLORING,
            held_out=24,
            held_out_noisy=3,
        ),
        policy=PolicyConfig(
            model=ModelConfig(hidden=128, layers=4, heads=4, ffn=352),
            base=BaseConfig(find=14_000, mixed=26_000),
            lexicon=LexiconConfig(common_fraction=0.4),
            fit=FitConfig(
                epochs=100.0,
                batch_tokens=2048,
                optimizer=OptimizerConfig(muon_learning_rate=1e-2),
            ),
            own_epochs=6.0,
        ),
        world=WorldConfig(
            train=WorldTrainConfig(
                examples=ExamplesConfig(
                    show_goal=True,
                    plain_cap=60,
                    most_shown=24,
                    rare=120,
                    past_actions=PAST_ACTIONS,
                ),
                renamed_copies=0,
                judge_fraction=0.5,
                verdict_exercises=2500,
            ),
            fit=FitConfig(epochs=6.0, batch_tokens=2048),
            ask=WorldModelConfig(show_goal=True, past_actions=PAST_ACTIONS),
            least_right=0.8,
        ),
        gspo=GspoConfig(
            iterations=24,
            groups=30,
            resample_rounds=2,
            mix=MixConfig(group_size=8, expert_share=0.5, live_share=0.25),
            dream=DreamConfig(show_goal=True),
            starts=StartsConfig(intermediate_share=0.3, adapt=True),
            advantage=AdvantageConfig(negative_cap=0.0),
            update=UpdateConfig(
                optimizer=OptimizerConfig(
                    name="muon", learning_rate=8e-4, muon_learning_rate=4e-3, weight_decay=0.0
                ),
                clip=ClipConfig(low=0.2, high=0.2, reference_tokens=None),
                warmup_steps=8,
                kl=0.02,
                demonstrations=DemonstrationsConfig(weight=1.0),
                temperature=EXPLORING,
            ),
            audit=AuditConfig(every=8, dreams=24),
        ),
        evaluation=EvaluationConfig(episodes=20, first_seed=FRESH_PAGES, max_steps=8),
    )


def demo() -> RecipeConfig:
    """The same recipe at eight tasks and ten pages an arm: minutes, and a wide interval."""
    full = study()
    return replace(
        full,
        name="demo",
        tasks=DEMO_TASKS,
        data=replace(full.data, agent=20, held_out=12, held_out_noisy=2),
        policy=replace(
            full.policy,
            base=BaseConfig(find=12_000, mixed=6_000),
            fit=replace(full.policy.fit, epochs=45.0),
        ),
        world=replace(
            full.world,
            train=replace(full.world.train, verdict_exercises=1000),
            fit=replace(full.world.fit, epochs=4.0),
        ),
        gspo=replace(full.gspo, iterations=6, groups=20, audit=AuditConfig(every=3, dreams=12)),
        evaluation=EvaluationConfig(episodes=10, first_seed=FRESH_PAGES, max_steps=8),
    )


def smoke() -> RecipeConfig:
    """Every stage, real and tiny: does the machine hold together. Its numbers mean nothing."""
    return replace(
        demo(),
        name="smoke",
        tasks=("click-option", "enter-text-dynamic"),
        data=DataConfig(experts=4, random=1, noisy=4, agent=4, held_out=5, held_out_noisy=2),
        policy=PolicyConfig(
            vocab_size=1024,
            base=BaseConfig(find=400, mixed=200),
            fit=FitConfig(epochs=30.0, batch_tokens=1024),
            own_epochs=2.0,
        ),
        agent=AgentConfig(max_new_tokens=16),
        world=WorldConfig(
            train=WorldTrainConfig(
                examples=ExamplesConfig(show_goal=True), renamed_copies=0, verdict_exercises=50
            ),
            fit=FitConfig(epochs=8.0, batch_tokens=1024),
            ask=WorldModelConfig(show_goal=True),
        ),
        gspo=GspoConfig(
            iterations=2,
            groups=2,
            max_new_tokens=16,
            mix=MixConfig(group_size=4, expert_share=0.5),
            dream=DreamConfig(show_goal=True),
            update=UpdateConfig(demonstrations=DemonstrationsConfig(weight=1.0)),
            audit=AuditConfig(every=2, dreams=4),
            # a minute of training knows little more than the rules, on two tasks that show little else: the dreams are
            # here to be run, and the log and the report say what they are worth
            gate=GateConfig(closed=False),
        ),
        evaluation=EvaluationConfig(episodes=2, max_steps=4),
        final_audit_dreams=6,
    )


WORLD_TASKS = (*STUDY_TASKS, "click-menu-2", "email-inbox-star-reply")
"""The study's, and two more whose pages change in parts."""


def fidelity() -> RecipeConfig:
    """World model and judge at full strength (`dynaweb world study`).

    Twice the real steps, a training of up to half an hour, held-out pages that no trial has looked at.
    """
    full = study()
    return replace(
        full,
        name="fidelity",
        tasks=WORLD_TASKS,
        data=replace(
            full.data,
            random=20,
            noisy=36,
            agent=40,
            held_out=20,
            held_out_noisy=5,
            held_out_random=5,
            first_held_out=55_000,
        ),
        policy=replace(full.policy, fit=replace(full.policy.fit, epochs=20.0), own_epochs=0.0),
        world=replace(
            full.world,
            train=replace(
                full.world.train,
                examples=replace(full.world.train.examples, plain_cap=120),
                judge=JudgeExamplesConfig(swapped=2, retargeted=2),
                verdict_exercises=6000,
            ),
            fit=FitConfig(steps=6400, batch_tokens=2048),
        ),
        browser=BrowserConfig(episodes_per_tab=50),
    )


PRESETS = {"smoke": smoke, "demo": demo, "study": study, "fidelity": fidelity}
"""Name -> recipe."""


def preset(name: str) -> RecipeConfig:
    """A recipe by name.

    Raises:
        UserError: no such recipe.
    """
    if name not in PRESETS:
        raise UserError(f"no recipe {name!r}: use one of {', '.join(PRESETS)}")
    return PRESETS[name]()

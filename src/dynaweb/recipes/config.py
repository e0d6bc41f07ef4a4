"""Everything that decides a run: data, models, dreams, controls, evaluation. Importable without torch."""

from dataclasses import dataclass, field, replace

from dynaweb.agent.lm_agent import AgentConfig
from dynaweb.axtree.lexicon import LexiconConfig
from dynaweb.browser.config import BrowserConfig
from dynaweb.collect.explore import NoiseConfig
from dynaweb.errors import UserError
from dynaweb.evaluate.config import StatisticsConfig
from dynaweb.gspo.config import GspoConfig
from dynaweb.judge.calibrate import CalibrationConfig
from dynaweb.lm.config import ModelConfig
from dynaweb.records.seeds import derive_seed
from dynaweb.train.config import FitConfig, OptimizerConfig
from dynaweb.world.config import WorldModelConfig
from dynaweb.world.training import WorldTrainConfig

MAY_DIFFER = frozenset({"browser.executable", "live_workers"})
"""Settings that change no result: a run may be taken up with others."""

MOST_PAGES = 5_000
"""Pages a task for each source of episodes; their seeds lie 10,000 apart."""

MOST_EXERCISES = 10_000_000
"""Exercises of one lesson."""

HELD_OUT_SEEDS = 50_000
"""First seed of the pages that a run is measured on and never trained on."""

HELD_OUT_PAGES = 10_000
"""How many there are for each task."""

EVALUATION_SEEDS_FROM = 1_000_000
"""Page seeds from here on are for evaluation alone."""

VALIDATION_SEEDS_FROM = 60_000
"""Page seeds from here on are for trials: no stage trains on them, and no result is claimed from them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DataConfig:
    """Real episodes a run collects, for each task."""

    experts: int = 20
    """Demonstrations that every arm learns from."""
    random: int = 6
    """Attempts of the random policy, for the world model."""
    noisy: int = 20
    """Attempts of an expert that errs, for the world model and the judge."""
    noise: NoiseConfig = field(default_factory=NoiseConfig)
    """How it errs."""
    agent: int = 40
    """Attempts of the first agent, its failures above all, for world model, judge and starts."""
    agent_temperature: float = 1.0
    """Of those attempts."""
    openings: int = 0
    """First pages that are only looked at, for dreams to begin from: one real step each."""
    held_out: int = 12
    """Attempts of the first agent on pages that nothing is trained on: fidelity and judge."""
    held_out_noisy: int = 4
    """Attempts of the erring expert on such pages."""
    held_out_random: int = 0
    """Attempts of the random policy on such pages: changes that no agent would bring about."""
    first_held_out: int = HELD_OUT_SEEDS
    """Seed of the first such page, 50000 to 59999. Those that trials have looked at prove nothing."""

    def __post_init__(self) -> None:
        counts = (
            "experts", "random", "noisy", "agent", "openings",
            "held_out", "held_out_noisy", "held_out_random",
        )  # fmt: skip
        for name in counts:
            if not 0 <= getattr(self, name) <= MOST_PAGES:
                raise UserError(
                    f"data {name} {getattr(self, name)!r} is out of range: 0 to {MOST_PAGES}"
                )
        if not self.experts:
            raise UserError("data experts is 0: the agent needs at least one demonstration a task")
        pages = self.held_out + self.held_out_noisy + self.held_out_random
        last = HELD_OUT_SEEDS + HELD_OUT_PAGES - pages
        if not HELD_OUT_SEEDS <= self.first_held_out <= last:
            raise UserError(
                f"data first_held_out {self.first_held_out!r} is out of range: use {HELD_OUT_SEEDS} to {last}"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class BaseConfig:
    """What a new model practises before it sees a demonstration: to read pages (`dataset.exercises`).

    The same base for every arm. A pretrained model needs none.
    """

    find: int = 0
    """Exercises of the first lesson; 0 for none."""
    mixed: int = 0
    """Exercises of the second."""
    batch_tokens: int = 2048
    """Positions in one step, at least 1."""
    optimizer: OptimizerConfig = field(default_factory=OptimizerConfig)
    """How gradients become steps."""

    def __post_init__(self) -> None:
        for name in ("find", "mixed"):
            if not 0 <= getattr(self, name) <= MOST_EXERCISES:
                raise UserError(
                    f"base {name} {getattr(self, name)!r} is out of range: use 0 to {MOST_EXERCISES}"
                )


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyConfig:
    """The agent before it dreams."""

    vocab_size: int = 2048
    """Entries of the run's own tokenizer."""
    model: ModelConfig = field(default_factory=ModelConfig)
    """Shape of the agent and of the world model."""
    base: BaseConfig = field(default_factory=BaseConfig)
    """Exercises in reading before the demonstrations."""
    fit: FitConfig = field(default_factory=lambda: FitConfig(epochs=12.0))
    """Supervised training on the demonstrations."""
    own_epochs: float = 0.0
    """Passes over demonstrations and the first agent's own real successes before it dreams; 0 for none (ours:
    the attempts were made for the world model, and no arm should leave lying what it has paid for)."""
    pointers: bool = True
    """Point at names instead of spelling them (`prompts.pointers`): for models that cannot copy yet."""
    lexicon: LexiconConfig = field(default_factory=LexiconConfig)
    """How names are told from words when `pointers` is on."""
    renamed_copies: int = 0
    """Copies of every demonstration under other names (`axtree.rename`); of use without pointers."""

    def __post_init__(self) -> None:
        if not 0.0 <= self.own_epochs <= 1000.0:
            raise UserError(f"policy own_epochs {self.own_epochs!r} is out of range: use 0 to 1000")
        if not self.pointers and (self.base.find or self.base.mixed):
            raise UserError(
                "policy.base practises pointing at names, and policy.pointers is false: "
                "set policy.base.find and policy.base.mixed to 0"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class WorldConfig:
    """The world model and its judge."""

    train: WorldTrainConfig = field(default_factory=WorldTrainConfig)
    """What they learn."""
    fit: FitConfig = field(default_factory=lambda: FitConfig(epochs=3.0))
    """How."""
    ask: WorldModelConfig = field(default_factory=WorldModelConfig)
    """How they are asked."""
    calibration: CalibrationConfig = field(default_factory=CalibrationConfig)
    """Errors that the judge's bars allow, on the pages they are set on."""
    least_right: float = 0.0
    """Tasks in which a smaller share of the held-out steps is imagined rightly are not dreamt of, in [0, 1] (ours: a
    dream of a page that is not like that teaches what is not true). 0 dreams of all."""

    def __post_init__(self) -> None:
        if not 0.0 <= self.least_right <= 1.0:
            raise UserError(f"world least_right {self.least_right!r} is out of range: use 0 to 1")
        for name in ("show_goal", "past_actions"):
            trained, asked = getattr(self.train.examples, name), getattr(self.ask, name)
            if trained != asked:
                raise UserError(
                    f"world.train.examples.{name}={trained!r} but world.ask.{name}={asked!r}: "
                    "a world model is asked as it was trained; set them alike"
                )


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationConfig:
    """The proof, in the real browser."""

    episodes: int = 20
    """Unseen pages for each task, the same for every arm."""
    first_seed: int = EVALUATION_SEEDS_FROM
    """Seed of the first of them. Trials that choose settings use 60000: pages that are looked at more than
    once prove nothing."""
    max_steps: int = 10
    """Actions an attempt may take."""
    statistics: StatisticsConfig = field(default_factory=StatisticsConfig)
    """Intervals."""

    def __post_init__(self) -> None:
        if self.first_seed < VALIDATION_SEEDS_FROM:
            raise UserError(
                f"evaluation first_seed {self.first_seed!r} is among the pages that a run learns from: "
                f"use {VALIDATION_SEEDS_FROM} or more"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlsConfig:
    """What DynaWeb has to beat."""

    match_time: bool = True
    """Train the controls for as long as world model and dreams took; else `steps`."""
    steps: int = 0
    """Optimiser steps of the controls when time is not matched."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecipeConfig:
    """One whole run."""

    name: str
    tasks: tuple[str, ...]
    seed: int = 0
    data: DataConfig = field(default_factory=DataConfig)
    policy: PolicyConfig = field(default_factory=PolicyConfig)
    world: WorldConfig = field(default_factory=WorldConfig)
    gspo: GspoConfig = field(default_factory=GspoConfig)
    controls: ControlsConfig = field(default_factory=ControlsConfig)
    evaluation: EvaluationConfig = field(default_factory=EvaluationConfig)
    agent: AgentConfig = field(default_factory=AgentConfig)
    browser: BrowserConfig = field(default_factory=BrowserConfig)
    final_audit_dreams: int = 64
    """Dreams of the trained agent that are replayed in the real browser at the end."""
    live_workers: int = 8
    """Episodes that run side by side in the browser; changes no result."""
    live_threads: int = 1
    """Threads of torch while a browser runs: more of them wait for the cores that it needs."""
    threads: int = 2
    """Threads of torch; another number changes the last digits, and how long the controls are trained."""

    def __post_init__(self) -> None:
        if not self.tasks:
            raise UserError("the recipe has no tasks: name at least one")
        if len(set(self.tasks)) != len(self.tasks):
            raise UserError("the recipe names a task twice")
        if min(self.live_workers, self.live_threads, self.threads) < 1:
            raise UserError("live_workers, live_threads and threads must be 1 or more")

    def require_told_alike(self) -> None:
        """A recipe that dreams in its own world model tells it in dreams what it was trained to be told.

        Raises:
            UserError: the goal is told in one and not in the other.
        """
        dreamt, asked = self.gspo.dream.show_goal, self.world.ask.show_goal
        if dreamt != asked:
            raise UserError(
                f"the world model is asked with world.ask.show_goal={asked!r}, but in dreams with "
                f"gspo.dream.show_goal={dreamt!r}: set them alike"
            )

    def with_seed(self, seed: int) -> "RecipeConfig":
        """The same recipe with every stream of chance drawn from another seed."""

        def drawn(what: str) -> int:
            return derive_seed(seed, "recipe", what) % 2**31

        policy = replace(self.policy, fit=replace(self.policy.fit, seed=drawn("policy")))
        world = replace(
            self.world,
            fit=replace(self.world.fit, seed=drawn("world")),
            train=replace(self.world.train, seed=drawn("examples")),
        )
        gspo = replace(self.gspo, seed=drawn("gspo"))
        return replace(self, seed=seed, policy=policy, world=world, gspo=gspo)

    def agent_at(self, temperature: float) -> AgentConfig:
        """The agent's settings at another temperature."""
        return replace(self.agent, temperature=temperature)

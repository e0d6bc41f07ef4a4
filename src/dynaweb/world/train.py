"""Train one model to imagine and to judge: trajectories and a folder in, a trained folder out.

The folder holds `model.safetensors`, `config.json`, the tokenizer, `world.json` (what it was trained
on) and `training/` (checkpoints and metrics). Called again with the same arguments it continues, or
returns what is there.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from transformers import PreTrainedModel

from dynaweb.axtree.rename import renamed_copies
from dynaweb.axtree.vocabulary import learn_vocabulary
from dynaweb.dataset.policy import TextExample
from dynaweb.dataset.verdicts import verdict_exercises
from dynaweb.judge.examples import JudgeExample, judge_examples
from dynaweb.lm.language import Language
from dynaweb.lm.model import context_length, save_model
from dynaweb.prompts.pointers import EVERY_WORD, Lexicon
from dynaweb.records.seeds import derive_seed
from dynaweb.records.trajectory import Trajectory
from dynaweb.runs.atomic import write_json
from dynaweb.train.batch import Example
from dynaweb.train.config import FitConfig
from dynaweb.train.encode import encode_examples, fitting
from dynaweb.train.fit import FitResult, Progress, fit
from dynaweb.world.examples import WorldExample, world_examples
from dynaweb.world.training import WorldTrainConfig as WorldTrainConfig

WORLD_FILE = "world.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class WorldData:
    """Examples in tokens, and the counts behind them."""

    examples: tuple[Example, ...]
    counts: Mapping[str, int]
    """Name -> number; `steps_in`, `world_examples`, `dropped.<reason>` and so on."""
    too_long: tuple[str, ...] = ()
    """The examples that were left out for their length, each with its task and length."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorldTrainResult:
    """What a training came to."""

    fit: FitResult
    counts: Mapping[str, int]


def world_texts(
    trajectories: Iterable[Trajectory], config: WorldTrainConfig, lexicon: Lexicon = EVERY_WORD
) -> list[str]:
    """All words of the examples as the model will see them, for learning a tokenizer."""
    worlds, judges, _ = _texts(list(trajectories), config)
    pairs = [(e.prompt, e.completion) for e in worlds]
    pairs += [(e.prompt, e.completion) for e in judges]
    return ["".join(lexicon.pair(prompt, reply)) for prompt, reply in pairs]


def build_world_data(
    trajectories: Sequence[Trajectory],
    language: Language,
    config: WorldTrainConfig,
    *,
    context: int,
) -> WorldData:
    """Examples of both kinds, weighed; those longer than the context are left out and counted."""
    seen, judges, counts = _texts(trajectories, config)
    worlds = [e for e in seen for _ in range(e.shown)]
    counts["world_shown"] = len(worlds)
    world_rows = encode_examples(
        language,
        [(e.prompt, e.completion) for e in worlds],
        [e.weight for e in worlds],
    )
    judge_rows = encode_examples(
        language,
        [(e.prompt, e.completion) for e in judges],
        [e.weight for e in judges],
    )
    made = _made_verdicts(language, config)
    counts["verdict_exercises"] = len(made)
    judge_rows += encode_examples(language, [(e.prompt, e.completion) for e in made])
    longer = [
        f"task {e.task!r}: {row.length} tokens"
        for e, row in zip(worlds, world_rows, strict=True)
        if row.length > context
    ]
    kept_worlds, counts["dropped.world_too_long"] = fitting(world_rows, context)
    kept_judges, counts["dropped.judge_too_long"] = fitting(judge_rows, context)
    scale = _judge_scale(kept_worlds, kept_judges, config.judge_fraction)
    scaled = [
        Example(prompt_ids=e.prompt_ids, completion_ids=e.completion_ids, weight=e.weight * scale)
        for e in kept_judges
    ]
    named = tuple(dict.fromkeys(longer))
    return WorldData(examples=(*kept_worlds, *scaled), counts=counts, too_long=named)


def _made_verdicts(language: Language, config: WorldTrainConfig) -> list[TextExample]:
    if not config.verdict_exercises:
        return []
    words = language.lexicon.words or ()
    return verdict_exercises(config.verdict_exercises, words, seed=config.seed)


def train_world(
    model: PreTrainedModel,
    language: Language,
    trajectories: Sequence[Trajectory],
    folder: Path,
    *,
    config: WorldTrainConfig,
    how: FitConfig,
    progress: Progress | None = None,
) -> WorldTrainResult:
    """Train `model` in place, from the weights it has, and write it to `folder`.

    Args:
        model: new, or already trained on something else (the agent's own weights).
        language: of that model.
        trajectories: real attempts of the training seeds, successes and failures.
        folder: what is written.
        config: what is learnt.
        how: how long and how.
        progress: told every row of metrics.

    Raises:
        UserError: nothing to learn from. StorageError: the folder holds another training.
    """
    data = build_world_data(trajectories, language, config, context=context_length(model))
    result = fit(model, data.examples, how, folder / "training", progress)
    language.save(folder)
    save_model(model, folder)
    about = {"config": asdict(config), "counts": dict(data.counts), "fit": asdict(result)}
    write_json(folder / WORLD_FILE, about)
    return WorldTrainResult(fit=result, counts=data.counts)


def _texts(
    trajectories: Sequence[Trajectory], config: WorldTrainConfig
) -> tuple[tuple[WorldExample, ...], tuple[JudgeExample, ...], dict[str, int]]:
    vocabulary = learn_vocabulary(trajectories, config.vocabulary)
    attempts = renamed_copies(
        trajectories,
        vocabulary,
        copies=config.renamed_copies,
        seed_of=lambda t, i: derive_seed(config.seed, "rename", t.trajectory_id, i),
    )
    worlds = world_examples(attempts, config.examples, seed=config.seed)
    judges = judge_examples(attempts, config.judge, seed=config.seed)
    counts = {
        "attempts": len(trajectories),
        "attempts_renamed": len(attempts) - len(trajectories),
        "steps_in": worlds.steps_in,
        "world_examples": len(worlds.examples),
        "world_steps_kept": sum(e.count for e in worlds.examples),
        "judge_examples": len(judges.examples),
    }
    counts |= {f"dropped.{reason}": n for reason, n in sorted(worlds.dropped.items())}
    counts |= {f"judge_dropped.{reason}": n for reason, n in sorted(judges.dropped.items())}
    for e in judges.examples:
        counts[f"judge.{e.origin.value}"] = counts.get(f"judge.{e.origin.value}", 0) + 1
    return worlds.examples, judges.examples, counts


def _judge_scale(worlds: Sequence[Example], judges: Sequence[Example], fraction: float) -> float:
    """Factor on the judge's weights that gives it `fraction` of the loss, counted in tokens."""
    world = sum(e.weight * len(e.completion_ids) for e in worlds)
    judge = sum(e.weight * len(e.completion_ids) for e in judges)
    if not world or not judge:
        return 1.0
    return fraction / (1.0 - fraction) * world / judge

"""`dynaweb world train`: files and a folder in, a trained world model out; killed, the same command goes on.

In the folder: the model (`config.json`, `model.safetensors`, the tokenizer), `world.json` (how a patch model is asked),
`result.json` (what became of every row), `training/` and `training-2/` (checkpoints and metrics of the stages),
`begin/` (the tokenizer of a model from scratch), `data/` (rows made of trajectories), `adapters/` (LoRA).
"""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import torch
from transformers import PreTrainedModel

from dynaweb.dataset.imports.source import require_file
from dynaweb.errors import UserError
from dynaweb.lm.model import build_model, context_length, load_model, save_model
from dynaweb.records.seeds import derive_seed
from dynaweb.runs.atomic import write_json
from dynaweb.runs.folder import RunFolder, fingerprint
from dynaweb.runs.progress import Progress, silent
from dynaweb.train.crew import Crew, trained
from dynaweb.train.fit import FitResult, fit
from dynaweb.train.loss import check_precision
from dynaweb.train.metrics import fit_progress
from dynaweb.train.ranks import Ranks, crew_of, in_step, joined
from dynaweb.world.config import WorldModelConfig
from dynaweb.world.train import WORLD_FILE
from dynaweb.world.tuning.material import Material, of_conversations, required
from dynaweb.world.tuning.rows import files_in, holds_rows, read_chat_rows
from dynaweb.world.tuning.settings import TunedForm, TuningConfig
from dynaweb.world.tuning.speech import Conversing, Speech, speech_of

RESULT = "result.json"
ADAPTERS = "adapters"
STAGES = ("training", "training-2")


@dataclass(frozen=True, slots=True, kw_only=True)
class TuningWish:
    """What to train, on what, and where."""

    sources: tuple[Path, ...]
    """Trajectories, or rows; folders stand for their JSON lines files."""
    out: Path
    config: TuningConfig
    model: Path | None = None
    """Folder of pretrained weights; None begins from scratch."""
    stage2: tuple[Path, ...] = ()
    """Rows of the second stage."""
    merge: bool = True
    """With adapters: write the whole model too, the adapters merged into it."""
    cpu: bool = False
    """Leave a GPU alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TunedStage:
    """One stage of a training."""

    name: str
    material: Material
    fit: FitResult

    def facts(self) -> dict[str, object]:
        """For the result file."""
        return {"name": self.name, **self.material.facts(), "fit": asdict(self.fit)}


@dataclass(frozen=True, slots=True, kw_only=True)
class TuningResult:
    """What a training came to."""

    form: str
    """What the model writes."""
    parameters: int
    trained_parameters: int
    ranks: int
    stages: tuple[TunedStage, ...]

    def facts(self) -> dict[str, object]:
        """For the result file."""
        return {
            "form": self.form,
            "parameters": self.parameters,
            "trained_parameters": self.trained_parameters,
            "ranks": self.ranks,
            "stages": [s.facts() for s in self.stages],
        }


def tune(
    wish: TuningWish,
    *,
    ranks: Ranks,
    progress: Progress = silent,
    argv: tuple[str, ...] = (),
) -> TuningResult:
    """Train, or go on training; every rank calls it, the first one writes.

    Raises:
        UserError: nothing to learn from, a template that cannot be trained with, settings that cannot be.
        StorageError: the folder holds another training, or cannot be written.
        TrainingError: loss or gradients are no longer finite.
    """
    _check(wish)
    with joined(ranks, cpu=wish.cpu) as device, _held(wish, ranks, argv):
        for stage in (wish.config.fit, wish.config.stage2)[: 1 + bool(wish.stage2)]:
            check_precision(device, stage)
        files = files_in(wish.sources)
        with in_step(ranks):
            speech = speech_of(wish.config, wish.model, files, wish.out, progress)
        model = _begin(wish, speech)
        torch.nn.Module.to(model, device)
        room = _room(wish.config, model)
        first = required(speech.material(room, progress), "the first stage")
        second = _second(wish, speech, room, progress)
        if wish.config.adapters.rank:
            _with_adapters(wish, model)
        with crew_of(model, ranks, wish.config.fit.precision) as crew:
            result = _fit(wish, model, crew, ranks, first, second, progress, speech.form)
            _write(wish, model, crew, speech, result)
        return result


def _check(wish: TuningWish) -> None:
    config = wish.config
    if config.adapters.rank and wish.model is None:
        raise UserError("adapters stand beside pretrained weights: name them with --model")
    if not wish.merge and not config.adapters.rank:
        raise UserError("--adapter-only needs adapters: add --lora")
    for path in (wish.out, *((wish.model,) if wish.model else ())):
        if path.is_file():
            raise UserError(f"{str(path)!r} is a file: name a folder")


@contextmanager
def _held(wish: TuningWish, ranks: Ranks, argv: tuple[str, ...]) -> Iterator[None]:
    """The folder, held by the first rank for this training."""
    if ranks.rank:
        yield
        return
    asked = {
        "tuning": wish.config,
        "sources": [_content(p) for p in files_in(wish.sources)],
        "stage2": [_content(p) for p in files_in(wish.stage2)],
        "model": _model_identity(wish.model),
        "merge": wish.merge,
    }
    with RunFolder(wish.out, config=asked, seed=wish.config.seed, argv=argv):
        yield


def _content(path: Path) -> str:
    """What tells two files apart; no path, so that they may be moved."""
    require_file(path)
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:16]


def _model_identity(folder: Path | None) -> str:
    """Names and sizes; `fit` compares the weights themselves."""
    if folder is None or not folder.is_dir():
        return str(folder or "")
    return fingerprint({p.name: p.stat().st_size for p in sorted(folder.glob("*.*"))})


def _begin(wish: TuningWish, speech: Speech) -> PreTrainedModel:
    """The model before its training, without adapters."""
    if wish.model is not None:
        return load_model(wish.model)
    seed = derive_seed(wish.config.seed, "model") % 2**31
    return build_model(wish.config.model, speech.vocab_size, seed)


def _with_adapters(wish: TuningWish, model: PreTrainedModel) -> None:
    from dynaweb.lm.adapters import add_adapters  # noqa: PLC0415 - an extra

    seed = derive_seed(wish.config.seed, "adapters") % 2**31
    add_adapters(model, wish.config.adapters, seed)


def _room(config: TuningConfig, model: PreTrainedModel) -> int:
    context = context_length(model)
    if config.cutoff_tokens > context:
        raise UserError(
            f"cutoff_tokens {config.cutoff_tokens} is above the {context} tokens that the model reads: lower it, or use another model"
        )
    return config.cutoff_tokens or context


def _second(wish: TuningWish, speech: Speech, room: int, progress: Progress) -> Material | None:
    """The rows of the second stage: of each the last reply alone."""
    if not wish.stage2:
        return None
    if not isinstance(speech, Conversing):
        raise UserError(
            "the second stage learns from conversations, and the first one has none: a patch model has one stage"
        )
    files = files_in(wish.stage2)
    other = next((p for p in files if not holds_rows(p)), None)
    if other is not None:
        raise UserError(
            f"{str(other)!r} holds no rows: make some with `dynaweb world data ... --set cot.rows=1000`"
        )
    read = read_chat_rows(files)
    made = of_conversations(
        read, speech.turns, room, progress, stage="stage 2 rows", last_only=True
    )
    return required(made, "the second stage")


def _fit(
    wish: TuningWish,
    model: PreTrainedModel,
    crew: Crew,
    ranks: Ranks,
    first: Material,
    second: Material | None,
    progress: Progress,
    form: str,
) -> TuningResult:
    plan = [(STAGES[0], first, wish.config.fit)]
    if second is not None:
        plan.append((STAGES[1], second, wish.config.stage2))
    stages = []
    for name, material, how in plan:
        bar = fit_progress(progress, name)
        done = fit(model, material.examples, how, wish.out / name, bar, crew)
        stages.append(TunedStage(name=name, material=material, fit=done))
    return TuningResult(
        form=form,
        parameters=sum(p.numel() for p in model.parameters()),
        trained_parameters=sum(p.numel() for p in trained(model).values()),
        ranks=ranks.world,
        stages=tuple(stages),
    )


@torch.no_grad()
def _write(
    wish: TuningWish, model: PreTrainedModel, crew: Crew, speech: Speech, result: TuningResult
) -> None:
    """The trained folder, by the first rank."""
    weights = crew.gathered(trained(model))
    if not crew.first:
        return
    adapters = wish.config.adapters
    if adapters.rank:
        from dynaweb.lm.adapters import load_adapted, save_adapters  # noqa: PLC0415 - an extra

        assert wish.model is not None
        base = str(wish.model.resolve())
        save_adapters(model, weights, adapters, wish.out / ADAPTERS, base)
        whole = load_adapted(wish.model, wish.out / ADAPTERS) if wish.merge else None
    else:
        whole = _begin(wish, speech)
        for name, p in whole.named_parameters():
            p.copy_(weights[name])
    if whole is not None:
        speech.save(wish.out, whole)
        save_model(whole, wish.out)
    if not isinstance(speech, Conversing) and result.form == TunedForm.PATCH:
        data = replace(wish.config.data, examples=speech.asking())
        about = {"config": asdict(data), "ask": _lengths(result.stages[0].material)}
        write_json(wish.out / WORLD_FILE, {**about, **result.facts()})
    held = {"held_out": wish.config.held_out, "seed": wish.config.seed}
    write_json(wish.out / RESULT, {**result.facts(), **held})


def _lengths(learnt: Material) -> dict[str, int]:
    """How long questions and answers may be, in tokens, of those that it has learnt (`world.config`)."""
    longest = max(len(e.completion_ids) for e in learnt.examples)
    answer = min(max(longest, WorldModelConfig().max_new_tokens), learnt.limit_tokens // 2)
    return {"max_new_tokens": answer, "max_prompt_tokens": learnt.limit_tokens - answer}

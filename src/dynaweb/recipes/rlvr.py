"""`dynaweb world rlvr`: a trained patch model answers real transitions several times, and is reinforced for what came true.

The reward needs no judge: the change that a reply makes is compared with the change that the browser made. In the folder:
the reinforced model, `metrics.jsonl`, `checkpoints/`, `result.json`. Killed, the same command goes on.
"""

import copy
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random
from statistics import fmean

from transformers import PreTrainedModel

from dynaweb.batch.source import Source
from dynaweb.batch.summary import Metrics
from dynaweb.batch.tokens import Row, TrainTrajectory
from dynaweb.contracts import SampleRequest
from dynaweb.errors import StorageError, UserError
from dynaweb.gspo.update import update_policy
from dynaweb.lm.language import Language
from dynaweb.lm.model import context_length, load_model, save_model
from dynaweb.lm.sampler import TorchSampler
from dynaweb.lm.tokenizer import load_language
from dynaweb.recipes.grading import Answered, Question, grade, questions_of
from dynaweb.recipes.verifiable import RlvrConfig, RlvrRow
from dynaweb.records.seeds import derive_seed
from dynaweb.records.trajectory import Trajectory
from dynaweb.runs.atomic import read_json, write_json
from dynaweb.runs.folder import RunFolder, fingerprint
from dynaweb.runs.progress import Progress, silent
from dynaweb.train.checkpoint import latest_checkpoint, save_checkpoint
from dynaweb.train.crew import take_weights, trained, weights_checksum
from dynaweb.train.metrics import drop_rows_after
from dynaweb.train.optimizer import Optimizer
from dynaweb.world.train import WORLD_FILE
from dynaweb.world.tuning.run import RESULT
from dynaweb.world.tuning.settings import TunedForm

METRICS, CHECKPOINTS = "metrics.jsonl", "checkpoints"
PATCH = TunedForm.PATCH.value


@dataclass(frozen=True, slots=True, kw_only=True)
class RlvrResult:
    """What reinforcing came to."""

    questions: int
    """Transitions that could be asked about."""
    dropped: Mapping[str, int]
    """Reason -> steps of the trajectories that could not."""
    steps_in: int
    """`steps_in == questions + sum(dropped.values())`."""
    resumed_from: int | None
    first: RlvrRow
    last: RlvrRow


def reinforce(
    folder: Path,
    attempts: Sequence[Trajectory],
    out: Path,
    config: RlvrConfig,
    *,
    progress: Progress = silent,
    argv: tuple[str, ...] = (),
) -> RlvrResult:
    """Reinforce the world model in `folder`, and write it to `out`.

    Args:
        folder: a trained patch model; left as it is.
        attempts: real ones.
        out: a folder of its own.
        config: how.
        progress: told every step.
        argv: the command, for the record.

    Raises:
        UserError: nothing to ask about, or `out` holds something else.
        StorageError: a file is damaged or cannot be written.
        TrainingError: an update broke the model.
    """
    if out.resolve() == folder.resolve():
        raise UserError(f"{str(out)!r} is the model's own folder: choose another --out")
    form = (read_json(folder / RESULT) or {}).get("form", PATCH)
    if form != PATCH:
        raise UserError(
            f"{str(folder)!r} holds a {form} model: only the changes of a {PATCH} model can be graded exactly"
        )
    model, language = load_model(folder), load_language(folder)
    asked, dropped = questions_of(attempts, language, folder, context_length(model) - config.max_new_tokens)  # fmt: skip
    if not asked:
        raise UserError(
            f"no transition to ask about: {dict(dropped) or 'the attempts have no steps'}"
        )
    about = {
        "rlvr": config,
        "questions": fingerprint([list(q.prompt.ids) for q in asked]),
        "model": weights_checksum(model),
    }
    with RunFolder(out, config=about, seed=config.seed, argv=argv):
        began = _loop(model, language, asked, out, config, progress)
        language.save(out)
        write_json(out / WORLD_FILE, read_json(folder / WORLD_FILE) or {})
        save_model(model, out)
        rows = _rows(out / METRICS)
        result = RlvrResult(
            questions=len(asked),
            dropped=dict(dropped),
            steps_in=len(asked) + sum(dropped.values()),
            resumed_from=began or None,
            first=rows[0],
            last=rows[-1],
        )
        write_json(out / RESULT, {"form": PATCH, **asdict(result)})
    return result


def _loop(
    model: PreTrainedModel,
    language: Language,
    asked: Sequence[Question],
    out: Path,
    config: RlvrConfig,
    progress: Progress,
) -> int:
    """All steps that are still to be made; the step that this session began after."""
    reference = copy.deepcopy(model).eval() if config.update.kl > 0.0 else None
    optimizer = Optimizer(model, config.update.optimizer)
    began = _resume(model, optimizer, out)
    drop_rows_after(out / METRICS, began)
    sampler = TorchSampler(model, language.tokenizer, "rlvr")
    start = time.monotonic()
    for step in range(began, config.steps):
        groups = _ask(sampler, asked, config, step)
        rows, quiet = _credit(groups, step)
        metrics: Metrics = {}
        if rows:
            seed = derive_seed(config.seed, "update", step)
            metrics = update_policy(
                model,
                optimizer,
                rows,
                config.update,
                seed=seed,
                steps_before=step * config.update.mini_batches * config.update.epochs,
                reference=reference,
            )
        row = _measured(step + 1, groups, quiet, metrics, time.monotonic() - start)
        _append(out / METRICS, row)
        last = step + 1 == config.steps
        if last or (step + 1) % config.checkpoint_every == 0:
            state = {"model": trained(model), "optimizer": optimizer.state()}
            save_checkpoint(out / CHECKPOINTS, step + 1, state, {})
        progress("rlvr", step + 1, config.steps, f"reward {row.reward:.3f}")
    return began


def _resume(model: PreTrainedModel, optimizer: Optimizer, out: Path) -> int:
    found = latest_checkpoint(out / CHECKPOINTS)
    if found is None:
        return 0
    take_weights(model, found.tensors("model"))
    optimizer.restore(found.tensors("optimizer"))
    return found.step


def _ask(
    sampler: TorchSampler, asked: Sequence[Question], config: RlvrConfig, step: int
) -> list[tuple[Question, list[Answered]]]:
    """Questions drawn by a seed, each answered several times."""
    stream = Random(derive_seed(config.seed, "questions", step))
    drawn = stream.sample(range(len(asked)), min(config.questions, len(asked)))
    requests = [
        SampleRequest(
            prompt_ids=asked[i].prompt.ids,
            max_new_tokens=config.max_new_tokens,
            temperature=config.update.temperature,
            seed=derive_seed(config.seed, "reply", step, i, n),
        )
        for i in drawn
        for n in range(config.replies)
    ]
    replies = iter(sampler.sample(requests))
    return [
        (
            asked[i],
            [grade(asked[i], next(replies), config.reward) for _ in range(config.replies)],
        )
        for i in drawn
    ]


def _credit(
    groups: Sequence[tuple[Question, list[Answered]]], step: int
) -> tuple[list[TrainTrajectory], int]:
    """Rows with their advantage over the mean of their group; and how many groups teach nothing."""
    rows: list[TrainTrajectory] = []
    quiet = 0
    for number, (_, answers) in enumerate(groups):
        if len({a.reward for a in answers}) == 1:
            quiet += 1
            continue
        mean = fmean(a.reward for a in answers)
        rows += [
            TrainTrajectory(
                name=f"{step}-{number}-{n}",
                source=Source.DREAM,
                reward=a.reward,
                advantage=a.reward - mean,
                copies=1,
                rows=(
                    Row(
                        prompt_ids=a.reply.prompt_ids,
                        completion_ids=a.reply.completion_ids,
                        sampled_logprobs=a.reply.logprobs,
                    ),
                ),
            )
            for n, a in enumerate(answers)
            if a.reply.completion_ids
        ]
    return rows, quiet


def _measured(
    step: int,
    groups: Sequence[tuple[Question, list[Answered]]],
    quiet: int,
    metrics: Metrics,
    elapsed: float,
) -> RlvrRow:
    answers = [a for _, some in groups for a in some]
    return RlvrRow(
        step=step,
        reward=fmean(a.reward for a in answers),
        exact_fraction=fmean(a.exact for a in answers),
        invalid_fraction=fmean(a.invalid for a in answers),
        groups_no_variance=quiet,
        grad_norm=metrics.get("update/grad_norm"),
        kl=metrics.get("update/kl"),
        elapsed_sec=elapsed,
    )


def _append(path: Path, row: RlvrRow) -> None:
    try:
        with path.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(asdict(row)) + "\n")
    except OSError as error:
        raise StorageError(f"cannot write metrics to {str(path)!r}: {error}") from error


def _rows(path: Path) -> list[RlvrRow]:
    return [RlvrRow(**json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]

"""An agent from demonstrations by itself: tokenizer and base where it begins from nothing, then supervised training."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from dynaweb.errors import UserError
from dynaweb.recipes.alone import read_attempts
from dynaweb.recipes.base import learn_to_read
from dynaweb.recipes.config import MAY_DIFFER, RecipeConfig
from dynaweb.recipes.policy import learn_tokenizer, only_successes, train_policy
from dynaweb.recipes.stage import Run
from dynaweb.records.trajectory import Trajectory
from dynaweb.runs.atomic import write_json
from dynaweb.runs.folder import RunFolder, check_folder
from dynaweb.runs.progress import Progress

RESULT = "result.json"
TOKENIZER = "tokenizer"


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentTrained:
    """What became of it."""

    attempts: int
    """In the files."""
    failures: int
    """Of these, those that demonstrate nothing: no success, or nobody knows."""
    dropped: Mapping[str, int]
    """Reason -> rows of the files, or steps of demonstrations, that were not trained on."""
    examples: int
    """Steps trained on, renamed copies included."""
    steps: int
    """Optimiser steps."""
    loss: float
    """Of the last steps, in nats a token."""
    tokens: int
    seconds: float
    """Of training, over all sessions."""


def train_agent_alone(
    files: Sequence[Path],
    out: Path,
    config: RecipeConfig,
    *,
    begin: Path | None,
    progress: Progress,
    argv: tuple[str, ...] = (),
) -> AgentTrained:
    """Train an agent; its folder is `out` itself. The same call goes on where it stopped.

    Args:
        files: attempts; the successes among them are the demonstrations.
        out: run folder.
        config: `policy` says how, `seed` and `threads` too.
        begin: folder of an agent to go on from; None begins with new weights and a tokenizer of its own.
        progress: told how far it is.
        argv: the command, for the record.

    Raises:
        UserError: nothing to learn from, or the folder holds another run.
        StorageError: a file or the model to begin from cannot be read.
    """
    # what is wrong is said before the folder is this run's: the mended command may use it
    check_folder(out, config=config, seed=config.seed, may_differ=MAY_DIFFER)
    read = read_attempts(files, "demonstrations")
    shown = only_successes(read.attempts)
    if not shown:
        raise UserError(
            f"none of the {len(read.attempts)} attempts given is a success: an agent learns from what was done well"
        )
    with RunFolder(
        out, config=config, seed=config.seed, argv=argv, may_differ=MAY_DIFFER
    ) as folder:
        run = Run(folder=folder, config=config, progress=progress)
        words, first = (begin, begin) if begin is not None else _from_nothing(run, shown)
        facts = train_policy(
            shown,
            out,
            words=words,
            how=config.policy.fit,
            config=config,
            progress=progress,
            stage="agent",
            begin=first,
        )
        result = _result(facts, read.attempts, shown, read.dropped)
        write_json(out / RESULT, {"kind": "agent", **asdict(result)})
    return result


def _from_nothing(run: Run, shown: Sequence[Trajectory]) -> tuple[Path, Path | None]:
    """Where the language stands, and the base where the configuration has exercises."""
    inputs = {
        "attempts": sorted(t.trajectory_id for t in shown),
        "vocab_size": run.config.policy.vocab_size,
    }

    def learn(folder: Path) -> Mapping[str, object]:
        run.progress(TOKENIZER, 0, 1)
        facts = learn_tokenizer(shown, run.config, folder)
        run.progress(TOKENIZER, 1, 1)
        return facts

    run.stage(TOKENIZER, inputs, learn)
    words = run.path(TOKENIZER)
    return words, learn_to_read(run, words)


def _result(
    facts: Mapping[str, object],
    attempts: Sequence[Trajectory],
    shown: Sequence[Trajectory],
    dropped: Mapping[str, int],
) -> AgentTrained:
    counts = facts["counts"]
    assert isinstance(counts, dict)
    left = {k.removeprefix("dropped."): n for k, n in counts.items() if k.startswith("dropped.")}
    steps, loss, tokens = facts["steps"], facts["loss"], facts["tokens"]
    seconds = facts["seconds_so_far"]
    assert isinstance(steps, int) and isinstance(loss, float) and isinstance(tokens, int)
    assert isinstance(seconds, float)
    return AgentTrained(
        attempts=len(attempts),
        failures=len(attempts) - len(shown),
        dropped={k: n for k, n in {**dropped, **left}.items() if n},
        examples=counts["examples"],
        steps=steps,
        loss=loss,
        tokens=tokens,
        seconds=seconds,
    )

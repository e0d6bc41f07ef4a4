"""In which words a model is trained: our own prompts with a lexicon (patch), or conversations by its chat template."""

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

from transformers import PreTrainedModel

from dynaweb.axtree.lexicon import learn_lexicon
from dynaweb.dataset.imports.tally import Tally
from dynaweb.dataset.split import split_by_task
from dynaweb.errors import UserError
from dynaweb.lm.chatml import load_chat_tokenizer, save_chat_tokenizer, train_chat_tokenizer
from dynaweb.lm.chattemplate import ChatTemplate, load_template
from dynaweb.lm.language import Language
from dynaweb.lm.tokenizer import load_language
from dynaweb.lm.turns import Turns
from dynaweb.prompts.pointers import EVERY_WORD
from dynaweb.prompts.predict import shown_in
from dynaweb.records.trajectory import Trajectory
from dynaweb.runs.progress import Progress
from dynaweb.world.beginning import learn_language
from dynaweb.world.data.run import make_data
from dynaweb.world.data.settings import DataConfig, RowForm, SplitConfig
from dynaweb.world.data.wish import DataWish
from dynaweb.world.examples import ExamplesConfig
from dynaweb.world.train import world_texts
from dynaweb.world.tuning.material import (
    Material,
    of_attempts,
    of_conversations,
    of_one_kind,
    of_plain_rows,
    read_attempts,
)
from dynaweb.world.tuning.rows import ReadRows, files_in, holds_rows, read_chat_rows
from dynaweb.world.tuning.settings import TunedForm, TuningConfig

BEGIN, DATA = "begin", "data"


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempting:
    """A patch model and its judge, from trajectories."""

    language: Language
    attempts: Sequence[Trajectory]
    read: Tally
    config: TuningConfig
    form: str = TunedForm.PATCH.value

    @property
    def vocab_size(self) -> int:
        """Ids of a model from scratch."""
        return self.language.tokenizer.vocab_size

    def material(self, room: int, progress: Progress) -> Material:
        """Examples of at most `room` tokens."""
        progress("rows", 0, 1)
        made = of_attempts(self.attempts, self.read, self.language, self.config.data, room)
        progress("rows", 1, 1)
        return made

    def asking(self) -> ExamplesConfig:
        """How the model is to be asked: as the examples were made."""
        return self.config.data.examples

    def save(self, folder: Path, model: PreTrainedModel) -> None:
        """Beside the model."""
        self.language.save(folder)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answering:
    """A model of prompts and completions, from ready rows."""

    language: Language
    read: ReadRows
    form: str

    @property
    def vocab_size(self) -> int:
        """Ids of a model from scratch."""
        return self.language.tokenizer.vocab_size

    def material(self, room: int, progress: Progress) -> Material:
        """Examples of at most `room` tokens."""
        progress("rows", 0, 1)
        made = of_plain_rows(self.read, self.language, room)
        progress("rows", 1, 1)
        return made

    def asking(self) -> ExamplesConfig:
        """How the model is to be asked: as the rows ask it."""
        shown = [shown_in(r.messages[0].content) for r in self.read.rows]
        goal, past = any(g for g, _ in shown), max(n for _, n in shown)
        return ExamplesConfig(show_goal=goal, past_actions=past)

    def save(self, folder: Path, model: PreTrainedModel) -> None:
        """Beside the model."""
        self.language.save(folder)


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversing:
    """A chat model, from conversations."""

    template: ChatTemplate
    turns: Turns
    read: ReadRows
    form: str
    counts: Mapping[str, int]
    """Of the steps that the rows were made of, where they were made here."""

    @property
    def vocab_size(self) -> int:
        """Ids of a model from scratch."""
        return len(self.template.tokenizer)

    def material(self, room: int, progress: Progress) -> Material:
        """Examples of at most `room` tokens."""
        made = of_conversations(
            self.read, self.turns, room, progress, stage="rows", last_only=False
        )
        return replace(made, counts=self.counts)

    def save(self, folder: Path, model: PreTrainedModel) -> None:
        """Beside the model, which is told where replies end."""
        save_chat_tokenizer(self.template.tokenizer, folder)
        held = model.generation_config.eos_token_id if model.generation_config else None
        known = {held} if isinstance(held, int) else set(held or ())
        ends = known | {self.template.tokenizer.eos_token_id, self.turns.end_id}
        if model.generation_config is not None:
            model.generation_config.eos_token_id = sorted(ends)


Speech: TypeAlias = Attempting | Answering | Conversing


def speech_of(
    config: TuningConfig,
    model: Path | None,
    files: Sequence[Path],
    out: Path,
    progress: Progress,
) -> Speech:
    """Read the files, and learn or load the words that they are trained in.

    The first rank runs this before the others, and leaves in `out` what they read.

    Raises:
        UserError: files of several kinds, or nothing in them.
    """
    ready = [holds_rows(p) for p in files]
    if any(ready) and not all(ready):
        one, other = files[ready.index(True)], files[ready.index(False)]
        raise UserError(
            f"{str(one)!r} holds rows, {str(other)!r} trajectories: train on one kind at a time"
        )
    if not any(ready) and config.form is TunedForm.PATCH:
        read = Tally()
        progress("words", 0, 2, "reading")
        attempts = _to_learn_from(config, read_attempts(files, read), read)
        progress("words", 1, 2, "tokenizer")
        language = _language(config, model, out, attempts)
        progress("words", 2, 2)
        return Attempting(language=language, attempts=attempts, read=read, config=config)
    counts: dict[str, int] = {}
    if not any(ready):
        files, counts = _made_rows(config, files, out, progress)
    rows = read_chat_rows(files)
    form = next((r.form for r in rows.rows if r.form), "")
    if of_one_kind(rows):
        return Answering(
            language=_rows_language(config, model, out, rows),
            read=rows,
            form=form or TunedForm.PATCH.value,
        )
    template = load_template(model) if model is not None else _own_template(config, out, rows)
    return Conversing(
        template=template,
        turns=Turns(template),
        read=rows,
        form=form or config.form.value,
        counts=counts,
    )


def _to_learn_from(
    config: TuningConfig, attempts: list[Trajectory], read: Tally
) -> list[Trajectory]:
    """The attempts without those of held-out tasks, which are counted."""
    if not config.held_out:
        return attempts
    split = split_by_task(attempts, fraction=config.held_out, split_seed=config.seed)
    read.drop("attempts of held-out tasks", split.held_out[0].task, len(split.held_out))
    return list(split.train)


def _made_rows(
    config: TuningConfig, files: Sequence[Path], out: Path, progress: Progress
) -> tuple[list[Path], dict[str, int]]:
    """Rows of a form that speaks in conversations, made of trajectories as `dynaweb world data` does; and what became of the steps."""
    form = RowForm(config.form.value)
    how = DataConfig(forms=(form,), split=SplitConfig(held_out=config.held_out), seed=config.seed)
    wish = DataWish(sources=tuple(files), out=out / DATA, config=how, sketches=False)
    made = make_data(wish, progress=progress)
    counts = {f"file: {reason}": n for reason, n in made.read.dropped.items()}
    counts["steps_in"] = made.counts.total("steps")
    for table in ("kept", "dropped", f"{form.value}: dropped"):
        for reason, n in made.counts.plain().get(table, {}).items():
            counts[f"{table}: {reason}"] = n
    return files_in([made.folder / "train" / form.value]), counts


def _language(
    config: TuningConfig, model: Path | None, out: Path, attempts: Sequence[Trajectory]
) -> Language:
    if model is not None:
        return load_language(model)

    def learn(folder: Path) -> None:
        lexicon = learn_lexicon(attempts, config.lexicon) if config.pointers else EVERY_WORD
        texts = world_texts(attempts, config.data, lexicon)
        learn_language(texts, lexicon, config.vocab_size).save(folder)

    return load_language(_once(out / BEGIN, learn))


def _rows_language(config: TuningConfig, model: Path | None, out: Path, rows: ReadRows) -> Language:
    if model is not None:
        return load_language(model)

    def learn(folder: Path) -> None:
        texts = ("".join(m.content for m in r.messages) for r in rows.rows)
        learn_language(texts, EVERY_WORD, config.vocab_size).save(folder)

    return load_language(_once(out / BEGIN, learn))


def _own_template(config: TuningConfig, out: Path, rows: ReadRows) -> ChatTemplate:
    def learn(folder: Path) -> None:
        texts = (m.content for r in rows.rows for m in r.messages)
        save_chat_tokenizer(train_chat_tokenizer(texts, config.vocab_size), folder)

    return ChatTemplate(load_chat_tokenizer(_once(out / BEGIN, learn)))


def _once(folder: Path, write: Callable[[Path], None]) -> Path:
    """A folder that is written whole or not at all; a kill leaves nothing that looks like it."""
    if not folder.exists():
        aside = folder.with_name(f".{folder.name}-writing")
        shutil.rmtree(aside, ignore_errors=True)
        write(aside)
        aside.rename(folder)
    return folder

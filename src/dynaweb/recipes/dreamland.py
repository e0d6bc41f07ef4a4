"""World model and judge for training in dreams, by what a command names: trained together, or general models asked in words."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from dynaweb.contracts import Judge, WorldModel
from dynaweb.errors import UserError
from dynaweb.gspo.config import GspoConfig
from dynaweb.judge.chat import ChatJudge
from dynaweb.recipes.alone import judge_of
from dynaweb.recipes.worldly import Imagination, open_imagination
from dynaweb.world.opening import OpenChat, open_chat, open_world_model, read_chat_spec
from dynaweb.world.trained import asking, world_folder, world_name

CHAT: Final = "chat@"
"""Begins the spec of a judge that is a chat model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dreamland:
    """A world to dream in, and who judges there."""

    world: WorldModel
    judge: Judge
    shows_goal: bool
    """The world model is told the goal."""
    folder: Path | None
    """Of a trained world model; None for one that is asked in words."""
    bars: Path | None
    """Where the judge's bars were found; None for the defaults, or a judge without any."""


def open_dreamland(
    world: str, judge: str = "", *, chat: OpenChat | None = None, answers_count: bool = False
) -> Dreamland:
    """Open both.

    Args:
        world: folder of a trained world model or its run, or a form and a chat model (`world.opening`).
        judge: folder of a trained one, or `chat@TARGET`; empty takes the trained world model's own.
        chat: opens chat models at addresses.
        answers_count: of a chat judge: whether a message to the user can fulfil a task.

    Raises:
        UserError: there is no such thing, or a world model in words without a judge.
        StorageError: a folder cannot be read.
    """
    in_words = read_chat_spec(world) is not None
    if in_words and not judge:
        raise UserError(
            f"world model {world!r} has no judge of its own: give --judge, the folder of a trained one or {CHAT}TARGET"
        )
    folder = None if in_words else world_folder(world)
    judges = None if judge.startswith(CHAT) else world_folder(judge) if judge else folder
    imagined: WorldModel
    verdicts: Judge
    trained = {f: _trained(f) for f in (folder, judges) if f is not None}
    if folder is not None:
        imagined, shows_goal = trained[folder].world, asking(folder).show_goal
    else:
        opened = open_world_model(world, chat=chat)
        imagined, shows_goal = opened.model, opened.shows_goal
    if judges is not None:
        verdicts, bars = trained[judges].judge, judge_of(judges)[1]
    else:
        asked = open_chat(judge.removeprefix(CHAT), chat)
        verdicts, bars = ChatJudge(asked, answers_count=answers_count), None
    return Dreamland(
        world=imagined, judge=verdicts, shows_goal=shows_goal, folder=folder, bars=bars
    )


def dreaming_in(seen: Dreamland | None, gspo: GspoConfig) -> GspoConfig:
    """The settings for dreams in this world: it is told the goal where it was made to be."""
    if seen is None:
        return gspo
    return replace(gspo, dream=replace(gspo.dream, show_goal=seen.shows_goal))


def _trained(folder: Path) -> Imagination:
    return open_imagination(folder, world_name(folder), asking(folder), judge_of(folder)[0])

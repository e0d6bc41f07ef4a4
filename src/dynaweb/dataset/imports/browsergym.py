"""BrowserGym and AgentLab: steps as JSON, never their own folders, which hold pickles.

A file is a list of step objects, or JSON lines of `{task_name, seed, steps}` as `scripts/export_browsergym.py` writes them where
BrowserGym is installed. A step is `{obs: {goal, url, axtree_txt, last_action_error, ...}, action, reward, terminated,
truncated, agent_info: {think}}`, recorded in BrowserGym's manner (`arrivals`).
"""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from pydantic import BaseModel, ConfigDict, FiniteFloat

from dynaweb.dataset.imports.arrivals import read_recording
from dynaweb.dataset.imports.listed import is_list
from dynaweb.dataset.imports.recorded import PageReader, Provenance, attempts
from dynaweb.dataset.imports.rows import checked_prefix, checked_rows, read_document
from dynaweb.dataset.imports.tally import Tally
from dynaweb.errors import UserError
from dynaweb.records.observation import Observation
from dynaweb.records.trajectory import Behaviour, Outcome, Trajectory, World

EXPORT = "python scripts/export_browsergym.py FOLDER... > steps.jsonl"
"""What to run where BrowserGym is installed; the script is in this project's repository and needs nothing of ours."""


class Obs(BaseModel):
    """The part of BrowserGym's observation that we keep."""

    axtree_txt: str
    goal: str = ""
    url: str = ""
    last_action_error: str | None = ""
    open_pages_titles: list[str] = []
    active_page_index: list[int] | int = 0


class AgentInfo(BaseModel):
    """What AgentLab's agents say about a step."""

    think: str | None = None


class StepInfo(BaseModel):
    """One step."""

    model_config = ConfigDict(extra="ignore")
    obs: Obs
    action: str | None = None
    reward: FiniteFloat = 0.0
    terminated: bool = False
    truncated: bool = False
    agent_info: AgentInfo = AgentInfo()


class Episode(BaseModel):
    """One exported folder."""

    steps: list[object]
    task_name: str = ""
    task_seed: int = 0
    goal: str = ""


def refuse_folder(path: Path) -> None:
    """Say what to do with a folder, a pickle or a summary.

    Raises:
        UserError: always.
    """
    inside = path.rglob("*.pkl*") if path.is_dir() else ()
    if path.is_dir() and not any(_in_sight(found.relative_to(path)) for found in inside):
        raise UserError(f"{str(path)!r} is a folder: name the files in it")
    raise UserError(
        f"{str(path)!r} belongs to a BrowserGym experiment, whose steps are pickles: they run code when they are read, so they are not opened; where BrowserGym is installed run `{EXPORT}` and import steps.jsonl"
    )


def _in_sight(found: Path) -> bool:
    """No part is hidden: an environment's own files say nothing about the folder around it."""
    return not any(part.startswith(".") for part in found.parts)


def read_browsergym(
    path: Path, known: Provenance, tally: Tally, *, skip_damaged: bool = False
) -> Iterator[Trajectory]:
    """The episodes of a file."""
    rows = _episodes(path, tally, skip_damaged)
    return attempts(rows, partial(_attempt, tally=tally), known, tally)


def _episodes(path: Path, tally: Tally, skip_damaged: bool) -> Iterator[tuple[Episode, str]]:
    if is_list(path):
        document = read_document(path, tally)
        steps = document if isinstance(document, list) else []
        tally.rows += len(steps)
        yield Episode(steps=steps, task_name=path.name.partition(".")[0]), path.name
    else:
        yield from checked_rows(path, Episode, tally, "episode", skip_damaged=skip_damaged)


def _attempt(episode: Episode, where: str, *, tally: Tally) -> Trajectory | None:
    found = checked_prefix(episode.steps, StepInfo, tally, "step", where)
    held = read_recording(found, len(episode.steps), _page, _reply, where=where, tally=tally)
    if held is None:
        return None
    reward = sum(s.reward for s in held.rows)
    won = Outcome.SUCCESS if reward >= 1.0 else Outcome.FAILURE
    return Trajectory(
        trajectory_id=f"{episode.task_name or 'browsergym'}.{episode.task_seed}@{where}",
        task=episode.task_name or "browsergym",
        goal=episode.goal or held.rows[0].obs.goal,
        seed=episode.task_seed,
        steps=held.steps,
        final=held.final,
        outcome=won if held.over else Outcome.UNKNOWN,
        reason=held.reason,
        detail=held.detail,
        raw_reward=reward,
        world=World.LIVE,
        behaviour=Behaviour.AGENT,
        policy_version="AgentLab",
    )


def _page(reader: PageReader, seen: StepInfo, where: str) -> Observation:
    index = seen.obs.active_page_index
    active = index if isinstance(index, int) else next(iter(index), 0)
    titles = seen.obs.open_pages_titles
    title = titles[active] if 0 <= active < len(titles) else None
    error = seen.obs.last_action_error or ""
    return reader.page(seen.obs.url, seen.obs.axtree_txt, where, title=title, error=error)


def _reply(seen: StepInfo) -> tuple[str, str]:
    """Thought and call."""
    return seen.agent_info.think or "", seen.action or ""

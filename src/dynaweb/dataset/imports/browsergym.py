"""BrowserGym and AgentLab: steps as JSON, never their own folders, which hold pickles.

A file is a list of step objects, or JSON lines of `{task_name, seed, steps}` as `scripts/export_browsergym.py` writes them where
BrowserGym is installed. A step is `{obs: {goal, url, axtree_txt, last_action_error, ...}, action, reward, terminated,
truncated, agent_info: {think}}`, recorded in BrowserGym's manner (`arrivals`).
"""

from collections.abc import Iterator
from pathlib import Path

from pydantic import BaseModel, ConfigDict, FiniteFloat

from dynaweb.dataset.imports.arrivals import ended, until_over
from dynaweb.dataset.imports.recorded import Attempt, Provenance, page, step, trajectory
from dynaweb.dataset.imports.rows import as_row, checked, is_list, read_document, read_rows
from dynaweb.dataset.imports.tally import Tally
from dynaweb.errors import UserError
from dynaweb.records.observation import Observation
from dynaweb.records.trajectory import Outcome, Step, Trajectory

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
    if path.is_dir() and next(path.rglob("*.pkl*"), None) is None:
        raise UserError(f"{str(path)!r} is a folder: name the files in it")
    raise UserError(
        f"{str(path)!r} belongs to a BrowserGym experiment, whose steps are pickles: they run code when they are read, so they are not opened; where BrowserGym is installed run `{EXPORT}` and import steps.jsonl"
    )


def read_browsergym(
    path: Path, known: Provenance, tally: Tally, *, skip_damaged: bool = False
) -> Iterator[Trajectory]:
    """The episodes of a file."""
    for where, episode in _episodes(path, tally, skip_damaged):
        rows = _rows(episode, where, tally)
        seen = list(until_over(rows, where, tally))
        if seen:
            attempt = _attempt(episode, seen, len(rows), where, tally)
            yield trajectory(attempt, known)
        else:
            tally.drop("episode without a valid step", where)


def _episodes(path: Path, tally: Tally, skip_damaged: bool) -> Iterator[tuple[str, Episode]]:
    if is_list(path):
        document = read_document(path)
        steps = document if isinstance(document, list) else []
        tally.rows += len(steps)
        yield path.name, Episode(steps=steps, task_name=path.name.partition(".")[0])
        return
    for row in read_rows(path, tally, skip_damaged=skip_damaged):
        found = checked(Episode, row, tally, "episode")
        if found is not None:
            yield row.where, found


def _rows(episode: Episode, where: str, tally: Tally) -> list[StepInfo | None]:
    rows: list[StepInfo | None] = []
    for number, value in enumerate(episode.steps):
        row = as_row(value, f"{where} step {number}", tally)
        rows.append(checked(StepInfo, row, tally, "step") if row is not None else None)
    return rows


def _attempt(
    episode: Episode, seen: list[StepInfo], recorded: int, where: str, tally: Tally
) -> Attempt:
    last = seen[-1]
    over = last.terminated or last.truncated
    steps = [
        _step(s, f"{where} step {i}", tally) for i, s in enumerate(seen[:-1] if over else seen)
    ]
    if over:
        steps.append(Step(observation=_page(last)))
    whole, replied = len(seen) == recorded, bool(last.action)
    end = ended(last, steps, replied=replied, whole=whole, where=where, tally=tally)
    reward = sum(s.reward for s in seen)
    won = Outcome.SUCCESS if reward >= 1.0 else Outcome.FAILURE
    return Attempt(
        trajectory_id=f"{episode.task_name or 'browsergym'}.{episode.task_seed}@{where}",
        task=episode.task_name or "browsergym",
        goal=episode.goal or seen[0].obs.goal,
        seed=episode.task_seed,
        steps=end.steps,
        final=end.final,
        outcome=won if end.over else Outcome.UNKNOWN,
        reason=end.reason,
        detail=end.detail,
        raw_reward=reward,
        policy="AgentLab",
    )


def _page(seen: StepInfo) -> Observation:
    index = seen.obs.active_page_index
    active = index if isinstance(index, int) else next(iter(index), 0)
    titles = seen.obs.open_pages_titles
    title = titles[active] if 0 <= active < len(titles) else None
    return page(
        seen.obs.url, seen.obs.axtree_txt, title=title, error=seen.obs.last_action_error or ""
    )


def _step(seen: StepInfo, where: str, tally: Tally) -> Step:
    thought = seen.agent_info.think or ""
    return step(_page(seen), thought, seen.action or "", tally, where)

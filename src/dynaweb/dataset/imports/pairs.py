"""Single transitions: `{obs, action, next_obs}` with two trees and a call between, one a file or one a line.

The plainest form that a step of the web has; corpora of before-and-after pages come down to it. What may stand beside: `url`, `next_url`,
`goal`, `error` (what the tool reported of the action), `tabs`, `next_tabs` (as BrowserGym's prompts list them), `reward`, `terminated`,
and `change_description`, somebody's words for what changed.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

from pydantic import BaseModel, ConfigDict, FiniteFloat

from dynaweb.axtree.dialects.document import Dialect
from dynaweb.axtree.dialects.header import read_header
from dynaweb.dataset.imports.recorded import (
    PageReader,
    Provenance,
    attempts,
    ending,
    steps_of,
    stopping,
)
from dynaweb.dataset.imports.rows import as_row, checked, checked_rows, read_document
from dynaweb.dataset.imports.tally import Tally
from dynaweb.records.observation import Observation
from dynaweb.records.trajectory import Behaviour, Outcome, Trajectory, World

_NO_CHANGE = re.compile(
    r"\b(?:no|not|none|nothing|unchanged|without|same|remain\w*)\b", re.IGNORECASE
)


class Pair(BaseModel):
    """One transition."""

    model_config = ConfigDict(extra="allow")
    obs: str
    action: str
    next_obs: str
    url: str = ""
    next_url: str = ""
    goal: str = ""
    error: str = ""
    tabs: str = ""
    next_tabs: str = ""
    reward: FiniteFloat | None = None
    terminated: bool = False
    change_description: str = ""
    source: str = ""


def read_pairs(
    path: Path, known: Provenance, tally: Tally, *, whole: bool, skip_damaged: bool = False
) -> Iterator[Trajectory]:
    """The transitions of a file, each as an attempt of one step: one JSON document if `whole`, else one a line."""
    if whole:
        tally.rows += 1
        row = as_row(read_document(path, tally), path.name, tally)
        found = checked(Pair, row, tally, "transition") if row is not None else None
        rows = iter([(found, path.name)] if found is not None else [])
    else:
        rows = checked_rows(path, Pair, tally, "transition", skip_damaged=skip_damaged)
    return attempts(rows, partial(_attempt, tally=tally), known, tally)


def _attempt(pair: Pair, where: str, *, tally: Tally) -> Trajectory:
    reader = PageReader(tally=tally)
    before = _with_tabs(reader.page(pair.url, pair.obs, f"{where} obs"), pair.tabs)
    after = reader.page(pair.next_url, pair.next_obs, f"{where} next_obs", error=pair.error)
    after = _with_tabs(after, pair.next_tabs)
    steps = steps_of(before, "", pair.action, tally, where)
    said = pair.change_description
    equal = (before.url, before.tree) == (after.url, after.tree)
    tally.note("pages are equal, but a change is described", f"{where}: {said[:80]!r}", int(equal and bool(said) and not _NO_CHANGE.search(said)))  # fmt: skip
    last = steps[-1].action
    won = Outcome.SUCCESS if (pair.reward or 0.0) >= 1.0 else Outcome.FAILURE
    return Trajectory(
        trajectory_id=f"transition@{where}",
        task="transition",
        goal=pair.goal,
        seed=0,
        steps=steps,
        final=after,
        outcome=won if pair.terminated and pair.reward is not None else Outcome.UNKNOWN,
        reason=ending(last) if pair.terminated else stopping(last),
        detail=said,
        raw_reward=pair.reward,
        world=World.LIVE,
        behaviour=Behaviour.AGENT,
        origin=pair.source,
    )


def _with_tabs(page: Observation, listed: str) -> Observation:
    """The page with its open tabs, and the active tab's title where the tree tells none."""
    header = read_header(listed, Dialect.BROWSERGYM)
    if not header.tabs:
        return page
    active = header.tabs[header.active_tab]
    return replace(
        page,
        tabs=header.tabs,
        active_tab=header.active_tab,
        title=page.title or active.title,
        url=page.url or active.url,
    )

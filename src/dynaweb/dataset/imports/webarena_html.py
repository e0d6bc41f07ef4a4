"""WebArena's `render_*.html`: one attempt a file, as `browser_env/helper_functions.py` of web-arena-x/webarena writes it.

The file is a template filled with raw text: nothing in it is escaped and a `<div>` closes with `<div>`, so an HTML parser
would lose what looks like a tag. The text stands exactly between the template's own marks, and is taken from there. What was
executed is the parsed action, not the prediction. The verdict is in another file (merge_log.txt): a claimed answer is unknown here.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from dynaweb.dataset.imports.recorded import (
    PageReader,
    Provenance,
    completed,
    id_steps,
    stopping,
)
from dynaweb.dataset.imports.rows import read_text
from dynaweb.dataset.imports.tally import Tally
from dynaweb.errors import StorageError
from dynaweb.records.trajectory import Behaviour, Outcome, Reason, Step, Trajectory, World

MARK = "<div class='state_obv'>"
_PAGE = "<h2>New Page</h2>"
_URL = re.compile(r"<h3 class='url'><a href=[^\n]*?>URL: (.*?)</a></h3>")
_TREE = re.compile(r"<div class='state_obv'><pre>(.*?)</pre><div>", re.DOTALL)
_THOUGHT = re.compile(
    r"<div class='raw_parsed_prediction'[^>]*><pre>(.*)</pre></div><div class='action_object'",
    re.DOTALL,
)
_DONE = re.compile(r"<div class='parsed_action'[^>]*><pre>(.*)</pre></div></div>", re.DOTALL)
_FIELD = r"^{}: (.*)$"
_WHERE = re.compile(r" where \[\w+\] is .*\Z", re.DOTALL)
"""What the renderer adds to an action, so that people see which element it means."""
_QUOTED_KEY = re.compile(r"\Apress \['(.*)'\]\Z")
_EARLY = "stop [Early stop:"


def read_webarena_html(path: Path, known: Provenance, tally: Tally) -> Iterator[Trajectory]:
    """The attempt of a file.

    Raises:
        StorageError: not such a file.
    """
    head, *pages = read_text(path).split(_PAGE)
    if not pages:
        raise StorageError(f"{path}: no page in it: a WebArena render has {_PAGE!r} before each")
    steps: list[Step] = []
    early, reader = "", PageReader(tally=tally)
    for number, text in enumerate(pages):
        where = f"{path.name} page {number}"
        tally.rows += 1
        tree, done = _TREE.search(text), _DONE.search(text)
        if tree is None or done is None:
            tally.drop(
                "page without observation or action, and what follows it",
                where,
                len(pages) - number,
            )
            break
        if done[1].startswith(_EARLY):
            early = done[1]
            tally.note("the harness stopped the attempt: no step of the agent's", where)
            break
        url, thought = _URL.search(text), _THOUGHT.search(text)
        seen = reader.page(url[1] if url is not None else "", tree[1], where)
        steps.extend(
            id_steps(
                seen,
                thought[1].strip() if thought is not None else "",
                _call(done[1]),
                tally,
                where,
            )
        )
    if steps:
        yield completed(_attempt(path, head, tuple(steps), early), known)


def _call(parsed: str) -> str:
    call = _WHERE.sub("", parsed.strip())
    return "" if call == "none" else _QUOTED_KEY.sub(r"press [\1]", call)


def _told(head: str, name: str) -> str:
    found = re.search(_FIELD.format(name), head, re.MULTILINE)
    return found[1].strip() if found is not None else ""


def _attempt(path: Path, head: str, steps: tuple[Step, ...], early: str) -> Trajectory:
    number = re.search(r"\d+", _told(head, "task_id"))
    template = _told(head, "intent_template_id")
    detail = early.partition("[")[2].rstrip("]") if early else "the verdict stands in merge_log.txt"
    return Trajectory(
        trajectory_id=f"webarena.{number[0] if number is not None else path.stem}@{path.name}",
        task=f"webarena.template{template}" if template else "webarena",
        goal=_told(head, "intent"),
        seed=int(number[0]) if number is not None else 0,
        steps=steps,
        outcome=Outcome.FAILURE if early else Outcome.UNKNOWN,
        reason=Reason.OUT_OF_STEPS if early else stopping(steps[-1].action),
        detail=detail,
        world=World.LIVE,
        behaviour=Behaviour.AGENT,
        policy_version="WebArena",
        origin="WebArena",
    )

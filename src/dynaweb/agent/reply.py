"""The lenient front before the strict action grammar: what a model wrote, read as its actions.

A reply is searched place by place, the plainest first: `<action>` tags, an `Action:` label, fences,
lines of their own, code in the text, and the words "the next action is". The first place that holds an
action decides; one that claims an action and cannot be read is a refusal, never a reason to look
further. No action is guessed out of prose, out of thoughts, or out of page text that a reply repeats:
a reply without one is a refusal with a reason that the agent is shown.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from dynaweb.agent import places
from dynaweb.agent.piece import Actions, read_piece
from dynaweb.agent.places import Piece
from dynaweb.errors import ActionError
from dynaweb.records.action import Action
from dynaweb.records.trajectory import Fault
from dynaweb.records.webvoyager import read_webvoyager

MAX_REPLY_CHARS = 100_000

_NOTHING = "no action in the reply; write one call such as click('12')"
_TAGGED = re.compile(r"<action>((?:[^<]|<(?!/?action>))*+)(?:</action>|$)")
_LABEL = re.compile(
    r"^[ \t*#_]*(?:next |final )?action[ \t*_]*:[ \t*_]*", re.MULTILINE | re.IGNORECASE
)
_HEADER = re.compile(
    r"^[ \t*#_]*(?:thought|observation|reason|reflection|action)\b[^\n:]{0,20}:",
    re.MULTILINE | re.IGNORECASE,
)
_VOYAGER = re.compile(r"(?:Click|Type|Scroll|Wait|GoBack|Google|ANSWER)\b")

Found = tuple[Actions, int]
"""Actions, and where the place that holds them begins."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A model's words, read."""

    thought: str
    action: Action | None
    """The first action; what is done when a step takes one."""
    fault: Fault | None
    problem: str
    """Shown to the agent when there is no action; empty otherwise."""
    actions: Actions = ()
    """All of them, in order; WebArena's `type` is two when it ends with Enter."""


def read_reply(text: str) -> Reply:
    """Read a reply; total: any text gives a Reply."""
    if len(text) > MAX_REPLY_CHARS:
        told = f"the reply has {len(text)} characters; write one action"
        return Reply("", None, Fault.NO_ACTION, told)
    said = text.rfind("</think>")
    begun = 0 if said < 0 else said + len("</think>")
    if said < 0 and text.lstrip().startswith("<think>"):
        begun = len(text)
    try:
        found = _find(text[begun:])
    except ActionError as error:
        return Reply(text[:begun].strip(), None, Fault.MALFORMED, str(error))
    if found is None:
        return Reply(text.strip(), None, Fault.NO_ACTION, _NOTHING)
    actions, start = found
    return Reply(text[: begun + start].strip(), actions[0], None, "", actions)


def _find(text: str) -> Found | None:
    """The reply's actions.

    Raises:
        ActionError: it claims one that cannot be read.
    """
    whole = _whole(text)
    if whole is not None:
        return whole, 0
    seen = places.blank_echoes(text)
    tagged = list(_TAGGED.finditer(seen))
    if tagged:
        return _required(tagged[-1][1], tagged[-1].start())
    labelled = _labelled(seen)
    if labelled is not None:
        return labelled
    found = _search(seen)
    if found is None:
        found = _choose(places.previous(text))
    return found


def _whole(text: str) -> Actions | None:
    """A reply that is nothing but its action: what is quoted in it is its own."""
    words = text.split(maxsplit=2)
    try:
        return read_piece(text, firm=len(words) <= 2)
    except ActionError:
        return None


def _required(text: str, start: int) -> Found:
    """What a tag holds.

    Raises:
        ActionError: it is no action.
    """
    found = _marked(text)
    if found is None:
        raise ActionError(
            f"not an action: {text.strip()[:80]!r}; write one call such as click('12')"
        )
    return found[0], start


def _labelled(text: str) -> Found | None:
    """What stands after `Action:`; the last label, but none after an observation that the reply made up."""
    chosen: Found | None = None
    headers = list(_HEADER.finditer(text))
    starts = [h.start() for h in headers]
    for label in _LABEL.finditer(text):
        at = bisect_left(starts, label.end())
        after = headers[at] if at < len(headers) else None
        found = _marked(text[label.end() : after.start() if after is not None else len(text)])
        if found is not None:
            chosen = found[0], label.start()
        if chosen is not None and after is not None and "observation" in after[0].lower():
            break
    return chosen


def _marked(text: str) -> Found | None:
    """What a tag or a label holds: an action as it is, or an answer with places of its own."""
    fenced = _choose(places.fences(text), firm=True)
    if fenced is not None:
        return fenced
    if _VOYAGER.match(text.strip()):
        try:
            return read_webvoyager(text), 0
        except ActionError:
            pass  # the same names in another grammar
    actions = read_piece(text, firm=True)
    return (actions, 0) if actions is not None else _search(text)


def _search(text: str) -> Found | None:
    """The first kind of place that holds actions."""
    kinds: tuple[Callable[[], Found | None], ...] = (
        lambda: _choose(places.fences(text)),
        lambda: _choose(places.gaps(text), lenient=True),
        lambda: _choose(places.lines(text), firm=False),
        lambda: _mentioned(places.codes(text)),
        lambda: _choose(places.phrases(text), firm=False),
    )
    return next((found for kind in kinds if (found := kind()) is not None), None)


def _choose(pieces: Iterable[Piece], *, firm: bool = True, lenient: bool = False) -> Found | None:
    """Actions of all pieces in order; of those that are announced, the first.

    Raises:
        ActionError: a piece claims an action and cannot be read, unless `lenient`.
    """
    found: list[tuple[Piece, Actions]] = []
    for piece in pieces:
        if piece.quoted and piece.announced:
            continue  # somebody else's reply
        try:
            actions = read_piece(piece.text, firm=firm)
        except ActionError:
            if lenient or piece.quoted:
                continue
            raise
        if actions is not None and all(actions != a for _, a in found[-1:]):
            found.append((piece, actions))
    announced = [f for f in found if f[0].announced][:1]
    chosen = announced or [f for f in found if not f[0].quoted] or found[:1]
    return (
        (tuple(a for _, actions in chosen for a in actions), chosen[0][0].start) if chosen else None
    )


def _mentioned(pieces: Sequence[Piece]) -> Found | None:
    """Code in the text: the one that is announced, or the only action that is named.

    Raises:
        ActionError: the announced one cannot be read, or several are named.
    """
    announced = _choose([p for p in pieces if p.announced])
    if announced is not None:
        return announced
    named: dict[Actions, int] = {}
    for piece in pieces:
        try:
            actions = read_piece(piece.text, firm=True)
        except ActionError:
            continue
        if actions is not None and not piece.announced and any(c in piece.text for c in "([ "):
            named.setdefault(actions, piece.start)
    if len(named) > 1:
        raise ActionError(f"the reply names {len(named)} different actions; write one")
    return next(iter(named.items()), None)

"""WebVoyager's grammar of numbered labels, `Type [3]; words` and `ANSWER; words`: read only.

A label is the number a screenshot shows beside an element; here it is taken for the element's bid.
`Type` empties the field and ends with Enter; scrolling an element is hovering it and turning the wheel.
Source: MinorJerry/WebVoyager, `utils.py`, `extract_information`, and `run.py`.
"""

import re

from dynaweb.errors import ActionError
from dynaweb.records.action import (
    MAX_ACTION_CHARS,
    Action,
    Click,
    GoBack,
    Goto,
    Hover,
    Noop,
    Scroll,
    SendMsgToUser,
)
from dynaweb.records.webarena import type_text

WINDOW_PX = 512.0
"""What `Scroll` moves: two thirds of WebVoyager's 768-pixel window."""

WAIT_MS = 5000.0
"""What `Wait` waits."""

SEARCH_PAGE = "https://www.google.com/"
"""Where `Google` goes."""

_ACTION = re.compile(
    r"(?P<click>click)\s*\[?(?P<clicked>\d+)\]?"
    r"|(?P<type>type)\s*\[?(?P<field>\d+)\]?\s*;\s*(?P<text>.+)"
    r"|(?P<scroll>scroll)\s*\[?(?P<place>\d+|window)\]?\s*;\s*\[?(?P<direction>up|down)\]?"
    r"|(?P<wait>wait)|(?P<back>goback)|(?P<search>google)"
    r"|(?P<answer>answer)\s*;\s*(?P<said>.+)",
    re.IGNORECASE | re.DOTALL,
)


def read_webvoyager(text: str) -> tuple[Action, ...]:
    """Read one action; it is one action here, or two.

    Raises:
        ActionError: not exactly one known action.
    """
    if len(text) > MAX_ACTION_CHARS:
        raise ActionError(f"action of {len(text)} characters; at most {MAX_ACTION_CHARS}")
    found = _ACTION.fullmatch(text.strip())
    if found is None:
        raise ActionError(f"not an action: {text[:80]!r}; write Click [3] or Type [3]; text")
    if found["click"]:
        return (Click(found["clicked"]),)
    if found["type"]:
        return type_text(found["field"], _plain(found["text"]), enter=True)
    if found["scroll"]:
        return _scroll(found["place"], found["direction"].lower())
    if found["answer"]:
        return (SendMsgToUser(_plain(found["said"])),)
    if found["wait"]:
        return (Noop(WAIT_MS),)
    return (GoBack(),) if found["back"] else (Goto(SEARCH_PAGE),)


def _scroll(place: str, direction: str) -> tuple[Action, ...]:
    turn = Scroll(0.0, WINDOW_PX if direction == "down" else -WINDOW_PX)
    return (turn,) if place.lower() == "window" else (Hover(place), turn)


def _plain(text: str) -> str:
    """Text without the brackets that the prompt's example has."""
    inside = text.strip()
    return inside[1:-1] if inside[0] == "[" and inside[-1] == "]" else inside

"""WebArena's id grammar, `click [12]` and `type [5] [words] [1]`: read, printed, converted.

One line of it may be two actions here: `type` with 1 at its end fills the field and presses Enter
(it is also what `type` does when the number is left out). Converting back loses, and says so below:
how far `scroll` goes, and the reason of `report_infeasible`, which WebArena says as `stop [N/A]`.
Source: web-arena-x/webarena, `browser_env/actions.py`, `create_id_based_action`.
"""

import re
from collections.abc import Callable, Mapping, Sequence

from dynaweb.errors import ActionError
from dynaweb.records.action import (
    MAX_ACTION_CHARS,
    Action,
    Click,
    Fill,
    GoBack,
    GoForward,
    Goto,
    Hover,
    KeyboardPress,
    NewTab,
    Press,
    ReportInfeasible,
    Scroll,
    SendMsgToUser,
    TabClose,
    TabFocus,
    print_action,
)

PAGE_PX = 720.0
"""What `scroll [down]` moves: one viewport, 720 pixels high in WebArena."""

NOT_POSSIBLE = "N/A"
"""The answer that says a task cannot be done."""

Actions = tuple[Action, ...]
Form = tuple[re.Pattern[str], Callable[[re.Match[str]], Actions], str]
"""Its arguments, what they mean, and how it is written, for the error."""

_HEAD = re.compile(r"[a-z_]+")
_BID = r"\[([A-Za-z0-9]+)\]"


def type_text(bid: str, text: str, enter: bool) -> Actions:
    """WebArena's `type`: fill a field, and press Enter in it if asked."""
    return (Fill(bid, text), Press(bid, "Enter")) if enter else (Fill(bid, text),)


def answer(text: str) -> Actions:
    """WebArena's `stop`."""
    return (ReportInfeasible(text) if text == NOT_POSSIBLE else SendMsgToUser(text),)


def turn_page(direction: str) -> Actions:
    """WebArena's `scroll`."""
    return (Scroll(0.0, PAGE_PX if direction == "down" else -PAGE_PX),)


def _form(arguments: str, means: Callable[[re.Match[str]], Actions], usage: str) -> Form:
    return re.compile(arguments, re.DOTALL), means, usage


FORMS: Mapping[str, tuple[Form, ...]] = {
    "click": (_form(_BID, lambda m: (Click(m[1]),), "click [12]"),),
    "hover": (_form(_BID, lambda m: (Hover(m[1]),), "hover [12]"),),
    "type": (
        _form(
            rf"{_BID}\s*\[(.+)\]\s*\[([01])\]",
            lambda m: type_text(m[1], m[2], m[3] == "1"),
            "type [12] [text] [1]",
        ),
        _form(rf"{_BID}\s*\[(.+)\]", lambda m: type_text(m[1], m[2], True), "type [12] [text] [1]"),
    ),
    "press": (_form(r"\[(.+)\]", lambda m: (KeyboardPress(m[1]),), "press [Enter]"),),
    "scroll": (_form(r"\[?(up|down)\]?", lambda m: turn_page(m[1]), "scroll [down]"),),
    "goto": (_form(r"\[(.+)\]", lambda m: (Goto(m[1]),), "goto [http://...]"),),
    "tab_focus": (_form(r"\[(\d{1,5})\]", lambda m: (TabFocus(int(m[1])),), "tab_focus [0]"),),
    "new_tab": (_form("", lambda _: (NewTab(),), "new_tab"),),
    "close_tab": (_form("", lambda _: (TabClose(),), "close_tab"),),
    "page_close": (_form("", lambda _: (TabClose(),), "page_close"),),
    "go_back": (_form("", lambda _: (GoBack(),), "go_back"),),
    "go_forward": (_form("", lambda _: (GoForward(),), "go_forward"),),
    "stop": (_form(r"(?:\[(.*)\])?", lambda m: answer(m[1] or ""), "stop [answer]"),),
}
"""Name -> the forms it may have; the first that fits the whole text is meant."""


def read_webarena(text: str) -> Actions:
    """Read one action of the id grammar strictly; it is one action here, or two.

    Raises:
        ActionError: not exactly one known action with its arguments in brackets.
    """
    if len(text) > MAX_ACTION_CHARS:
        raise ActionError(f"action of {len(text)} characters; at most {MAX_ACTION_CHARS}")
    words = text.strip()
    head = _HEAD.match(words)
    name = head[0] if head is not None else ""
    if name not in FORMS:
        raise ActionError(f"unknown action {name[:40]!r}: use one of {', '.join(FORMS)}")
    arguments = words[len(name) :].lstrip()
    for pattern, means, _ in FORMS[name]:
        found = pattern.fullmatch(arguments)
        if found is not None:
            return means(found)
    raise ActionError(f"not an action: {words[:80]!r}; write {FORMS[name][0][2]}")


def print_webarena(actions: Sequence[Action]) -> tuple[str, ...]:
    """The actions as lines of the id grammar; a text filled in and sent with Enter is one of them.

    Raises:
        ActionError: WebArena has no words for one of them.
    """
    lines: list[str] = []
    at = 0
    while at < len(actions):
        action = actions[at]
        following = actions[at + 1 : at + 2]
        enter = isinstance(action, Fill) and following == (Press(action.bid, "Enter"),)
        lines.append(_on_element(action, enter) or _on_page(action))
        at += 2 if enter else 1
    return tuple(lines)


def _on_element(action: Action, enter: bool) -> str:
    """An action that names an element; empty for others."""
    match action:
        case Click(bid, "left", ()) if bid.isalnum() and bid.isascii():
            return f"click [{bid}]"
        case Hover(bid) if bid.isalnum() and bid.isascii():
            return f"hover [{bid}]"
        case Fill(bid, text, False) if text and bid.isalnum() and bid.isascii():
            return f"type [{bid}] [{text}] [{int(enter)}]"
        case _:
            return ""


def _on_page(action: Action) -> str:
    bare = {NewTab: "new_tab", TabClose: "close_tab", GoBack: "go_back", GoForward: "go_forward"}
    match action:
        case KeyboardPress(key) if key:
            return f"press [{key}]"
        case Scroll(0, down) if down:
            return f"scroll [{'down' if down > 0 else 'up'}]"
        case Goto(url) if url:
            return f"goto [{url}]"
        case TabFocus(index) if 0 <= index < 100_000:
            return f"tab_focus [{index}]"
        case SendMsgToUser(text):
            return f"stop [{text}]"
        case ReportInfeasible():
            return f"stop [{NOT_POSSIBLE}]"
        case _ if type(action) in bare:
            return bare[type(action)]
        case _:
            raise ActionError(f"WebArena's grammar has no words for {print_action(action)[:80]}")

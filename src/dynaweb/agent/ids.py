"""WebArena's id grammar as models write it: brackets left out, quotes added, remarks behind it.

What may be missing or too much is listed form by form; whatever else is an error, shown to the agent.
"""

import re
from collections.abc import Callable, Mapping

from dynaweb.errors import ActionError
from dynaweb.records.action import Action, Goto, KeyboardPress, TabFocus
from dynaweb.records.webarena import FORMS, answer, read_webarena, turn_page, type_text

Actions = tuple[Action, ...]

_ID = r"(?=[A-Za-z]*\d)[A-Za-z0-9]{1,32}"
_QUOTES = "'\"`\u2018\u2019\u201c\u201d"
_Q = f"[{_QUOTES}]?"
_HELD_ID = re.compile(rf"\[\s*{_Q}({_ID}){_Q}\s*\]")
_BARE_ID = re.compile(rf"{_Q}({_ID}){_Q}(?=\s|$|[.,;])")
_ENTER = re.compile(r"\s*\[\s*(?:press_enter_after\s*=\s*)?([01])\s*\]$|\s([01])$")
_ENTER_CHARS = 40
_HELD_TEXT = re.compile(r"\[([^\[\]\n]+)\](?:\s*\[([01])\])?")
_HISTORY = re.compile(r"\] where \[\w{1,32}\] is ")
_STOPS = " \t\r\n.,;:)"
_REMARK = re.compile(r"\s*(?:$|[.,;:)#]|where\b|\n|//)")
_ALONE = frozenset({"new_tab", "close_tab", "page_close", "go_back", "go_forward"})
_PLACEHOLDERS = frozenset({"url", "text", "content", "answer", "key_comb", "key", "id", "..."})
_URL = re.compile(
    r"(?:[A-Za-z][A-Za-z0-9+.-]*://\S+|about:\S+|(?:localhost|[\w-]+(?:\.[\w-]+)+)(?:[:/?#]\S*)?)"
)


def read_ids(words: str, *, firm: bool) -> Actions | None:
    """Actions of the id grammar, one a line.

    Args:
        words: text that begins with a name of the grammar.
        firm: whether the reply marks it off as its action.

    Returns:
        None when it is prose that merely begins with such a name.

    Raises:
        ActionError: it is marked off, or has its brackets, and cannot be read.
    """
    name = re.match(r"[A-Za-z_]+", words)
    assert name is not None
    first, _, rest = words.partition("\n")
    if rest and not (name[0].lower() in ("type", "stop") and first.count("[") > first.count("]")):
        return _lines(words) if firm else None
    return _line(name[0].lower(), words[name.end() :], words, firm)


def _lines(words: str) -> Actions | None:
    """The lines that are actions; the rest is remarks."""
    actions: list[Action] = []
    for line in words.splitlines():
        name = re.match(r"\s*([A-Za-z_]+)", line)
        if name is not None and name[1].lower() in FORMS:
            actions += _line(name[1].lower(), line[name.end() :], line, firm=True) or ()
    return tuple(actions) or None


def _line(name: str, rest: str, words: str, firm: bool) -> Actions | None:
    usage = f"not an action: {words[:80]!r}; write {FORMS[name][0][2]}"
    if not rest.strip(" .`()[]"):  # the name alone: an action, or talk of one
        alone = name in _ALONE or (firm and name == "stop")
        return read_webarena(name) if alone else None
    if rest.strip().strip("[]").strip(_QUOTES).lower() in _PLACEHOLDERS:
        raise ActionError(usage)
    told = _HISTORY.search(rest)  # how WebArena prints an action done
    rest = rest[: told.start() + 1] if told is not None else rest
    found = _READERS[name](rest, firm) if name in _READERS else None
    if found is None and (firm or rest.lstrip().startswith("[")):
        raise ActionError(usage)
    return found


def _element(name: str) -> Callable[[str, bool], Actions | None]:
    def read(rest: str, firm: bool) -> Actions | None:
        held = _HELD_ID.match(rest.lstrip(" :"))
        if held is not None and (firm or _REMARK.match(held.string, held.end())):
            return read_webarena(f"{name} [{held[1]}]")
        bare = _BARE_ID.match(rest.lstrip(" :"))
        if firm and bare is not None and not bare.string[bare.end() :].strip(" .;"):
            return read_webarena(f"{name} [{bare[1]}]")
        return None

    return read


def _type(rest: str, firm: bool) -> Actions | None:
    at = rest.lstrip(" :")
    target = _HELD_ID.match(at) or (_BARE_ID.match(at) if firm else None)
    if target is None:
        return None
    typed = _typed(at[target.end() :].strip(), firm)
    return type_text(target[1], *typed) if typed is not None else None


def _typed(after: str, firm: bool) -> tuple[str, bool] | None:
    """What is typed, and whether Enter ends it."""
    if after.startswith("["):
        text, enter = _enter(after.rstrip(_STOPS))
        if text.endswith("]") and len(text) > 2:
            return _unquoted(text[1:-1]), enter
        held = _HELD_TEXT.match(after) if firm else None  # a remark follows
        return (_unquoted(held[1]), held[2] != "0") if held is not None else None
    text, enter = _enter(after.rstrip(" ."))
    if not firm or not text:
        return None
    if text[0] in _QUOTES:
        return (text[1:-1], enter) if len(text) > 2 and text[-1] in _QUOTES else None
    return (text, enter) if "[" not in text and "]" not in text else None


def _enter(after: str) -> tuple[str, bool]:
    """The text without WebArena's last argument, and what that says; Enter is its default."""
    flag = _ENTER.search(after, max(0, len(after) - _ENTER_CHARS))
    if flag is None or not after[: flag.start()].strip():
        return after, True
    return after[: flag.start()].rstrip(), (flag[1] or flag[2]) == "1"


def _press(rest: str, firm: bool) -> Actions | None:
    held = re.match(r"\s*\[([^\]\n]+)\]", rest) or (
        re.match(rf"\s*({_Q}[\w+]+{_Q})[\s.]*$", rest) if firm else None
    )
    return (KeyboardPress(_unquoted(held[1])),) if held is not None else None


def _scroll(rest: str, firm: bool) -> Actions | None:
    held = re.match(r"\s*\[\s*(?:direction\s*=\s*)?['\"]?(up|down)['\"]?\s*\]", rest)
    bare = re.match(r"\s*['\"]?(up|down)['\"]?[\s.]*$", rest) if firm else None
    found = held or bare
    return turn_page(found[1]) if found is not None else None


def _goto(rest: str, firm: bool) -> Actions | None:
    held = re.match(r"\s*\[([^\n]+)\]", rest)
    bare = re.match(r"\s*(\S+)", rest) if firm else None
    found = held or bare
    url = _unquoted(found[1].strip()) if found is not None else ""
    if held is None:
        url = url.rstrip(".,;")
    return (Goto(url),) if _URL.fullmatch(url) else None


def _tab(rest: str, firm: bool) -> Actions | None:
    found = re.match(r"\s*\[\s*(\d{1,4})\s*\]", rest) or (
        re.match(r"\s*(\d{1,4})[\s.]*$", rest) if firm else None
    )
    return (TabFocus(int(found[1])),) if found is not None else None


def _stop(rest: str, firm: bool) -> Actions | None:
    held = rest.strip().rstrip(_STOPS + "`")
    if held.startswith("[") and held.endswith("]"):
        return answer(held[1:-1])
    if held.startswith("[") and firm and "]" in held:
        return answer(held[1 : held.rindex("]")])
    return answer(_unquoted(rest.strip())) if firm else None


def _unquoted(text: str) -> str:
    """The text without one pair of quotes around it."""
    inside = text.strip()
    pairs = ("''", '""', "``", "\u2018\u2019", "\u201c\u201d")
    if len(inside) >= 2 and inside[0] + inside[-1] in pairs and inside[0] not in inside[1:-1]:
        return inside[1:-1]
    return text


_READERS: Mapping[str, Callable[[str, bool], Actions | None]] = {
    "click": _element("click"),
    "hover": _element("hover"),
    "type": _type,
    "press": _press,
    "scroll": _scroll,
    "goto": _goto,
    "tab_focus": _tab,
    "stop": _stop,
}

"""One piece of a reply, read leniently: what a model meant by `click 482` or `fill(5, 42)`.

Repairs only what has one meaning (a number for a bid, a real line break inside a string, missing
brackets in WebArena's grammar) and leaves the rest to the strict parsers of `dynaweb.records`. A piece
that claims to be an action and cannot be read is an error; one that claims nothing is None.
"""

import re
from collections.abc import Sequence
from dataclasses import fields

from dynaweb.agent.ids import read_ids
from dynaweb.errors import ActionError
from dynaweb.records.action import BY_NAME, Action, parse_action, target_bids, with_bids
from dynaweb.records.calltext import CallText, scan_call, skip_space
from dynaweb.records.webarena import FORMS

Actions = tuple[Action, ...]

NAMES = "|".join(sorted({*BY_NAME, *FORMS}, key=len, reverse=True))
"""Every name that begins an action, as a pattern."""

MAX_ACTIONS = 20
"""Most actions that one reply may list."""

_HEAD = re.compile(r"([A-Za-z_]\w*)([ \t]*)([(\[]?)")
_CALL = re.compile(r"[A-Za-z_]\w*\s*\(")
_BETWEEN = re.compile(r"[\s;.]*")
_LANGUAGE = re.compile(r"\s*([A-Za-z]+)[ \t]*\n\s*(?=\S)")
_TEMPLATE = re.compile(r"action\b", re.IGNORECASE)
_BRACKETED = re.compile(r"(?:\s*\[[^\[\]\n]*\])+\s*\.?")
_KEYWORD = re.compile(r"([A-Za-z_]\w*)\s*=\s*(.*)", re.DOTALL)
_BID = re.compile(r"[A-Za-z0-9]{1,32}")
_BARE_BID = re.compile(r"\[?((?=[A-Za-z]*\d)[A-Za-z0-9]{1,32})\]?")
_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?")
_KEYS = re.compile(r"[A-Za-z0-9]+(?:\+[A-Za-z0-9]+)*")
_CURLY = str.maketrans("\u2018\u2019\u201c\u201d", "''\"\"")


def read_piece(text: str, *, firm: bool) -> Actions | None:
    """Actions that a piece of a reply lists, in order.

    Args:
        text: what stands in a fence, after a label, on a line.
        firm: whether the reply marks it off as its action; prose that merely begins like one is not.

    Returns:
        None when it does not claim to be an action.

    Raises:
        ActionError: it claims to be one and cannot be read.
    """
    words = unwrap(text)
    head = _HEAD.match(words)
    if head is None:
        return None
    name, gap, bracket = head.groups()
    if bracket == "(" and name in BY_NAME:
        return _calls(words, firm=firm, claims=firm or not gap)
    if name.lower() in FORMS:
        return read_ids(words, firm=firm)
    if name in BY_NAME:
        return _without_brackets(words, name, firm)
    if firm and bracket and not _TEMPLATE.match(name) and words[-1:] in (")", "]"):
        raise ActionError(f"unknown action {name[:40]!r}; write one call such as click('12')")
    return None


def unwrap(text: str) -> str:
    """The piece without quotes, backticks and the language of a fence around it."""
    words = text.strip()
    tag = _LANGUAGE.match(words)
    if tag is not None and tag[1] not in BY_NAME and tag[1].lower() not in FORMS:
        words = words[tag.end() :]
    for quote in ("`", '"', "'", "**"):
        inside = words.removeprefix(quote).removesuffix(quote)
        if len(inside) == len(words) - 2 * len(quote):
            words = inside.strip()
    if "'" not in words and '"' not in words:
        words = words.translate(_CURLY)
    return words[skip_space(words, 0) :]


def _calls(words: str, *, firm: bool, claims: bool) -> Actions | None:
    """Calls, one after another; text after them may be a comment, or prose on a line of its own."""
    actions: list[Action] = []
    at = end = 0
    while at < len(words) and (_CALL.match(words, at) or not actions):
        if len(actions) == MAX_ACTIONS:
            raise ActionError(f"more than {MAX_ACTIONS} actions in one reply; write one")
        try:
            call = _scan(words, at)
            actions.append(_repaired(call, words[at : call.end]))
        except ActionError:
            if claims:
                raise
            return None
        end = call.end
        at = skip_space(words, _skip_stops(words, end))
    rest = words[at:].strip("`;. \n")
    if rest and firm and "\n" in words[end:at]:
        return tuple(actions)
    if rest and (firm or (claims and "\n" not in words[end:at])):
        raise ActionError(f"text after the action: {rest[:60]!r}; write one call and no more")
    return None if rest else tuple(actions)


def _skip_stops(words: str, at: int) -> int:
    between = _BETWEEN.match(words, at)
    return at if between is None else between.end()


def _scan(words: str, at: int) -> CallText:
    try:
        return scan_call(words, at)
    except ActionError:
        return scan_call(words, at, line_breaks=True)


def _repaired(call: CallText, source: str) -> Action:
    """The call as an action, its arguments mended where the strict parser refuses them."""
    try:
        action = parse_action(source)
    except ActionError as strict:
        try:
            action = parse_action(f"{call.name}({', '.join(_mended(call))})")
        except ActionError:
            raise strict from None
    bids = [bid.strip().removeprefix("[").removesuffix("]") for bid in target_bids(action)]
    for bid in bids:
        if not _BID.fullmatch(bid):
            raise ActionError(
                f"{bid[:40]!r} is not a bid; write the number in front of the element"
            )
    return with_bids(action, bids)


def _mended(call: CallText) -> Sequence[str]:
    kind = BY_NAME.get(call.name)
    declared = {f.name: str(f.type) for f in fields(kind)} if kind is not None else {}
    names = list(declared)
    mended: list[str] = []
    for i, argument in enumerate(call.arguments):
        keyword = _KEYWORD.fullmatch(argument)
        name = keyword[1] if keyword is not None else names[i] if i < len(names) else ""
        value = _mend(keyword[2] if keyword is not None else argument, name, declared.get(name, ""))
        mended.append(f"{name}={value}" if keyword is not None else value)
    return mended


def _mend(value: str, name: str, declared: str) -> str:
    """One argument, written as its type wants it."""
    if value[:1] in ("'", '"') and value[:3] not in ("'''", '"""'):
        inside = value[1:-1]
        if ("float" in declared or "int" in declared) and _NUMBER.fullmatch(inside):
            return inside
        return value.replace("\n", "\\n").replace("\r", "\\r")
    if name.endswith("bid"):
        bid = _BARE_BID.fullmatch(value)
        return repr(bid[1]) if bid is not None else value
    if "str" in declared and _NUMBER.fullmatch(value):
        return repr(value)
    if name.startswith("key") and _KEYS.fullmatch(value):
        return repr(value)
    return value


def _without_brackets(words: str, name: str, firm: bool) -> Actions | None:
    """A name of BrowserGym's alone (`noop`), or with its arguments in square brackets."""
    rest = words[len(name) :].strip()
    alone = not rest.strip(".;`")
    needed = [f for f in fields(BY_NAME[name]) if f.name not in ("wait_ms",)]
    if alone and not needed:
        return (parse_action(f"{name}()"),)
    if _BRACKETED.fullmatch(rest):
        values = [v.strip().strip("'\"") for v in re.findall(r"\[([^\[\]\n]*)\]", rest)]
        source = f"{name}({', '.join(repr(v) for v in values)})"
        return (_repaired(scan_call(source), source),)
    if firm and not alone:
        raise ActionError(f"not an action: {words[:80]!r}; write one call such as click('12')")
    return None

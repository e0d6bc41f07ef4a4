"""Reading the compact form of a state change: strict, total, linear (grammar: `axtree.text`)."""

import json
import re
from collections.abc import Callable
from dataclasses import replace

from dynaweb.axtree.tree import KEY, QUOTED, parse_attrs, parse_body, unquote
from dynaweb.errors import DeltaError
from dynaweb.records.delta import (
    START,
    Content,
    Deleted,
    Delta,
    DeltaKind,
    Moved,
    New,
    Placed,
    Renumbered,
    Rewritten,
    Shifted,
    Updated,
)
from dynaweb.records.observation import Tab

MAX_CHARS = 4_000_000
MAX_DEPTH = 10_000

_COUNT = r"(?:\+[1-9][0-9]{0,6})?"
_REF = re.compile(rf"\[([A-Za-z0-9]+)\]({_COUNT})|(root)({_COUNT})|(\^)")
_FIELD = re.compile(r"@([a-z]+) (.*)", re.DOTALL)
_NUMBER = re.compile(r"-?[0-9]{1,9}")
_SCROLL = re.compile(r"(-?[0-9]{1,9}) (-?[0-9]{1,9})")
_NEW_FOCUS = re.compile(r"\+[1-9][0-9]{0,6}")
_BID = re.compile(r"[A-Za-z0-9]+")

_KINDS = {
    "none": DeltaKind.NONE,
    "end": DeltaKind.TERMINAL,
    "page": DeltaKind.FULL_PAGE,
    "tab": DeltaKind.NEW_TAB,
}


class Reader:
    """One text; `delta()` reads it once."""

    def __init__(self, text: str) -> None:
        if len(text) > MAX_CHARS:
            raise DeltaError(f"a change of {len(text)} characters; at most {MAX_CHARS}")
        self._lines = text.rstrip("\n").split("\n")
        self._number = 0
        self._updated: list[Updated | Rewritten] = []
        self._deleted: list[Deleted] = []
        self._shifted: list[Shifted] = []
        self._placed: list[tuple[str, list[New | Moved]]] = []
        self._renumbered: list[Renumbered] = []
        self._frame = Delta(kind=DeltaKind.LOCAL)

    def delta(self) -> Delta:
        """The change.

        Raises:
            DeltaError: a line that is no part of a change.
        """
        try:
            kind = self._read()
        except DeltaError as error:
            raise DeltaError(f"line {self._number} of the change: {error}") from error
        delta = replace(
            self._frame,
            kind=kind,
            updated=tuple(self._updated),
            deleted=tuple(self._deleted),
            shifted=tuple(self._shifted),
            placed=tuple(Placed(after=after, items=tuple(items)) for after, items in self._placed),
            renumbered=tuple(self._renumbered),
        )
        if delta == Delta(kind=DeltaKind.LOCAL, error=delta.error):
            return replace(delta, kind=DeltaKind.NONE)
        return delta

    def _read(self) -> DeltaKind:
        kind = _KINDS.get(self._lines[0])
        whole = kind in (DeltaKind.FULL_PAGE, DeltaKind.NEW_TAB)
        in_tree = False
        for number, line in enumerate(self._lines, start=1):
            self._number = number
            if self._number == 1 and kind is not None:
                continue
            if line[:1] == "@" and not in_tree:
                self._field(line)
            elif line[:1] == "#" and (not whole or in_tree):
                self._renumber(line)
            elif whole and not self._renumbered:
                in_tree = self._page_line(line)
            elif kind is None and not self._renumbered:
                self._change(line)
            else:
                raise DeltaError(f"{line[:60]!r} cannot stand here")
        if whole and not in_tree:
            raise DeltaError("the new page has no lines")
        return kind or DeltaKind.LOCAL

    def _change(self, line: str) -> None:
        first = line[:1]
        if first in ("\t", "."):
            if not self._placed:
                raise DeltaError(f"{line[:60]!r} is placed after nothing; write `+[bid]` before it")
            self._placed[-1][1].append(_item(line[1:] if first == "." else line))
        elif first == "+":
            ref, rest = _ref(line[1:], start=True)
            _ended(rest)
            self._placed.append((ref, []))
        elif first == "-":
            self._deleted.append(_deleted(line[1:]))
        elif first == ">":
            ref, rest = _ref(line[1:])
            if not rest.startswith(" ") or not _NUMBER.fullmatch(rest, 1):
                raise DeltaError(f"{line[:60]!r}: expected `>[bid] levels`")
            self._shifted.append(Shifted(ref=ref, by=int(rest[1:])))
        else:
            ref, rest = _ref(line)
            if not rest.startswith(" "):
                raise DeltaError(f"{line[:60]!r} says nothing of {ref!r}")
            self._updated.append(_update(ref, rest[1:]))

    def _page_line(self, line: str) -> bool:
        item = _item(line)
        if isinstance(item, Moved):
            raise DeltaError(f"{line[:60]!r}: a new page keeps no old element")
        if not self._placed:
            self._placed.append((START, []))
        self._placed[-1][1].append(item)
        return True

    def _renumber(self, line: str) -> None:
        ref, rest = _ref(line[1:])
        if not rest.startswith(" ") or not _BID.fullmatch(rest, 1):
            raise DeltaError(f"{line[:60]!r}: expected `#[bid] bid`")
        self._renumbered.append(Renumbered(ref=ref, bid=rest[1:]))

    def _field(self, line: str) -> None:
        found = _FIELD.fullmatch(line)
        read = _FIELDS.get(found.group(1)) if found is not None else None
        if found is None or read is None:
            raise DeltaError(
                f"unknown field {line[:40]!r}; known: {', '.join('@' + k for k in _FIELDS)}"
            )
        self._frame = read(self._frame, found.group(2))


def _ref(text: str, *, start: bool = False) -> tuple[str, str]:
    """An address at the start of a text, and the rest."""
    found = _REF.match(text)
    if found is None or (found.group(5) and not start):
        raise DeltaError(
            f"no address at the start of {text[:40]!r}; write `[bid]`, `[bid]+1` or `root`"
        )
    bid, count, root, root_count, up = found.groups()
    return up or (bid or root) + (count or root_count or ""), text[found.end() :]


def _deleted(text: str) -> Deleted:
    ref, rest = _ref(text)
    to: str | None = None
    if rest.startswith(".."):
        to, rest = _ref(rest[2:])
    _ended(rest.removeprefix("!"))
    return Deleted(ref=ref, to=to, alone=rest == "!")


def _ended(rest: str) -> None:
    if rest:
        raise DeltaError(f"nothing may follow here, but {rest[:40]!r} does")


def _item(line: str) -> New | Moved:
    body = line.lstrip("\t")
    depth = len(line) - len(body)
    if depth > MAX_DEPTH:
        raise DeltaError(f"{depth} levels deep; at most {MAX_DEPTH}")
    if body[:1] == "=":
        ref, rest = _ref(body[1:])
        _ended(rest)
        return Moved(depth=depth, ref=ref)
    has_bid = body.startswith("[] ")
    return New(depth=depth, content=_content(body[3:] if has_bid else body), has_bid=has_bid)


def _content(text: str) -> Content:
    if text[:1] == "|":
        return Content(role="", name=text[1:])
    role, name, attrs = parse_body(text)
    return Content(role=role, name=name, attrs=attrs)


def _update(ref: str, text: str) -> Updated | Rewritten:
    if text.startswith(":= "):
        return Rewritten(ref=ref, content=_content(text[3:]))
    quoted = QUOTED.match(text)
    name = unquote(quoted.group()) if quoted is not None else None
    rest = text[quoted.end() :] if quoted is not None else f", {text}"
    kept, unset = _split_unset(rest)
    return Updated(ref=ref, name=name, set=parse_attrs(kept, 0), unset=unset)


def _split_unset(rest: str) -> tuple[str, tuple[str, ...]]:
    """Attributes to set, and at the end the keys to take away: `, a='x', -b, -c`."""
    keys: list[str] = []
    end = len(rest)
    while (cut := rest.rfind(", -", 0, end)) >= 0 and KEY.fullmatch(rest, cut + 3, end):
        keys.append(rest[cut + 3 : end])
        end = cut
    return rest[:end], tuple(reversed(keys))


def _quoted(text: str) -> str:
    if not QUOTED.fullmatch(text):
        raise DeltaError(f"{text[:40]!r} is not quoted text")
    return unquote(text)


def _focus(delta: Delta, text: str) -> Delta:
    if text == "none":
        return replace(delta, focus="")
    if text[:1] == "=":
        return replace(delta, focus="=" + _quoted(text[1:]))
    if _NEW_FOCUS.fullmatch(text):
        return replace(delta, focus=text)
    ref, rest = _ref(text)
    _ended(rest)
    return replace(delta, focus=ref)


def _scroll(delta: Delta, text: str) -> Delta:
    found = _SCROLL.fullmatch(text)
    if found is None:
        raise DeltaError(f"scroll {text[:40]!r}: expected two whole numbers")
    return replace(delta, scroll=(int(found.group(1)), int(found.group(2))))


def _active(delta: Delta, text: str) -> Delta:
    if not _NUMBER.fullmatch(text):
        raise DeltaError(f"active tab {text[:40]!r}: expected a whole number")
    return replace(delta, active_tab=int(text))


def _tabs(delta: Delta, text: str) -> Delta:
    try:
        rows = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DeltaError(f"tabs are not JSON: {text[:40]!r}") from error
    if not isinstance(rows, list):
        raise DeltaError(f"tabs are not a list: {text[:40]!r}")
    return replace(delta, tabs=tuple(map(_tab, rows)))


def _tab(row: object) -> Tab:
    match row:
        case [str(url), str(title), list(back), list(forward)] if all(
            isinstance(u, str) for u in back + forward
        ):
            return Tab(url=url, title=title, back=tuple(back), forward=tuple(forward))
        case _:
            raise DeltaError(f"a tab is [url, title, back, forward], got {str(row)[:60]!r}")


_FIELDS: dict[str, Callable[[Delta, str], Delta]] = {
    "url": lambda d, text: replace(d, url=_quoted(text)),
    "title": lambda d, text: replace(d, title=_quoted(text)),
    "focus": _focus,
    "scroll": _scroll,
    "tabs": _tabs,
    "active": _active,
    "error": lambda d, text: replace(d, error=_quoted(text)),
}

"""The compact form of a state change: what the world model is trained to write.

    none                                  nothing changed
    end                                   the episode ended
    [14] checked='true', -focused         attributes set and taken away
    [15] 'New name', value='$t'           new name; the value is what the action typed
    [13]+1 'Count: 2'                     the first line without a bid after [13]
    [13] := button 'Ok', disabled         the whole line is new
    -[9]                                  gone, with everything below it
    -[9]..[12]                            a row of elements, gone with everything below them
    -[9]!                                 gone alone
    >[13] 1                               one level deeper, with everything below it
    +[13]                                 after [13] stand:
    <tab>[] button 'OK'                     a new element with a bid
    <tab><tab>StaticText 'x'                a new line without one
    <tab>=[20]                              element 20, moved here with everything below it
    page                                  another page (`tab`: in a new tab), its tree follows
    @url '...'  @title '...'  @focus [13]  @scroll 0 300  @tabs [...]  @active 1  @error '...'
    #[15] 27                              renumbered; models never write it

`parse_delta(print_delta(d)) == d` for every change that `diff` makes. The parser is total: a change
or a DeltaError that names the line, in linear time.
"""

import json

from dynaweb.axtree.deltatext import Reader
from dynaweb.axtree.tree import quote, render_attr
from dynaweb.records.delta import (
    ROOT,
    START,
    Content,
    Deleted,
    Delta,
    DeltaKind,
    Moved,
    New,
    Rewritten,
    Updated,
)
from dynaweb.records.observation import Tab

_KIND_WORDS = {DeltaKind.TERMINAL: "end", DeltaKind.FULL_PAGE: "page", DeltaKind.NEW_TAB: "tab"}


def print_delta(delta: Delta) -> str:
    """The change in its compact form."""
    whole = delta.kind in (DeltaKind.FULL_PAGE, DeltaKind.NEW_TAB)
    lines = [_KIND_WORDS[delta.kind]] if delta.kind in _KIND_WORDS else []
    lines += _frame(delta)
    lines += [_updated(u) for u in delta.updated]
    lines += [_deleted(d) for d in delta.deleted]
    lines += [f">{print_ref(s.ref)} {s.by}" for s in delta.shifted]
    for placed in delta.placed:
        lines += [] if whole else [f"+{print_ref(placed.after)}"]
        lines += [_item(item, "" if whole else ".") for item in placed.items]
    lines += [f"#{print_ref(r.ref)} {r.bid}" for r in delta.renumbered]
    return "\n".join(lines) or "none"


def parse_delta(text: str) -> Delta:
    """Read the compact form.

    Raises:
        DeltaError: a line that is no part of a change; its number says where.
    """
    return Reader(text).delta()


def print_ref(ref: str) -> str:
    """An address as written: `[13]+1`, `root+2`, `^`."""
    base, plus, count = ref.partition("+")
    return ref if base in (ROOT, START) else f"[{base}]{plus}{count}"


def print_content(content: Content) -> str:
    """A line as written, without tabs and bid; `|` before a line that no dialect explains."""
    if not content.role:
        return f"|{content.name or ''}"
    name = f" {quote(content.name)}" if content.name is not None else ""
    return content.role + name + "".join(f", {render_attr(k, v)}" for k, v in content.attrs)


def _updated(u: Updated | Rewritten) -> str:
    if isinstance(u, Rewritten):
        return f"{print_ref(u.ref)} := {print_content(u.content)}"
    parts = [] if u.name is None else [quote(u.name)]
    parts += [render_attr(k, v) for k, v in u.set]
    parts += [f"-{k}" for k in u.unset]
    return f"{print_ref(u.ref)} {', '.join(parts)}"


def _deleted(d: Deleted) -> str:
    to = "" if d.to is None else f"..{print_ref(d.to)}"
    return f"-{print_ref(d.ref)}{to}{'!' if d.alone else ''}"


def _item(item: New | Moved, flat: str) -> str:
    """One placed line; `flat` marks one without tabs where it could be taken for something else."""
    indent = "\t" * item.depth or flat
    if isinstance(item, Moved):
        return f"{indent}={print_ref(item.ref)}"
    return f"{indent}{'[] ' if item.has_bid else ''}{print_content(item.content)}"


def _frame(delta: Delta) -> list[str]:
    lines: list[str] = []
    if delta.url is not None:
        lines.append(f"@url {quote(delta.url)}")
    if delta.title is not None:
        lines.append(f"@title {quote(delta.title)}")
    if delta.focus is not None:
        lines.append(f"@focus {_focus(delta.focus)}")
    if delta.scroll is not None:
        lines.append(f"@scroll {delta.scroll[0]} {delta.scroll[1]}")
    if delta.tabs is not None:
        lines.append(f"@tabs {json.dumps([_tab(t) for t in delta.tabs])}")
    if delta.active_tab is not None:
        lines.append(f"@active {delta.active_tab}")
    if delta.error:
        lines.append(f"@error {quote(delta.error)}")
    return lines


def _focus(focus: str) -> str:
    if not focus:
        return "none"
    return (
        f"={quote(focus[1:])}"
        if focus[0] == "="
        else focus
        if focus[0] == "+"
        else print_ref(focus)
    )


def _tab(tab: Tab) -> list[str | list[str]]:
    return [tab.url, tab.title, list(tab.back), list(tab.forward)]

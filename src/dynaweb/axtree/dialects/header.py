"""What stands before the first element: the list of tabs, headings, tokens that leaked from a tokenizer."""

import re
from dataclasses import dataclass

from dynaweb.axtree.dialects.document import Dialect, Oddity, OddKind
from dynaweb.axtree.dialects.grammar import stretches
from dynaweb.records.observation import Tab

_TOKEN = re.compile(r"<\|[A-Za-z0-9_]{1,40}\|>")
_WEBARENA_TAB = re.compile(r"(?:^| \| )Tab ([0-9]{1,4})( \(current\))?: ")
_TAB = re.compile(r"Tab ([0-9]{1,4})( \((?:active tab|current)\))?:?")
_FIELD = re.compile(r"\s+(Title|URL): ?(.*)")
_PLAIN = re.compile(r"#.*|Note: .*|```[a-z]*|(?i:observation):?|")
_PLAYWRIGHT = re.compile(r"- Page (URL|Title|Snapshot):? ?(.*)")

IS_HEADER = re.compile(
    rf"\s*(?:(?:{_TOKEN.pattern})?Tab [0-9]|#|Note: |```|- Page (?:URL|Title|Snapshot)|(?i:observation:)|(?:Title|URL): |$)"
)
"""Whether a line before the first element may be a header's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """What a header says."""

    tabs: tuple[Tab, ...] = ()
    active_tab: int = 0
    oddities: tuple[Oddity, ...] = ()


def read_header(text: str, dialect: Dialect) -> Header:
    """The tabs that a header lists, and the lines of it that say nothing we know."""
    odd: list[Oddity] = []
    tabs: list[Tab] = []
    active = 0
    for number, line in enumerate(text.split("\n"), start=1):
        token = _TOKEN.match(line)
        if token is not None:
            reason = "a tokenizer's own token stands in the text"
            odd.append(_oddity(number, OddKind.IRREGULAR, token.group(), reason))
            line = line[token.end() :]
        body = line.strip()
        if dialect in (Dialect.WEBARENA, Dialect.TAGROLE) and _WEBARENA_TAB.match(body):
            tabs, active = _webarena_tabs(body)
        elif (tab := _TAB.fullmatch(body)) is not None:
            active = len(tabs) if tab.group(2) else active
            tabs.append(Tab(url="", title=""))
        elif (field := _FIELD.fullmatch(line)) is not None and tabs:
            tabs[-1] = _with(tabs[-1], field)
        elif (field := _PLAYWRIGHT.fullmatch(body)) is not None:
            tabs = [_with(tabs[-1] if tabs else Tab(url="", title=""), field)]
        elif _PLAIN.fullmatch(body) is None:
            odd.append(_oddity(number, OddKind.UNPLACED, body, "no part of a header we know"))
    return Header(tabs=tuple(tabs), active_tab=active, oddities=tuple(odd))


def _webarena_tabs(line: str) -> tuple[list[Tab], int]:
    """`Tab 0: Shop | Tab 1 (current): Cart | Shop` -> two tabs, the second active."""
    found = list(_WEBARENA_TAB.finditer(line))
    titles = [title for _, title in stretches(found, line)]
    active = next((i for i, f in enumerate(found) if f.group(2)), 0)
    return [Tab(url="", title=title) for title in titles], active


def _with(tab: Tab, field: re.Match[str]) -> Tab:
    key, value = field.groups()
    if key == "Title":
        return Tab(url=tab.url, title=value)
    return Tab(url=value, title=tab.title) if key == "URL" else tab


def _oddity(line: int, kind: OddKind, text: str, reason: str) -> Oddity:
    return Oddity(line=line, kind=kind, text=text[:80], reason=reason)

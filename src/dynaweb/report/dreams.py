"""A dream beside what really happened: truth, prediction, difference, line by line."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal, TypeAlias

from dynaweb.report.data import DreamedPage, ReportData
from dynaweb.report.html import Child, Html, tag
from dynaweb.report.parts import badge, missing, section
from dynaweb.report.words import percent

Kind: TypeAlias = Literal["same", "differs", "lacking", "invented"]

_BID = re.compile(r"^(\t*)\[[^\]]*\] ")

CONTEXT = 1
"""Lines shown around what changed or differs; the rest is folded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of both pages."""

    kind: Kind
    truth: str | None
    prediction: str | None
    really_changed: bool = False
    """The action changed this line of the real page."""
    dreamed_changed: bool = False
    """The action changed this line of the imagined page."""


def compare(before: str, truth: str, prediction: str) -> list[Row]:
    """Lines of the real and the imagined next page, aligned."""
    old = set(before.split("\n"))
    real, dreamt = truth.split("\n"), prediction.split("\n")
    rows: list[Row] = []
    match = SequenceMatcher(None, _unnumbered(real), _unnumbered(dreamt), autojunk=False)
    for code, a, b, c, d in match.get_opcodes():
        pairs = list(zip(real[a:b], dreamt[c:d], strict=False))
        kind: Kind = "same" if code == "equal" else "differs"
        for x, y in pairs:
            rows.append(_pair(kind, x, y, old))
        for x in real[a + len(pairs) : b]:
            rows.append(_pair("lacking", x, None, old))
        for y in dreamt[c + len(pairs) : d]:
            rows.append(_pair("invented", None, y, old))
    return rows


def _pair(kind: Kind, truth: str | None, prediction: str | None, old: set[str]) -> Row:
    return Row(
        kind=kind,
        truth=truth,
        prediction=prediction,
        really_changed=truth is not None and truth not in old,
        dreamed_changed=prediction is not None and prediction not in old,
    )


def _unnumbered(lines: Sequence[str]) -> list[str]:
    """Lines without bids: a new element may get another number in a dream."""
    return [_BID.sub(r"\1", line) for line in lines]


def dreams_section(data: ReportData) -> Html:
    """Some imagined steps, right ones and wrong ones."""
    intro = (
        "Left what the browser showed after the action, in the middle what the world model imagined, right where they "
        "differ. A bar marks a line that the action changed."
    )
    heading = "Dreams and reality"
    if not data.dreamed_pages:
        body: Child = missing("imagined pages", "dreamed_pages.json")
    else:
        body = [dreamed_step(p, is_open=i < 2) for i, p in enumerate(data.dreamed_pages)]
    return section("dreams", heading, intro, body)


def dreamed_step(page: DreamedPage, *, is_open: bool) -> Html:
    """One imagined step beside the real one, to be opened."""
    rows = compare(page.before, page.truth, page.prediction)
    wrong = sum(r.kind != "same" for r in rows)
    said = "exact" if page.exact else f"{wrong} line{'s' if wrong > 1 else ''} wrong"
    return tag(
        "details",
        tag(
            "summary",
            badge("success" if page.exact else "failure", said),
            tag("code", page.action, cls="did"),
            tag("span", f"{page.task}, seed {page.seed}, step {page.step}", cls="quiet"),
            badge("plain", "by rule") if page.by_rule else None,
            badge("plain", page.status) if page.status != "ok" else None,
        ),
        tag("p", tag("span", "Goal: ", cls="quiet"), page.goal, _confidence(page), cls="goal"),
        _table(rows),
        cls="dreamed-page",
        open="" if is_open else None,
    )


def _confidence(page: DreamedPage) -> Html | None:
    if page.confidence is None:
        return None
    return tag("span", f" Confidence {percent(page.confidence)}.", cls="quiet")


def _table(rows: Sequence[Row]) -> Html:
    body = [_fold(len(part)) if fold else [_row(r) for r in part] for fold, part in _folded(rows)]
    head = tag(
        "tr",
        tag("th", badge("live"), " what really happened", scope="col"),
        tag("th", badge("dream"), " what was imagined", scope="col"),
        tag("th", "difference", scope="col"),
    )
    return tag(
        "div",
        tag("table", tag("thead", head), tag("tbody", body), cls="pages"),
        cls="wide",
        tabindex=0,
        role="region",
        aria_label="real page, imagined page, difference",
    )


def _folded(rows: Sequence[Row]) -> list[tuple[bool, list[Row]]]:
    """Stretches of lines, each shown or folded; a fold of one or two lines is shown."""
    interesting = [i for i, r in enumerate(rows) if _stands_out(r)]
    shown = {i + k for i in interesting for k in range(-CONTEXT, CONTEXT + 1)} | {0}
    parts: list[tuple[bool, list[Row]]] = []
    for i, row in enumerate(rows):
        fold = i not in shown
        if not parts or parts[-1][0] != fold:
            parts.append((fold, []))
        parts[-1][1].append(row)
    return [(fold and len(part) > 2, part) for fold, part in parts]


def _stands_out(row: Row) -> bool:
    return row.kind != "same" or row.really_changed or row.dreamed_changed


def _fold(count: int) -> Html:
    return tag(
        "tr", tag("td", f"{count} lines, the same in both and as before", colspan=3), cls="fold"
    )


def _row(row: Row) -> Html:
    return tag(
        "tr",
        tag("td", _line(row.truth), cls=_cell(changed=row.really_changed)),
        tag("td", _line(row.prediction), cls=_cell(changed=row.dreamed_changed)),
        tag("td", _difference(row), cls="line"),
        cls=row.kind,
    )


def _cell(*, changed: bool) -> str:
    return "line changed" if changed else "line"


def _line(text: str | None) -> Child:
    """Tabs are depth: shown as indentation, two characters each."""
    if text is None:
        return None
    body = text.lstrip("\t")
    return "  " * (len(text) - len(body)) + body


def _difference(row: Row) -> Child:
    if row.kind == "same":
        return None
    if row.kind == "lacking":
        return [tag("b", "lacks "), tag("mark", (row.truth or "").strip(), cls="lacking")]
    if row.kind == "invented":
        return [tag("b", "invents "), tag("mark", (row.prediction or "").strip(), cls="invented")]
    return _words(row.truth or "", row.prediction or "")


def _words(truth: str, prediction: str) -> list[Child]:
    """Where two lines part: the real words struck out of the dream, the dreamed ones put in."""
    a, b = truth.strip().split(" "), prediction.strip().split(" ")
    parts: list[Child] = []
    for code, i, j, k, m in SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        if code == "equal":
            parts.append(" ".join(a[i:j]) if j - i <= 4 else f"{a[i]} \u2026 {a[j - 1]}")
            continue
        if j > i:
            parts.append(tag("mark", " ".join(a[i:j]), cls="lacking", title="real"))
        if m > k:
            parts.append(tag("mark", " ".join(b[k:m]), cls="invented", title="imagined"))
    return [child for part in parts for child in (part, " ")]

"""Pieces that every section is made of."""

from collections.abc import Sequence

from dynaweb.report.html import Child, Html, tag


def section(anchor: str, heading: str, intro: str, *body: Child) -> Html:
    """A titled part of the page with one sentence that says how to read it."""
    return tag(
        "section",
        tag("h2", heading),
        tag("p", intro, cls="intro"),
        body,
        id=anchor,
        aria_label=heading,
    )


def missing(what: str, file: str) -> Html:
    """What stands where a section has no data."""
    return tag(
        "p",
        f"Not measured in this run: {what}. ",
        tag("span", "It would come from ", tag("code", file), ".", cls="quiet"),
        cls="missing",
    )


def table(
    heads: Sequence[Child],
    rows: Sequence[Sequence[Child]],
    *,
    numeric: Sequence[int] = (),
    caption: str = "",
    cls: str = "",
) -> Html:
    """A table whose first column names its rows.

    Args:
        heads: column heads.
        rows: cells, one sequence a row.
        numeric: columns that are aligned right.
        caption: what the table shows.
        cls: class for its look.
    """

    def kind(column: int) -> str | None:
        return "num" if column in numeric else None

    head = tag("tr", [tag("th", h, scope="col", cls=kind(i)) for i, h in enumerate(heads)])
    body = [
        tag(
            "tr",
            [
                tag("th", c, scope="row") if i == 0 else tag("td", c, cls=kind(i))
                for i, c in enumerate(row)
            ],
        )
        for row in rows
    ]
    return tag(
        "div",
        tag(
            "table",
            tag("caption", caption) if caption else None,
            tag("thead", head),
            tag("tbody", body),
            cls=cls or None,
        ),
        cls="wide",
        tabindex=0,
        role="region",
        aria_label=caption or "table",
    )


def badge(kind: str, text: str | None = None) -> Html:
    """A word in the colour of its kind: `live`, `dream`, `expert`, `success`, `failure`, `unknown`."""
    return tag("span", text or kind, cls=f"badge {kind}")


def note(*children: Child) -> Html:
    """Small print that belongs to the table above it."""
    return tag("p", children, cls="note")

"""HTML by construction: text is always escaped, tags and attributes come from closed sets.

Nothing that a page, a model or a user wrote can become markup: the only way to make an `Html` is `tag`,
and every string that it takes is text.
"""

import html
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

_VOID = frozenset({"br", "meta", "link", "hr", "col"})
_TAGS = _VOID | frozenset(
    [
        "html",
        "head",
        "body",
        "title",
        "style",
        "script",
        "header",
        "nav",
        "main",
        "section",
        "footer",
        "article",
        "aside",
        "figure",
        "figcaption",
        "h1",
        "h2",
        "h3",
        "h4",
        "p",
        "a",
        "b",
        "i",
        "em",
        "strong",
        "small",
        "code",
        "kbd",
        "pre",
        "span",
        "div",
        "ul",
        "ol",
        "li",
        "dl",
        "dt",
        "dd",
        "table",
        "caption",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "details",
        "summary",
        "button",
        "noscript",
        "mark",
        "svg",
        "g",
        "path",
        "line",
        "rect",
        "circle",
        "polyline",
        "polygon",
        "text",
        "desc",
        "colgroup",
    ]
)
_ATTRIBUTES = frozenset(
    [
        "class",
        "id",
        "role",
        "lang",
        "scope",
        "title",
        "type",
        "href",
        "name",
        "content",
        "charset",
        "rel",
        "http-equiv",
        "colspan",
        "open",
        "hidden",
        "tabindex",
        "viewBox",
        "width",
        "height",
        "x",
        "y",
        "x1",
        "y1",
        "x2",
        "y2",
        "cx",
        "cy",
        "r",
        "rx",
        "d",
        "points",
        "transform",
        "text-anchor",
        "preserveAspectRatio",
    ]
)


@dataclass(frozen=True, slots=True)
class Html:
    """Markup that is safe to put on the page."""

    text: str


Child: TypeAlias = "str | int | Html | Iterable[Child] | None"


def tag(name: str, /, *children: Child, **attributes: str | int | float | None) -> Html:
    """One element.

    Args:
        name: tag name.
        children: strings are text; None is nothing; sequences are flattened.
        attributes: `cls` is class, `_` is `-`; None leaves the attribute out.

    Raises:
        ValueError: a tag or attribute that the report does not use, or a link out of the page.
    """
    if name not in _TAGS:
        raise ValueError(f"the report has no element {name!r}")
    opened = "".join(_attribute(k, v) for k, v in attributes.items() if v is not None)
    if name in _VOID:
        return Html(f"<{name}{opened}>")
    return Html(f"<{name}{opened}>{join(children).text}</{name}>")


def join(children: Iterable[Child]) -> Html:
    """Children side by side."""
    return Html("".join(_render(c) for c in children))


def code_block(name: str, body: str, /, **attributes: str | None) -> Html:
    """A `style` or `script` element of our own text, whose hash is in the page's policy.

    Raises:
        ValueError: the text would end its element.
    """
    if f"</{name}" in body.lower() or "<!--" in body:
        raise ValueError(f"the text of a {name} element ends it")
    opened = "".join(_attribute(k, v) for k, v in attributes.items() if v is not None)
    return Html(f"<{name}{opened}>{body}</{name}>")


def visible(text: str) -> str:
    """Text that shows what it holds: control characters, direction marks and lone surrogates as signs."""
    return text if text.isprintable() else "".join(_sign(c) for c in text)


def _sign(char: str) -> str:
    if char in "\n\t" or char.isprintable():
        return char
    code = ord(char)
    if code < 0x20:
        return chr(0x2400 + code)
    kind = unicodedata.category(char)
    return char if kind == "Zs" else f"\u27e8U+{code:04X}\u27e9"


def _render(child: Child) -> str:
    if child is None:
        return ""
    if isinstance(child, Html):
        return child.text
    if isinstance(child, str | int):
        return html.escape(visible(str(child)))
    return "".join(_render(c) for c in child)


def _attribute(key: str, value: str | int | float) -> str:
    name = "class" if key == "cls" else key.rstrip("_").replace("_", "-")
    if name not in _ATTRIBUTES and not name.startswith(("aria-", "data-")):
        raise ValueError(f"the report has no attribute {name!r}")
    text = f"{value:.6g}" if isinstance(value, float) else str(value)
    if name == "href" and not text.startswith(("#", "data:,")):
        raise ValueError(f"links stay on the page, not {text!r}")
    return f' {name}="{html.escape(visible(text))}"'

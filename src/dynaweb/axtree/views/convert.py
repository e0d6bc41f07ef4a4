"""A page from any written form into any other, and whether the form that was written gives the page back.

Exactness is found out for each page by reading back what was written, never promised for a form.
"""

from dataclasses import dataclass, field
from enum import StrEnum

from dynaweb.axtree.align import align
from dynaweb.axtree.dialects.common import common_tree
from dynaweb.axtree.dialects.document import Dialect, Document, Layout
from dynaweb.axtree.dialects.read import read_document, render_document
from dynaweb.axtree.tree import Node, Tree
from dynaweb.axtree.views.html import read_html
from dynaweb.axtree.views.view import View, write_view
from dynaweb.axtree.views.xml import read_xml


class Form(StrEnum):
    """A written form of a page: the views that models are shown, and the dialects of other tools."""

    DYNAWEB = "dynaweb"
    HTML = "html"
    XML = "xml"
    MARKDOWN = "markdown"
    PLAYWRIGHT = "playwright"
    """Aria snapshot with refs, as Playwright writes it for models."""
    PROSE = "prose"
    ARIA = "playwright_aria"
    """Aria snapshot without refs."""
    BROWSERGYM = "browsergym"
    UNQUOTED = "browsergym_unquoted"
    WEBARENA = "webarena"
    TAGROLE = "webarena_tagrole"
    MARKS = "visualwebarena_som"
    LABELS = "webvoyager_labels"


_VIEWS = {
    Form.DYNAWEB: View.A11Y,
    Form.HTML: View.HTML,
    Form.XML: View.XML,
    Form.MARKDOWN: View.MARKDOWN,
    Form.PLAYWRIGHT: View.PLAYWRIGHT,
    Form.PROSE: View.PROSE,
    Form.ARIA: View.PLAYWRIGHT,
}
ONE_WAY = frozenset({Form.MARKDOWN, Form.PROSE})
"""Forms that nothing reads back."""
_LAYOUTS = {Form.LABELS: Layout(indent="", separator="\t")}


@dataclass(frozen=True, slots=True, kw_only=True)
class Converted:
    """A page as written, and what reading it back gives."""

    text: str
    lines: int
    """Lines of the page."""
    exact: bool | None
    """It reads back as the same page; None for a form that nothing reads."""
    differing: int = 0
    """Lines that do not come back as they were."""
    lost: dict[str, int] = field(default_factory=dict)
    """Depth, bid, role, name or attrs -> lines in which it differs; empty where lines are more or fewer."""


def read_page(text: str, form: Form | None = None) -> Tree:
    """A page in any form but the one-way ones, in our own terms.

    Raises:
        TreeError: not a page of that form, or of none we know.
    """
    if form is Form.HTML or (form is None and _is_markup(text, "<body", "<div", "<span")):
        return read_html(text)
    if form is Form.XML or (form is None and _is_markup(text, "<page>")):
        return read_xml(text)
    return common_tree(read_document(text, None if form is None else _dialect(form)))


def convert(tree: Tree, form: Form) -> Converted:
    """The page in a form."""
    # half of a surrogate pair has no UTF-8: it is spelt out, and the form then does not read back exactly
    text = _write(tree, form).encode("utf-8", "backslashreplace").decode("utf-8")
    if form in ONE_WAY:
        return Converted(text=text, lines=len(tree), exact=None)
    back = read_page(text, form)
    same = len(align(tree, back))
    differing = max(len(tree), len(back)) - same
    lost = _lost(tree, back) if len(tree) == len(back) else {}
    return Converted(text=text, lines=len(tree), exact=tree == back, differing=differing, lost=lost)


def _write(tree: Tree, form: Form) -> str:
    if form in _VIEWS:
        shown = (
            tuple(Node(n.depth, None, n.role, n.name, n.attrs) for n in tree)
            if form is Form.ARIA
            else tree
        )
        return write_view(shown, _VIEWS[form])
    layout = _LAYOUTS.get(form, Layout())
    return render_document(Document(dialect=_dialect(form), nodes=tree, lines=(), layout=layout))


def _dialect(form: Form) -> Dialect:
    return Dialect.ARIA_REF if form is Form.PLAYWRIGHT else Dialect(form.value)


def _is_markup(text: str, *tags: str) -> bool:
    return text.lstrip().startswith(tags)


def _lost(tree: Tree, back: Tree) -> dict[str, int]:
    counts = {
        name: sum(getattr(a, name) != getattr(b, name) for a, b in zip(tree, back, strict=True))
        for name in ("depth", "bid", "role", "name", "attrs")
    }
    return {name: count for name, count in counts.items() if count}

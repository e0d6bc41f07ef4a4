"""All forms of a page behind one door: write any, read back those that say everything."""

from enum import StrEnum
from typing import assert_never

from dynaweb.axtree.tree import Tree, render_tree
from dynaweb.axtree.views.html import read_html, write_html
from dynaweb.axtree.views.markdown import write_markdown
from dynaweb.axtree.views.playwright import write_playwright
from dynaweb.axtree.views.prose import write_prose
from dynaweb.axtree.views.xml import read_xml, write_xml


class View(StrEnum):
    """A form of a page. HTML and XML come back exactly; the others are for reading only."""

    A11Y = "a11y"
    HTML = "html"
    XML = "xml"
    MARKDOWN = "markdown"
    PLAYWRIGHT = "playwright"
    PROSE = "prose"


def write_view(tree: Tree, view: View) -> str:
    """The page in one form."""
    match view:
        case View.A11Y:
            return render_tree(tree)
        case View.HTML:
            return write_html(tree)
        case View.XML:
            return write_xml(tree)
        case View.MARKDOWN:
            return write_markdown(tree)
        case View.PLAYWRIGHT:
            return write_playwright(tree)
        case View.PROSE:
            return write_prose(tree)
        case _:
            assert_never(view)


__all__ = ["View", "read_html", "read_xml", "write_view"]

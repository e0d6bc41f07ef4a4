"""What a tree of any tool is read into: its elements as `Node`s, and how it was written.

Dialects, with the projects that write them:

    browsergym            [a12] button 'Save', clickable            BrowserGym, AgentLab, WorkArena
    dynaweb               the same with `, value='x'`               this project (`axtree.tree`)
    browsergym_unquoted   [12] button Save, center=(8,9)            Silverstream; names may hold raw line breaks
    webarena              [12] button 'Save' focused: True          WebArena, NNetNav, AgentOccam, STeP
    webarena_tagrole      [12] BUTTON 'Save'                        WebArena forks with tag names as roles
    visualwebarena_som    [12] [BUTTON] [Save]                      VisualWebArena's set of marks
    webvoyager_labels     [12]: <button> "Save";                    WebVoyager, elements separated by tabs
    playwright_aria       - button "Save"                           Playwright's aria snapshot
    playwright_aria_ref   - button "Save" [ref=e12]                 the same for models (Playwright MCP)
"""

from collections import defaultdict
from dataclasses import dataclass
from enum import StrEnum

from dynaweb.axtree.tree import Node, Tree
from dynaweb.records.observation import Tab


class Dialect(StrEnum):
    """Who wrote the tree."""

    BROWSERGYM = "browsergym"
    DYNAWEB = "dynaweb"
    UNQUOTED = "browsergym_unquoted"
    WEBARENA = "webarena"
    TAGROLE = "webarena_tagrole"
    MARKS = "visualwebarena_som"
    LABELS = "webvoyager_labels"
    ARIA = "playwright_aria"
    ARIA_REF = "playwright_aria_ref"


class OddKind(StrEnum):
    """What is odd about a line."""

    UNPLACED = "unplaced"
    """No element of the dialect; kept as it stands, as a node without a role."""
    IRREGULAR = "irregular"
    """An element, read, but not spelt as the dialect spells it; given back as it was spelt."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Oddity:
    """One line that is not as its dialect has it."""

    line: int
    """Counted from 1."""
    kind: OddKind
    text: str
    """The line without its indent, at most 80 characters."""
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """How the lines of a tree are set out."""

    indent: str = "\t"
    """One level of depth."""
    margin: str = ""
    """Stands before every line, the root's too."""
    separator: str = "\n"
    """Between two elements; a tab for WebVoyager's labels."""
    ending: str = ""
    """After the last element."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A line's own spelling; it holds while the node is the one that was read."""

    node: Node
    text: str
    """The whole line or lines, indent included."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    r"""A tree as some tool wrote it.

    Example:
        read_document("[1] RootWebArea 'Shop' focused: True\n\t[4] link 'Cart'\n")
    """

    dialect: Dialect
    nodes: Tree
    """Elements in the dialect's own terms, in the order of the text; `common.common_tree` translates."""
    lines: tuple[int, ...]
    """For each node the line where it begins, counted from 1."""
    layout: Layout
    header: str = ""
    """What stands before the first element, as it stands: the list of tabs, a heading, a leaked token."""
    tabs: tuple[Tab, ...] = ()
    """The tabs that the header lists; an address is empty where it gives none."""
    active_tab: int = 0
    written: tuple[tuple[int, Written], ...] = ()
    """Index of a node -> its own spelling, where the dialect would spell it otherwise."""
    oddities: tuple[Oddity, ...] = ()
    """Lines that are not as the dialect has them, in order."""

    @property
    def unplaced(self) -> tuple[Oddity, ...]:
        """Lines that are no element."""
        return tuple(o for o in self.oddities if o.kind is OddKind.UNPLACED)


def repeated_bids(document: Document) -> dict[str, tuple[int, ...]]:
    """Ids that stand on several lines -> those lines; an action on one of them is ambiguous."""
    found: dict[str, list[int]] = defaultdict(list)
    for node, line in zip(document.nodes, document.lines, strict=True):
        if node.bid is not None:
            found[node.bid].append(line)
    return {bid: tuple(lines) for bid, lines in found.items() if len(lines) > 1}

"""THE reader of trees that other tools wrote, and the writer that gives them back byte for byte.

    render_document(read_document(text)) == text

for every text that `read_document` takes. It finds the dialect, reads each element into a `Node`, and
names every line that is no element (`unplaced`, kept as it stands) or is spelt in another way than the
dialect spells it (`irregular`, read, and given back as it was while its node stays the same). Nothing
is dropped, nothing is guessed in silence. `parse_document` refuses a text with unplaced lines.

Time is linear in the text, whatever stands in it; depth is a number, so deep nesting costs nothing.
"""

from collections.abc import Iterable, Sequence

from dynaweb.axtree.dialects.aria import mark_aria, read_aria, write_aria
from dynaweb.axtree.dialects.detect import detect_dialect
from dynaweb.axtree.dialects.document import (
    Dialect,
    Document,
    Layout,
    Oddity,
    OddKind,
    Written,
)
from dynaweb.axtree.dialects.grammar import Grammar, Placed, Reader
from dynaweb.axtree.dialects.header import Header, read_header
from dynaweb.axtree.dialects.layout import (
    Piece,
    depth_of,
    find_layout,
    split_header,
    split_pieces,
)
from dynaweb.axtree.dialects.marks import (
    begins_mark,
    read_label,
    read_mark,
    write_label,
    write_mark,
)
from dynaweb.axtree.dialects.quoted import read_browsergym, write_browsergym, write_dynaweb
from dynaweb.axtree.dialects.unquoted import begins_unquoted, read_unquoted, write_unquoted
from dynaweb.axtree.dialects.webarena import read_webarena, write_webarena
from dynaweb.axtree.tree import Node
from dynaweb.errors import TreeError

_BROWSERGYM = Grammar(read=read_browsergym, write=write_browsergym)
_WEBARENA = Grammar(read=read_webarena, write=write_webarena)
_ARIA = Grammar(read=read_aria, write=write_aria, mark=mark_aria)

GRAMMARS = {
    Dialect.BROWSERGYM: _BROWSERGYM,
    Dialect.DYNAWEB: Grammar(read=read_browsergym, write=write_dynaweb),
    Dialect.UNQUOTED: Grammar(read=read_unquoted, write=write_unquoted, begins=begins_unquoted),
    Dialect.WEBARENA: _WEBARENA,
    Dialect.TAGROLE: _WEBARENA,
    Dialect.MARKS: Grammar(read=read_mark, write=write_mark, begins=begins_mark),
    Dialect.LABELS: Grammar(read=read_label, write=write_label),
    Dialect.ARIA: _ARIA,
    Dialect.ARIA_REF: _ARIA,
}

_READERS = {dialect: Reader(grammar) for dialect, grammar in GRAMMARS.items()}


def read_document(text: str, dialect: Dialect | None = None) -> Document:
    """A tree in any dialect; `render_document` gives the text back byte for byte.

    Args:
        text: the whole text, a header with the list of tabs included.
        dialect: where it is known; found otherwise.

    Raises:
        TreeError: nothing in the text looks like an element of any dialect.
    """
    known = detect_dialect(text) if dialect is None else dialect
    grammar = GRAMMARS[known]
    header_text = split_header(text, lambda line: _is_element(line, grammar))
    body = text[len(header_text) :]
    layout = find_layout(body, known)
    header = read_header(header_text.removesuffix("\n"), known) if header_text else Header()
    body = body.removesuffix(layout.ending) if layout.ending else body
    first_line = header_text.count("\n") + 1
    page = _Page(layout, known)
    page.add(split_pieces(body, layout, first_line, grammar.begins) if body else ())
    written, oddities = page.judge()
    return Document(
        dialect=known,
        nodes=tuple(page.nodes),
        lines=tuple(page.lines),
        layout=layout,
        header=header_text,
        tabs=header.tabs,
        active_tab=header.active_tab,
        written=tuple(written),
        oddities=(*header.oddities, *oddities),
    )


def parse_document(text: str, dialect: Dialect | None = None) -> Document:
    """A tree of which every line is an element.

    Raises:
        TreeError: no tree, or a line that is no element; its number says where.
    """
    document = read_document(text, dialect)
    for odd in document.unplaced:
        raise TreeError(
            f"line {odd.line}: {odd.text!r} is no element of dialect {document.dialect.value!r}: {odd.reason}"
        )
    return document


def render_document(document: Document) -> str:
    """The text of a tree in its own dialect."""
    kept = dict(document.written)
    layout = document.layout
    grammar = GRAMMARS[document.dialect]
    texts: list[str] = []
    for at, node in enumerate(document.nodes):
        own = kept.get(at)
        if own is not None and own.node == node:
            texts.append(own.text)
        elif node.role:
            spelt = grammar.spell(node, opens=_opens(document.nodes, at))
            texts.append(f"{layout.margin}{layout.indent * node.depth}{spelt}")
        else:
            texts.append(node.name or "")
    return document.header + layout.separator.join(texts) + layout.ending


class _Page:
    """What becomes of a text's pieces, one after the other."""

    def __init__(self, layout: Layout, dialect: Dialect) -> None:
        self._layout = layout
        self._grammar = GRAMMARS[dialect]
        self._place = _READERS[dialect].place
        self._depths: dict[str, tuple[int, bool]] = {}
        self.nodes: list[Node] = []
        self.lines: list[int] = []
        self._doubtful: list[tuple[int, Piece, Placed]] = []

    def add(self, pieces: Iterable[Piece]) -> None:
        """Read pieces; those that may be odd are kept in mind."""
        depths, nodes = self._depths, self.nodes
        for piece in pieces:
            line, indent, text = piece
            found = depths.get(indent)
            if found is None:
                found = depths[indent] = depth_of(indent, self._layout)
            placed = self._place(text, found[0])
            node = placed.node
            if not (placed.is_plain and found[1]):
                self._doubtful.append((len(nodes), piece, placed))
                node = node if node.role else Node(0, None, "", indent + text)
            nodes.append(node)
            self.lines.append(line)

    def judge(self) -> tuple[list[tuple[int, Written]], list[Oddity]]:
        """The spelling of the nodes that the dialect would spell otherwise, and what is odd."""
        written: list[tuple[int, Written]] = []
        oddities: list[Oddity] = []
        for at, piece, (node, reason, is_leaf, is_parent, _) in self._doubtful:
            if not node.role:
                oddities.append(_oddity(piece, OddKind.UNPLACED, reason))
                continue
            opens = _opens(self.nodes, at)
            is_exact = self._depths[piece.indent][1]
            is_regular = (is_parent if opens else is_leaf) and is_exact
            if not is_regular:
                written.append((at, Written(node=node, text=piece.indent + piece.text)))
            if reason or not is_regular:
                why = reason or self._reason(node, piece, opens)
                oddities.append(_oddity(piece, OddKind.IRREGULAR, why))
        return written, oddities

    def _reason(self, node: Node, piece: Piece, opens: bool) -> str:
        spelt = self._grammar.spell(node, opens=opens)
        if spelt == piece.text:
            return "its indent is no whole number of levels"
        return f"the dialect spells it {spelt[:80]!r}"


def _opens(nodes: Sequence[Node], at: int) -> bool:
    """Whether elements stand below a node."""
    below = nodes[at + 1] if at + 1 < len(nodes) else None
    return below is not None and below.role != "" and below.depth > nodes[at].depth


def _is_element(line: str, grammar: Grammar) -> bool:
    if grammar.begins is not None and not grammar.begins(line):
        return False
    try:
        grammar.read(line)
    except TreeError:
        return False
    return True


def _oddity(piece: Piece, kind: OddKind, reason: str) -> Oddity:
    return Oddity(line=piece.line, kind=kind, text=piece.text[:80], reason=reason)

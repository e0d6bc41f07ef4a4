"""THE reader of trees that other tools wrote, and the writer that gives them back byte for byte.

    render_document(read_document(text)) == text

for every text that `read_document` takes. It finds the dialect, reads each element into a `Node`, and
names every line that is no element (`unplaced`, kept as it stands) or is spelt in another way than the
dialect spells it (`irregular`, read, and given back as it was while its node stays the same). Nothing
is dropped, nothing is guessed in silence. `parse_document` refuses a text with unplaced lines.

Time is linear in the text, whatever stands in it; depth is a number, so deep nesting costs nothing.
"""

from collections.abc import Callable, Iterable, Sequence

from dynaweb.axtree.dialects.aria import QUICK_ARIA, mark_aria, read_aria, write_aria
from dynaweb.axtree.dialects.detect import detect_dialect
from dynaweb.axtree.dialects.document import (
    Dialect,
    Document,
    Layout,
    Oddity,
    OddKind,
    Written,
)
from dynaweb.axtree.dialects.grammar import Grammar, Placed, Quick, Reader
from dynaweb.axtree.dialects.header import Header, read_header
from dynaweb.axtree.dialects.layout import (
    Piece,
    Texts,
    depth_of,
    find_layout,
    split_header,
    split_pieces,
)
from dynaweb.axtree.dialects.marks import (
    QUICK_LABEL,
    QUICK_MARK,
    begins_mark,
    read_label,
    read_mark,
    write_label,
    write_mark,
)
from dynaweb.axtree.dialects.quoted import (
    QUICK_BROWSERGYM,
    QUICK_DYNAWEB,
    read_browsergym,
    write_browsergym,
    write_dynaweb,
)
from dynaweb.axtree.dialects.unquoted import (
    QUICK_UNQUOTED,
    begins_unquoted,
    read_unquoted,
    write_unquoted,
)
from dynaweb.axtree.dialects.webarena import QUICK_WEBARENA, read_webarena, write_webarena
from dynaweb.axtree.tree import Node
from dynaweb.errors import TreeError

_BROWSERGYM = Grammar(read=read_browsergym, write=write_browsergym, quick=QUICK_BROWSERGYM)
_WEBARENA = Grammar(read=read_webarena, write=write_webarena, quick=QUICK_WEBARENA)
_ARIA = Grammar(read=read_aria, write=write_aria, quick=QUICK_ARIA, mark=mark_aria)

GRAMMARS = {
    Dialect.BROWSERGYM: _BROWSERGYM,
    Dialect.DYNAWEB: Grammar(read=read_browsergym, write=write_dynaweb, quick=QUICK_DYNAWEB),
    Dialect.UNQUOTED: Grammar(
        read=read_unquoted, write=write_unquoted, quick=QUICK_UNQUOTED, begins=begins_unquoted
    ),
    Dialect.WEBARENA: _WEBARENA,
    Dialect.TAGROLE: _WEBARENA,
    Dialect.MARKS: Grammar(read=read_mark, write=write_mark, quick=QUICK_MARK, begins=begins_mark),
    Dialect.LABELS: Grammar(read=read_label, write=write_label, quick=QUICK_LABEL),
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
    if body and page.is_of_lines:
        page.add_lines(body, first_line)
    elif body:
        page.add(split_pieces(body, layout, first_line, grammar.begins))
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
    """What becomes of a text's elements, one after the other."""

    def __init__(self, layout: Layout, dialect: Dialect) -> None:
        self._layout = layout
        self._grammar = GRAMMARS[dialect]
        self._reader = _READERS[dialect]
        self._depths: dict[str, tuple[int, bool]] = {}
        self._pieces: dict[int, Piece] = {}
        self.nodes: list[Node] = []
        self.lines: list[int] = []
        self._doubtful: list[tuple[int, Callable[[int], Piece], Placed]] = []

    @property
    def is_of_lines(self) -> bool:
        """Whether one pattern takes the text apart."""
        quick = self._grammar.quick
        return self._layout.separator == "\n" and quick is not None and quick.line is not None

    def add_lines(self, body: str, first_line: int) -> None:
        """Read a text that `is_of_lines`."""
        quick = self._grammar.quick
        assert quick is not None and quick.line is not None
        found: list[tuple[str, ...]] = quick.line.findall(body)
        texts = Texts(body)
        starts = self._starts(found, texts, quick)
        depths, nodes, build = self._depths, self.nodes, quick.build

        def piece(number: int) -> Piece:
            """Of an element by its number: most that may be odd turn out not to be."""
            at, end = starts[number], starts[number + 1] if number + 1 < len(starts) else len(found)
            indent = found[at][0]
            return Piece(first_line + at, indent, texts.between(at, end)[len(indent) :])

        for at, end in zip(starts, (*starts[1:], len(found)), strict=True):
            parts = found[at]
            indent = parts[0]
            depth, is_exact = depths.get(indent) or self._depth(indent)
            placed = build(depth, parts) if end == at + 1 else None
            if is_exact and isinstance(placed, Node):
                nodes.append(placed)
                continue
            if placed is None:
                placed = self._reader.place(texts.between(at, end)[len(indent) :], depth)
            self._take(placed, piece, is_exact=is_exact)
        self.lines.extend([first_line + at for at in starts])

    def _starts(self, found: Sequence[Sequence[str]], texts: Texts, quick: Quick) -> Sequence[int]:
        """Numbers of the lines that begin an element, counted from 0; any other goes on with the one before."""
        begins = self._grammar.begins
        if begins is None:
            return range(len(found))
        starts = [0]
        for number, parts in enumerate(found[1:], start=1):
            # in the dialects whose names hold raw line breaks: exactly indented, and shaped like an element
            indent = parts[0]
            if not (self._depths.get(indent) or self._depth(indent))[1]:
                continue
            if parts[2]:
                is_new = quick.begins(parts)
            else:
                line = texts.between(number, number + 1)
                is_new = (indent != "" or line.startswith("[")) and begins(line[len(indent) :])
            if is_new:
                starts.append(number)
        return starts

    def add(self, pieces: Iterable[tuple[int, str, str]]) -> None:
        """Read pieces, each a line number, an indent and a text."""
        depths, nodes, lines, place = self._depths, self.nodes, self.lines, self._reader.place
        for line, indent, text in pieces:
            depth, is_exact = depths.get(indent) or self._depth(indent)
            placed = place(text, depth)
            if is_exact and isinstance(placed, Node):
                nodes.append(placed)
            else:
                self._pieces[len(nodes)] = Piece(line, indent, text)
                self._take(placed, self._pieces.__getitem__, is_exact=is_exact)
            lines.append(line)

    def _depth(self, indent: str) -> tuple[int, bool]:
        found = self._depths[indent] = depth_of(indent, self._layout)
        return found

    def _take(
        self, placed: Node | Placed, piece: Callable[[int], Piece], *, is_exact: bool
    ) -> None:
        """An element that may be odd is kept in mind."""
        if isinstance(placed, Node):
            if is_exact:
                self.nodes.append(placed)
                return
            placed = Placed(placed, "", True, True)
        node, at = placed.node, len(self.nodes)
        self._doubtful.append((at, piece, placed))
        if not node.role:
            own = piece(at)
            node = Node(0, None, "", own.indent + own.text)
        self.nodes.append(node)

    def judge(self) -> tuple[list[tuple[int, Written]], list[Oddity]]:
        """The spelling of the nodes that the dialect would spell otherwise, and what is odd."""
        written: list[tuple[int, Written]] = []
        oddities: list[Oddity] = []
        all_exact = all(exact for _, exact in self._depths.values())
        for at, find, (node, reason, is_leaf, is_parent) in self._doubtful:
            opens = _opens(self.nodes, at)
            is_spelt = is_parent if opens else is_leaf
            if is_spelt and not reason and all_exact:
                continue
            piece = find(at)
            if not node.role:
                oddities.append(_oddity(piece, OddKind.UNPLACED, reason))
                continue
            is_regular = is_spelt and self._depths[piece.indent][1]
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

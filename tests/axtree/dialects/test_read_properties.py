"""Random trees come back as they were; any text at all is a document or a named error, in linear time."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.timing import cpu_seconds

from dynaweb.axtree.dialects import read
from dynaweb.axtree.dialects.common import common_tree
from dynaweb.axtree.dialects.document import Dialect, Document, Layout
from dynaweb.axtree.dialects.grammar import Reader
from dynaweb.axtree.dialects.read import (
    GRAMMARS,
    parse_document,
    read_document,
    render_document,
)
from dynaweb.axtree.tree import Node, render_tree
from dynaweb.errors import TreeError

pytestmark = pytest.mark.filterwarnings("ignore:Do not use the `random` module")

names = st.one_of(
    st.sampled_from(
        [
            "",
            "Ok",
            "it's",
            'a "b"',
            "l1\nl2",
            "ü 日本 🙂",
            "שלום",
            "\t",
            "a: b",
            "[1] link",
            "-3%",
            "yes",
        ]
    ),
    st.text(max_size=12),
)
bids = st.one_of(st.none(), st.sampled_from(["a", "ab", "abaGbHG43"]), st.integers(0, 99).map(str))
roles = st.sampled_from(["button", "link", "generic", "StaticText", "textbox", "heading"])
values = st.one_of(names, st.booleans(), st.integers(-9, 99), st.none())
QUOTED_ATTRS = st.dictionaries(
    st.sampled_from(["value", "checked", "clickable"]), values, max_size=3
)
ARIA_ATTRS = st.dictionaries(
    st.sampled_from(["checked", "level", "active"]),
    st.sampled_from([None, "mixed", 2]),
    max_size=2,
).flatmap(lambda attrs: st.sampled_from([attrs, attrs | {"cursor": "pointer"}]))


@st.composite
def trees(draw, attrs, bid=bids):
    """A first line at depth 0, then lines at most one level deeper than the one before."""
    nodes, depth = [Node(0, draw(bid), "list", draw(names))], 0
    for _ in range(draw(st.integers(1, 8))):
        depth = draw(st.integers(0, depth + 1))
        node = Node(depth, draw(bid), draw(roles), draw(names), tuple(draw(attrs).items()))
        nodes.append(node)
    return tuple(nodes)


def _written(dialect, nodes, indent="\t"):
    return render_document(
        Document(dialect=dialect, nodes=nodes, lines=(), layout=Layout(indent=indent))
    )


@settings(max_examples=150, deadline=None)
@given(trees(QUOTED_ATTRS), st.sampled_from([Dialect.BROWSERGYM, Dialect.DYNAWEB]))
def test_any_quoted_tree_comes_back(nodes, dialect):
    text = _written(dialect, nodes)
    document = parse_document(text, dialect)
    assert (document.nodes, document.oddities) == (nodes, ())
    assert render_document(document) == text


@settings(max_examples=150, deadline=None)
@given(trees(ARIA_ATTRS), st.sampled_from(["  ", "    "]), names)
def test_any_snapshot_comes_back(nodes, indent, said):
    nodes = (*nodes, Node(1, None, "text", said), Node(0, "e9", "generic", None, (("text", said),)))
    text = _written(Dialect.ARIA_REF, nodes, indent)
    document = parse_document(text, Dialect.ARIA_REF)
    assert (document.nodes, document.oddities) == (nodes, ())
    assert render_document(document) == text


WORDS = [
    *(
        "RootWebArea",
        "[1] ",
        "[a] ",
        "[",
        "]",
        "] [",
        "button",
        " 'x'",
        ' "y"',
        "'",
        '"',
        ", ",
        "focused",
        ": ",
    ),
    *(
        "=",
        "value=",
        " value='",
        "url='",
        "center=(1,2)",
        "\n",
        "\n\t",
        "\n  ",
        "\t",
        " ",
        "\r\n",
        "- ",
        ":",
        ";",
    ),
    *(
        ";\t[2]: ",
        '[3]: <input> "',
        "[ref=e1]",
        "Tab 0 (current): ",
        " | Tab 1: ",
        "# ",
        "- text: ",
        "- /url: ",
    ),
    *(
        "\\",
        "\\x",
        "\\ud800",
        "\ud800",
        "🙂",
        "مرحبا",
        "\u2028",
        "<|eot|>",
        "'link",
        "''",
        "SPAN",
        "[IMG] [",
    ),
]
junk = st.lists(st.sampled_from(WORDS), max_size=24).map("".join)


@settings(max_examples=400, deadline=None)
@given(st.one_of(junk, junk.map("RootWebArea 'x', focused\n\t".__add__), st.text(max_size=80)))
def test_any_text_is_given_back_or_refused(text):
    try:
        document = read_document(text)
    except TreeError as error:
        assert 0 < len(str(error)) < 300
        return
    assert render_document(document) == text
    assert len(document.lines) == len(document.nodes)
    assert all(1 <= odd.line <= text.count("\n") + 1 and odd.reason for odd in document.oddities)
    assert "\n" not in "".join(render_tree((node,)) for node in common_tree(document))


@settings(max_examples=200, deadline=None)
@given(junk, st.sampled_from(list(Dialect)))
def test_any_text_taken_for_any_dialect_is_given_back(text, dialect):
    assert render_document(read_document(text, dialect)) == text


def _both_ways(dialect, text):
    grammar = GRAMMARS[dialect]
    slow = Reader(replace(grammar, quick=None))
    assert Reader(grammar).place(text, 2) == slow.place(text, 2)
    return grammar.quick is not None and grammar.quick.read(text, 2) is not None


@settings(max_examples=300, deadline=None)
@given(
    st.one_of(
        junk,
        st.lists(junk, max_size=6).map("\n\t".join),
        trees(QUOTED_ATTRS).map(lambda nodes: _written(Dialect.BROWSERGYM, nodes)),
        trees(ARIA_ATTRS).map(lambda nodes: _written(Dialect.ARIA_REF, nodes, "  ")),
        trees(QUOTED_ATTRS).map(lambda nodes: _written(Dialect.UNQUOTED, nodes)),
    ),
    st.sampled_from([d for d in Dialect if GRAMMARS[d].quick is not None]),
)
def test_a_whole_text_reads_the_same_the_quick_way(text, dialect):
    quick = read_document(text, dialect)
    slow = replace(GRAMMARS[dialect], quick=None)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(read.GRAMMARS, dialect, slow)
        patch.setitem(read._READERS, dialect, Reader(slow))
        assert read_document(text, dialect) == quick


@settings(max_examples=400, deadline=None)
@given(
    st.one_of(
        junk, trees(QUOTED_ATTRS).map(lambda t: t[-1]), trees(ARIA_ATTRS).map(lambda t: t[-1])
    ),
    st.sampled_from([d for d in Dialect if GRAMMARS[d].quick is not None]),
)
def test_the_quick_way_reads_what_the_slow_one_reads(given_, dialect):
    if isinstance(given_, str):
        _both_ways(dialect, given_)
        return
    spelt = GRAMMARS[dialect].spell(given_, opens=False)
    for text in (spelt, f"{spelt}:", spelt.replace(", value", " value"), spelt[:-1]):
        _both_ways(dialect, text)


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        (Dialect.BROWSERGYM, "[a12] textbox 'Name' value='x', focused, level=2"),
        (Dialect.DYNAWEB, "[3] textbox 'Name', value='x', required"),
        (Dialect.WEBARENA, "[12] textbox 'Name' focused: True required: False"),
        (Dialect.UNQUOTED, "[12] button Save it, clickable, type=button"),
        (Dialect.MARKS, "[33] [BUTTON] [Add [to]\nCart]"),
        (Dialect.LABELS, '[3]: <input> "Name", "Your name";'),
        (Dialect.ARIA, '- button "Save" [disabled]:'),
        (Dialect.ARIA_REF, '- textbox "Name" [level=2] [ref=e12] [cursor=pointer]: some text'),
        (Dialect.ARIA_REF, "- /url: https://shop.test/?a=b&c=%20"),
        (Dialect.ARIA_REF, "- list [ref=e1]:"),
    ],
)
def test_the_common_elements_go_the_quick_way(dialect, text):
    assert _both_ways(dialect, text)


HOSTILE = {
    "one level a line": lambda n: (
        "RootWebArea 'x', focused\n"
        + "\n".join("\t" * min(d, 500) + "[1] list ''" for d in range(n // 500))
    ),
    "one endless indent": lambda n: "RootWebArea 'x'\n" + "\t" * n + "[1] link 'x'",
    "an open quote": lambda n: "RootWebArea 'x'\n[1] link '" + "\\" * n,
    "open quotes": lambda n: "RootWebArea 'x'\n" + "[1] link '\n" * (n // 11),
    "flags": lambda n: "RootWebArea 'x'\n[1] link 'x'" + ", a" * (n // 3),
    "keys": lambda n: "[1] RootWebArea 'x' focused: True\n[2] link 'x'" + " a: b" * (n // 5),
    "unquoted values": lambda n: "RootWebArea x, focused\n\t[1] link" + " value='" * (n // 8),
    "unquoted lines": lambda n: "RootWebArea x, focused\n" + "code\n" * (n // 5),
    "unquoted keys": lambda n: "RootWebArea x, focused\n\t[1] link x" + ", url=" * (n // 6),
    "labels": lambda n: '[0]: "' + '", "' * (n // 4) + '";',
    "many labels": lambda n: '[0]: "x";\t' * (n // 10),
    "marks": lambda n: "[1] [IMG] [" + ", url: " * (n // 7) + "]",
    "open marks": lambda n: "[1] [A] [x\n" * (n // 11),
    "refs": lambda n: "- list [ref=e1]" + " [a=b]" * (n // 6) + " [",
    "an open name": lambda n: '- list [ref=e1]\n- link "' + "\\" * n,
    "quotes in a key": lambda n: "- list [ref=e1]\n- '" + "'" * n,
    "tabs": lambda n: (
        "Tab 0: a" + " | Tab 1: b" * (n // 11) + "\n\n[1] RootWebArea 'x' focused: True"
    ),
    "headers": lambda n: "# x\n" * (n // 4) + "RootWebArea 'x', focused",
    "a line": lambda n: "x" * n,
    "blanks": lambda n: "\n" * n,
    "spaces": lambda n: " " * n + "[1] link 'x'",
}


def _read(text):
    try:
        assert render_document(read_document(text)) == text
    except TreeError as error:
        assert len(str(error)) < 400


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_text_takes_linear_time(kind):
    """Twenty times the text: quadratic would take 400 times as long; a busy machine is noisy."""

    def seconds(size):  # another text each time: one that was read before may be remembered
        texts = [HOSTILE[kind](size + n) for n in range(3)]
        return min(cpu_seconds(lambda text=text: _read(text)) for text in texts)

    assert seconds(400_000) < 100 * max(seconds(20_000), 0.005)

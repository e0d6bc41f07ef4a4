"""Trees of every dialect, as their tools write them: read, given back, and what is odd named."""

from dataclasses import replace

import pytest

from dynaweb.axtree.dialects.common import common_tree
from dynaweb.axtree.dialects.document import Dialect, OddKind, repeated_bids
from dynaweb.axtree.dialects.read import parse_document, read_document, render_document
from dynaweb.axtree.tree import Node, read_tree, render_tree
from dynaweb.errors import TreeError

SAMPLES = {
    Dialect.BROWSERGYM: "RootWebArea 'Shop', focused, url='http://x/'\n"
    "\t[a] Iframe ''\n\t\t[a12] button \"it's\", clickable, visible\n"
    "\t[abaGbHG43] textbox 'Name' value='l1\\nl2', required, center=\"(8,9)\"\n"
    "\t[3] spinbutton 'of 2' value=1, valuemin=0, valuemax=9\n\t\tStaticText '\\ue604'\n",
    Dialect.DYNAWEB: "RootWebArea 'T'\n\t[2] textbox 'A', value='x', disabled",
    Dialect.UNQUOTED: "RootWebArea Dan, John, Vivek, focused, url='http://x/'\n\tbanner\n"
    "\t\t[128] link Uber, duck, center=(326,47), url='http://x/'\n"
    "\t\t[7] combobox Field value='All', center=(1,2), inner_text=All\nTitle\nAuthor, type=button\n"
    "\t\tStaticText one, focused\n  if x:\n\treturn [1] y\n\t\t\tStaticText مرحبا 🙂\n",
    Dialect.WEBARENA: "Tab 0: Cart | Shop | Tab 1 (current): Shop\n\n"
    "[1] RootWebArea 'Shop' focused: True\n"
    "        [4] Section '' live: assertive atomic: False relevant: additions text\n"
    '                [50] StaticText "Don\'t have an account? "\n'
    "                [8] button '' hasPopup: menu expanded: False",
    Dialect.TAGROLE: "Tab 0 (current): OSM\n\n[0] IMG ''\n\t\t[10] A '\"best\" in Products'\n\t\t[10] A ''\n",
    Dialect.MARKS: "[31] [IMG] [Image, description: a fax, an old one, url: http://x/a.jpg]\n"
    "[] [StaticText] [$279.49]\n[33] [BUTTON] [Add [to]\nCart]\n",
    Dialect.LABELS: '[0]: <button> "Main "menu"";\t[1]: "Home", "Go home";\t[3]: <input> "a\nb";\n',
    Dialect.ARIA: '- heading "The Firm" [level=1]\n- text: "Filed: 0"\n'
    '- link "Forgot?":\n  - /url: "#x"\n- textbox "Email": invalid-email\n- alert\n',
    Dialect.ARIA_REF: "- generic [active] [ref=e1]:\n    - 'link \"Admin: All\" [ref=e94] [cursor=pointer]':\n"
    "        - /url: /admin\n        - img\n    - 'button \"it''s: \\\"x\\\"\" [pressed=mixed] [ref=s2e3]'\n"
    '    - generic [ref=e9]: "-3%"\n    - generic [ref=e8]: yes or no\n    - generic [ref=e7]: "yes"\n',
}


@pytest.mark.parametrize("dialect", SAMPLES)
def test_each_dialect_is_told_apart_read_and_given_back(dialect):
    document = parse_document(SAMPLES[dialect])
    assert document.dialect is dialect
    assert document.oddities == ()
    assert document.written == ()
    assert render_document(document) == SAMPLES[dialect]
    assert len(document.lines) == len(document.nodes)


@pytest.mark.parametrize("dialect", SAMPLES)
def test_each_dialect_says_the_same_in_our_terms(dialect):
    tree = common_tree(parse_document(SAMPLES[dialect]))
    assert read_tree(render_tree(tree)) == tree
    assert all(node.role for node in tree)


@pytest.mark.parametrize("dialect", SAMPLES)
def test_a_name_that_changes_is_written_in_the_dialect(dialect):
    document = parse_document(SAMPLES[dialect])
    at = next(i for i, n in enumerate(document.nodes) if n.name)
    nodes = (
        *document.nodes[:at],
        document.nodes[at]._replace(name="New"),
        *document.nodes[at + 1 :],
    )
    again = parse_document(render_document(replace(document, nodes=nodes)))
    assert again.nodes == nodes


def test_what_is_read_of_each():
    def nodes(dialect):
        return {n.bid: n for n in read_document(SAMPLES[dialect]).nodes if n.bid is not None}

    assert nodes(Dialect.BROWSERGYM)["a12"].name == "it's"
    assert nodes(Dialect.BROWSERGYM)["abaGbHG43"].attr("value") == "l1\nl2"
    assert nodes(Dialect.BROWSERGYM)["3"].attr("value") == 1
    assert nodes(Dialect.UNQUOTED)["128"].name == "Uber, duck"
    assert nodes(Dialect.UNQUOTED)["7"].attr("inner_text") == "All\nTitle\nAuthor"
    assert nodes(Dialect.UNQUOTED)["7"].attr("value") == "All"
    assert nodes(Dialect.WEBARENA)["4"].attr("relevant") == "additions text"
    assert nodes(Dialect.WEBARENA)["50"].depth == 2
    assert nodes(Dialect.TAGROLE)["0"].role == "IMG"
    assert nodes(Dialect.MARKS)["31"].attr("description") == "a fax, an old one"
    assert nodes(Dialect.MARKS)["33"].name == "Add [to]\nCart"
    assert nodes(Dialect.LABELS)["1"].attr("label") == "Go home"
    assert nodes(Dialect.ARIA_REF)["s2e3"].name == 'it\'s: "x"'
    assert nodes(Dialect.ARIA_REF)["e9"].attr("text") == "-3%"


def test_a_raw_line_break_does_not_make_an_element():
    document = parse_document(SAMPLES[Dialect.UNQUOTED])
    assert document.nodes[4].name == "one, focused\n  if x:\n\treturn [1] y"
    assert document.lines == (1, 2, 3, 4, 7, 10)


def test_links_and_text_of_playwright_in_our_terms():
    tree = common_tree(read_document(SAMPLES[Dialect.ARIA]))
    assert Node(0, None, "link", "Forgot?", (("url", "#x"),)) in tree
    assert Node(0, None, "StaticText", "Filed: 0") in tree
    assert Node(0, None, "textbox", "Email", (("value", "invalid-email"),)) in tree


def test_tabs_of_a_webarena_header():
    document = read_document(SAMPLES[Dialect.WEBARENA])
    assert [t.title for t in document.tabs] == ["Cart | Shop", "Shop"]
    assert document.active_tab == 1


def test_tabs_of_a_browsergym_header():
    text = (
        "# Currently open tabs\nTab 0\n  Title: A | B\n  URL: http://a/\n\nTab 1 (active tab)\n"
        "  Title: C\n  URL: http://c/\n\n# Current page Accessibility Tree\n\nRootWebArea 'C', focused\n"
    )
    document = parse_document(text)
    assert [(t.title, t.url) for t in document.tabs] == [("A | B", "http://a/"), ("C", "http://c/")]
    assert (document.active_tab, document.lines) == (1, (12,))
    assert render_document(document) == text


def test_tabs_are_found_below_a_prompts_own_words():
    text = "WINDOWED PAGE:{\nTab 0 (current): Shop\n[1] RootWebArea 'Shop' focused: True\n[2] link 'A'\n}"
    document = read_document(text)
    assert (document.dialect, document.tabs[0].title) == (Dialect.WEBARENA, "Shop")
    assert [o.line for o in document.unplaced] == [1, 5]
    assert render_document(document) == text


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("RootWebArea 'x', focused\n{injection}\n\t[2] link 'y'", 2, "no id and role"),
        ("RootWebArea 'x', focused\n\n\t[2] link 'y'", 2, "blank"),
        ("RootWebArea 'x', focused\n\t[2] link 'y'\n\t[3", 3, "cut after the id"),
        ("[1] RootWebArea 'x' focused: True\n\t[2] link nothing", 2, "expected a quoted name"),
        ('- generic [ref=e1]:\n  - text "x"', 2, "expected `- text: text`"),
        ('- generic [ref=e1]:\n  - link "x" [ref=e2]: "y', 2, "no quote closes"),
        ("Hello\n# Tree\nRootWebArea 'x', focused", 1, "no part of a header"),
        ("RootWebArea 'x', focused\nHello", 2, "no role we know"),
    ],
)
def test_a_line_that_is_no_element_is_named_and_kept(text, line, reason):
    document = read_document(text)
    assert render_document(document) == text
    assert (document.unplaced[0].line, reason in document.unplaced[0].reason) == (line, True)
    with pytest.raises(TreeError, match=f"line {line}: "):
        parse_document(text)


@pytest.mark.parametrize(
    ("text", "name", "reason"),
    [
        ("[1] RootWebArea 'x' focused: True\n\t[9] StaticText'♥ '", "♥ ", "no blank"),
        ("RootWebArea 'x', focused\n\t[9] link 'Report All", "Report All", "cut"),
        ("RootWebArea 'x', focused\n\t[9] link \"plain\"", "plain", "spells it"),
        ("RootWebArea 'x', focused\n \t[9] link 'plain'", "plain", "indent"),
        (
            "RootWebArea 'x', focused\n\t[9] link 'plain', checked=mixed",
            "plain",
            "no readable value",
        ),
        ('- list [ref=e1]:\n  - link "go" [ref=e9] [cursor=', "go", "cut inside an attribute"),
    ],
)
def test_a_line_spelt_otherwise_is_read_named_and_given_back(text, name, reason):
    document = parse_document(text)
    odd = document.oddities[0]
    assert (document.nodes[1].name, odd.line, odd.kind) == (name, 2, OddKind.IRREGULAR)
    assert reason in odd.reason
    assert render_document(document) == text


def test_a_leaked_token_is_named():
    text = "<|begin_of_text|>Tab 0 (current): A\n\n[1] RootWebArea 'A' focused: True"
    document = parse_document(text)
    assert document.oddities[0].text == "<|begin_of_text|>"
    assert document.tabs[0].title == "A"
    assert render_document(document) == text


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("ending", ["", "\n", "\n\n"])
@pytest.mark.parametrize("margin", ["", "    "])
@pytest.mark.parametrize("indent", ["\t", " ", "  ", "    ", "        "])
def test_any_setting_out_is_found(newline, ending, margin, indent):
    lines = ["RootWebArea 'A', focused", "[1] list ''", "[2] link 'x', clickable", "[3] list ''"]
    depths = [0, 1, 2, 1]
    body = [margin + indent * d + line for d, line in zip(depths, lines, strict=True)]
    text = newline.join(body) + ending.replace("\n", newline)
    document = parse_document(text)
    assert [n.depth for n in document.nodes] == depths
    assert (document.oddities, render_document(document)) == ((), text)


def test_ids_that_stand_on_several_lines_are_found():
    text = "RootWebArea 'Shop', focused\n\t[188] link 'Cart'\n\t[189] button 'Pay'\n\t[188] link 'Help'"
    assert repeated_bids(read_document(text)) == {"188": (2, 4)}


def test_playwright_text_in_brackets_is_text():
    """Older Playwright wrote `- text: [All rows]` unquoted, which YAML takes for a list."""
    text = '- list:\n  - listitem:\n    - checkbox "[All rows]" [checked]\n    - text: [All rows]\n'
    document = parse_document(text)
    assert document.nodes[3].name == "[All rows]"
    assert document.oddities[0].reason == """the dialect spells it '- text: "[All rows]"'"""
    assert render_document(document) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n\t",
        "Hello world",
        "don't\ngive 'x'",
        "{}",
        "click [12]",
        "# Title\n\n- An item\n- Two",
        "x = [1]\n",
    ],
)
def test_what_is_no_tree_is_refused(text):
    with pytest.raises(TreeError, match="no tree"):
        read_document(text)


def test_tag_names_become_the_roles_that_such_elements_have():
    text = "[1] RootWebArea 'Shop' focused: True\n\t[2] BUTTON 'Save'\n\t[3] A 'Home'\n\t[4] H2 'News'\n\t[5] SPAN 'x'\n\t[6] INPUT ''"
    document = read_document(text, Dialect.TAGROLE)
    assert [n.role for n in common_tree(document)] == [
        *("RootWebArea", "button", "link", "heading", "generic", "INPUT")
    ]
    assert render_document(document) == text
    marks = read_document("[31] [IMG] [A fax]\n[] [StaticText] [$9]", Dialect.MARKS)
    assert [n.role for n in common_tree(marks)] == ["image", "StaticText"]

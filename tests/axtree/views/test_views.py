"""Pages in WebWorld's forms: HTML and XML give every tree back; Playwright's gives structure, names and refs; the rest is read by people.

`pytest --cases DIR` does the same with `DIR/axtrees/*.txt`.
"""

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.axtree.pages import trees, wild_trees

from dynaweb.axtree.dialects.document import Dialect
from dynaweb.axtree.dialects.read import read_document
from dynaweb.axtree.tree import Node, read_tree
from dynaweb.axtree.views.spelling import read_text, read_value, spell_text, spell_value
from dynaweb.axtree.views.view import View, read_html, read_xml, write_view
from dynaweb.errors import DynawebError

PAGE = read_tree(
    "RootWebArea 'Shop'\n\t[3] heading 'Tea', level=2\n\t[4] list ''\n\t\t[5] listitem ''\n\t\t\t[6] link 'Green <b>', url='/g'\n"
    "\t\t\t\tStaticText 'Green <b>'\n\t[7] textbox 'Search', value='2', required\n\t[8] checkbox 'Gift', checked='false'\n\tStaticText 'one & two'"
)
ROUND_TRIPS = ((View.HTML, read_html), (View.XML, read_xml))


@settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.one_of(trees, wild_trees))
def test_every_tree_comes_back_from_html_and_xml(tree):
    for view, read in ROUND_TRIPS:
        text = write_view(tree, view)
        assert read(text) == tree, text
        text.encode("utf-8")


@settings(max_examples=200, deadline=None)
@given(
    st.one_of(st.text(st.characters()), st.sampled_from(["", "k", "1", "True", "'x'", "1e9", " "]))
)
def test_spelling_gives_texts_and_values_back(text):
    assert read_text(spell_text(text)) == text
    assert read_value("k", spell_value("k", text)) == text


@pytest.mark.parametrize("value", [None, True, False, 0, -3, 0.5])
def test_values_keep_their_type(value):
    got = read_value("k", spell_value("k", value))
    assert got == value and type(got) is type(value)


def test_forms_of_a_page():
    assert write_view(PAGE, View.HTML).splitlines()[:5] == [
        '<body name="Shop">',
        '  <h2 bid="3" level="2">Tea</h2>',
        '  <ul bid="4" name="">',
        '    <li bid="5" name="">',
        '      <a bid="6" name="Green &lt;b&gt;" url="/g">',
    ]
    assert '<input bid="7" name="Search" value="&#x27;2&#x27;" required="required">' in write_view(PAGE, View.HTML)  # fmt: skip
    assert '<checkbox bid="8" name="Gift" checked="false"/>' in write_view(PAGE, View.XML)
    assert write_view(PAGE, View.MARKDOWN).splitlines() == [
        "# Shop", "## Tea", "- [Green \\<b\\>](#6)", "**[7] textbox** Search, value 2, required", "**[8] checkbox** Gift, checked false", "one & two",
    ]  # fmt: skip
    assert write_view(PAGE, View.PLAYWRIGHT).splitlines()[:2] == ['- RootWebArea "Shop":', '  - heading "Tea" [level=2] [ref=3]']  # fmt: skip
    assert "A text field named 'Search' with id 7, value '2', required." in write_view(
        PAGE, View.PROSE
    )
    assert "A check" in write_view(PAGE, View.PROSE) and "not checked" in write_view(
        PAGE, View.PROSE
    )


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(trees)
def test_no_form_fails_on_any_page(tree):
    for view in View:
        assert isinstance(write_view(tree, view), str)


def told(nodes, at=0):
    """What a Playwright snapshot says: order, nesting, roles, names, refs."""
    return [(n.depth, "text" if n.role == "StaticText" and n.bid is None and not n.attrs else n.role, n.name, n.bid) for n in nodes]  # fmt: skip


def test_playwright_form_reads_back():
    found = read_document(write_view(PAGE, View.PLAYWRIGHT), Dialect.ARIA_REF)
    assert not found.unplaced
    assert told(found.nodes) == told(PAGE)


@pytest.mark.parametrize("text", ["", "<page>", "<page><a></page>", "<html/>", "<page><b depth='-1'/></page>", "<!DOCTYPE x><page/>", "<!-- x -->", "<script>x</script>", "<p></div>"])  # fmt: skip
def test_what_is_no_page_is_refused_or_empty(text):
    for read in (read_html, read_xml):
        try:
            assert read(text) == ()
        except DynawebError as error:
            assert str(error)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from(["<page>", "</page>", "<div role='x'>", "</div>", "<span>", "</span>", "a", "&lt;", "<input>", "\0", "<", "bid='1'", "<![CDATA["])).map("".join))  # fmt: skip
def test_readers_are_total(text):
    for read in (read_html, read_xml):
        with suppress(DynawebError):
            assert all(isinstance(n, Node) for n in read(text))


def test_every_real_tree_comes_back(request):
    folder = request.config.getoption("--cases")
    if folder is None:
        pytest.skip("needs --cases DIR")
    files = sorted((Path(folder) / "axtrees").glob("*.txt"))
    assert files
    for file in files:
        tree = read_tree(file.read_bytes().decode())
        for view, read in ROUND_TRIPS:
            assert read(write_view(tree, view)) == tree, (file.name, view)

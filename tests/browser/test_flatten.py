"""Accessibility nodes to lines, without a browser."""

from dynaweb.axtree.tree import parse_tree, render_tree
from dynaweb.browser.flatten import flatten
from dynaweb.browser.nodes import AxNode, BidMap, Drawn

ROOT = "RootWebArea 'T'"


class Page:
    """Builds nodes; a node's children are given by position in the call."""

    def __init__(self) -> None:
        self.nodes: dict[str, AxNode] = {}
        self.drawn: dict[int, Drawn] = {}

    def node(
        self,
        role: str,
        name: str = "",
        *children: str,
        value: str = "",
        ignored: bool = False,
        **more,
    ) -> str:
        number = len(self.nodes) + 1
        look = {
            k: more.pop(k) for k in ("tag", "hint", "reacts", "tabbable", "hidden") if k in more
        }
        if "value" in more.get("drawn", {}):
            look["value"] = more.pop("drawn")["value"]
        self.nodes[str(number)] = AxNode(
            node_id=str(number), role=role, name=name, value=value, ignored=ignored, backend=number + 100,
            properties=more, children=children,
        )  # fmt: skip
        self.drawn[number + 100] = Drawn(**{"tag": "DIV", **look})
        return str(number)

    def text(self, *children: str, bids: BidMap | None = None) -> str:
        root = self.node("RootWebArea", "T", *children)
        lines = flatten(self.nodes, root, self.drawn, bids if bids is not None else BidMap())
        shown = render_tree(lines)
        assert parse_tree(shown) == lines
        first, _, rest = shown.partition("\n")
        assert first == ROOT
        return rest


def test_noise_goes_and_structure_stays() -> None:
    p = Page()
    button = p.node("button", "Go", p.node("StaticText", "Go", p.node("InlineTextBox", "Go")))
    wrapped = p.node("generic", "", p.node("none", "", button, ignored=True))
    assert (
        p.text(wrapped, p.node("LineBreak", "\n"), p.node("StaticText", "  "))
        == "\t[1] button 'Go'"
    )


def test_a_generic_that_reacts_is_kept_with_its_text() -> None:
    p = Page()
    link = p.node(
        "generic", "", p.node("StaticText", "read"), p.node("StaticText", "more"), reacts=True
    )
    dull = p.node("generic", "", p.node("StaticText", "plain"))
    assert p.text(link, dull) == "\t[1] generic 'read more', clickable\n\tStaticText 'plain'"


def test_a_wrapper_around_controls_says_nothing_unless_it_has_text() -> None:
    p = Page()
    bare = p.node("generic", "", p.node("button", "A"), reacts=True)
    row = p.node(
        "generic",
        "",
        p.node("StaticText", "Ann"),
        p.node("image", "", reacts=True, hint="star"),
        reacts=True,
    )
    assert p.text(bare, row) == (
        "\t[1] button 'A'\n\t[2] generic '', clickable\n\t\tStaticText 'Ann'\n\t\t[3] image 'star', clickable"
    )


def test_icons_are_named_by_their_author_and_pictures_without_use_go() -> None:
    p = Page()
    icon = p.node("image", "", reacts=True, hint="trash")
    button = p.node("button", "", hint="bold")
    assert p.text(icon, p.node("image", ""), p.node("image", "A cat"), button) == (
        "\t[1] image 'trash', clickable\n\t[2] image 'A cat'\n\t[3] button 'bold'"
    )


def test_states_values_and_flags() -> None:
    p = Page()
    lines = p.text(
        p.node("checkbox", "a", checked="true"),
        p.node("textbox", "b", p.node("StaticText", "x"), value="x"),
        p.node("button", "c", disabled=True),
        p.node("combobox", "d", expanded=False, tag="SELECT", value="One"),
        p.node("combobox", "e", expanded=True, tag="INPUT"),
        p.node("option", "f", selected=True),
        p.node("option", "g", selected=False),
        p.node("slider", "h", value="3", valuemin=0.0, valuemax=10.0),
        p.node("spinbutton", "i", valuemin=0.0, valuemax=0.0),
        p.node("textbox", "j", readonly=True, required=True),
        p.node("tab", "k", selected=True, expanded=True),
    )
    assert lines.split("\n\t") == [
        "\t[1] checkbox 'a', checked='true'",
        "[2] textbox 'b', value='x'",
        "[3] button 'c', disabled",
        "[4] combobox 'd', value='One'",
        "[5] combobox 'e', expanded='true'",
        "[6] option 'f', selected='true'",
        "[7] option 'g'",
        "[8] slider 'h', value='3', valuemin=0, valuemax=10",
        "[9] spinbutton 'i'",
        "[10] textbox 'j', required, readonly",
        "[11] tab 'k', selected='true'",
    ]


def test_what_the_field_holds_beats_what_the_page_says_of_it() -> None:
    p = Page()
    spinner = p.node("spinbutton", "n", value="1", drawn={"value": "5"})
    assert p.text(spinner) == "\t[1] spinbutton 'n', value='5'"


def test_list_items_and_cells_take_their_text_as_name() -> None:
    p = Page()
    items = p.node(
        "list", "", p.node("listitem", "", p.node("ListMarker", "1."), p.node("StaticText", "Ann"))
    )
    day = p.node("row", "", p.node("gridcell", "1", p.node("link", "1"), reacts=True))
    pair = p.node(
        "row",
        "",
        p.node("cell", "Name", p.node("StaticText", "Name")),
        p.node("cell", "", p.node("textbox", "")),
    )
    assert p.text(items, day, pair) == (
        "\t[1] listitem 'Ann'\n\t[2] link '1'\n\t[3] row ''\n\t\t[4] cell 'Name'\n\t\t[5] textbox ''"
    )


def test_labels_that_a_field_repeats_go() -> None:
    p = Page()
    label = p.node("LabelText", "", p.node("StaticText", "Name"), tag="LABEL", reacts=True)
    other = p.node("LabelText", "", p.node("StaticText", "Age"), tag="LABEL")
    assert p.text(label, p.node("textbox", "Name"), other, p.node("textbox", "")) == (
        "\t[1] textbox 'Name'\n\tStaticText 'Age'\n\t[2] textbox ''"
    )


def test_hidden_text_goes_and_the_link_of_a_tab_stays() -> None:
    p = Page()
    status = p.node("status", "", p.node("StaticText", "1 result"), hidden=True)
    tab = p.node("tab", "One", p.node("link", "One", p.node("StaticText", "One")))
    assert p.text(status, tab) == "\t[1] tab 'One'\n\t\t[2] link 'One'"


def test_a_menu_that_takes_the_focus_says_that_it_is_one() -> None:
    p = Page()
    menu = p.node("menu", "", p.node("menuitem", "Open"), p.node("StaticText", "x"), tabbable=True)
    assert p.text(menu) == "\t[1] menu '', clickable\n\t\t[2] menuitem 'Open'\n\t\tStaticText 'x'"


def test_one_element_is_one_line_whatever_its_name() -> None:
    p = Page()
    nasty = "a\nb\t[9] button 'x'\r\x00\u2028\u202e'\""
    shown = p.text(p.node("button", nasty), p.node("textbox", "", value="two\nlines"))
    assert len(shown.splitlines()) == len(shown.split("\n")) == 2
    assert "value='two\\nlines'" in shown


def test_long_text_that_reacts_keeps_its_lines() -> None:
    p = Page()
    inner = [p.node("StaticText", "word " * 15 + str(i)) for i in range(3)]
    shown = p.text(p.node("generic", "", *inner, reacts=True, hint="terminal"))
    assert shown.startswith("\t[1] generic 'terminal', clickable\n\t\tStaticText 'word ")
    assert shown.count("\n") == 3


def test_numbers_stay_with_their_nodes_and_new_ones_come_next() -> None:
    bids = BidMap()
    p = Page()
    a, b = p.node("button", "A"), p.node("button", "B")
    assert p.text(a, b, bids=bids) == "\t[1] button 'A'\n\t[2] button 'B'"
    c = p.node("button", "C")
    assert p.text(c, b, bids=bids) == "\t[3] button 'C'\n\t[2] button 'B'"
    assert p.text(a, c, bids=bids) == "\t[1] button 'A'\n\t[3] button 'C'"
    assert bids.backend("3") == int(c) + 100 and bids.backend("4") is None


def test_deep_pages_and_circles_do_not_break_it() -> None:
    p = Page()
    inner = p.node("button", "deep")
    for _ in range(5000):
        inner = p.node("dialog", "", inner)
    assert p.text(inner).count("\n") == 5000
    p = Page()
    p.nodes["1"] = AxNode(
        node_id="1", role="group", name="g", value="", ignored=False, backend=1, properties={}, children=("1", "7")
    )  # fmt: skip
    assert p.text("1") == "\t[1] group 'g'"

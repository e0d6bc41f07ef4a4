"""Two observations of one page are matched by place, and every way to differ has a name and a count."""

import pytest

from dynaweb.bench.live.results import Sight
from dynaweb.bench.live.sight import FURNITURE, add_up, compare_pages, rival_places
from dynaweb.browser.dompaths import element_paths


def document(*rows: tuple[str, int, dict[str, str]]) -> tuple[dict[str, object], list[str]]:
    """A snapshot's document from (node name, parent, attributes); `#text` is no element."""
    strings: list[str] = []

    def number(text: str) -> int:
        strings.append(text)
        return len(strings) - 1

    nodes: dict[str, object] = {
        "nodeType": [3 if name == "#text" else 1 for name, _, _ in rows],
        "nodeName": [number(name) for name, _, _ in rows],
        "parentIndex": [parent for _, parent, _ in rows],
        "attributes": [[number(x) for kv in given.items() for x in kv] for _, _, given in rows],
    }
    return nodes, strings


BODY = (("HTML", -1, {}), ("BODY", 0, {}))


def test_places_count_like_tags_and_skip_furniture_with_all_in_it():
    nodes, strings = document(
        *BODY,
        ("DIV", 1, {"id": "query"}),
        ("B", 2, {}),
        ("DIV", 1, {}),
        ("#text", 4, {}),
        ("P", 4, {}),
        ("DIV", 1, {}),
    )
    assert element_paths(nodes, strings, FURNITURE) == [
        "html1", "html1>body1", "", "", "html1>body1>div1", "", "html1>body1>div1>p1", "html1>body1>div2",
    ]  # fmt: skip


def test_removed_furniture_leaves_the_same_places():
    """BrowserGym cuts it out, we hide it."""
    ours = document(*BODY, ("DIV", 1, {"id": "reward-display"}), ("DIV", 1, {"id": "area"}))
    theirs = document(*BODY, ("DIV", 1, {"id": "area", "bid": "13"}))
    place = rival_places({"nodes": theirs[0], "strings": theirs[1]})
    assert place == {"13": "html1>body1>div1"}
    assert element_paths(*ours, FURNITURE)[3] == place["13"]


THEIRS = """RootWebArea 'T', focused
\t[10] paragraph ''
\t\t[11] button 'OK'
\t[12] textbox ''
\t[13] link ' More  here'
\t[14] listitem 'x'
\t[15] heading 'Old'
\t[16] button ''"""
OURS = """RootWebArea 'T'
\t[1] button 'OK'
\t[2] textbox ''
\t[3] link 'More here'
\t[4] generic 'x'
\t[5] heading 'New'
\t[6] button 'trash'"""


def test_every_difference_is_counted_by_kind():
    their_places = {str(n): f"p{n}" for n in range(10, 17)}
    our_places = {str(n): f"p{n + 10}" for n in range(1, 7)}
    seen = compare_pages("t", THEIRS, their_places, OURS, our_places)
    assert (seen.pages, seen.elements, seen.same, seen.controls, seen.controls_same) == (1, 7, 2, 4, 2)  # fmt: skip
    assert {d.kind: d.count for d in seen.differences} == {
        "not shown by us: unnamed paragraph": 1,
        "name of link: white space": 1,
        "other role: listitem is generic": 1,
        "name of heading: another": 1,
        "name of button: only we give one": 1,
    }
    assert seen.differences[0].example == "t: paragraph '' / nothing"
    twice = add_up([seen, seen])
    assert (twice.pages, twice.elements, twice.same) == (2, 14, 4)
    assert all(d.count == 2 for d in twice.differences)


@pytest.mark.parametrize("missing", ["theirs", "ours"])
def test_an_element_without_a_place_is_not_compared_or_not_shown(missing):
    tree = "RootWebArea 'T'\n\t[1] button 'OK'"
    their = {} if missing == "theirs" else {"1": "p"}
    ours = {} if missing == "ours" else {"1": "p"}
    seen = compare_pages("t", tree, their, tree, ours)
    assert seen.elements == (0 if missing == "theirs" else 1)
    assert seen.same == 0


def test_nothing_adds_up_to_nothing():
    assert add_up([]) == Sight()


def test_what_a_browser_draws_inside_a_field_is_told_apart_and_counted_all_the_same():
    theirs = "RootWebArea 'T'\n\t[7] Date 'Day'\n\t\t[7] spinbutton 'Month'\n\t\t[7] button 'Show'\n\t[8] button 'OK'"
    ours = "RootWebArea 'T'\n\t[1] Date 'Day'\n\t[2] button 'OK'"
    their_places, our_places = {"7": "input1", "8": "button1"}, {"1": "input1", "2": "button1"}
    sight = compare_pages("t", theirs, their_places, ours, our_places)
    assert (sight.elements, sight.same, sight.controls, sight.controls_same) == (4, 2, 4, 2)
    assert {d.kind: d.count for d in sight.differences} == {
        "part under the bid of its Date: spinbutton": 1,
        "part under the bid of its Date: button": 1,
    }

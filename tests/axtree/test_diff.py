import pytest
from hypothesis import assume, given, settings
from tests.axtree.pages import actions, pairs, trees, wild_trees
from tests.timing import cpu_seconds

from dynaweb.axtree.apply import apply
from dynaweb.axtree.diff import diff, without_renumbering
from dynaweb.axtree.same import same_page
from dynaweb.axtree.text import print_delta
from dynaweb.axtree.tree import parse_tree, read_tree, render_tree
from dynaweb.errors import DeltaError
from dynaweb.records.action import Click, Fill, Noop
from dynaweb.records.delta import Deleted, Delta, DeltaKind, Updated
from dynaweb.records.observation import Observation

pytestmark = pytest.mark.filterwarnings("ignore:Do not use the `random` module")


def page(tree: str, **given) -> Observation:
    return Observation(url="http://a", title="T", tree=tree, **given)


def well_formed(observation: Observation) -> bool:
    """No bid twice, and the focus on the page."""
    bids = [n.bid for n in read_tree(observation.tree) if n.bid is not None]
    return len(bids) == len(set(bids)) and (
        observation.focused is None or observation.focused in bids
    )


@settings(max_examples=200, deadline=None)
@given(pairs(), actions)
def test_applying_a_difference_gives_the_next_page_exactly(pair, action):
    before, after = pair
    assert apply(before, action, diff(before, action, after)) == after


@settings(max_examples=150, deadline=None)
@given(pairs(), actions)
def test_without_renumbering_the_next_page_differs_in_bids_only(pair, action):
    before, after = pair
    assume(well_formed(before) and well_formed(after))
    learned = without_renumbering(diff(before, action, after))
    assert same_page(apply(before, action, learned), after)


@settings(max_examples=100, deadline=None)
@given(trees | wild_trees)
def test_a_tree_is_read_and_written_byte_for_byte(tree):
    text = render_tree(tree)
    assert render_tree(read_tree(text)) == text


CHECKS = """RootWebArea 'T'
\t[13] checkbox 'One', checked='false'
\t[14] checkbox 'Two', checked='false'
\t[15] textbox 'Name'
\t[16] button 'Submit'"""


def test_a_checkbox_is_one_attribute_of_one_element():
    after = page(CHECKS.replace("'Two', checked='false'", "'Two', checked='true'"))
    found = diff(page(CHECKS), Click("14"), after)
    assert found == Delta(
        kind=DeltaKind.LOCAL, updated=(Updated(ref="14", set=(("checked", "true"),)),)
    )


def test_typed_text_is_a_reference_and_sits_where_values_sit():
    after = page(CHECKS.replace("'Name'", "'Name', value='bob'"))
    assert diff(page(CHECKS), Fill("15", "bob"), after).updated == (
        Updated(ref="15", set=(("value", "$t"),)),
    )


def test_a_gone_element_takes_along_what_lies_below():
    before = page(
        "RootWebArea 'T'\n\t[3] dialog 'D'\n\t\t[4] button 'x'\n\t\tStaticText 'hi'\n\t[5] button 'Ok'\n\t[6] link 'a'"
    )
    after = page("RootWebArea 'T'\n\t[5] button 'Ok'\n\t[6] link 'a'")
    assert diff(before, Click("4"), after).deleted == (Deleted(ref="3"),)


def test_a_renumbered_page_is_no_change_to_learn():
    after = page(CHECKS.replace("[1", "[7"))
    found = diff(page(CHECKS), Noop(), after)
    assert len(found.renumbered) == 4
    assert without_renumbering(found) == Delta(kind=DeltaKind.NONE)


def test_a_moved_element_takes_along_what_lies_below():
    items = [f"\t[{i}] listitem ''\n\t\tStaticText 'item {i}'" for i in range(2, 7)]
    before = page("\n".join(["RootWebArea 'T'", *items]))
    after = page("\n".join(["RootWebArea 'T'", *items[1:], items[0]]))
    found = diff(before, Noop(), after)
    assert len(found.placed) == 1
    assert not found.deleted
    assert not found.updated


def test_the_end_of_an_episode_is_all_that_is_said():
    before = page(CHECKS)
    ended = diff(before, Click("16"), page("RootWebArea 'T'"), terminal=True)
    assert ended == Delta(kind=DeltaKind.TERMINAL)
    assert apply(before, Click("16"), ended) == before


def test_another_page_is_a_kind_of_its_own():
    other = "RootWebArea 'U'\n\t[40] heading 'Elsewhere'\n\t[41] link 'Back'"
    found = diff(page(CHECKS), Click("16"), Observation(url="http://b", title="U", tree=other))
    assert found.kind is DeltaKind.FULL_PAGE
    assert found.title is None


def test_a_line_that_cannot_be_placed_is_named():
    with pytest.raises(DeltaError, match="line 2"):
        parse_tree("RootWebArea 'T'\n\t[3 button 'x'")


def test_a_page_of_the_same_form_is_other_names_in_the_same_places():
    book = "RootWebArea 'T'\n\t[1] heading 'Etti'\n\tStaticText 'Phone:'\n\t[2] link '531'\n\t[3] link '>'"
    after = "RootWebArea 'T'\n\t[4] heading 'Casie'\n\tStaticText 'Phone:'\n\t[5] link '470'\n\t[6] link '>'"
    found = without_renumbering(diff(page(book), Click("3"), page(after)))
    assert print_delta(found) == "[1] 'Casie'\n[2] '470'"


def test_content_that_was_made_again_is_new_as_a_whole():
    tab = "RootWebArea 'T'\n\t[1] tab 'A', selected='true'\n\t[2] tab 'B'\n\t[{0}] tabpanel ''\n\t\tStaticText '{1}'\n\t\t[{2}] link '{3}'\n\t\tStaticText '{4}'"
    before, after = (
        page(tab.format(3, "one", 4, "two", "three")),
        page(tab.format(5, "four", 6, "five", "six")),
    )
    found = print_delta(without_renumbering(diff(before, Click("2"), after)))
    assert (
        found
        == "-[3]\n+[2]\n\t[] tabpanel ''\n\t\tStaticText 'four'\n\t\t[] link 'five'\n\t\tStaticText 'six'"
    )


def test_a_row_of_gone_elements_is_one_line_however_long():
    listed = "\n".join(f"\t[{i}] listitem 'item {i}', clickable" for i in range(3, 30))
    before = page(f"RootWebArea 'T'\n\t[1] textbox 'Tags:'\n\t[2] button 'Submit'\n{listed}")
    after = page("RootWebArea 'T'\n\t[1] textbox 'Tags:', value='item 7'\n\t[2] button 'Submit'")
    assert print_delta(diff(before, Click("7"), after)) == "[1] value='$n'\n-[3]..[29]"


def test_time_grows_linearly_with_the_page():
    def seconds(lines: int) -> float:
        text = "\n".join(
            f"\t[{i}] row 'r{i}'\n\t\tStaticText 'item {i * 7 % 1000}'" for i in range(lines // 2)
        )
        before = page(f"RootWebArea 'T'\n{text}")
        after = page(before.tree.replace("item 77'", "other'"))
        return cpu_seconds(lambda: apply(before, Noop(), diff(before, Noop(), after)))

    small = min(seconds(1_000) for _ in range(3))
    assert min(seconds(10_000) for _ in range(3)) < 40 * small

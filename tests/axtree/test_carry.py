"""A change said of another page: the same there as here, or refused."""

import pytest
from hypothesis import assume, given, settings
from tests.axtree.pages import actions, pairs

from dynaweb.axtree.apply import apply
from dynaweb.axtree.carry import carry
from dynaweb.axtree.diff import diff, without_renumbering
from dynaweb.axtree.match import match
from dynaweb.axtree.place import Places
from dynaweb.axtree.tree import read_tree, render_tree
from dynaweb.errors import DeltaError
from dynaweb.records.action import Click, Fill
from dynaweb.records.observation import Observation

pytestmark = pytest.mark.filterwarnings("ignore:Do not use the `random` module")


def page(tree: str) -> Observation:
    return Observation(url="http://a", title="T", tree=tree)


def renumbered(text: str) -> str:
    """The page with every bid 100 higher, as in another session."""
    nodes = [
        n._replace(bid=f"{int(n.bid) + 100}") if n.bid is not None else n for n in read_tree(text)
    ]
    return render_tree(tuple(nodes))


@settings(max_examples=60, deadline=None)
@given(pairs(), actions)
def test_a_change_carried_to_its_own_page_is_the_change(pair, action):
    before, after = pair
    learned = without_renumbering(diff(before, action, after))
    assume(learned.tabs is None and learned.active_tab is None)
    assume(not (learned.focus or "").startswith("="))
    places = Places(read_tree(before.tree))
    identity = list(range(len(places.tree)))
    assert carry(learned, places, places, identity) == learned


BEFORE = """RootWebArea 'T'
\t[13] checkbox 'Subscribe to the newsletter', checked='false'
\t[14] textbox 'Name'
\t[15] group 'Result'
\t\t[16] button 'Submit'"""

AFTER = """RootWebArea 'T'
\t[13] checkbox 'Subscribe to the newsletter', checked='true'
\t[14] textbox 'Name', disabled
\t[15] group 'Result'
\t\tStaticText 'bob, Subscribe to the newsletter'
\t\t[17] link 'Undo'"""


def test_a_change_carried_to_the_page_under_other_numbers_gives_the_next_page_under_them():
    learned = without_renumbering(diff(page(BEFORE), Click("16"), page(AFTER)))
    there, here = Places(read_tree(BEFORE)), Places(read_tree(renumbered(BEFORE)))
    carried = carry(learned, there, here, match(there, here))
    assert apply(page(renumbered(BEFORE)), Click("116"), carried).tree == renumbered(AFTER)


def test_a_name_that_is_pointed_at_is_the_name_on_the_other_page():
    before = page("RootWebArea 'T'\n\t[3] link 'Garden furniture'\n\t[4] textbox 'Title'")
    after = page(
        "RootWebArea 'T'\n\t[3] link 'Garden furniture'\n\t[4] textbox 'Title', value='Garden furniture'"
    )
    other = page("RootWebArea 'T'\n\t[8] link 'Kitchen furniture'\n\t[9] textbox 'Title'")
    learned = without_renumbering(diff(before, Click("3"), after))
    there, here = Places(read_tree(before.tree)), Places(read_tree(other.tree))
    carried = carry(learned, there, here, [0, 1, 2])
    assert (
        "[9] textbox 'Title', value='Kitchen furniture'" in apply(other, Click("8"), carried).tree
    )


def test_new_lines_lie_as_deep_under_the_other_pages_element():
    before = page("RootWebArea 'T'\n\t[3] button 'More'")
    after = page("RootWebArea 'T'\n\t[3] button 'More'\n\t\tStaticText 'x'")
    other = page("RootWebArea 'T'\n\tmain ''\n\t\t[5] button 'More'")
    learned = without_renumbering(diff(before, Click("3"), after))
    there, here = Places(read_tree(before.tree)), Places(read_tree(other.tree))
    carried = carry(learned, there, here, [0, 2])
    assert apply(other, Click("5"), carried).tree.endswith("\n\t\t\tStaticText 'x'")


def test_a_change_of_an_element_that_is_not_there_is_refused():
    learned = without_renumbering(diff(page(BEFORE), Fill("14", "bob"), page(AFTER)))
    other = Places(read_tree("RootWebArea 'T'"))
    there = Places(read_tree(BEFORE))
    with pytest.raises(DeltaError, match="is not on this page"):
        carry(learned, there, other, match(there, other))

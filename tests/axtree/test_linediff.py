"""The line diff for people: both pages can be read off it, and it shows changes, not numbers."""

from collections import Counter

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.axtree.pages import trees

from dynaweb.axtree.linediff import Mark, line_diff, with_context
from dynaweb.axtree.tree import read_tree

OLD = read_tree("RootWebArea 'S'\n\t[1] link 'A'\n\t[2] textbox 'Q'\n\t[3] button 'Go'\n\t[4] link 'Z'")  # fmt: skip


def marks(new: str) -> list[tuple[str, str]]:
    found = line_diff(OLD, read_tree(new))
    return [(line.mark.value, line.text.strip()) for line in found if line.mark is not Mark.KEPT]


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(trees, trees)
def test_both_pages_can_be_read_off_it(old, new):
    lines = line_diff(old, new)
    assert tuple(line.node for line in lines if line.mark is not Mark.GONE) == new
    gone = Counter(line.node for line in lines if line.mark is Mark.GONE)
    kept = Counter(line.node for line in lines if line.mark is Mark.KEPT)
    assert not (gone + kept) - Counter(old)


def test_a_line_that_says_something_else_is_gone_and_new():
    new = "RootWebArea 'S'\n\t[1] link 'A'\n\t[2] textbox 'Q', value='x'\n\t[3] button 'Go'\n\tStaticText 'n'"
    assert marks(new) == [
        ("-", "[2] textbox 'Q'"), ("+", "[2] textbox 'Q', value='x'"), ("-", "[4] link 'Z'"), ("+", "StaticText 'n'"),
    ]  # fmt: skip


def test_moved_and_renumbered_lines_are_neither_gone_nor_new():
    assert marks("RootWebArea 'S'\n\t[4] link 'Z'\n\t[1] link 'A'\n\t[2] textbox 'Q'\n\t[3] button 'Go'") == [(">", "[4] link 'Z'")]  # fmt: skip
    renumbered = (
        "RootWebArea 'S'\n\t[11] link 'A'\n\t[12] textbox 'Q'\n\t[13] button 'Go'\n\t[14] link 'Z'"
    )
    assert {mark for mark, _ in marks(renumbered)} == {"#"}


@given(st.integers(0, 3), st.lists(st.booleans(), max_size=20))
def test_context_leaves_out_and_counts_the_rest(context, changed):
    node = OLD[1]
    lines = [line for is_new in changed for line in line_diff((), (node,)) if is_new] + line_diff(OLD, OLD)  # fmt: skip
    shown = with_context(lines, context)
    assert sum(item if isinstance(item, int) else 1 for item in shown) == len(lines)
    assert [i for i in shown if not isinstance(i, int) and i.mark is Mark.NEW] == [i for i in lines if i.mark is Mark.NEW]  # fmt: skip

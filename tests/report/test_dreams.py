"""Truth, prediction, difference: every line of both pages stands in exactly one row, in order."""

from hypothesis import given
from hypothesis import strategies as st

from dynaweb.report.dreams import compare

LINES = st.lists(
    st.sampled_from(["a", "b", "\t[1] button 'x'", "\t[2] button 'x'", "c"]),
    min_size=1,
    max_size=12,
)


@given(LINES, LINES, LINES)
def test_no_line_is_lost_or_moved(before, truth, prediction):
    rows = compare("\n".join(before), "\n".join(truth), "\n".join(prediction))
    assert [r.truth for r in rows if r.truth is not None] == truth
    assert [r.prediction for r in rows if r.prediction is not None] == prediction
    for r in rows:
        assert (r.kind == "lacking") == (r.prediction is None)
        assert (r.kind == "invented") == (r.truth is None)
        assert r.really_changed == (r.truth is not None and r.truth not in before)


@given(LINES, LINES)
def test_the_same_page_differs_nowhere(before, page):
    text = "\n".join(page)
    assert {r.kind for r in compare("\n".join(before), text, text)} == {"same"}


def test_a_new_elements_number_is_no_difference():
    rows = compare("root", "root\n\t[7] alert 'no'", "root\n\t[9] alert 'no'")
    assert [r.kind for r in rows] == ["same", "same"]
    rows = compare("root", "root\n\t[7] alert 'no'", "root\n\t[7] alert 'yes'")
    assert [r.kind for r in rows] == ["same", "differs"]


def test_changes_are_marked_on_the_side_that_changed():
    [_, row] = compare("root\n\tlink 'a'", "root\n\tlink 'a', expanded", "root\n\tlink 'a'")
    assert (row.really_changed, row.dreamed_changed) == (True, False)

import pytest

from dynaweb.axtree.describe import describe_delta
from dynaweb.axtree.diff import diff
from dynaweb.axtree.measure import delta_costs, delta_f1
from dynaweb.axtree.text import parse_delta
from dynaweb.records.action import Click, Fill
from dynaweb.records.delta import Delta, DeltaKind, Updated
from dynaweb.records.observation import Observation

TREE = "RootWebArea 'T'\n\t[13] checkbox 'One', checked='false'\n\t[14] textbox 'Name'\n\t[15] dialog 'Sure?'\n\t\t[16] button 'Ok'"


@pytest.mark.parametrize(
    ("one", "other", "f1"),
    [
        ("none", "none", 1.0),
        ("none", "-[15]", 0.0),
        ("[13] checked='true'\n-[15]", "[13] checked='true'\n-[15]", 1.0),
        ("[13] checked='true'", "[13] checked='true'\n-[15]", 2 / 3),
        ("[13] checked='false'", "[13] checked='true'", 0.0),
        ("end", "none", 0.0),
    ],
)
def test_f1_counts_single_facts(one, other, f1):
    assert delta_f1(parse_delta(one), parse_delta(other)) == pytest.approx(f1)


def test_cost_is_reported_by_kind():
    costs = delta_costs(
        [
            (Delta(kind=DeltaKind.NONE), TREE),
            (parse_delta("-[15]"), TREE),
            (parse_delta("[13] checked='true'"), TREE),
        ],
        len,
    )
    assert list(costs) == [DeltaKind.NONE, DeltaKind.LOCAL]
    assert costs[DeltaKind.LOCAL].count == 2
    assert costs[DeltaKind.LOCAL].delta_tokens == len("-[15]") + len("[13] checked='true'")
    assert 0 < costs[DeltaKind.LOCAL].median_ratio < 0.2


def test_a_change_reads_as_english():
    before = Observation(url="u", title="T", tree=TREE)
    after = Observation(
        url="u",
        title="T",
        tree=TREE.split("\n\t[15]")[0].replace("'Name'", "'Name', value='bob'")
        + "\n\tStaticText 'Hello bob'",
    )
    told = describe_delta(before, Fill("14", "bob"), diff(before, Fill("14", "bob"), after))
    assert told.split("\n") == [
        "[14] textbox 'Name' has value 'bob'.",
        "[15] dialog 'Sure?' disappeared with everything in it.",
        "New: StaticText 'Hello bob'.",
    ]


def test_nothing_and_the_end_read_as_english():
    before = Observation(url="u", title="T", tree=TREE)
    locked = Delta(kind=DeltaKind.LOCAL, updated=(Updated(ref="14", set=(("disabled", None),)),))
    assert describe_delta(before, Click("13"), locked) == "[14] textbox 'Name' is now disabled."
    assert describe_delta(before, Click("13"), Delta(kind=DeltaKind.NONE)) == "Nothing changed."
    assert (
        describe_delta(before, Click("13"), Delta(kind=DeltaKind.TERMINAL)) == "The episode ended."
    )

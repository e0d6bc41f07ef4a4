from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.axtree.pages import lines
from tests.world.data.made import INBOX, page

from dynaweb.axtree.tree import render_tree
from dynaweb.records.action import Click, Fill
from dynaweb.world.data.keys import (
    Neighbours,
    Sketcher,
    action_key,
    address,
    question_key,
    shingles,
)


def renumbered(tree: str, by: int) -> str:
    out = []
    for line in tree.split("\n"):
        head, found, rest = line.partition("[")
        number, _, tail = rest.partition("]")
        out.append(f"{head}[{int(number) + by}]{tail}" if found else line)
    return "\n".join(out)


def test_a_renumbered_page_is_the_same_question():
    other = renumbered(INBOX, 100)
    assert question_key(page(INBOX), Click("4")) == question_key(page(other), Click("104"))
    assert question_key(page(INBOX), Click("4")) != question_key(page(other), Click("103"))
    assert question_key(page(INBOX), Click("4")) != question_key(page(INBOX), Fill("4", "x"))
    assert question_key(page(INBOX), Click("4")) != question_key(
        page(INBOX, "http://b/"), Click("4")
    )


def test_missing_elements_are_one_question():
    assert question_key(page(INBOX), Click("77")) == question_key(page(INBOX), Click("78"))


def test_action_key_leaves_out_what_was_typed_and_the_number():
    assert action_key(page(INBOX), Click("3")) == "click link 'Mail 1'"
    tree = INBOX + "\n\t[30] textbox 'To'"
    assert action_key(page(tree), Fill("30", "bob")) == "fill textbox 'To'"


def test_address():
    assert address(page(INBOX, "http://a.test/b/c?q=1#f")) == "http://a.test/b/c"
    assert address(page(INBOX, "about:blank")) == "about:blank"


@given(st.lists(lines(), min_size=1, max_size=12))
@settings(max_examples=60, deadline=None)
def test_any_page_has_a_key_and_a_sketch(rows):
    seen = page(render_tree(tuple(rows)))
    assert len(question_key(seen, Click("1"))) == 16
    assert Sketcher().sketch(seen, seen).likeness(Sketcher().sketch(seen, seen)) == 1.0


@pytest.mark.parametrize("share", [0.5, 0.8, 0.9, 0.97])
def test_estimates_are_near_exact_jaccard(share):
    """128 permutations: the standard error of one estimate is at most 0.045; of the mean of 20, 0.01."""
    errors = []
    for seed in range(20):
        rng = Random(seed)
        names = [f"link {rng.random()}" for _ in range(200)]
        changed = [n if rng.random() < share else f"x{n}" for n in names]
        one, other = (
            page("\n".join(f"\t[{i}] link '{n}'" for i, n in enumerate(a)))
            for a in (names, changed)
        )
        a, b = shingles(one), shingles(other)
        exact = len(a & b) / len(a | b)
        sketches = Sketcher(), Sketcher()
        estimate = sketches[0].sketch(one, one).likeness(sketches[1].sketch(other, other))
        assert abs(estimate - exact) < 0.2
        errors.append(estimate - exact)
    assert abs(sum(errors) / len(errors)) < 0.04


def test_neighbours_are_of_the_same_action():
    near, sketcher = Neighbours(), Sketcher()
    sketch = sketcher.sketch(page(INBOX), page(INBOX))
    near.add("click a", sketch, "first")
    assert near.nearest("click a", sketch) == (1.0, "first")
    assert near.nearest("click b", sketch) == (0.0, "")

"""Made-up attempts: the verdict follows from goal, page and actions, by rules written here a second time."""

import re

import pytest
from tests.dataset.test_exercises import WORDS

from dynaweb.axtree.label import label_action
from dynaweb.axtree.tree import Node, read_tree
from dynaweb.dataset.policy import TextExample
from dynaweb.dataset.verdicts import verdict_exercises
from dynaweb.errors import UserError
from dynaweb.prompts.judge import FAILURE, SUCCESS
from dynaweb.records.action import parse_action
from dynaweb.records.observation import Observation

MADE = verdict_exercises(600, WORDS, seed=5)


def goal(e: TextExample) -> str:
    return e.prompt.partition("<goal> ")[2].partition("\n")[0]


def tree(e: TextExample) -> str:
    return e.prompt.partition("<page>\n")[2].partition("\n<did>")[0]


def nodes(e: TextExample) -> list[Node]:
    return list(read_tree(tree(e)))


def done(e: TextExample) -> list[str]:
    return re.findall(r"^<did> (.*)$", e.prompt, re.MULTILINE)


def in_goal(name: str, e: TextExample) -> bool:
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", goal(e)) is not None


def mark(node: Node) -> str | None:
    return next((value for key, value in node.attrs if key in ("checked", "selected")), None)


def test_half_are_successes_of_every_kind_of_page() -> None:
    assert sum(e.completion == SUCCESS for e in MADE) == 300
    assert {e.completion for e in MADE} == {SUCCESS, FAILURE}
    for kind in ("checkbox", "option", "textbox", "row ''", "generic '', clickable"):
        verdicts = [e.completion for e in MADE if kind in e.prompt]
        assert 0.2 < verdicts.count(SUCCESS) / len(verdicts) < 0.8, kind


def test_what_is_ticked_is_what_is_listed() -> None:
    seen = [e for e in MADE if any(mark(n) for n in nodes(e))]
    assert len(seen) > 80
    for e in seen:
        boxes = [n for n in nodes(e) if mark(n)]
        right = all((mark(n) == "true") == in_goal(n.name, e) for n in boxes)
        assert e.completion == (SUCCESS if right else FAILURE)


def _one_choice(page: list[Node], e: TextExample) -> bool:
    """No groups, no fields, no role is asked for: the goal names one element."""
    plain = all(n.role not in ("generic", "textbox") and not in_goal(n.role, e) for n in page)
    return plain and sum(bool(n.bid and n.name) and in_goal(n.name or "", e) for n in page) == 1


def test_one_click_is_right_when_the_goal_names_the_element() -> None:
    seen = [e for e in MADE if len(done(e)) == 1 and _one_choice(nodes(e), e)]
    assert len(seen) > 30
    for e in seen:
        clicked = next(n for n in nodes(e) if n.bid == done(e)[0].split("'")[1])
        assert e.completion == (SUCCESS if in_goal(clicked.name, e) else FAILURE)


def test_what_is_entered_stands_beside_the_label() -> None:
    seen = [e for e in MADE if "row ''" in tree(e)]
    assert len(seen) > 30
    for e in seen:
        cells = [n.name for n in nodes(e) if n.role == "cell"]
        beside = next(b for a, b in zip(cells[::2], cells[1::2], strict=True) if in_goal(a, e))
        entered = done(e)[0].split("'")[3]
        assert e.completion == (SUCCESS if entered == beside else FAILURE)


def test_actions_are_labelled_as_real_ones_are() -> None:
    for e in MADE:
        page = Observation(url="", title="", tree=tree(e))
        for line in done(e):
            call = line[: line.index("')") + 2]
            assert line == label_action(parse_action(call), page)
            assert call.split("'")[1] in {n.bid for n in nodes(e)}


def test_the_same_seed_gives_the_same_attempts_and_the_order_of_words_is_no_matter() -> None:
    assert MADE[:50] == verdict_exercises(50, list(reversed(WORDS)), seed=5)
    assert MADE[:50] != verdict_exercises(50, WORDS, seed=6)


def test_too_few_words_are_refused() -> None:
    with pytest.raises(UserError, match="need 20 words"):
        verdict_exercises(1, WORDS[:3], seed=0)

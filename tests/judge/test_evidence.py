"""What the judge is told of an attempt: what holds in the end, not what was clicked on the way."""

import pytest
from tests.judge.test_judge import evidence

from dynaweb.judge.evidence import judge_prompt
from dynaweb.records.action import Action, Click, Fill, SelectOption
from dynaweb.records.observation import Observation
from dynaweb.records.trajectory import Step

BOXES = """RootWebArea 'x'
\t[1] checkbox 'Ada', checked='{}'
\t[2] checkbox 'Bo', checked='{}'
\t[3] button 'Send'"""


def told(goal: str, pages: list[str], actions: list[Action]) -> tuple[str, str]:
    """Missing and extra words, when each action is done on its page."""
    steps = tuple(
        Step(observation=Observation(url="", title="", tree=page), action=action)
        for page, action in zip(pages, actions, strict=True)
    )
    return evidence(judge_prompt(goal, steps))


@pytest.mark.parametrize(
    ("boxes", "clicks", "missing", "extra"),
    [
        ("true false", "1", "", ""),
        ("false true", "2", "Ada", "Bo"),
        ("true true", "1 2", "", "Bo"),
        ("false false", "1 1", "Ada", ""),  # ticked and unticked again
        ("false false", "", "Ada", ""),
        ("true false", "", "", ""),  # so it was from the beginning
        ("false true", "", "Ada", ""),  # not the agent's doing
    ],
)
def test_boxes_count_as_they_stand(boxes: str, clicks: str, missing: str, extra: str) -> None:
    page = BOXES.format(*boxes.split())
    actions: list[Action] = [*(Click(bid) for bid in clicks.split()), Click("3")]
    assert told("Click Ada, Send button", [page] * len(actions), actions) == (missing, extra)


def test_a_text_that_was_overwritten_does_not_count() -> None:
    page = "RootWebArea 'x'\n\t[1] textbox '', value='Bo'\n\t[2] button 'Send'"
    actions: list[Action] = [Fill("1", "Ada"), Fill("1", "Bo"), Click("2")]
    assert told("Ada, click button Send", [page] * 3, actions) == ("Ada", "Bo")


def test_dots_stand_for_what_was_typed_when_there_are_as_many() -> None:
    page = "RootWebArea 'x'\n\t[1] textbox '', value='•••'\n\t[2] button 'Send'"
    clicked: list[Action] = [Fill("1", "Ada"), Click("2")]
    assert told("Ada, click button Send", [page] * 2, clicked) == ("", "")
    clicked[0] = Fill("1", "Adam")
    assert told("Adam, click button Send", [page] * 2, clicked)[0] == "Adam"


def test_a_number_below_zero_is_another_word() -> None:
    page = "RootWebArea 'x'\n\t[1] spinbutton '', value='{}'\n\t[2] button 'Send'"
    actions: list[Action] = [Fill("1", "9"), Click("2")]
    goal = "button Send -9 click"
    assert told(goal, [page.format("9")] * 2, actions) == ("-9", "9")
    assert told(goal, [page.format("-9")] * 2, actions) == ("", "")


def test_what_is_chosen_in_a_list_counts_as_it_stands() -> None:
    page = """RootWebArea 'x'
\t[1] listbox '', multiselectable
\t\t[2] option 'Ada', selected='true'
\t\t[3] option 'Bo'
\t[4] button 'Send'"""
    actions: list[Action] = [SelectOption("1", ("Bo",)), SelectOption("1", ("Ada",)), Click("4")]
    assert told("Ada click button Send", [page] * 3, actions) == ("", "")


def test_what_was_done_on_a_page_before_counts_as_it_was_done() -> None:
    first = "RootWebArea 'x'\n\t[7] textbox '', value=''\n\t[8] link 'Ada'"
    last = "RootWebArea 'x'\n\t[1] button 'Send'"
    actions: list[Action] = [Fill("7", "Bo"), Click("8"), Click("1")]
    missing, extra = told("Ada and Bo, then Send", [first, first, last], actions)
    assert missing == "and then"
    assert set(extra.split()) == {"fill", "textbox", "click", "link", "button"}

import pytest
from tests.world.data.made import INBOX, LOGIN, WRONG, page

from dynaweb.prompts.annotate import Annotation
from dynaweb.records.action import Click
from dynaweb.records.delta import DeltaKind
from dynaweb.world.data.truth import refuse

TRUE = "New: [9] alert 'Wrong password or name'."


def refused(changes: str, *, reasoning: str = "It sends the form.", kind=DeltaKind.LOCAL, before=LOGIN, after=WRONG) -> str:  # fmt: skip
    told = Annotation(reasoning=reasoning, changes=changes)
    return refuse(told, page(before), Click("5"), page(after), kind)


@pytest.mark.parametrize(
    "changes",
    [
        TRUE,
        "[9] alert appeared below the button.",
        'An alert "Wrong password or name" appeared.',
        "An alert appeared: ‘x’ [9]; the button's label didn't change, it's still [5].",
        "Now it says “wrong  password or name”.",
        "Another alert 'Wrong password…' appeared.",
    ],
)
def test_true(changes):
    assert refused(changes) == ""


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ("[12] dialog opened.", "names_an_element_of_neither_page"),
        ("An alert 'Welcome back' appeared.", "quotes_a_text_of_neither_page"),
        ('The title is now "Inbox".', "quotes_a_text_of_neither_page"),
        ("An error message appeared.", "names_nothing"),
        ("Nothing changed.", "says_nothing_changed"),
        ("No visible changes.", "says_nothing_changed"),
        ("None", "says_nothing_changed"),
        ("The page stays the same.", "says_nothing_changed"),
        ("", "says_nothing_changed"),
        ("As an AI, I cannot see [9].", "speaks_of_itself"),
    ],
)
def test_refused(changes, why):
    assert refused(changes) == why


def test_what_did_not_happen_is_refused_too():
    same = {"kind": DeltaKind.NONE, "after": LOGIN}
    assert refused(TRUE, **same) == "invents_a_change"
    assert refused("Nothing changed.", **same) == ""
    assert refused("", **same) == "invents_a_change"
    assert refused("Nothing changed, but [5] button is focused.", **same) == "invents_a_change"


def test_escapes_and_brackets_of_the_page_may_be_copied():
    after = LOGIN + "\n\t[9] link 'Number\\xa0of [FEATURE] \\ue604 l1\\nl2'"
    for told in ("'Number\\xa0of [FEATURE] \\ue604 l1\\nl2'", "'Number of [FEATURE]'", "'l1 l2'"):
        assert refused(f"New: [9] link {told}.", after=after) == ""


def test_endings():
    assert refused("The episode ended.", kind=DeltaKind.TERMINAL) == ""
    assert refused(TRUE, kind=DeltaKind.TERMINAL) == "does_not_end_the_episode"


@pytest.mark.parametrize(
    "reasoning",
    [
        "The next page shown has an alert.",
        "I was shown the next page, so it fails.",
        "By the ground truth it fails.",
        "As listed in the difference, an alert appears.",
    ],
)
def test_reasoning_that_knows_too_much(reasoning):
    assert refused(TRUE, reasoning=reasoning) == "reasoning_knows_the_next_page"


def test_reasoning_about_a_next_page_is_no_leak():
    assert refused(TRUE, reasoning="A button 'Next page' leads to the following page.") == ""
    assert refused(TRUE, reasoning="") == "no_reasoning"


def test_another_page_is_named_by_what_stands_on_it():
    opened = {"kind": DeltaKind.FULL_PAGE, "after": INBOX}
    assert refused("Another page appeared: 'Inbox', with 'Mail 1'.", **opened) == ""
    assert refused("Another page appeared: 'Outbox'.", **opened) == "quotes_a_text_of_neither_page"

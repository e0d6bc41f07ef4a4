"""One press, or a few: the elements that the goal names."""

import re

from dynaweb.collect.page import Move, Page, StuckError, click

ORDINALS = {"1st": 0, "2nd": 1, "3rd": 2, "4th": 3, "5th": 4}


def only_button(page: Page) -> Move:
    """click-test: there is one button."""
    return click(page.one("button"), "There is one button.")


def named_button(page: Page) -> Move:
    """click-button, unicode-test: the button whose text the goal quotes."""
    return click(page.one("button", name=page.quoted()))


def numbered_button(page: Page) -> Move:
    """click-test-2, click-test-transfer: the button that the goal names in capitals."""
    (name,) = page.match(r"button ([A-Z]+)")
    return click(page.one("button", name=name))


def button_sequence(page: Page) -> Move:
    """click-button-sequence: the buttons in the order of the goal."""
    for name in re.findall(r"button ([A-Z]+)", page.goal):
        if not page.clicks(name):
            return click(page.one("button", name=name), f"Button {name} is next.")
    raise StuckError("every button of the goal was clicked")


def dialog_close(page: Page) -> Move:
    """click-dialog: the x of a dialog is called Close."""
    return click(page.one("button", name="Close"), "The x of the dialog is called Close.")


def dialog_button(page: Page) -> Move:
    """click-dialog-2: a button of the dialog by its label."""
    label = page.quoted()
    return click(page.one("button", name="Close" if label == "x" else label))


def quoted_link(page: Page) -> Move:
    """click-link: a clickable word."""
    word = page.quoted()
    return click(page.says(word), f"The word {word!r} can be clicked.")


def widget(page: Page) -> Move:
    """click-widget: any element of the kind that the goal quotes."""
    kind = page.quoted()
    if kind in ("text", "textarea"):
        found = [n for n in page.every("textbox") if bool(n.attr("multiline")) == (kind != "text")]
    else:
        found = page.every(kind)
    if not found:
        raise StuckError(f"no {kind} on the page")
    return click(found[0], f"This is a {kind}.")


def focus_only(page: Page) -> Move:
    """focus-text: there is one text field."""
    return click(page.one("textbox"), "There is one text field.")


def focus_nth(page: Page) -> Move:
    """focus-text-2: the field by its place."""
    (which,) = page.match(r"the (\w+) input")
    return click(page.one("textbox", nth=ORDINALS[which]), f"The {which} field.")

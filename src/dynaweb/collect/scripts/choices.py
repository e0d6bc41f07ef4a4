"""Ticks, choices and lists: bring the page into the state that the goal names, then submit."""

from collections.abc import Sequence

from dynaweb.axtree.tree import Node
from dynaweb.collect.page import (
    Move,
    Page,
    StuckError,
    bid,
    click,
    fill,
    has,
    inside,
    said,
    submit,
    value_of,
)
from dynaweb.collect.scripts.buttons import ORDINALS
from dynaweb.collect.scripts.words import SYNONYMS
from dynaweb.records.action import SelectOption


def _tick(page: Page, names: set[str]) -> Move:
    boxes = page.every("checkbox")
    for box in boxes:
        if has(box, "checked") != (said(box) in names):
            todo = "must be ticked" if said(box) in names else "must not be ticked"
            return click(box, f"{said(box)!r} {todo}.")
    return submit(page)


def checkboxes(page: Page) -> Move:
    """click-checkboxes, -large, -transfer: exactly the named boxes."""
    (listed,) = page.match(r"^Select (.*) and click Submit")
    return _tick(page, set() if listed == "nothing" else set(listed.split(", ")))


def similar_checkboxes(page: Page) -> Move:
    """click-checkboxes-soft: exactly the boxes that mean the same as a word of the goal."""
    (listed,) = page.match(r"similar to (.*) and click Submit")
    asked = set(listed.split(", "))
    return _tick(page, asked | {w for group in SYNONYMS if asked & set(group) for w in group})


def option(page: Page) -> Move:
    """click-option: one of several, then submit."""
    (name,) = page.match(r"^Select (.*) and click Submit")
    node = page.one("radio", name=name)
    return submit(page) if has(node, "checked") else click(node, f"{name!r} is the one wanted.")


def pick(page: Page) -> Move:
    """choose-list: one entry of a drop-down list."""
    (name,) = page.match(r"^Select (.*) from the list")
    return _choose(page, name) or submit(page)


def dropdown_and_button(page: Page) -> Move:
    """form-sequence-3: an entry of a drawn drop-down list, then a button."""
    entry, button = page.match(r"Choose (.*) from the dropdown, .* labeled \"(\w+)\"")
    shut = page.one("generic")  # the list when folded: what is chosen, and a triangle
    if said(shut).startswith(entry):
        return click(page.one("button", name=button))
    if entries := page.every("listitem", name=entry):
        return click(entries[0], f"{entry!r} is in the list.")
    return click(shut, "The list must unfold.")


def _choose(page: Page, name: str) -> Move | None:
    node = page.one("combobox")
    if value_of(node) == name:
        return None
    return f"The list must say {name!r}.", SelectOption(bid(node), (name,))


def pick_many(page: Page) -> Move:
    """click-scroll-list: the named entries of a list box, no others."""
    (listed,) = page.match(r"^Select (.*) from the scroll list")
    box = page.one("listbox")
    options = [n for n in inside(page.nodes, box) if n.role == "option"]
    names = _listed(listed, options)
    if {said(n) for n in options if has(n, "selected")} == set(names):
        return submit(page)
    return f"Choose {' and '.join(names)}.", SelectOption(bid(box), names)


def _listed(listed: str, options: Sequence[Node]) -> tuple[str, ...]:
    """Names joined by commas, which may hold commas themselves."""
    names: list[str] = []
    while listed:
        head = max((said(n) for n in options if listed.startswith(said(n))), key=len, default="")
        if not head:
            raise StuckError(f"no entry of the list begins {listed!r}")
        names.append(head)
        listed = listed[len(head) :].removeprefix(", ")
    return tuple(names)


def radio_and_number(page: Page) -> Move:
    """form-sequence-2: a radio button and a field, both by place."""
    nth, number, which = page.match(
        r"the (\w+) radio button and enter the number \"(-?\d+)\" into the (\w+)"
    )
    radio = page.one("radio", nth=ORDINALS[nth])
    if not has(radio, "checked"):
        return click(radio, f"The {nth} radio button.")
    target = page.one("textbox", nth=ORDINALS[which])
    for node in page.every("textbox"):
        if node is not target and value_of(node):
            return fill(node, "", "This field must stay empty.")
    return submit(page) if value_of(target) == number else fill(target, number)


def odd_or_even(page: Page) -> Move:
    """odd-or-even: mark each number. Marks do not show, so it goes by what was done."""
    numbers = [int(t) for t in page.texts() if t.lstrip("-").isdigit()]
    for i, number in enumerate(numbers):
        odd, even = (page.one("button", name=name, nth=i) for name in ("Odd", "Even"))
        wanted = odd if number % 2 else even
        marks = [d.action for d in page.done if d.action in (click(odd)[1], click(even)[1])]
        if not marks or marks[-1] != click(wanted)[1]:
            return click(wanted, f"{number} is {said(wanted).lower()}.")
    return submit(page)

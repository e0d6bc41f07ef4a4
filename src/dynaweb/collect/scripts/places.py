"""Pages that hide what is wanted: tabs, sections, menus, folders, result pages, calendars."""

import re

from dynaweb.axtree.tree import Node
from dynaweb.collect.page import (
    Move,
    Page,
    StuckError,
    at,
    bid,
    click,
    fill,
    has,
    place,
    said,
    submit,
    text_of,
    value_of,
)
from dynaweb.records.action import Fill, Hover


def tab(page: Page) -> Move:
    """click-tab: a tab by its number."""
    (name,) = page.match(r"(Tab #\d)")
    return click(page.says(name))


def link_in_tabs(page: Page) -> Move:
    """click-tab-2 and its kin: the link may be in any tab."""
    return _seek(page, page.every("tab"))


def link_in_sections(page: Page) -> Move:
    """click-collapsible-2: the link may be in any section."""
    return _seek(page, page.every("tab"))


def _seek(page: Page, doors: list[Node]) -> Move:
    word = page.quoted()
    found = [n for n in page.every("generic", "link") if said(n) == word and n.attr("clickable")]
    if found:
        return click(found[0], f"{word!r} is here.")
    for door in doors:
        shut = not has(door, "selected") and not has(door, "expanded")
        if shut and not page.clicks(said(door)):
            return click(page.says(said(door)), f"{word!r} is not in sight: look here.")
    raise StuckError(f"{word!r} is nowhere")


def expand(page: Page) -> Move:
    """click-collapsible: open the section, then submit."""
    section = page.one("tab")
    if not has(section, "expanded") and not has(section, "selected"):
        return click(section, "The section is shut.")
    return submit(page)


def menu(page: Page) -> Move:
    """click-menu: unfold the path by hovering (a click would choose), then click its end."""
    (path,) = page.match(r"^Select (.+)$")
    *branches, leaf = path.split(">")
    if found := page.every("menuitem", name=leaf):
        return click(found[-1], f"{leaf!r} is in sight.")
    for name in reversed(branches):
        if found := page.every("menuitem", name=name):
            return f"{name!r} must unfold.", Hover(bid(found[-1]))
    raise StuckError(f"no entry of {path!r} in sight")


def icon_menu(page: Page) -> Move:
    """click-menu-2: open the menu, unfold Playback where needed, take the item by word or icon."""
    asked = page.quoted(1)
    item = _ICONS.get(asked, asked)
    if not page.every("menuitem"):
        return click(page.one("button", name="Menu"), "The menu is shut.")
    if item in _PLAYBACK and not page.every("menuitem", name=item):
        return "Playback must unfold.", Hover(bid(page.one("menuitem", name="Playback")))
    return click(page.one("menuitem", name=item))


_PLAYBACK = {"Prev", "Stop", "Play", "Next"}
_ICONS = {
    "ui-icon-disk": "Save",
    "ui-icon-seek-start": "Prev",
    "ui-icon-stop": "Stop",
    "ui-icon-play": "Play",
    "ui-icon-seek-end": "Next",
    "ui-icon-zoomin": "Zoom In",
    "ui-icon-zoomout": "Zoom Out",
}
"""What the icons of jQuery UI's sprite stand for."""

_PAGER = {"<", ">", "1", "2", "3"}


def search_result(page: Page) -> Move:
    """search-engine: search, turn to the page of the n-th result, click it."""
    name, nth = page.quoted(), int(page.match(r"the (\d+)\w\w search result")[0])
    field = page.one("textbox")
    if value_of(field) != name:
        return fill(field, name)
    since = [d.words for d in page.done]
    filled = max((i for i, d in enumerate(page.done) if isinstance(d.action, Fill)), default=-1)
    searched = max((i for i, w in enumerate(since) if w == "Search"), default=-1)
    if searched < filled or searched < 0:
        return click(page.one("button", name="Search"), "Now search.")
    turned = [w for w in since[searched:] if w in _PAGER]
    leaf = str((nth - 1) // 3 + 1)
    if (turned[-1] if turned else "1") != leaf:
        return click(page.one("link", name=leaf), f"Result {nth} is on page {leaf}.")
    results = [n for n in page.every("link") if said(n) not in _PAGER]
    return click(at(results, (nth - 1) % 3, "result"), f"This is result {nth}.")


def contact(page: Page) -> Move:
    """phone-book: leaf through the people, then click the detail."""
    name, what = page.match(r"Find (.+) in the contact book and click on their (\w+)")
    if page.every("heading", name=name):
        captions = [n for n in page.nodes if said(n).lower().startswith(f"{what}:")]
        rest = page.nodes[place(page.nodes, at(captions, 0, what)) + 1 :]
        return click(at([n for n in rest if n.bid], 0, "detail"), f"The {what}.")
    return click(page.one("link", name=">"), f"This is not {name}.")


_MONTHS = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]


def calendar(page: Page) -> Move:
    """choose-date-easy, choose-date-medium: open the calendar, go to the month, take the day."""
    month, day, year = page.match(r"(\d+)/(\d+)/(\d+)")
    field = page.one("textbox")
    if value_of(field) == f"{month}/{day}/{year}":
        return submit(page)
    shown = [said(n) for n in page.nodes if said(n).split(" ")[0] in _MONTHS]
    if not shown:
        return click(field, "Open the calendar.")
    text = " ".join(said(n) for n in page.nodes)
    found = re.search(rf"({'|'.join(_MONTHS)})\s+(\d{{4}})", text)
    if found is None:
        raise StuckError("the calendar names no month")
    ahead = (int(year) - int(found[2])) * 12 + int(month) - 1 - _MONTHS.index(found[1])
    if ahead:
        turn = "Next" if ahead > 0 else "Prev"
        return click(page.says(turn), f"It shows {found[1]}.")
    return click(page.one("link", name=str(int(day))), f"Day {int(day)}.")


def tree_entry(page: Page) -> Move:
    """navigate-tree: the entry if it is in sight, else open the next folder."""
    name = page.quoted()
    if found := [n for n in page.every() if text_of(page.nodes, n) == name]:
        return click(found[-1], f"{name!r} is here.")
    for mark in page.every("generic"):  # a folder has a mark to unfold it; a file has none
        if "hitarea" in said(mark) and not page.touched(mark):
            return click(mark, f"{name!r} is not in sight: open a folder.")
    raise StuckError(f"{name!r} is nowhere")

"""Forms: every field gets its text, then submit."""

from dynaweb.axtree.tree import Node
from dynaweb.collect.page import (
    Move,
    Page,
    StuckError,
    at,
    click,
    fill,
    place,
    said,
    submit,
    text_of,
    value_of,
)


def enter_text(page: Page) -> Move:
    """enter-text, enter-text-dynamic: the quoted text, then submit."""
    return _enter(page, page.one("textbox"), page.quoted())


def enter_cased(page: Page) -> Move:
    """enter-text-2: the quoted text in the case that the goal asks for."""
    text = page.quoted().upper() if "upper case" in page.goal else page.quoted().lower()
    return _enter(page, page.one("textbox"), text)


def _enter(page: Page, field: Node, text: str, why: str = "") -> Move:
    return submit(page) if value_of(field) == text else fill(field, text, why)


def _is_hidden_done(page: Page, node: Node, text: str) -> bool:
    """A password field shows dots: as many as were typed, and typed by us."""
    return len(value_of(node)) == len(text) and page.typed(node) == text


def enter_password(page: Page) -> Move:
    """enter-password: the same password twice."""
    for field in page.every("textbox"):
        if not _is_hidden_done(page, field, page.quoted()):
            return fill(field, page.quoted(), "Both fields must hold the password.")
    return submit(page)


def login(page: Page) -> Move:
    """login-user and login-user-popup: name and password; a popup in the way is cancelled."""
    if cancel := page.every("button", name="Cancel"):
        return click(cancel[0], "A popup is in the way; OK would leave the page.")
    name, password = page.quoted(0), page.quoted(1)
    user, secret = page.one("textbox"), page.one("textbox", nth=1)
    if value_of(user) != name:
        return fill(user, name, f"The user name is {name!r}.")
    if not _is_hidden_done(page, secret, password):
        return fill(secret, password, f"The password is {password!r}.")
    return click(page.one("button"), "Name and password stand there: log in.")


def enter_date(page: Page) -> Move:
    """enter-date: the goal writes month/day/year, the field takes year-month-day."""
    month, day, year = page.match(r"(\d\d)/(\d\d)/(\d{4})")
    return _enter(page, page.one("Date"), f"{year}-{month}-{day}", "It takes year, month, day.")


def enter_time(page: Page) -> Move:
    """enter-time: the goal has am and pm, the field 24 hours."""
    hour, minute, half = page.match(r"(\d+):(\d\d)\s*([AP]M)")
    if not (1 <= int(hour) <= 12 and int(minute) < 60):  # a goal that an erring expert misread
        raise StuckError(f"{hour}:{minute} {half} is no time of day")
    time = f"{int(hour) % 12 + 12 * (half == 'PM'):02}:{minute}"
    return _enter(page, page.one("InputTime"), time, "It counts 24 hours.")


def spinner(page: Page) -> Move:
    """use-spinner: the number goes straight into its field."""
    (number,) = page.match(r"Select (-?\d+) with")
    return _enter(page, page.one("spinbutton"), number, f"The spinner must say {number}.")


def copy_text(page: Page) -> Move:
    """copy-paste, copy-paste-2: the text of a text area into the one-line field."""
    areas = [n for n in page.every("textbox") if n.attr("multiline")]
    answers = [n for n in page.every("textbox") if not n.attr("multiline")]
    which = {"1st": 0, "2nd": 1, "3rd": 2}.get(page.goal.partition("from the ")[2][:3], 0)
    return _enter(page, at(answers, 0, "field"), value_of(at(areas, which, "text area")))


def spell(page: Page) -> Move:
    """text-transform: the letters stand one by one before the field."""
    field = page.one("textbox")
    letters = [said(n) for n in page.nodes[: place(page.nodes, field)] if n.role == "StaticText"]
    return _enter(page, field, "".join(c for c in letters if len(c) == 1))


_ASKED = {"genre": 0, "director": 1, "year": 2, "date": 2}


def movie_search(page: Page) -> Move:
    """multi-layouts, multi-orderings: the same three fields, labelled and ordered anyhow."""
    wanted = page.match(r"Search for (.+?) movies directed by (.+?) from year (\d+)")
    fields = page.every("textbox")
    follow = not _asks(page.label(at(fields, 0, "field")))
    for field in fields:
        label = _text_after(page, field) if follow else page.label(field)
        key = _asks(label)
        if key is None:
            raise StuckError(f"unknown label {label!r}")
        if value_of(field) != wanted[_ASKED[key]]:
            return fill(field, wanted[_ASKED[key]], f"{label}: {wanted[_ASKED[key]]}.")
    names = [said(n) for n in page.every() if said(n) in ("Submit", "Search", "Go!")]
    return submit(page, at(names, -1, "button to search with"))


def _asks(label: str) -> str | None:
    """Which of the three a label means."""
    words = label.lower().rstrip(":").split()
    return next((k for k in _ASKED if len(words) <= 2 and k in words), None)


def _text_after(page: Page, node: Node) -> str:
    rest = page.nodes[place(page.nodes, node) + 1 :]
    return next((said(n) for n in rest if n.role == "StaticText"), "")


def autocomplete(page: Page) -> Move:
    """use-autocomplete: type the beginning, take an offered item with the right end, submit."""
    start = page.quoted(0)
    end = page.quoted(1) if page.goal.count('"') > 2 else ""
    field = page.one("textbox", "combobox", "searchbox")
    value = value_of(field)
    items = page.every("listitem", "option", "menuitem")
    offered = [n for n in items if _fits(text_of(page.nodes, n), start, end)]
    if _fits(value, start, end) and not (value == start and offered):
        return submit(page)
    if offered:
        return click(offered[0], f"{text_of(page.nodes, offered[0])!r} is offered.")
    if value == start:
        raise StuckError("nothing fitting is offered")
    return fill(field, start, f"Type {start!r} and see what is offered.")


def _fits(text: str, start: str, end: str) -> bool:
    return text.startswith(start) and text.endswith(end)

"""Pages that must be read, or reckoned with, before they can be answered."""

import re

from dynaweb.axtree.tree import Node, Tree
from dynaweb.collect.page import (
    Move,
    Page,
    StuckError,
    at,
    click,
    fill,
    said,
    submit,
    text_of,
    value_of,
)


def _answer(page: Page, text: str, why: str) -> Move:
    field = page.one("textbox")
    return submit(page) if value_of(field) == text else fill(field, text, why)


def nth_word(page: Page) -> Move:
    """find-word: the n-th word of the paragraph, without punctuation."""
    (place,) = page.match(r"the (\d+)\w\w word")
    words = " ".join(page.texts()).split()
    word = re.sub(r"[^a-zA-Z]", "", at(words, int(place) - 1, "word"))
    return _answer(page, word, f"Word {place} is {word!r}.")


def last_word(page: Page) -> Move:
    """scroll-text: the last word of the text area."""
    area, field = page.one("textbox"), page.one("textbox", nth=1)
    word = re.sub(r"[^a-zA-Z]", "", at(value_of(area).split(), -1, "word"))
    return submit(page) if value_of(field) == word else fill(field, word, f"It ends with {word!r}.")


def arithmetic(page: Page) -> Move:
    """simple-arithmetic: one operation on two digits."""
    for text in page.texts():
        if found := re.match(r"(\d) ([-+x]) (\d) =", text):
            a, b = int(found[1]), int(found[3])
            value = {"+": a + b, "-": a - b, "x": a * b}[found[2]]
            return _answer(page, str(value), f"{text} {value}.")
    raise StuckError("no problem on the page")


def algebra(page: Page) -> Move:
    """simple-algebra: solve for x."""
    for text in page.texts():
        if found := re.match(r"x ([-+]) (\d+) = (\d+)$", text):
            a, b = int(found[2]), int(found[3])
            x = b - a if found[1] == "+" else b + a
        elif found := re.match(r"(\d+) ([-+]) x = (\d+)$", text):
            a, b = int(found[1]), int(found[3])
            x = b - a if found[2] == "+" else a - b
        else:
            continue
        return _answer(page, str(x), f"{text}, so x = {x}.")
    raise StuckError("no equation on the page")


def _table(page: Page) -> dict[str, str]:
    cells = [text_of(page.nodes, n) for n in page.nodes if n.role in ("cell", "gridcell")]
    return dict(zip(cells[::2], cells[1::2], strict=False))


def read_table(page: Page) -> Move:
    """read-table: the value beside a key."""
    (key,) = page.match(r"the value of (.+?) into")
    value = _table(page).get(key)
    if value is None:
        raise StuckError(f"no row {key!r} in the table")
    return _answer(page, value, f"{key} is {value!r}.")


def read_table_twice(page: Page) -> Move:
    """read-table-2: the fields' labels are the keys."""
    table = _table(page)
    for field in page.every("textbox"):
        key = page.label(field).rstrip(":")
        if key not in table:
            raise StuckError(f"no row {key!r} in the table")
        if value_of(field) != table[key]:
            return fill(field, table[key], f"{key} is {table[key]!r}.")
    return submit(page)


def ticket(page: Page) -> Move:
    """buy-ticket: the cheapest, dearest, shortest or longest."""
    offers = [n for n in page.every("button") if "$" in said(n)]
    worth = [int(said(n).split("$")[1]) for n in offers]
    if "duration" in page.goal:
        spans = [re.match(r"(\d+)h (\d+)m", said(n)) for n in page.nodes]
        worth = [int(s[1]) * 60 + int(s[2]) for s in spans if s]
    if not offers or len(worth) != len(offers):
        raise StuckError("offers and their values do not pair up")
    best = max if re.search("most|longest", page.goal) else min
    (what,) = page.match(r"with the (.+?)\.")
    return click(offers[worth.index(best(worth))], f"This one has the {what}.")


def guess(page: Page) -> Move:
    """guess-number: halve what is left; every page says higher or lower."""
    low, high = 0, 9
    for tree in (*(d.tree for d in page.done), page.nodes):
        if found := re.search(r"is (lower|higher) than (\d+)", _words(tree)):
            n = int(found[2])
            low, high = (low, min(high, n - 1)) if found[1] == "lower" else (max(low, n + 1), high)
    field, number = page.one("spinbutton", "textbox"), str((low + high) // 2)
    if value_of(field) == number:
        return submit(page)
    return fill(field, number, f"It lies between {low} and {high}.")


def _words(tree: Tree) -> str:
    return " ".join(said(n) for n in tree if n.role == "StaticText")


def generate(page: Page) -> Move:
    """generate-number: press until the number fits."""
    shown = [said(n) for n in page.nodes if n.role == "StaticText" and said(n).isdigit()]
    if shown and _suits(page.goal, int(shown[-1])):
        return submit(page)
    return click(page.one("button", name="Generate"), "Another number is needed.")


def _suits(goal: str, number: int) -> bool:
    if found := re.search(r"(less|greater) than (\d+)", goal):
        return number < int(found[2]) if found[1] == "less" else number > int(found[2])
    return number % 2 == (1 if "odd" in goal else 0)


def greatest(page: Page) -> Move:
    """find-greatest: turn the card with the greatest number, then submit."""
    cards: list[Node] = [n for n in page.every() if text_of(page.nodes, n).isdigit()]
    if not cards:
        raise StuckError("no card shows a number")
    best = max(cards, key=lambda n: int(text_of(page.nodes, n)))
    if not page.touched(best):
        return click(best, f"{text_of(page.nodes, best)} is the greatest.")
    return submit(page)

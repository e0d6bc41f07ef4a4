"""The inbox: find a message, then star, delete, answer or forward it."""

import re

from dynaweb.axtree.tree import Node
from dynaweb.collect.page import Move, Page, StuckError, click, fill, inside, place, said, value_of


def inbox(page: Page) -> Move:
    """email-inbox and its kin, with the goals as the page words them."""
    (sender,) = page.match(r"by (.+?)(?: and |, |\.)")
    if "star icon" in page.goal:
        return _icon(page, sender, 1, "the star")
    if "trash icon" in page.goal:
        return _icon(page, sender, 0, "the bin")
    if "reply" in page.goal:
        return _send(page, sender, "Reply", page.quoted())
    return _send(page, sender, "Forward", page.match(r"to (\w+)\.?$")[0])


def forward_in_words(page: Page) -> Move:
    """email-inbox-forward-nl: the same wish in thirty wordings; one of the two names is in the inbox."""
    sender, to = _names(page.goal)
    return _send(page, sender, "Forward", to)


_WISHES = (
    r"(?:by|from) (?P<sender>\w+)[.,]? .*?\bto (?P<to>\w+)",
    r"to (?P<to>\w+) .*?(?:by|from) (?P<sender>\w+)",
    r"(?:Send|Give|Forward) (?P<to>\w+) the \w+ (?:you got from|you received from|from) (?P<sender>\w+)",
    r"(?:Send|Forward) (?P<to>\w+) the \w+ (?P<sender>\w+) sent",
    r"^(?P<to>\w+) wants the email (?:you got from )?(?P<sender>\w+)",
    r"^(?P<to>\w+) is waiting .* by (?P<sender>\w+)",
    r"^(?P<sender>\w+) wants .* sent to (?P<to>\w+)",
    r"the mail (?P<sender>\w+) sent you .* to (?P<to>\w+)",
)


def _names(goal: str) -> tuple[str, str]:
    for wish in _WISHES:
        if found := re.search(wish, goal):
            return found["sender"], found["to"]
    raise StuckError(f"cannot tell sender and receiver in {goal!r}")


def _thread(page: Page, sender: str) -> Node:
    """The row of a message in the list."""
    at = next((n for n in page.nodes if said(n) == sender), None)
    if at is None:
        raise StuckError(f"no message by {sender!r} in sight")
    above = [n for n in page.nodes[: place(page.nodes, at)] if n.depth < at.depth and n.bid]
    row = next((n for n in reversed(above) if at in inside(page.nodes, n)), None)
    if at.bid is not None:
        row = at if row is None else row
    if row is None:
        raise StuckError(f"the message by {sender!r} cannot be clicked")
    return row


def _icon(page: Page, sender: str, nth: int, what: str) -> Move:
    row = _thread(page, sender)
    icons = [
        n for n in inside(page.nodes, row) if n.role in ("image", "img", "generic") and not said(n)
    ]
    if len(icons) < 2:
        raise StuckError(f"the message by {sender!r} has no icons")
    return click(icons[nth], f"{sender}'s message: {what}.")


def _send(page: Page, sender: str, button: str, text: str) -> Move:
    fields = page.every("textbox")
    if fields:
        if value_of(fields[0]) != text:
            return fill(fields[0], text)
        return click(_senders(page)[-1], "Send it.")
    found = [n for n in page.every() if said(n) == button]
    if found:
        return click(found[-1], f"{button} to {sender}.")
    return click(_thread(page, sender), f"Open the message by {sender}.")


def _senders(page: Page) -> list[Node]:
    """The icons above the form: close first, send second."""
    found = [n for n in page.every("image", "img", "generic") if not said(n)]
    if not found:
        raise StuckError("no icon to send with")
    return found

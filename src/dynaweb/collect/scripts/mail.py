"""The inbox: find a message, then star, delete, answer or forward it."""

import re

from dynaweb.axtree.tree import Node
from dynaweb.collect.page import Move, Page, StuckError, click, fill, inside, said, value_of


def inbox(page: Page) -> Move:
    """email-inbox and its kin, with the goals as the page words them."""
    (sender,) = page.match(r"by (.+?)(?: and |, |\.)")
    if "star icon" in page.goal:
        return _icon(page, sender, "star")
    if "trash icon" in page.goal:
        return _icon(page, sender, "trash")
    if "reply" in page.goal:
        return _send(page, sender, "Reply", page.quoted())
    return _send(page, sender, "Forward", page.match(r"to (\w+)\.?$")[0])


def forward_in_words(page: Page) -> Move:
    """email-inbox-forward-nl: the same wish in thirty wordings; one of the two names is in the inbox."""
    sender, to = _names(page.goal)
    return _send(page, sender, "Forward", to)


_WISHES = (
    r"(?:by|from) (?P<sender>\w+)[.,]? .*?\bto (?!be\b)(?P<to>\w+)",
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
    for row in page.every("generic"):
        if any(said(n) == sender for n in inside(page.nodes, row)):
            return row
    raise StuckError(f"no message by {sender!r} in sight")


def _icon(page: Page, sender: str, name: str) -> Move:
    row = _thread(page, sender)
    found = [n for n in inside(page.nodes, row) if said(n).startswith(name)]
    if not found:
        raise StuckError(f"the message by {sender!r} has no {name!r}")
    return click(found[0], f"The {name} of {sender}'s message.")


def _send(page: Page, sender: str, button: str, text: str) -> Move:
    if fields := page.every("textbox"):
        # the form to forward has the receiver first, the form to answer only the text
        if value_of(fields[0]) != text:
            return fill(fields[0], text)
        return click(page.every("image", "generic")[-1], "The last sign above the form sends.")
    if found := page.every("generic", name=button):
        return click(found[-1], f"{button} to {sender}.")
    return click(_thread(page, sender), f"Open the message by {sender}.")

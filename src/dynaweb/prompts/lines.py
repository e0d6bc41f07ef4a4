"""What every prompt here has in common: sections begin a line, and nothing from outside can.

Page text comes as a tree whose lines begin with a bid or a role, never with `<`; goals and errors
are folded into one line. So a page that writes `<act>` into a heading stays data (ours; issue of
prompt injection: knowledge of where a section starts is position, not content).
"""

MAX_DONE = 8
"""At most so many past actions are shown, the latest ones."""


def one_line(text: str) -> str:
    """Fold all white space, so that the text cannot begin a line of the prompt."""
    return " ".join(text.split())


def section(name: str, body: str) -> str:
    """`<name> body` on a line of its own."""
    return f"<{name}> {one_line(body)}\n"


def done_lines(done: list[str]) -> str:
    """One section a past action, the latest `MAX_DONE`."""
    return "".join(section("did", action) for action in done[-MAX_DONE:])

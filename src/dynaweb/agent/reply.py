"""The lenient front before the strict action grammar: what a model wrote, read as one action.

Takes the last fenced block if there is one, then the last line that reads as a call; repairs a bare
integer bid. It never guesses an action out of prose: a reply without one is a refusal with a reason
that the agent is shown.
"""

import re
from dataclasses import dataclass

from dynaweb.errors import ActionError
from dynaweb.records.action import BY_NAME, Action, parse_action
from dynaweb.records.trajectory import Fault

MAX_REPLY_CHARS = 100_000

_FENCE = re.compile(r"`{1,4}(?:[a-z]+\n)?([^`]+)`{1,4}")
_TAGGED = re.compile(r"<action>(.*?)(?:</action>|$)", re.DOTALL)
_CALL_START = re.compile(r"^\s*(" + "|".join(sorted(BY_NAME, key=len, reverse=True)) + r")\s*\(")
_BARE_BID = re.compile(r"\(\s*(\d+)\s*(?=[,)])")


@dataclass(frozen=True, slots=True)
class Reply:
    """A model's words, read."""

    thought: str
    action: Action | None
    fault: Fault | None
    problem: str
    """Shown to the agent when there is no action; empty otherwise."""


def read_reply(text: str) -> Reply:
    """Read a reply; total: any text gives a Reply."""
    if len(text) > MAX_REPLY_CHARS:
        return Reply(
            "", None, Fault.NO_ACTION, f"the reply has {len(text)} characters; write one action"
        )
    whole = text.strip()
    candidate: str | None
    if _CALL_START.match(whole) and "\n" not in whole:
        candidate, thought = whole, ""  # a bare call: quotes inside it are its own
    else:
        candidate, thought = _candidate(text)
    if candidate is None:
        return Reply(
            text.strip(),
            None,
            Fault.NO_ACTION,
            "no action in the reply; write one call such as click('12')",
        )
    problem = ""
    for words in (candidate, _BARE_BID.sub(r"('\1'", candidate, count=1)):
        try:
            return Reply(thought, parse_action(words), None, "")
        except ActionError as error:
            problem = str(error)
    return Reply(thought, None, Fault.MALFORMED, problem)


def _candidate(text: str) -> tuple[str | None, str]:
    """The piece of text that claims to be an action, and the thought before it."""
    for pattern in (_TAGGED, _FENCE):
        blocks = [m for m in pattern.finditer(text) if _call_line(m.group(1)) is not None]
        if blocks:
            last = blocks[-1]
            return _call_line(last.group(1)), text[: last.start()].strip()
    line = _call_line(text)
    if line is None:
        return None, ""
    return line, text[: text.rfind(line)].strip()


def _call_line(block: str) -> str | None:
    inside = block.strip().strip("`").strip()
    if _CALL_START.match(inside) and inside.count("\n") == 0:
        return inside
    calls = [line.strip() for line in inside.splitlines() if _CALL_START.match(line)]
    return calls[-1] if calls else None

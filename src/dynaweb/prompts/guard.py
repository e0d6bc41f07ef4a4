"""Text from the web inside a prompt, so that it can neither end its section nor begin a turn.

Two dangers: the tokens that a chat template reads as the border of a turn, wherever they stand (`<|im_end|>`,
`</s>`, `[INST]`), and lines that a layout reads as the head of a section (`Next Page State:`). Both are broken
by an invisible word joiner, which `unguard` takes out again: `unguard(guard(t)) == t` for every text, and
`guard(t)` holds neither. A fence (`fence`) does the same for our own prompts by a key that the text lacks.
"""

import hashlib
import re
from collections.abc import Sequence
from functools import lru_cache

JOINER = "\u2060"
"""Shows nothing; U+2060 WORD JOINER."""

_WORDS = (
    r"s|bos|eos|pad|unk|mask|start_of_turn|end_of_turn|start_of_image|think|thinking|tool_call|tool_response|"
    r"tool_result|function_calls|im_start|im_end|sop|eop|\[CLS\]"
)
_INSIDE = rf"(?:[|｜]|/?(?:{_WORDS})>|</?SYS>>)"
_BRACKETS = r"/?(?:INST|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|SYSTEM_PROMPT|IMG)\]"
_FORBIDDEN = rf"(?:(?<=<){JOINER}*(?={_INSIDE})|(?<=\[){JOINER}*(?={_BRACKETS}))"
_CONTROL = re.compile(_FORBIDDEN, re.IGNORECASE)
_BROKEN = re.compile(_FORBIDDEN.replace(f"{JOINER}*", f"{JOINER}+"), re.IGNORECASE)
_TURN = re.compile(rf"<{_INSIDE}|\[{_BRACKETS}", re.IGNORECASE)
_LINE = r"(?:(?<![^\n\r\v\f\x1c-\x1e\x85\u2028\u2029])[ \t]*)"


def holds_control(text: str) -> str:
    """The first border of a turn in a text; empty when there is none."""
    found = _TURN.search(text)
    return found.group() if found is not None else ""


def guard(text: str, markers: Sequence[str] = ()) -> str:
    """The text with borders of turns broken, and lines that begin like one of `markers`."""
    text = _CONTROL.sub(lambda m: m.group() + JOINER, text)
    return _heads(tuple(markers), "*").sub(lambda m: m.group() + JOINER, text) if markers else text


def unguard(text: str, markers: Sequence[str] = ()) -> str:
    """What `guard` was given with the same markers."""
    text = _heads(tuple(markers), "+").sub(lambda m: m.group()[:-1], text) if markers else text
    return _BROKEN.sub(lambda m: m.group()[:-1], text)


@lru_cache(maxsize=16)
def _heads(markers: tuple[str, ...], joiners: str) -> re.Pattern[str]:
    known = "|".join(re.escape(m) for m in markers)
    return re.compile(rf"{_LINE}{JOINER}{joiners}(?={known})", re.IGNORECASE)


def fence_key(*texts: str) -> str:
    """Six hex digits that stand in none of the texts; the same texts give the same key."""
    number = 0
    while True:
        told = "\x1f".join((str(number), *texts)).encode("utf-8", "surrogatepass")
        key = hashlib.blake2b(told, digest_size=3).hexdigest()
        if not any(key in text for text in texts):
            return key
        number += 1


def fence(name: str, body: str, key: str) -> str:
    """`body` between tags that it cannot write itself."""
    return f"<{name} {key}>\n{guard(body)}\n</{name} {key}>\n"

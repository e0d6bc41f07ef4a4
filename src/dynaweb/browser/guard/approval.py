"""What an action would change, in words for a person and as a value that can be compared. No browser here."""

import hashlib
import json
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from email import message_from_bytes
from email.policy import HTTP
from enum import StrEnum
from typing import TypeAlias
from urllib.parse import parse_qsl, urlsplit

from dynaweb.browser.egress.inside.decide import SAFE_METHODS

Fields: TypeAlias = tuple[tuple[str, str], ...]
Ask: TypeAlias = Callable[[str], Awaitable[bool]]
"""Shows a person some lines and says whether they agree."""

MOST_SHOWN = 200


class Writes(StrEnum):
    """Whether an agent may change things on a site."""

    NEVER = "never"
    ASK = "ask"
    ALLOW = "allow"


class Kind(StrEnum):
    """What an action would do."""

    SUBMIT = "submit a form"
    BUY = "buy or pay"
    DELETE = "delete or cancel"
    SEND = "send or publish"
    UPLOAD = "upload a file"
    LOG_OUT = "log out"
    OPEN = "open a program of this machine"


WORDS: dict[Kind, re.Pattern[str]] = {
    Kind.LOG_OUT: re.compile(r"\b(log|sign)[ -]?(out|off)\b", re.IGNORECASE),
    Kind.DELETE: re.compile(r"\b(delete|remove|erase|destroy|deactivate|cancel|revoke|close account)\b", re.IGNORECASE),
    Kind.BUY: re.compile(r"\b(buy|purchase|pay|place (the |your |my )?order|order now|donate|bid|book now)\b", re.IGNORECASE),
    Kind.SEND: re.compile(
        r"\b(send|post|publish|submit|reply|transfer|invite|(un)?subscribe|sign[ -]?up|register|apply|vote|confirm|approve|save)\b", re.IGNORECASE
    ),
}  # fmt: skip
"""Words on a button or link; the first kind that fits."""

PATH_WORDS: dict[str, Kind] = {
    **dict.fromkeys(("logout", "log-out", "log_out", "signout", "sign-out", "sign_out", "logoff"), Kind.LOG_OUT),
    **dict.fromkeys(("delete", "remove", "destroy", "erase", "cancel", "revoke", "deactivate"), Kind.DELETE),
    **dict.fromkeys(("buy", "purchase", "pay", "donate"), Kind.BUY),
    **dict.fromkeys(("send", "transfer", "publish", "subscribe", "unsubscribe", "confirm", "approve", "vote", "upvote"), Kind.SEND),
}  # fmt: skip
"""Whole segments of a path, or values of the parameters in `ACTION_KEYS`, that say that a GET changes something."""
ACTION_KEYS = frozenset({"action", "act", "do", "op", "cmd", "command", "task"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Intent:
    """One thing that an action would change: what is approved, and compared before it is done."""

    kind: Kind
    action: str
    """The action as text; secrets are names in it."""
    element: str
    """Tag and type of the element."""
    text: str
    """What is written on it."""
    origin: str
    """Of the page."""
    method: str = ""
    """Of the request; empty when a script would send it."""
    target: str = ""
    """Its address without fields and fragment; empty likewise."""
    fields: Fields = ()
    """What a form sends, in order."""
    hidden: frozenset[str] = frozenset()
    """Names of fields whose values are not shown."""

    @property
    def digest(self) -> str:
        """Equal for the same thing only."""
        told = [
            self.kind,
            self.action,
            self.element,
            self.text,
            self.origin,
            self.method,
            self.target,
            self.fields,
        ]
        return hashlib.sha256(json.dumps(told).encode()).hexdigest()  # fmt: skip


def plain(text: str, most: int = MOST_SHOWN) -> str:
    """Text from a page on one line: no control, no invisible and no bidirectional characters, and cut visibly."""
    line = "".join(c for c in " ".join(text.split()) if c.isprintable())
    return line if len(line) <= most else f"{line[:most]} [... {len(line) - most} more]"


def told(intent: Intent) -> str:
    """The intent for a person, one fact a line."""
    lines = [f"{intent.kind} at {plain(intent.origin)}"]
    lines.append(f"  action:  {plain(intent.action)}")
    lines.append(f"  element: {plain(intent.element)} {plain(intent.text)!r}")
    if intent.target:
        lines.append(f"  request: {plain(intent.method)} {plain(intent.target)}")
        away = urlsplit(intent.target)
        if f"{away.scheme}://{away.netloc}" != intent.origin:
            lines.append("  which is ANOTHER SITE than the page's")
    else:
        lines.append("  request: a script decides; what it sends will be asked for by itself")
    for name, value in intent.fields:
        shown = "(hidden)" if name in intent.hidden else repr(plain(value))
        lines.append(f"  field:   {plain(name)} = {shown}")
    return "\n".join(lines)


def kind_of_words(text: str, *, link: bool) -> Kind | None:
    """What a button or link says that it does; a link only where it begins with it, since headlines say anything."""
    words = text.split()
    if not words or len(words) > (4 if link else 8):
        return None
    for kind, pattern in WORDS.items():
        if pattern.match(text.strip()) if link else pattern.search(text):
            return kind
    return None


def kind_of_url(url: str) -> Kind | None:
    """What an address says that opening it does; None for nearly all. A guess: only the site knows."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https", "ws", "wss"):
        return None
    for segment in parts.path.lower().split("/"):
        if found := PATH_WORDS.get(segment.partition(".")[0]):
            return found
    for key, value in parse_qsl(parts.query):
        if key.lower() in ACTION_KEYS and (found := PATH_WORDS.get(value.lower())):
            return found
    return None


def body_fields(content_type: str, body: bytes) -> Fields | None:
    """Names and values that a form's request carries; None when it is no form's. A file is its name."""
    kind = content_type.partition(";")[0].strip().lower()
    if kind == "application/x-www-form-urlencoded":
        return tuple(parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True))
    if kind != "multipart/form-data":
        return None
    whole = message_from_bytes(f"Content-Type: {content_type}\r\n\r\n".encode() + body, policy=HTTP)
    found: list[tuple[str, str]] = []
    for part in whole.iter_parts():
        name = part.get_param("name", header="content-disposition")
        payload = part.get_payload(decode=True)
        if not isinstance(name, str) or not isinstance(payload, bytes):
            return None
        found.append((name, part.get_filename() or payload.decode("utf-8", "replace")))
    return tuple(found)


def covers(intent: Intent, method: str, url: str, content_type: str, body: bytes) -> bool:
    """Whether a request is what was approved: method, address and every field."""
    address, _, query = url.partition("#")[0].partition("?")
    if not intent.target or method != intent.method:
        return False
    if method in SAFE_METHODS:
        if not intent.fields:
            return url.partition("#")[0] == intent.target
        return address == intent.target and same_fields(intent.fields, tuple(parse_qsl(query, keep_blank_values=True)))  # fmt: skip
    sent = body_fields(content_type, body) if body or intent.fields else ()
    return url.partition("#")[0] == intent.target and sent is not None and same_fields(intent.fields, sent)  # fmt: skip


def same_fields(approved: Fields, sent: Fields) -> bool:
    """Equal but for how lines end: forms send CR LF."""
    return [(n, _lines(v)) for n, v in approved] == [(n, _lines(v)) for n, v in sent]


def _lines(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")

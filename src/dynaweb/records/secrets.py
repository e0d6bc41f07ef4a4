"""Secrets that an agent may use without knowing them: named in actions, put in at the keyboard, taken out of what is read.

An action holds `<secret>shop.password</secret>`. The browser types the value where the page's origin may
have it; everything that comes back is scrubbed. The values are in no record, and no `repr` shows them.
"""

import base64
import html
import json
import logging
import re
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from urllib.parse import quote, quote_plus

from dynaweb.errors import ActionError, UserError
from dynaweb.records.observation import Observation

PLACEHOLDER = re.compile(r"<secret>([^<>]{0,80})</secret>")
NAME = re.compile(r"[A-Za-z0-9_.-]{1,80}")
LEAST_CHARS = 4
"""A shorter value would be found everywhere in pages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Secret:
    """One value and who may have it.

    Example:
        Secret(name="shop.password", value="correct horse", origins=("https://shop.example",))
    """

    name: str
    """Letters, digits, `_`, `.` and `-`; what actions say."""
    value: str = field(repr=False)
    """At least 4 characters."""
    origins: tuple[str, ...]
    """Origins of pages that it may be typed into, without a trailing slash; at least one."""

    def __post_init__(self) -> None:
        if not NAME.fullmatch(self.name):
            raise UserError(f"{self.name[:40]!r} is no name for a secret: use letters, digits, '_', '.' and '-'")  # fmt: skip
        if len(self.value) < LEAST_CHARS:
            raise UserError(f"the secret {self.name!r} is too short to be kept out of records: use {LEAST_CHARS} characters or more")  # fmt: skip
        if not self.origins:
            raise UserError(f"the secret {self.name!r} belongs to no site: give it origins, such as https://shop.example")  # fmt: skip


class Secrets:
    """All that an agent may use."""

    __slots__ = ("_by_name", "_pattern", "_spelt")

    def __init__(self, secrets: tuple[Secret, ...] = ()) -> None:
        """Raises UserError: two have the same name."""
        self._by_name = {secret.name: secret for secret in secrets}
        if len(self._by_name) != len(secrets):
            raise UserError("two secrets have the same name")
        self._spelt = {word: s.name for s in secrets for word in spellings(s.value)}
        words = sorted(
            self._spelt, key=lambda word: (-len(word), word)
        )  # a longer one may hold a shorter one
        self._pattern = re.compile("|".join(map(re.escape, words))) if words else None

    def __repr__(self) -> str:
        """Names only."""
        return f"Secrets({', '.join(self._by_name)})"

    def reveal(self, text: str, origin: str) -> str:
        """Text with values in the place of names.

        Args:
            text: of an action.
            origin: of the page that will get it.

        Raises:
            ActionError: no such secret, or not for this origin.
        """

        def value(match: re.Match[str]) -> str:
            secret = self._by_name.get(match[1])
            if secret is None:
                raise ActionError(f"there is no secret {match[1]!r}")
            if origin not in secret.origins:
                raise ActionError(f"the secret {match[1]!r} is not for {origin[:80]!r}")
            return secret.value

        return PLACEHOLDER.sub(value, text)

    def scrub(self, text: str) -> str:
        """Text with names in the place of values, however they are spelt."""
        if self._pattern is None:
            return text
        return self._pattern.sub(lambda found: f"<secret>{self._spelt[found[0]]}</secret>", text)

    def scrub_page(self, page: Observation) -> Observation:
        """The same page without values."""
        if self._pattern is None:
            return page
        clean = self.scrub
        tabs = tuple(
            replace(
                tab,
                url=clean(tab.url),
                title=clean(tab.title),
                back=tuple(map(clean, tab.back)),
                forward=tuple(map(clean, tab.forward)),
            )
            for tab in page.tabs
        )
        return replace(
            page, url=clean(page.url), title=clean(page.title), tree=clean(page.tree), tabs=tabs,
            last_action_error=clean(page.last_action_error),
        )  # fmt: skip


NO_SECRETS = Secrets()


def spellings(value: str) -> set[str]:
    """How a value looks in pages, addresses, JSON, code and headers."""
    raw = value.encode()
    coded = {quote(value, safe=""), quote(value), quote_plus(value)}
    found = {value, " ".join(value.split()), html.escape(value), html.escape(value, quote=False)}
    found |= {html.escape(value).replace("&#x27;", "&#39;"), repr(value)[1:-1], raw.hex()}
    found |= {json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1]}
    found |= coded | {re.sub(r"%[0-9A-F]{2}", lambda m: m[0].lower(), word) for word in coded}
    found |= {word.replace("%20", "+") for word in coded}
    for before in range(3):  # inside other text, a value begins at any of three places of a group
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            whole = encode(b"\0" * before + raw).decode().rstrip("=")
            sure = len(whole) - (0 if (before + len(raw)) % 3 == 0 else 1)
            found.add(whole[(0, 2, 3)[before] : sure])
    return {word for word in found if len(word) >= LEAST_CHARS}


def scrub_logs(secrets: Secrets) -> Callable[[], None]:
    """Have every log record made from now on scrubbed, tracebacks too.

    Returns:
        Undoes it.
    """
    before = logging.getLogRecordFactory()

    def make(*args: object, **more: object) -> logging.LogRecord:
        record: logging.LogRecord = before(*args, **more)
        record.msg, record.args = secrets.scrub(record.getMessage()), None
        if record.exc_info and record.exc_info[0] is not None:
            record.exc_text = secrets.scrub("".join(traceback.format_exception(*record.exc_info)))
            record.exc_info = None
        return record

    logging.setLogRecordFactory(make)
    return lambda: logging.setLogRecordFactory(before)

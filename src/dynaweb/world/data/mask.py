"""Personal details out of trajectories, by rule: the same detail always becomes the same made-up one.

So that what was typed on one page still stands on the next, a value is replaced by a hash of itself. Rules find what has a form of
its own (mail, phone, card, IBAN, keys); names and street addresses have none and stay: masking by rule is not anonymisation.
"""

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import fields, replace
from hashlib import blake2b

from dynaweb.records.action import Action
from dynaweb.records.observation import Observation, Tab
from dynaweb.records.trajectory import Step, Trajectory

_MAIL = re.compile(r"\b[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{2,63})+\b")
_KEY = re.compile(
    r"\b(?:sk-[A-Za-z0-9_-]{20,}|gh[pousr]_[A-Za-z0-9]{30,}|AKIA[0-9A-Z]{16}|xox[abpr]-[A-Za-z0-9-]{10,}|AIza[A-Za-z0-9_-]{35}"
    r"|eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,})"
)
_IBAN = re.compile(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,4})?\b")
_CARD = re.compile(r"(?<![\d.-])\d(?:[ -]?\d){12,18}(?![\d-])")
_PHONE = re.compile(
    r"(?<![\w.+-])(?:\+\d{1,3}[ .-]?(?:\(\d{1,4}\)[ .-]?)?\d{1,4}(?:[ .-]?\d{2,4}){1,4}"
    r"|\(\d{3}\) ?\d{3}[ .-]\d{4}|\d{3}[.-]\d{3}[.-]\d{4})(?![\w-])"
)


def mask_text(text: str, counts: Counter[str]) -> str:
    """The text with made-up details; how many of each kind is added to `counts`."""
    for kind, pattern, holds, made in _RULES:

        def instead(
            found: re.Match[str],
            kind: str = kind,
            holds: Callable[[str], bool] = holds,
            made: Callable[[str], str] = made,
        ) -> str:
            if not holds(found.group()):
                return found.group()
            counts[kind] += 1
            return made(found.group())

        text = pattern.sub(instead, text)
    return text


def mask_trajectory(trajectory: Trajectory, counts: Counter[str]) -> Trajectory:
    """The attempt with made-up details in its goal, pages, thoughts and actions; token ids are left out, since they spell the old ones."""

    def text(value: str) -> str:
        return mask_text(value, counts)

    def step(s: Step) -> Step:
        did = None if s.action is None else _action(s.action, text)
        page = _page(s.observation, text)
        return replace(s, observation=page, thought=text(s.thought), action=did, generations=())

    return replace(
        trajectory,
        goal=text(trajectory.goal),
        steps=tuple(map(step, trajectory.steps)),
        past=tuple(map(step, trajectory.past)),
        final=None if trajectory.final is None else _page(trajectory.final, text),
    )


def _page(page: Observation, text: Callable[[str], str]) -> Observation:
    return replace(
        page,
        url=text(page.url),
        title=text(page.title),
        tree=text(page.tree),
        tabs=tuple(_tab(t, text) for t in page.tabs),
        last_action_error=text(page.last_action_error),
        attachments={},
    )


def _tab(tab: Tab, text: Callable[[str], str]) -> Tab:
    return Tab(
        url=text(tab.url),
        title=text(tab.title),
        back=tuple(map(text, tab.back)),
        forward=tuple(map(text, tab.forward)),
    )


def _action(action: Action, text: Callable[[str], str]) -> Action:
    """Texts of the action, element ids apart."""
    changed: dict[str, object] = {}
    for f in fields(action):
        value = getattr(action, f.name)
        if f.name in ("bid", "from_bid", "to_bid"):
            continue
        if isinstance(value, str):
            changed[f.name] = text(value)
        elif isinstance(value, tuple):
            changed[f.name] = tuple(map(text, value))
    return replace(action, **changed)  # type: ignore[arg-type]  # texts for texts


def _number(value: str) -> int:
    plain = re.sub(r"[ .()-]", "", value)
    return int.from_bytes(blake2b(plain.encode(), digest_size=6).digest(), "big")


def _letters(value: str) -> str:
    """No digits: fifteen of them could be a card's."""
    return "".join(chr(ord("a") + int(c, 16)) for c in f"{_number(value):012x}")


def luhn(value: str) -> bool:
    """Whether the digits are a card's: Luhn's sum."""
    digits = [int(c) for c in reversed(value) if c.isdigit()]
    doubled = (d * 2 - 9 * (d > 4) if i % 2 else d for i, d in enumerate(digits))
    return len(digits) >= 13 and len(set(digits)) > 1 and sum(doubled) % 10 == 0


def iban(value: str) -> bool:
    """Whether the text is an IBAN: remainder 1 by 97 (ISO 13616)."""
    plain = value.replace(" ", "")
    moved = plain[4:] + plain[:4]
    return 15 <= len(plain) <= 34 and int("".join(str(int(c, 36)) for c in moved)) % 97 == 1


def _phone(value: str) -> bool:
    return 8 <= sum(c.isdigit() for c in value) <= 15 and not value.startswith("+555")


def _mail(value: str) -> bool:
    return not value.endswith(("@example.com", "@example.org", "@example.net"))


_RULES: tuple[tuple[str, re.Pattern[str], Callable[[str], bool], Callable[[str], str]], ...] = (
    ("mail", _MAIL, _mail, lambda v: f"person{_number(v.lower()) % 10**6:06}@example.com"),
    ("key", _KEY, lambda v: True, lambda v: f"key-{_letters(v)}"),
    ("iban", _IBAN, iban, lambda v: f"iban-{_letters(v)}"),
    ("card", _CARD, luhn, lambda v: f"CARD{_number(v) % 10**12:012}"),
    ("phone", _PHONE, _phone, lambda v: f"+555 {_number(v) % 10**7:07}"),
)
"""Kind, form, further test, replacement. Replacements are found by no rule, so masking twice is masking once."""

"""Names as pointers: what a small model needs to copy is one token, the same in goal, page and reply.

A model of a few million parameters, trained from scratch on some hundred demonstrations, learns the
names it has seen by heart and never learns to copy one. So before a prompt is encoded, every word that
is not in the run's lexicon is replaced by a sign that says only which of the prompt's names it is, in
order of first appearance; the reply is read back through the same prompt. Nothing is lost: the
replacement is one to one, and a word without a sign left for it stays as it is. Pretrained models copy
by themselves and use no lexicon (ours; delexicalisation is the field's old word for it).
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from dynaweb.errors import StorageError
from dynaweb.runs.atomic import read_json, write_json

FIRST_SIGN = 0xE000
"""Signs are characters of Unicode's private area: no language writes them."""
SIGNS = 96
"""Names of one prompt that get a sign; those after them stay words."""
LEXICON_FILE = "lexicon.json"

_SIGN = re.compile(f"[{chr(FIRST_SIGN)}-{chr(FIRST_SIGN + SIGNS - 1)}]")
# Escapes, bids and references are read whole and left alone; then come words and signs.
_WORD = re.compile(
    r"\\x[0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.|\[\d+|\('\d+(?=')|\$\{?[^\W_]+"
    rf"|[^\W_]+|{_SIGN.pattern}"
)
_KEPT_NUMBER = re.compile(r"\d{1,2}(?:st|nd|rd|th)?|\d+(?:st|nd|rd|th)")

GRAMMAR = frozenset(
    [
        "goal",
        "did",
        "error",
        "page",
        "act",
        "change",
        "verdict",
        "missing",
        "extra",
        "success",
        "failure",
        "none",
        "end",
        "focus",
        "after",
        "in",
        "click",
        "dblclick",
        "hover",
        "fill",
        "clear",
        "press",
        "select",
        "option",
        "focus",
        "drag",
        "and",
        "drop",
        "scroll",
        "noop",
        "go",
        "back",
        "forward",
        "goto",
        "new",
        "tab",
        "close",
        "send",
        "msg",
        "to",
        "user",
        "report",
        "infeasible",
        "button",
        "link",
        "textbox",
        "text",
        "textarea",
        "input",
        "checkbox",
        "radio",
        "combobox",
        "listbox",
        "menu",
        "menuitem",
        "tabpanel",
        "dialog",
        "heading",
        "image",
        "slider",
        "spinbutton",
        "searchbox",
        "table",
        "row",
        "cell",
        "list",
        "listitem",
        "generic",
        "statictext",
        "rootwebarea",
        "checked",
        "selected",
        "expanded",
        "disabled",
        "pressed",
        "value",
        "clickable",
        "visible",
        "required",
        "true",
        "false",
        "mixed",
        "multiline",
    ]
)
"""Words of prompts, actions and changes; they are never names."""

FUNCTION_WORDS = frozenset(
    [
        "a",
        "an",
        "and",
        "as",
        "at",
        "be",
        "by",
        "for",
        "from",
        "in",
        "into",
        "is",
        "it",
        "not",
        "of",
        "on",
        "or",
        "than",
        "that",
        "the",
        "then",
        "this",
        "to",
        "with",
        "you",
        "your",
    ]
)
"""Words that goal and page share by chance."""
_NEVER_ASKED = GRAMMAR | FUNCTION_WORDS

_GOAL = re.compile(r"^<goal> (.*)$", re.MULTILINE)
_PAGE = re.compile(r"^<page>\n(.*?)(?=^<|\Z)", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Pointed:
    """A prompt with signs for names."""

    text: str
    names: tuple[str, ...]
    """What each sign stands for, in order."""

    def say(self, reply: str) -> str:
        """A reply with this prompt's signs: what a model is trained to write."""
        signs = {name: chr(FIRST_SIGN + i) for i, name in enumerate(self.names)}
        return _WORD.sub(lambda m: signs.get(m.group(0), m.group(0)), reply)

    def read(self, reply: str) -> str:
        """A model's reply in words; a sign that stands for nothing stays."""
        return _SIGN.sub(lambda m: self._name(m.group(0)), reply)

    def _name(self, sign: str) -> str:
        at = ord(sign) - FIRST_SIGN
        return self.names[at] if at < len(self.names) else sign


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Words a model knows as words; None knows all, and nothing is replaced."""

    words: frozenset[str] | None = None
    """Lower case."""

    def point(self, prompt: str) -> Pointed:
        """Replace the prompt's names."""
        if self.words is None:
            return Pointed(prompt, ())
        known = self.words
        asked = asked_for(prompt)
        signs: dict[str, str] = {}

        def sign(m: re.Match[str]) -> str:
            word = m.group(0)
            if word not in asked and not is_name(word, known):
                return word
            if word not in signs:
                # a page may hold our signs already; such a character is a name like any other
                if len(signs) >= SIGNS:
                    return "\ufffd" if _SIGN.fullmatch(word) else word
                signs[word] = chr(FIRST_SIGN + len(signs))
            return signs[word]

        text = _WORD.sub(sign, prompt)
        return Pointed(text, tuple(signs))

    def pair(self, prompt: str, reply: str) -> tuple[str, str]:
        """A prompt and the reply to learn, both with the prompt's signs."""
        pointed = self.point(prompt)
        return pointed.text, pointed.say(reply)

    def save(self, folder: Path) -> None:
        """Write `lexicon.json`."""
        folder.mkdir(parents=True, exist_ok=True)
        words = None if self.words is None else sorted(self.words)
        write_json(folder / LEXICON_FILE, {"words": words})

    @classmethod
    def load(cls, folder: Path) -> "Lexicon":
        """Read it back; a folder without one is a model that knows all words.

        Raises:
            StorageError: the file is damaged.
        """
        path = folder / LEXICON_FILE
        body = read_json(path)
        if body is None:
            return cls()
        words = body.get("words", ())
        if words is not None and not (
            isinstance(words, list) and all(isinstance(w, str) for w in words)
        ):
            raise StorageError(f"{path} is damaged: expected a list of words; train again")
        return cls(None if words is None else frozenset(words))


EVERY_WORD = Lexicon()
"""For models that copy by themselves."""


def asked_for(prompt: str) -> frozenset[str]:
    """Words that the goal and the page of a prompt share: names there, whatever else they mean elsewhere.

    "Submit" is a word every form has; in `Click the "Submit" button` it says which of three. The title
    of the page is left out (it names the kind of task), and so are grammar and words like "the".
    """
    goal, page = _GOAL.search(prompt), _PAGE.search(prompt)
    if goal is None or page is None:
        return frozenset()
    shown = "\n".join(line for line in page.group(1).split("\n") if not line.startswith("Root"))
    both = set(_WORD.findall(goal.group(1))) & set(_WORD.findall(shown))
    return frozenset(w for w in both if w[0] not in "\\[($" and w.lower() not in _NEVER_ASKED)


def words_in(text: str) -> list[str]:
    """Every run of letters and digits that could be a name, as it stands."""
    return _WORD.findall(text)


def is_name(word: str, known: frozenset[str]) -> bool:
    """Whether a word gets a sign: not known, no small number, no ordinal, no escape."""
    if word[0] in "\\[($" or _KEPT_NUMBER.fullmatch(word):
        return False
    low = word.lower()
    return low not in known and low not in GRAMMAR


def sign_lessons(each: int = 40) -> Iterable[str]:
    """Texts that make every sign a token of its own when a tokenizer is trained on them."""
    for i in range(SIGNS):
        yield " ".join([chr(FIRST_SIGN + i)] * each)

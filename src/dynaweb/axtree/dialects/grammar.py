"""What a dialect is to the reader: how one element is read, how it is written, and where one begins."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple, TypeAlias

from dynaweb.axtree.tree import MAX_KNOWN_CHARS, AttrValue, Node
from dynaweb.errors import TreeError

Reading: TypeAlias = tuple[Node, str]
"""A node of depth 0, and what is wrong with its spelling; empty when nothing is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grammar:
    """One dialect's elements.

    `write(read(text)[0]) == text` for every text that the dialect's own tool writes, its mark aside.
    """

    read: Callable[[str], Reading]
    """Text of one element without its indent. Raises TreeError with the reason alone."""
    write: Callable[[Node], str]
    """The text, without its indent, where no elements stand below it."""
    quick: "Quick | None" = None
    """The same as `read` and `write` for the most common elements, sooner."""
    begins: Callable[[str], bool] | None = None
    """Whether an indented line begins an element; None when every line does."""
    mark: Callable[[Node], str] | None = None
    """What follows the text where elements stand below it; None when nothing ever does."""

    def spell(self, node: Node, *, opens: bool) -> str:
        """The text; `opens` says whether elements stand below it."""
        spelt = self.write(node)
        return spelt + self.mark(node) if opens and self.mark is not None else spelt


class Placed(NamedTuple):
    """One element as the reader has it."""

    node: Node
    """Without a role where the text is no element."""
    reason: str
    """What is wrong with the text; empty when nothing is."""
    is_leaf: bool
    """Whether the dialect spells it so where no elements stand below it."""
    is_parent: bool
    """Whether the dialect spells it so where elements stand below it."""


Build: TypeAlias = Callable[[int, Sequence[str]], Node | Placed | None]
"""Depth, and an element's parts as a pattern found them -> what `Reader.place` gives; None where it is not sure."""


@dataclass(frozen=True, slots=True)
class Quick:
    """The most common elements of a dialect, told by one pattern and surely spelt as the dialect spells them."""

    one: re.Pattern[str]
    """A whole element. Its first part is empty, where `line` has the indent."""
    line: re.Pattern[str] | None
    """Every line of a text exactly once, with the same parts, which are empty where it is no such element; None where
    elements are not lines. A text is taken apart by it in one call."""
    build: Build
    begins: Callable[[Sequence[str]], bool] = bool
    """Whether a line of these parts begins an element, where the dialect's names may hold raw line breaks."""

    @classmethod
    def of(
        cls, element: str, build: Build, begins: Callable[[Sequence[str]], bool] = bool
    ) -> "Quick":
        """For a dialect of lines, each an indent and an element."""
        return cls(
            re.compile(f"(){element}", re.DOTALL),
            re.compile(f"^([ \\t]*)(?:{element}$|.*$)", re.MULTILINE),
            build,
            begins,
        )

    def read(self, text: str, depth: int) -> Node | Placed | None:
        """One element; None where it is not sure."""
        found = self.one.fullmatch(text)
        return None if found is None else self.build(depth, found.groups(""))


class Reader:
    """A grammar with a memory: the same elements come again and again, on every page of an episode."""

    def __init__(self, grammar: Grammar) -> None:
        self._quick = grammar.quick
        self._grammar = grammar
        self._known = lru_cache(maxsize=4_096)(self._placed)

    def place(self, text: str, depth: int) -> Node | Placed:
        """An element of which nothing is odd, whatever stands below it; else what may be, or why it is none."""
        found = self._quick.read(text, depth) if self._quick is not None else None
        if found is not None:
            return found
        return (self._known if len(text) <= MAX_KNOWN_CHARS else self._placed)(text, depth)

    def _placed(self, text: str, depth: int) -> Node | Placed:
        grammar = self._grammar
        try:
            node, reason = grammar.read(text)
        except TreeError as error:
            return Placed(Node(0, None, "", text), str(error), False, False)
        spelt = grammar.write(node)
        is_leaf = spelt == text
        is_parent = is_leaf if grammar.mark is None else spelt + grammar.mark(node) == text
        node = node._replace(depth=depth) if depth else node
        is_plain = is_leaf and is_parent and not reason
        return node if is_plain else Placed(node, reason, is_leaf, is_parent)


def value_of(token: str) -> AttrValue:
    """A bare token as a value: `True`, `False`, a whole number written plainly, else text."""
    if token in ("True", "False"):
        return token == "True"
    if token.lstrip("-").isdecimal() and token.isascii() and len(token) < 16:
        number = int(token)
        return number if str(number) == token else token
    return token


def stretches(found: Sequence[re.Match[str]], text: str) -> list[tuple[re.Match[str], str]]:
    """Each key that was found, and the text from its end to the next key or the end."""
    stops = [f.start() for f in found[1:]] + [len(text)]
    return [(f, text[f.end() : stop]) for f, stop in zip(found, stops, strict=False)]

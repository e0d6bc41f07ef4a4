"""A file that is one JSON list, entry by entry: memory is bounded by the longest entry, however long the list is."""

import codecs
import re
import zlib
from collections.abc import Callable, Iterator
from json.decoder import JSONDecodeError
from pathlib import Path

from dynaweb.dataset.imports.source import Damaged, Told, first_bytes, open_source, parsed
from dynaweb.dataset.imports.tally import Tally

CHUNK = 1 << 18
"""Bytes read at once; twice as many each time an entry does not end in them."""
MAX_ENTRY_CHARS = 64 << 20
"""A longer entry is damage: it would not fit the memory an import may take."""
_LOOKED_AT = 1 << 16
_AFTER = frozenset(" \t\r\n,]")
_BLANKS = frozenset(" \t\r\n")
_BLANK = re.compile(r"[ \t\r\n]*")


def is_list(path: Path) -> bool:
    """The file is one JSON list, over several lines or one: not lines that are lists each.

    Raises:
        UserError: no such file. StorageError: it cannot be opened.
    """
    head = first_bytes(path, _LOOKED_AT).lstrip(b"\xef\xbb\xbf \t\r\n")
    if not head.startswith(b"["):
        return False
    line, _, rest = head.partition(b"\n")
    return not rest.strip() or isinstance(parsed(line), Damaged)


def list_values(path: Path, tally: Tally) -> Iterator[tuple[object, bool]]:
    """The entries of a list up to the first damage, which is counted and named.

    Yields:
        A value, and whether signs are spelt by number in its text: halves of pairs may be among them.

    Raises:
        UserError: no such file. StorageError: it cannot be opened.
    """
    text = _Text(path, tally)
    decode = Told(tally, path.name).decoder.raw_decode
    if not text.begins("["):
        return
    number = 0
    while (sign := text.sign()) != "]":
        if number:
            if sign != ",":
                text.damaged("is not JSON", number)
                return
            text.at += 1
        value, begin, why = _entry(text, decode)
        if why:
            text.damaged(why, number)
            return
        yield value, text.held.find("\\u", begin, text.at) >= 0
        number += 1
    text.at += 1
    if text.peek():
        tally.drop("text after a list", f"{path.name}: {text.peek()[:60]!r}")


def _entry(
    text: "_Text", decode: Callable[[str, int], tuple[object, int]]
) -> tuple[object, int, str]:
    """The value that stands here, where it begins, or why there is none."""
    text.sign()
    while True:
        try:
            value, end = decode(text.held, text.at)
        except RecursionError:
            return None, 0, "nests too deeply"
        except JSONDecodeError:
            end = len(text.held)
        # a number that ends where the text does, or before a dot, may go on
        if end < len(text.held) and (text.held[end] in _AFTER or text.ended):
            begin, text.at = text.at, end
            return value, begin, ""
        if len(text.held) - text.at > MAX_ENTRY_CHARS:
            return None, 0, f"is longer than {MAX_ENTRY_CHARS >> 20} MB"
        if not text.more():
            return None, 0, "is torn or is not JSON"


class _Text:
    """The text of a file, and how far it is read."""

    def __init__(self, path: Path, tally: Tally) -> None:
        self._path, self._tally = path, tally
        self._file = open_source(path)
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")()
        self.held, self.at = "", 0
        self.ended = False

    def more(self) -> bool:
        """Read on; false where nothing is left, or the rest cannot be read."""
        if self.ended:
            return False
        want = max(CHUNK, len(self.held) - self.at)
        try:
            data = self._file.read(want)
            self._tally.read_bytes += len(data)
            text = self._decoder.decode(data, final=not data)
        except (EOFError, zlib.error, OSError, UnicodeDecodeError) as error:
            self._tally.drop("list is cut or damaged", f"{self._path.name}: {error}")
            data = b""
            text = ""
        if not data:
            self.ended = True
            self._file.close()
        self.held, self.at = self.held[self.at :] + text, 0
        return bool(data)

    def peek(self) -> str:
        """What stands next, blanks aside; empty at the end."""
        while True:
            blank = _BLANK.match(self.held, self.at)
            self.at = blank.end() if blank is not None else self.at
            if self.at < len(self.held) or not self.more():
                return self.held[self.at : self.at + 60]

    def sign(self) -> str:
        """The sign that stands next, blanks aside; empty at the end."""
        if self.at < len(self.held) and self.held[self.at] not in _BLANKS:
            return self.held[self.at]
        return self.peek()[:1]

    def begins(self, sign: str) -> bool:
        """Whether a sign stands next; it is passed."""
        found = self.peek().startswith(sign)
        self.at += len(sign) if found else 0
        return found

    def damaged(self, why: str, number: int) -> None:
        """Count the entry that stands here."""
        self._file.close()
        self._tally.drop(
            f"entry {why}, and what follows it",
            f"{self._path.name} entry {number}: {self.peek()!r}",
        )

"""Text to token ids and back, made for copying: a word has one spelling in tokens, wherever it stands.

A small model copies names from the goal and from the page all the time. In an ordinary byte-level
BPE the word `Submit` is other tokens after a space, after a quote and in the middle of a name, so
the model has to learn each word several times. Here:

- every run of letters is cut on its own and begins with a marker, the same wherever it stands; the
  single space between two words is implied by the second marker and costs nothing;
- digits are single, but for element ids of two: what is copied most is one token in one piece;
- what the page, the action grammar and the prompts repeat (`] button '`, `'` newline tab `[`,
  `', value='`, `click('`) is cut as one piece, so that training can make it one token.

Any text comes back byte for byte. The end and padding tokens cannot be written by text: their names
contain a character that encoded text never has. A tokenizer of a pretrained model, loaded from its
`tokenizer.json`, answers the same calls.
"""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

import tokenizers
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import Split
from tokenizers.trainers import BpeTrainer

from dynaweb.errors import StorageError, UserError
from dynaweb.lm.language import Language
from dynaweb.prompts.pointers import Lexicon
from dynaweb.runs.atomic import read_json, write_json, write_text

FORMAT: Final = 1

# Text is cut in its UTF-8 bytes, one character (0 to 255) each; WORD lies outside that range, so
# no text contains it. Bytes from 0x80 on are parts of non-ASCII letters and count as letters.
WORD: Final = "\u2581"
PAD: Final = "\u2402pad"
EOS: Final = "\u2402eos"
LETTER: Final = "A-Za-z\u0080-\u00ff"
FLAGS: Final = "checked|disabled|expanded|selected|pressed|readonly|required|clickable|visible|focused|multiselectable|value"

_WORD_START = re.compile(rf"(?<![{LETTER}])(?=[{LETTER}])")
_IMPLIED_SPACE = re.compile(rf"(?<=[{LETTER}]) (?={WORD})")
_MARK_AFTER_LETTER = re.compile(rf"(?<=[{LETTER}]){WORD}")

VALUE: Final = rf"='(?:(?:{WORD}(?:true|false|mixed)|\${WORD}[a-z]+)'(?:\n\t*\[)?)?"

# In order of preference. A piece that training does not merge falls apart into its parts.
PIECES: Final = (
    rf"'?\n?<{WORD}[a-z]+>(?:\n{WORD}RootWebArea '|[ \n])",  # newline <page> newline RootWebArea '
    rf"['\]]?\n[.\t]*\[(?:\] {WORD}[A-Za-z]+(?: ')?)?",  # ' newline tab [
    rf"'?\n[.\t]*{WORD}[A-Za-z]+ '",  # ' newline tab StaticText '
    rf"\] -?{WORD}(?:{FLAGS})(?:{VALUE}|(?![{LETTER}])(?:\n\t*\[)?)",  # ] checked='true'
    rf"\] {WORD}[A-Za-z]+(?: ')?",  # ] button '
    rf"'?, -?{WORD}(?:{FLAGS})(?:{VALUE}|(?![{LETTER}])(?:\n\t*\[)?)",  # ', value='
    rf"', {WORD}[a-z]+(?:{VALUE})?",  # ', other='
    rf"'\) (?:{WORD}[A-Za-z]+){{1,3}}(?: ')?",  # ') textbox after '
    rf"(?:{WORD}[a-z]+_?)+\((?:'|\))",  # click('
    rf"[\n']*@{WORD}[a-z]+ [\['\"]?",  # @focus [
    rf"{WORD}?[{LETTER}]+",
    r"(?<=\[)[0-9]{2}(?=\])|(?<=\(')[0-9]{2}(?=')",  # bids: [12] and click('12'
    r"[0-9]",
    rf"['\]]?\n[^{LETTER}0-9{WORD}]*",
    rf"(?:(?!['\]]?\n)[^{LETTER}0-9{WORD}])+",
)


class Tokenizer:
    """Token ids of one vocabulary."""

    def __init__(self, inner: tokenizers.Tokenizer, *, eos_id: int, pad_id: int, own: bool) -> None:
        self._inner = inner
        self._own = own
        self._eos_id = eos_id
        self._pad_id = pad_id

    @property
    def eos_id(self) -> int:
        """The token that ends a reply."""
        return self._eos_id

    @property
    def pad_id(self) -> int:
        """The token that fills rows; never trained on."""
        return self._pad_id

    @property
    def vocab_size(self) -> int:
        """Number of ids, special ones included."""
        return int(self._inner.get_vocab_size(with_added_tokens=True))

    def encode(self, text: str) -> list[int]:
        """Ids of the text alone: nothing added, never a special id. Lone surrogates become `?`."""
        clean = text.encode("utf-8", "replace")
        given = _mark(clean) if self._own else clean.decode("utf-8")
        return list(self._inner.encode(given, add_special_tokens=False).ids)

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        """As `encode`, for many texts, on all cores."""
        clean = [t.encode("utf-8", "replace") for t in texts]
        given = [_mark(c) if self._own else c.decode("utf-8") for c in clean]
        return [list(e.ids) for e in self._inner.encode_batch(given, add_special_tokens=False)]

    def decode(self, ids: Sequence[int]) -> str:
        """Text of the ids; special ids are silent. `decode(encode(t)) == t`."""
        if not self._own:
            return str(self._inner.decode(list(ids), skip_special_tokens=True))
        pieces = (self._inner.id_to_token(i) for i in ids if i not in (self._eos_id, self._pad_id))
        return _unmark("".join(p for p in pieces if p is not None))

    def pieces(self, text: str) -> list[str]:
        """How the text is cut into tokens, for people."""
        return [self.decode([i]) for i in self.encode(text)]

    def save(self, folder: Path) -> None:
        """Write `tokenizer.json` and `dynaweb_tokenizer.json`."""
        folder.mkdir(parents=True, exist_ok=True)
        about = {"format": FORMAT, "own": self._own, "eos_id": self._eos_id, "pad_id": self._pad_id}
        write_text(folder / "tokenizer.json", self._inner.to_str())
        write_json(folder / "dynaweb_tokenizer.json", about)

    @classmethod
    def load(cls, folder: Path) -> "Tokenizer":
        """Read a tokenizer that `save` wrote, or the one of a pretrained model.

        Raises:
            StorageError: the files are missing or damaged.
        """
        path = folder / "tokenizer.json"
        if not path.is_file():
            raise StorageError(f"no tokenizer in {str(folder)!r}: expected tokenizer.json there")
        try:
            inner = tokenizers.Tokenizer.from_str(path.read_text(encoding="utf-8"))
        except Exception as error:  # tokenizers raises bare Exception for a bad file
            raise StorageError(f"damaged tokenizer {str(path)!r}: {error}") from error
        inner.encode_special_tokens = True
        about = read_json(folder / "dynaweb_tokenizer.json")
        if about is not None:
            if about.get("format") != FORMAT:
                raise StorageError(
                    f"tokenizer in {str(folder)!r} has format {about.get('format')!r}; this version reads {FORMAT}"
                )
            return cls(
                inner,
                eos_id=_id(about, "eos_id"),
                pad_id=_id(about, "pad_id"),
                own=about.get("own") is True,
            )
        eos = _pretrained_token(folder, inner, "eos_token")
        if eos is None:
            raise StorageError(
                f"tokenizer in {str(folder)!r} names no eos_token: add it to tokenizer_config.json"
            )
        pad = _pretrained_token(folder, inner, "pad_token")
        return cls(inner, eos_id=eos, pad_id=eos if pad is None else pad, own=False)


def load_language(folder: Path) -> Language:
    """Tokenizer and lexicon of the model in this folder; a pretrained one has no lexicon and knows all words.

    Raises:
        StorageError: there is no tokenizer, or a file is damaged.
    """
    return Language(Tokenizer.load(folder), Lexicon.load(folder))


def train_tokenizer(texts: Iterable[str], vocab_size: int) -> Tokenizer:
    """Learn a vocabulary from texts; the same texts in the same order give the same one.

    Raises:
        UserError: no texts, or a vocabulary too small to hold every byte.
    """
    least = 256 + 3
    if vocab_size < least:
        raise UserError(
            f"vocabulary size is {vocab_size!r}: use at least {least}, every byte needs a token"
        )
    inner = tokenizers.Tokenizer(BPE())
    inner.pre_tokenizer = Split(tokenizers.Regex("|".join(PIECES)), behavior="isolated")
    trainer = BpeTrainer(
        vocab_size=vocab_size,
        special_tokens=[PAD, EOS],
        initial_alphabet=[chr(b) for b in range(256)] + [WORD],
        show_progress=False,
    )
    marked = [_mark(t.encode("utf-8", "replace")) for t in texts]
    if not any(marked):
        raise UserError("no text to learn a tokenizer from: collect some pages first")
    inner.train_from_iterator(marked, trainer)
    # The trainer numbers its special tokens first, in order.
    return Tokenizer(inner, eos_id=1, pad_id=0, own=True)


def bid_lessons(each: int = 40) -> Iterable[str]:
    """Texts that make every element id of two digits a token when a tokenizer is trained on them."""
    for bid in range(10, 100):
        yield f"[{bid}]" * each


def _mark(data: bytes) -> str:
    marked = _WORD_START.sub(WORD, data.decode("latin-1"))
    return _IMPLIED_SPACE.sub("", marked)


def _unmark(marked: str) -> str:
    spaced = _MARK_AFTER_LETTER.sub(" ", marked).replace(WORD, "")
    return spaced.encode("latin-1", "replace").decode("utf-8", "replace")


def _id(about: dict[str, object], name: str) -> int:
    value = about.get(name)
    if not isinstance(value, int):
        raise StorageError(f"tokenizer has {name} {value!r}: not an id")
    return value


def _pretrained_token(folder: Path, inner: tokenizers.Tokenizer, name: str) -> int | None:
    for file in ("tokenizer_config.json", "special_tokens_map.json"):
        token = (read_json(folder / file) or {}).get(name)
        text = token.get("content") if isinstance(token, dict) else token
        found = inner.token_to_id(text) if isinstance(text, str) else None
        if found is not None:
            return int(found)
    return None

"""Scalars of YAML and JSON as Playwright's aria snapshots spell them (playwright-core, `utils/isomorphic/yaml`).

Only what a snapshot uses: plain, single-quoted keys, double-quoted values. No YAML library: those read
`- text: [All rows]` as a list and write every scalar in another way than Playwright.
"""

import json
import re

from dynaweb.errors import TreeError

_CONTROL = r"\x00-\x1f\x7f-\x9f"
_NEEDS_QUOTES = re.compile(
    rf"^[\s&*\],?!>|@\"'#%\[-]|\s\Z|[{_CONTROL}{{}}`]|:(?:\s|\Z)|\s#", re.ASCII
)
_SAFE = re.compile(r"[A-Za-z/](?:[A-Za-z0-9_ \"\[\]=,./()$'+-]*[A-Za-z0-9\"\]])?")
"""Most keys: nothing in them that `_NEEDS_QUOTES` looks for."""
_NUMBER = re.compile(
    r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[+-]?Infinity|0[xX][0-9a-fA-F]+|0[oO][0-7]+|0[bB][01]+"
)
_WORDS = frozenset({"y", "n", "yes", "no", "true", "false", "on", "off", "null"})
_LONGEST_WORD = max(map(len, _WORDS))
_NUMBER_BEGINS = frozenset("+-.0123456789I")
_ESCAPED = re.compile(rf"[\\\"{_CONTROL}]")
_ESCAPES = {
    "\\": "\\\\",
    '"': '\\"',
    "\b": "\\b",
    "\f": "\\f",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
}
_BACK = {e[1]: c for c, e in _ESCAPES.items()} | {"/": "/", "0": "\0"}
_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|.)", re.DOTALL)
_DOUBLE = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_SURROGATE = re.compile("[\ud800-\udfff]")


def needs_quotes(text: str) -> bool:
    """Whether YAML would read a plain key or value as something else."""
    if _SAFE.fullmatch(text) is None and (
        not text
        or _NEEDS_QUOTES.search(text) is not None
        or text[0].isspace()
        or text[-1].isspace()
    ):
        return True
    if len(text) <= _LONGEST_WORD and text.lower() in _WORDS:
        return True
    return text[0] in _NUMBER_BEGINS and _NUMBER.fullmatch(text) is not None


def write_key(text: str) -> str:
    """A key: plain where YAML allows it, else in single quotes."""
    return "'" + text.replace("'", "''") + "'" if needs_quotes(text) else text


def write_value(text: str) -> str:
    """A value: plain where YAML allows it, else in double quotes."""
    return f'"{_ESCAPED.sub(_escape, text)}"' if needs_quotes(text) else text


def read_value(token: str) -> str:
    """The text of a value.

    Raises:
        TreeError: quotes or escapes that do not fit.
    """
    if token.startswith("'") and token.endswith("'") and len(token) > 1:
        return token[1:-1].replace("''", "'")
    if not token.startswith('"'):
        return token
    if _DOUBLE.fullmatch(token) is None:
        raise TreeError("cut: no quote closes the text")
    return _ESCAPE.sub(_unescape, token[1:-1])


def write_name(name: str) -> str:
    """An accessible name as JSON, as JavaScript writes it; `/patterns/` stand bare."""
    if len(name) > 1 and name.startswith("/") and name.endswith("/"):
        return name
    if name.isprintable() and '"' not in name and "\\" not in name:
        return f'"{name}"'
    spelt = json.dumps(name, ensure_ascii=False)
    return _SURROGATE.sub(lambda c: f"\\u{ord(c.group()):04x}", spelt)


def read_name(token: str) -> str:
    """The text of a name.

    Raises:
        TreeError: no JSON string.
    """
    if token.startswith("/"):
        return token
    if "\\" not in token:
        return token[1:-1]
    try:
        return str(json.loads(token, strict=False))
    except json.JSONDecodeError as error:
        raise TreeError(f"name {token[:40]!r} is no JSON string: {error.msg}") from error


def _escape(found: re.Match[str]) -> str:
    char = found.group()
    return _ESCAPES.get(char) or f"\\x{ord(char):02x}"


def _unescape(found: re.Match[str]) -> str:
    code = found.group(1)
    if len(code) > 1:
        return chr(int(code[1:], 16))
    if code not in _BACK:
        raise TreeError(f"escape \\{code} stands for no character")
    return _BACK[code]

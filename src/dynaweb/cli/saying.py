"""Text from pages on a terminal: nothing in it steers the terminal, and colour only where somebody sees it."""

import sys
from collections.abc import Iterable


def clean(text: str) -> str:
    """The text with everything that does not print spelt out."""
    return spelt("".join(c if c.isprintable() or c == "\n" else repr(c)[1:-1] for c in text))


def spelt(text: str) -> str:
    """The text with what standard output cannot spell as escapes."""
    encoding = sys.stdout.encoding or "utf-8"
    return text.encode(encoding, "backslashreplace").decode(encoding)


def say(text: str) -> None:
    """Print text from a page."""
    print(clean(text))


def say_styled(lines: Iterable[tuple[str, str]]) -> None:
    """Print lines from a page, each with a style of `rich`: plain in a pipe and where NO_COLOR is set."""
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False, markup=False, emoji=False, soft_wrap=True)
    for style, text in lines:
        # `Text` takes no markup; a line break inside would be a second, unstyled line
        console.print(Text(clean(text).replace("\n", "\\n"), style=style))


def indented(line: str) -> str:
    """A line of a tree with two blanks for each tab of depth."""
    body = line.lstrip("\t")
    return "  " * (len(line) - len(body)) + body

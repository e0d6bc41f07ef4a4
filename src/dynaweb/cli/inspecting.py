"""`dynaweb inspect`: what a file is, what is odd about it, and the file printed well. Trees of any dialect; replies."""

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from dynaweb.agent.reply import read_reply
from dynaweb.axtree.dialects.common import common_tree
from dynaweb.axtree.dialects.document import Document, repeated_bids
from dynaweb.axtree.dialects.read import read_document, render_document
from dynaweb.axtree.tree import Node, render_tree
from dynaweb.cli.replying import reply_facts, reply_summary
from dynaweb.cli.showing import say
from dynaweb.errors import TreeError, UserError

MAX_SHOWN = 20
"""Odd lines that are printed one by one; `--json` has them all."""


class Content(StrEnum):
    """What a file may hold."""

    AUTO = "auto"
    TREE = "tree"
    REPLY = "reply"


def inspect_command(
    file: Annotated[
        Path, typer.Argument(help="A file with one accessibility tree, or one reply of a model.")
    ],
    content: Annotated[
        Content, typer.Option("--as", help="What the file holds; found out by default.")
    ] = Content.AUTO,
    as_json: Annotated[bool, typer.Option("--json", help="Machine-readable output.")] = False,
) -> None:
    """Say what an accessibility tree or a reply is written in and what is odd about it, and print it well."""
    text = read_text(file)
    document = None if content is Content.REPLY else _tree(text, file, content)
    if document is None and as_json:
        print(json.dumps(reply_facts(text), indent=1))
    elif document is None:
        say("\n".join(reply_summary(text)))
    elif as_json:
        print(json.dumps(tree_facts(document, text), indent=1))
    else:
        say("\n".join([*_summary(document, text), "", _printed(document)]))


def _tree(text: str, file: Path, content: Content) -> Document | None:
    """The tree; None when the file holds a reply, which may repeat a few lines of a tree.

    Raises:
        UserError: neither a tree nor a reply with an action.
    """
    acts = content is Content.AUTO and read_reply(text).action is not None
    try:
        document = read_document(text)
    except TreeError as error:
        if acts:
            return None
        hint = "; --as reply says why it holds no action" if content is Content.AUTO else ""
        raise UserError(f"{str(file)!r}: {error}{hint}") from error
    return (
        None if acts and len(document.oddities) >= sum(map(_has_role, document.nodes)) else document
    )


def _has_role(node: Node) -> bool:
    return bool(node.role)


def read_text(path: Path) -> str:
    """A file's text, line ends as they are.

    Raises:
        UserError: no such file, or not UTF-8.
    """
    if not path.is_file():
        raise UserError(f"no file {str(path)!r}")
    try:
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UserError(
            f"{str(path)!r} is not UTF-8: byte {error.start} is {error.object[error.start]:#04x}; convert it first"
        ) from error


def tree_facts(document: Document, text: str) -> dict[str, object]:
    """What there is to say about a tree, ready for JSON."""
    nodes = [n for n in document.nodes if n.role]
    return {
        "kind": "tree",
        "dialect": document.dialect.value,
        "characters": len(text),
        "lines": text.count("\n") + (not text.endswith("\n")),
        "elements": len(nodes),
        "ids": sum(1 for n in nodes if n.bid is not None),
        "depth": max((n.depth for n in nodes), default=0),
        "tabs": [{"title": t.title, "url": t.url} for t in document.tabs],
        "active_tab": document.active_tab,
        "exact": render_document(document) == text,
        "odd": [
            {"line": o.line, "kind": o.kind.value, "text": o.text, "reason": o.reason}
            for o in document.oddities
        ],
        "repeated_ids": {bid: list(lines) for bid, lines in repeated_bids(document).items()},
        "tree": render_tree(common_tree(document)),
    }


def _summary(document: Document, text: str) -> list[str]:
    facts = tree_facts(document, text)
    said = [
        f"tree      {facts['dialect']}, {facts['characters']} characters in {facts['lines']} lines",
        f"elements  {facts['elements']}, {facts['ids']} with an id, {facts['depth']} levels below the first",
        f"written   {'byte for byte as read' if facts['exact'] else 'NOT as read: please report this file'}",
    ]
    for number, tab in enumerate(document.tabs):
        active = " (active)" if number == document.active_tab else ""
        said.append(f"tab {number}{active}  {tab.title} {tab.url}".rstrip())
    odd = [
        f"odd       line {o.line}, {o.kind.value}: {o.text!r}: {o.reason}"
        for o in document.oddities
    ]
    odd += [
        f"odd       id {bid!r} stands on {len(lines)} lines: {', '.join(map(str, lines[:MAX_SHOWN]))}"
        for bid, lines in repeated_bids(document).items()
    ]
    more = [f"odd       and {len(odd) - MAX_SHOWN} more (--json)"] if len(odd) > MAX_SHOWN else []
    return said + odd[:MAX_SHOWN] + more


def _printed(document: Document) -> str:
    lines = render_tree(common_tree(document)).split("\n")
    return "\n".join(
        "  " * (len(line) - len(line.lstrip("\t"))) + line.lstrip("\t") for line in lines
    )

r"""What the agent data protocol (neulab) keeps in ATIF files where ATIF has no place for it.

A page stands in a result's `extra.web`: `axtree`, `html`, `url`. Arguments of a call are written as source text, each string with quotes of
its own that nothing escapes: `{"bid": "\"12\""}`. Typing is `type(bid, text, press_enter_after)`, and an answer is `<finish> words </finish>`.
"""

import re
from collections.abc import Mapping

from dynaweb.errors import ActionError
from dynaweb.records.action import Action, SendMsgToUser
from dynaweb.records.webarena import type_text

TYPE = "type"
_CALL = "api_action"
_FINISH = re.compile(r"<finish>(.*?)</finish>", re.DOTALL)
_NUMBER = re.compile(r"-?[0-9]{1,15}(?:\.[0-9]{1,15})?")


def is_call(extra: Mapping[str, object] | None) -> bool:
    """Whether a call is written as this protocol writes it."""
    return extra is not None and extra.get("adp_class") == _CALL


def spoken(arguments: Mapping[str, object]) -> dict[str, object]:
    """The arguments themselves: without their own quotes, numbers as numbers."""
    return {key: _value(held) for key, held in arguments.items()}


def _value(held: object) -> object:
    if not isinstance(held, str):
        return held
    if len(held) > 1 and held[0] == held[-1] and held[0] in "\"'":
        return held[1:-1]
    if _NUMBER.fullmatch(held):
        return float(held) if "." in held else int(held)
    return held


def typed(given: Mapping[str, object]) -> tuple[Action, ...]:
    """Typing, from the arguments themselves.

    Raises:
        ActionError: no element or no text.
    """
    bid, text = given.get("bid"), given.get("text")
    if not isinstance(bid, str) or not isinstance(text, str):
        raise ActionError(f"type without an element and a text: {str(dict(given))[:60]!r}")
    return type_text(bid, text, str(given.get("press_enter_after", 0)) == "1")


def answer(message: str) -> Action | None:
    """The answer that ends an attempt; None where a message is none."""
    found = _FINISH.search(message)
    return None if found is None else SendMsgToUser(found.group(1).strip())


def page(extra: Mapping[str, object] | None) -> str:
    """The page beside a result: its tree, or what its HTML tells; empty where there is none."""
    web = _web(extra)
    tree, html = web.get("axtree"), web.get("html")
    if isinstance(tree, str) and tree.strip():
        return tree
    if isinstance(html, str) and html.strip():
        from dynaweb.dataset.imports.html import html_tree  # noqa: PLC0415 - an extra

        return html_tree(html)
    return ""


def address(extra: Mapping[str, object] | None) -> str:
    """The address of the page beside a result; empty where there is none."""
    url = _web(extra).get("url")
    return url if isinstance(url, str) else ""


def _web(extra: Mapping[str, object] | None) -> Mapping[str, object]:
    web = (extra or {}).get("web")
    return web if isinstance(web, dict) else {}

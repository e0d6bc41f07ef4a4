"""Read a page without touching it: two DevTools snapshots, one observation.

The accessibility tree says what an element is; the DOM snapshot says how it is drawn and what
listens on it. Nothing is written into the page (BrowserGym marks every element with a `bid`
attribute; marks left behind ruin a world model).
"""

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from dynaweb.axtree.tree import render_tree
from dynaweb.browser.flatten import AxNode, BidMap, Drawn, flatten
from dynaweb.browser.page import Json, JsonObject, LivePage
from dynaweb.errors import BrowserError

STYLES = ("cursor", "overflow-x", "clip", "content")
STYLING = ("ui-corner", "ui-state", "ui-widget", "ui-helper")
SHAPES = frozenset({"circle", "rect", "polygon", "line", "path", "ellipse", "polyline"})
FILE = re.compile(r"([\w-]+)\.(?:png|svg|gif|jpe?g|webp)\b")
MAX_HINT = 40
STATE = (
    "({url: location.href, title: document.title, x: Math.round(scrollX), y: Math.round(scrollY)})"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """One page as it is now."""

    url: str
    title: str
    tree: str
    focused: str | None
    scroll: tuple[int, int]


async def observe(live: LivePage, bids: BidMap) -> View:
    """Read the page; new elements get their numbers.

    Raises:
        BrowserError: the page is gone, or shows the browser's own error page.
    """
    ax, snapshot, state = await asyncio.gather(
        live.send("Accessibility.getFullAXTree"),
        live.send("DOMSnapshot.captureSnapshot", {"computedStyles": list(STYLES)}),
        live.evaluate(STATE),
    )
    if not isinstance(state, dict) or str(state["url"]).startswith("chrome-error:"):
        raise BrowserError(f"the browser shows an error page instead of {live.page.url!r}")
    nodes = {n.node_id: n for n in map(_ax_node, _objects(ax["nodes"]))}
    root = next(iter(nodes))
    lines = flatten(nodes, root, _drawn(snapshot), bids)
    focus = [
        n.backend
        for n in nodes.values()
        if n.properties.get("focused") is True and n.node_id != root
    ]
    focused = bids.known(focus[-1]) if focus and focus[-1] is not None else None
    return View(
        url=str(state["url"]),
        title=str(state["title"]),
        tree=render_tree(lines),
        focused=focused,
        scroll=(int(cast("int", state["x"])), int(cast("int", state["y"]))),
    )


def _objects(value: Json) -> list[JsonObject]:
    return cast("list[JsonObject]", value)


def _ax_node(raw: JsonObject) -> AxNode:
    properties: dict[str, str | bool | float] = {}
    for p in _objects(raw.get("properties") or []):
        value = cast("JsonObject", p["value"]).get("value")
        if isinstance(value, str | bool):
            properties[str(p["name"])] = value
        elif isinstance(value, int | float):
            properties[str(p["name"])] = float(value)
    backend = raw.get("backendDOMNodeId")
    return AxNode(
        node_id=str(raw["nodeId"]),
        role=_text(raw.get("role")),
        name=_text(raw.get("name")),
        value=_text(raw.get("value")),
        ignored=bool(raw["ignored"]),
        backend=backend if isinstance(backend, int) else None,
        properties=properties,
        children=tuple(map(str, cast("list[Json]", raw.get("childIds") or []))),
    )


def _text(value: Json) -> str:
    inner = value.get("value") if isinstance(value, dict) else None
    if isinstance(inner, float) and inner.is_integer():
        return str(int(inner))
    return "" if inner is None else str(inner)


def _drawn(snapshot: JsonObject) -> dict[int, Drawn]:
    strings = cast("list[str]", snapshot["strings"])
    found: dict[int, Drawn] = {}
    for document in _objects(snapshot["documents"]):
        found.update(_drawn_in(document, strings))
    return found


def _drawn_in(document: JsonObject, strings: list[str]) -> dict[int, Drawn]:
    nodes, layout = cast("JsonObject", document["nodes"]), cast("JsonObject", document["layout"])
    backend = cast("list[int]", nodes["backendNodeId"])
    parents = cast("list[int]", nodes["parentIndex"])
    names = cast("list[int]", nodes["nodeName"])
    attributes = cast("list[list[int]]", nodes["attributes"])
    listening = set(cast("list[int]", cast("JsonObject", nodes["isClickable"])["index"]))
    rows = zip(
        cast("list[int]", layout["nodeIndex"]),
        cast("list[list[int]]", layout["styles"]),
        cast("list[list[float]]", layout["bounds"]),
        strict=True,
    )
    boxes = {index: ([strings[s] for s in style], box) for index, style, box in rows if style}
    hands = {index for index, (style, _) in boxes.items() if style[0] == "pointer"}
    held = cast("dict[str, list[int]]", nodes["inputValue"])
    values = {
        i: strings[v] if v >= 0 else "" for i, v in zip(held["index"], held["value"], strict=True)
    }
    found: dict[int, Drawn] = {}
    for index, (style, box) in boxes.items():
        flat = attributes[index]
        given = {
            strings[k]: strings[v] if v >= 0 else ""
            for k, v in zip(flat[::2], flat[1::2], strict=True)
        }
        tag = strings[names[index]]
        found[backend[index]] = Drawn(
            tag=tag.upper(),
            hint=_hint(tag, given, style[3]),
            reacts=index in listening or (index in hands and parents[index] not in hands),
            tabbable=given.get("tabindex", "-").isdigit(),
            value=values.get(index) if given.get("type") != "password" else None,
            hidden=box[2] <= 1 and box[3] <= 1 and (style[1] == "hidden" or style[2] != "auto"),
        )
    return found


def _hint(tag: str, attributes: Mapping[str, str], content: str) -> str:
    """What the author called an element that shows no text."""
    for key in ("title", "aria-label", "alt"):
        if attributes.get(key):
            return attributes[key]
    words = [w for w in attributes.get("class", "").split() if not w.startswith(STYLING)]
    file = FILE.search(attributes.get("src", "") or content)
    if not words and file is not None:
        return file.group(1)
    words = words or attributes.get("id", "").split()[:1]
    if tag in SHAPES:
        words = [tag, *words]
    return " ".join(words)[:MAX_HINT]

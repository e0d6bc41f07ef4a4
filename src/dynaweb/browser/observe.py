"""Read a page without touching it: two DevTools snapshots, one observation.

The accessibility tree says what an element is; the DOM snapshot says how it is drawn and what
listens on it. Nothing is written into the page (BrowserGym marks every element with a `bid`
attribute; marks left behind ruin a world model).
"""

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias, cast

from dynaweb.axtree.tree import render_tree
from dynaweb.browser.flatten import flatten
from dynaweb.browser.frames import ax_node, framed, put_inside
from dynaweb.browser.nodes import AxNode, BidMap, Drawn, Json, JsonObject, in_frame
from dynaweb.browser.page import LivePage
from dynaweb.browser.realm import Gone, Realm
from dynaweb.errors import BrowserError

STYLES = ("cursor", "overflow-x", "clip", "content", "direction")
STYLING = ("ui-corner", "ui-state", "ui-widget", "ui-helper")
SHAPES = frozenset({"circle", "rect", "polygon", "line", "path", "ellipse", "polyline"})
FILE = re.compile(r"([\w-]+)\.(?:png|svg|gif|jpe?g|webp)\b")
MAX_HINT = 40
MAX_NODES = 50_000
"""Elements and texts of a page; more would take longer to read than a step may, and block the other episodes."""
MAX_TEXT = 5_000_000
"""Characters of a page's texts, those of scripts and styles too."""
# Counting ends at the first node too many.
STATE = """(() => {
  let nodes = 0, text = 0;
  const count = (root) => {
    const walk = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
    for (let n = walk.nextNode(); n && nodes <= MAX_NODES; n = walk.nextNode()) {
      nodes++;
      if (n.nodeType === 3) text += n.length;
      if (n.shadowRoot) count(n.shadowRoot);
      if (n.contentDocument) count(n.contentDocument);
    }
  };
  count(document);
  return {url: location.href, title: document.title, x: Math.round(scrollX), y: Math.round(scrollY), nodes, text};
})()""".replace("MAX_NODES", str(MAX_NODES))


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
        BrowserError: the page is gone, too large, or the browser's own error page.
    """
    state = await live.look(STATE)
    assert isinstance(state, dict)
    if str(state["url"]).startswith("chrome-error:"):
        raise BrowserError(f"the browser shows an error page instead of {live.page.url[:200]!r}")
    frames, sizes = await _foreign(live)
    _check_size(*map(sum, zip(_size(state), *sizes, strict=True)))
    seen, *inner = await asyncio.gather(_seen(live.main), *[_tried(r) for _, r, _ in frames])
    assert seen is not None
    nodes, drawn = seen
    root = next(iter(nodes))
    for (number, _, owner), found in zip(frames, inner, strict=True):
        if found is not None:
            nodes = put_inside(nodes, owner, number, found[0])
            drawn |= {in_frame(number, backend): here for backend, here in found[1].items()}
    lines = flatten(nodes, root, drawn, bids)
    focus = [
        n.backend
        for n in nodes.values()
        if n.properties.get("focused") is True and n.role != nodes[root].role
    ]
    focused = bids.known(focus[-1]) if focus and focus[-1] is not None else None
    return View(
        url=str(state["url"]),
        title=str(state["title"]),
        tree=render_tree(lines),
        focused=focused,
        scroll=(int(cast("int", state["x"])), int(cast("int", state["y"]))),
    )


async def _foreign(
    live: LivePage,
) -> tuple[list[tuple[int, Realm, int]], list[tuple[int, int]]]:
    """Frames of other sites with something to read: number, who speaks for it, the element that holds it; and their sizes."""
    frames: list[tuple[int, Realm, int]] = []
    sizes: list[tuple[int, int]] = []
    for number, realm in await live.foreign.present():
        try:
            state, owner = await asyncio.gather(realm.look(STATE), live.foreign.owner(number))
        except (BrowserError, Gone):
            continue  # it has just gone, or hangs
        assert isinstance(state, dict)
        if not str(state["url"]).startswith("chrome-error:"):  # what it wanted was not let in
            frames.append((number, realm, owner))
            sizes.append(_size(state))
    return frames, sizes


def _size(state: JsonObject) -> tuple[int, int]:
    return cast("int", state["nodes"]), cast("int", state["text"])


Seen: TypeAlias = tuple[dict[str, AxNode], dict[int, Drawn]]
"""Accessibility nodes by id, the document's first; how DOM nodes are drawn, by backend id."""


async def _tried(realm: Realm) -> Seen | None:
    """None where a frame has gone meanwhile, or hangs."""
    try:
        return await _seen(realm)
    except BrowserError:
        return None


async def _seen(realm: Realm) -> Seen:
    ax, snapshot = await asyncio.gather(
        realm.send("Accessibility.getFullAXTree"),
        realm.send("DOMSnapshot.captureSnapshot", {"computedStyles": list(STYLES)}),
    )
    nodes = {n.node_id: n for n in map(ax_node, _objects(ax["nodes"]))}
    return await framed(realm.send, nodes, snapshot), _drawn(snapshot)


def _check_size(nodes: int, text: int) -> None:
    if nodes > MAX_NODES:
        raise BrowserError(f"the page is too large: more than {MAX_NODES} elements and texts")
    if text > MAX_TEXT:
        raise BrowserError(f"the page is too large: {text} characters, more than {MAX_TEXT}")


def _objects(value: Json) -> list[JsonObject]:
    return cast("list[JsonObject]", value)


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
            off=_is_off(box, style[4]),
            hidden=box[2] <= 1 and box[3] <= 1 and (style[1] == "hidden" or style[2] != "auto"),
        )
    return found


def _is_off(box: list[float], direction: str) -> bool:
    """Whether a box lies where no scrolling leads; pages that are written from right to left scroll to the left."""
    x, y, width, height = box
    drawn = width > 0 and height > 0
    return drawn and (y + height <= 0 or (direction == "ltr" and x + width <= 0))


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

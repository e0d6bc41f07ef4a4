"""Frames: pages inside a page. Their nodes are read as part of it, and their elements are found in worlds of their own.

Frames of another process (another site) are read by themselves (`foreign`) and put in their places here.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import NamedTuple, TypeAlias, cast

from dynaweb.browser.nodes import AxNode, Json, JsonObject, in_frame
from dynaweb.errors import BrowserError

Send: TypeAlias = Callable[[str, Mapping[str, Json]], Awaitable[JsonObject]]
"""Sends a DevTools command."""


async def framed(send: Send, nodes: dict[str, AxNode], snapshot: JsonObject) -> dict[str, AxNode]:
    """The page's nodes with those of its frames below the elements that hold them.

    Args:
        send: sends a DevTools command to the tab.
        nodes: accessibility nodes of the main document, by id.
        snapshot: the DOM snapshot, which says what document each frame element holds.
    """
    holders = _holders(snapshot)
    shown = {n.backend for n in nodes.values()}
    pending = [b for b in holders if b in shown]
    found = dict(nodes)
    while pending:
        trees = await asyncio.gather(*[_tree(send, holders[b]) for b in pending])
        inner: set[int | None] = set()
        for backend, tree in zip(pending, trees, strict=True):
            holder = next(n for n in found.values() if n.backend == backend)
            if tree:
                found[holder.node_id] = replace(
                    holder, children=(*holder.children, tree[0].node_id)
                )
            found.update((n.node_id, n) for n in tree)
            inner.update(n.backend for n in tree)
        pending = [b for b in holders if b in inner]
    return found


async def _tree(send: Send, frame: str) -> list[AxNode]:
    """A frame's nodes, its document first; none where it has gone since."""
    try:
        answer = await send("Accessibility.getFullAXTree", {"frameId": frame})
    except BrowserError as error:
        if "Frame with the given frameId is not found" in str(error):
            return []
        raise
    return [ax_node(raw) for raw in cast("list[JsonObject]", answer["nodes"])]


def _holders(snapshot: JsonObject) -> dict[int, str]:
    """Backend id of each element that holds a frame -> the frame's id."""
    strings = cast("list[str]", snapshot["strings"])
    documents = cast("list[JsonObject]", snapshot["documents"])
    found: dict[int, str] = {}
    for document in documents if len(documents) > 1 else []:
        nodes = cast(JsonObject, document["nodes"])
        backend = cast("list[int]", nodes["backendNodeId"])
        held = cast("dict[str, list[int]]", nodes["contentDocumentIndex"])
        for at, inside in zip(held["index"], held["value"], strict=True):
            found[backend[at]] = strings[cast("int", documents[inside]["frameId"])]
    return found


AT_HOME = "function() { return (this.ownerDocument || this).defaultView === globalThis; }"


class Home(NamedTuple):
    """Where an element lives."""

    handle: str
    """Object id in the isolated world of a document."""
    frames: tuple[str, ...]
    """Ids of that document's frame and of those around it, outwards."""


async def found_in_frames(
    send: Send, backend: int, world: str, *, at_home: bool = False
) -> Home | None:
    """An element of the outermost document or a frame, in the isolated world of a document that may see it.

    Args:
        send: sends a DevTools command.
        backend: the element.
        world: name of the isolated world.
        at_home: only in the world of its own document, so that the frames are its own.

    Returns:
        None where no document has it.
    """
    tree = cast(JsonObject, (await send("Page.getFrameTree", {}))["frameTree"])
    pending: list[tuple[JsonObject, tuple[str, ...]]] = [(tree, ())]
    while pending:
        place, around = pending.pop()
        frame = str(cast(JsonObject, place["frame"])["id"])
        frames = (frame, *around)
        pending += [(p, frames) for p in cast("list[JsonObject]", place.get("childFrames") or [])]
        try:
            made = await send("Page.createIsolatedWorld", {"frameId": frame, "worldName": world})
            context = made["executionContextId"]
            found = await send(
                "DOM.resolveNode", {"backendNodeId": backend, "executionContextId": context}
            )
        except BrowserError:
            continue  # not of this frame, or the frame has gone
        handle = object_id(found)
        if handle is not None and (not at_home or await _is_at_home(send, handle)):
            return Home(handle, frames)
    return None


async def _is_at_home(send: Send, handle: str) -> bool:
    """DevTools resolves a node in the world of any document that may see it, not in its own alone."""
    question: dict[str, Json] = {
        "functionDeclaration": AT_HOME,
        "objectId": handle,
        "returnByValue": True,
    }
    answer = await send("Runtime.callFunctionOn", question)
    return cast(JsonObject, answer["result"]).get("value") is True


def object_id(resolved: JsonObject) -> str | None:
    """The object that `DOM.resolveNode` gives; None where the node is of another origin than the world it was wanted in."""
    found = cast(JsonObject, resolved["object"]).get("objectId")
    return None if found is None else str(found)


def put_inside(
    nodes: dict[str, AxNode], owner: int, frame: int, inner: Mapping[str, AxNode]
) -> dict[str, AxNode]:
    """A page's nodes with those of a frame of another site below the element that holds it; as they are where that is not shown.

    Args:
        nodes: the page's, by id.
        owner: the element.
        frame: number of the frame; its nodes' ids are told from others' by it.
        inner: the frame's nodes, its document first.
    """
    holder = next((n for n in nodes.values() if n.backend == owner), None)
    if holder is None or not inner:
        return nodes

    def ours(node_id: str) -> str:
        return f"{frame}:{node_id}"

    found = [
        replace(
            node,
            node_id=ours(node.node_id),
            backend=None if node.backend is None else in_frame(frame, node.backend),
            children=tuple(map(ours, node.children)),
        )
        for node in inner.values()
    ]
    holds = replace(holder, children=(*holder.children, found[0].node_id))
    return nodes | {holder.node_id: holds} | {node.node_id: node for node in found}


def ax_node(raw: JsonObject) -> AxNode:
    """A node as `Accessibility.getFullAXTree` gives it, the parts that are used."""
    properties: dict[str, str | bool | float] = {}
    for p in cast("list[JsonObject]", raw.get("properties") or []):
        value = cast(JsonObject, p["value"]).get("value")
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

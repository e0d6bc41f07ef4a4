"""Where the elements of an observation stand in the document, for whoever compares it with another tool's."""

from collections.abc import Callable
from typing import cast

from dynaweb.browser.dompaths import element_paths
from dynaweb.browser.page import LivePage


async def places_of(
    live: LivePage, known: Callable[[int], str | None], without: frozenset[str]
) -> dict[str, str]:
    """The numbered elements of the main document: bid -> `dompaths.element_paths`.

    Args:
        live: the tab.
        known: backend node id -> bid, if it has one.
        without: ids of elements that are skipped, with all that is in them.

    Raises:
        BrowserError: the page is gone.
    """
    snapshot = await live.send("DOMSnapshot.captureSnapshot", {"computedStyles": []})
    documents = cast("list[dict[str, dict[str, object]]]", snapshot["documents"])
    nodes = documents[0]["nodes"]
    paths = element_paths(nodes, cast("list[str]", snapshot["strings"]), without)
    backends = cast("list[int]", nodes["backendNodeId"])
    named = ((known(backend), path) for path, backend in zip(paths, backends, strict=True) if path)
    return {bid: path for bid, path in named if bid is not None}

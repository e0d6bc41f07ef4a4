"""Giving files of this machine to a page: only from one folder, and only where a caller names it."""

from pathlib import Path
from typing import cast

from dynaweb.browser.devices import Refusal, move_mouse
from dynaweb.browser.nodes import BidMap
from dynaweb.browser.page import JsonObject, LivePage
from dynaweb.browser.safety import prepare
from dynaweb.errors import BrowserError
from dynaweb.records.action import MouseUploadFile, UploadFile
from dynaweb.records.trajectory import Fault

IS_FILE_FIELD = r"""function() {
  return this.isConnected && this.tagName === 'INPUT' && this.type === 'file' ? (this.multiple ? 'many' : 'one') : '';
}"""


async def upload(
    live: LivePage, action: UploadFile | MouseUploadFile, bids: BidMap, folder: Path
) -> Refusal | None:
    """Put files into a file field; no chooser opens.

    Args:
        live: the tab.
        action: which field, by bid or by a point on it, and which files.
        bids: numbers of the tab's elements.
        folder: paths are relative to it and may not leave it.

    Returns:
        Why it cannot be; None when it was done.

    Raises:
        BrowserError: the page or the browser is gone.
    """
    prepared = await prepare(live, action, bids)
    if isinstance(prepared, tuple):
        return prepared
    paths = [folder.resolve() / name for name in action.file]
    for name, path in zip(action.file, paths, strict=True):
        if not path.resolve().is_relative_to(folder.resolve()) or not path.is_file():
            return Fault.IMPOSSIBLE, f"there is no file {name[:80]!r} to upload"
    backend, what = await _field(live, action, bids)
    takes = await live.call(IS_FILE_FIELD, backend) if backend is not None else ""
    if not takes:
        return Fault.IMPOSSIBLE, f"{what} takes no files"
    if takes == "one" and len(paths) > 1:
        return Fault.IMPOSSIBLE, f"{what} takes one file, not {len(paths)}"
    assert backend is not None
    realm, own = live.realm_of(backend)
    await realm.send(
        "DOM.setFileInputFiles", {"files": [str(p) for p in paths], "backendNodeId": own}
    )
    return None


async def _field(
    live: LivePage, action: UploadFile | MouseUploadFile, bids: BidMap
) -> tuple[int | None, str]:
    """The node that is meant, and how to call it."""
    if isinstance(action, UploadFile):
        return bids.backend(action.bid), f"element {action.bid!r}"
    what = f"the point ({action.x:g}, {action.y:g})"
    if await move_mouse(live, action.x, action.y) is not None:
        return None, what
    at: JsonObject = {"x": int(action.x), "y": int(action.y)}
    try:
        found = await live.send(
            "DOM.getNodeForLocation", {**at, "includeUserAgentShadowDOM": False}
        )
    except BrowserError:
        if live.crashed:
            raise
        return None, what  # nothing is drawn there
    return cast("int", found["backendNodeId"]), what

"""What an action would change, asked of the page's DOM from a world that the page's scripts cannot reach."""

from typing import cast

from dynaweb.browser.guard.approval import Fields, Intent, Kind, kind_of_url, kind_of_words
from dynaweb.browser.nodes import BidMap
from dynaweb.browser.page import Gone, Json, JsonObject, LivePage
from dynaweb.browser.scripts import KEYBOARD, LOOK
from dynaweb.errors import BrowserError
from dynaweb.records.action import (
    Action,
    Click,
    Dblclick,
    Fill,
    Goto,
    KeyboardDown,
    KeyboardPress,
    KeyboardType,
    MouseClick,
    MouseDblclick,
    MouseDown,
    MouseUp,
    MouseUploadFile,
    Press,
    UploadFile,
    print_action,
)

FOCUSED = "document.activeElement"
ORIGIN = "function() { return this.ownerDocument.defaultView.origin; }"
SUBMITTING_KEYS = frozenset({"Enter", "NumpadEnter", " ", "Space"})
OUTSIDE = ("mailto:", "tel:", "sms:", "facetime:", "intent:", "market:")


async def intent_of(live: LivePage, action: Action, bids: BidMap) -> Intent | None:
    """What the action would change, as far as the page's DOM says.

    Args:
        live: the tab.
        action: what the agent wants to do.
        bids: numbers of the tab's elements.

    Returns:
        None when it would change nothing, or nothing that the DOM tells of: what scripts send is
        seen when they send it.

    Raises:
        BrowserError: the page is gone.
    """
    printed = print_action(action)
    if isinstance(action, Goto):
        kind = kind_of_url(action.url)
        if kind is None:
            return None
        return Intent(kind=kind, action=printed, element="address", text="", origin=_origin(action.url), method="GET", target=action.url.partition("#")[0])  # fmt: skip
    try:
        found = await _look(live, action, bids)
    except Gone:
        return None  # the action will find it gone too
    if isinstance(action, UploadFile | MouseUploadFile):
        origin = str(found["origin"]) if found else ""
        return Intent(kind=Kind.UPLOAD, action=printed, element="file field", text="", origin=origin)  # fmt: skip
    return None if found is None else _intent(found, printed)


async def _look(live: LivePage, action: Action, bids: BidMap) -> JsonObject | None:
    enter = False
    match action:
        case Click() | Dblclick() | UploadFile():
            backend = bids.backend(action.bid)
        case Press(bid, keys):
            if keys.rpartition("+")[2] not in SUBMITTING_KEYS:
                return None
            backend, enter = bids.backend(bid), True
        case KeyboardPress(keys) | KeyboardDown(keys):
            if keys.rpartition("+")[2] not in SUBMITTING_KEYS:
                return None
            backend, enter = await _focused(live), True
        case KeyboardType(text) if "\n" in text or "\r" in text:
            backend, enter = await _focused(live), True
        case MouseClick() | MouseDblclick() | MouseDown() | MouseUp() | MouseUploadFile():
            backend = await _at(live, action.x, action.y)
        case _:
            return None
    if backend is None:
        return None
    found = await live.call(LOOK, backend, enter)
    assert isinstance(found, dict)
    return None if found.get("gone") else found


async def receiver_of(live: LivePage, action: Action, bids: BidMap) -> str:
    """Origin of the document that what is typed goes to: a frame may be another's.

    Returns:
        Empty where a frame of another origin, or nobody, would get it.

    Raises:
        BrowserError: the page is gone.
    """
    if not isinstance(action, Fill):
        return str(await live.look(KEYBOARD))
    backend = bids.backend(action.bid)
    try:
        return "" if backend is None else str(await live.call(ORIGIN, backend))
    except Gone:
        return ""


async def _focused(live: LivePage) -> int | None:
    handle = await live.send("Runtime.evaluate", {"expression": FOCUSED})
    target = cast("JsonObject", handle["result"]).get("objectId")
    if target is None:
        return None
    node = await live.send("DOM.describeNode", {"objectId": target})
    return cast("int", cast("JsonObject", node["node"])["backendNodeId"])


async def _at(live: LivePage, x: float, y: float) -> int | None:
    try:
        at: JsonObject = {"x": int(x), "y": int(y), "includeUserAgentShadowDOM": False}
        return cast("int", (await live.send("DOM.getNodeForLocation", at))["backendNodeId"])
    except BrowserError:
        if live.crashed:
            raise
        return None  # nothing is drawn there


def _intent(found: JsonObject, printed: str) -> Intent | None:
    text, href, origin = str(found["text"]), str(found["href"]), str(found["origin"])
    element = " ".join(x for x in (str(found["tag"]), str(found["type"])) if x)
    form = found["form"]
    if isinstance(form, dict):
        return _form_intent(form, printed, element, text, origin)
    if href.lower().startswith(OUTSIDE):
        return Intent(kind=Kind.OPEN, action=printed, element=element, text=text, origin=origin, method="GET", target=href)  # fmt: skip
    kind = kind_of_url(href)
    if kind is None and found["acts"]:
        kind = kind_of_words(text, link=bool(href))
    if kind is None:
        return None
    web = href.startswith(("http://", "https://"))
    return Intent(
        kind=kind, action=printed, element=element, text=text, origin=origin,
        method="GET" if web else "", target=href.partition("#")[0] if web else "",
    )  # fmt: skip


def _form_intent(
    form: JsonObject, printed: str, element: str, text: str, origin: str
) -> Intent | None:
    method, target = str(form["method"]), str(form["action"])
    words = kind_of_words(text, link=False)
    # a search form says Submit too: what a GET form changes is told by its address or a stronger word
    if method == "GET" and kind_of_url(target) is None and words in (None, Kind.SEND):
        return None
    if method == "DIALOG":
        return None
    pairs = cast("list[list[str]]", form["fields"])
    fields: Fields = tuple((str(n), str(v)) for n, v in pairs)
    hidden = cast("list[Json]", form["hidden"])
    return Intent(
        kind=kind_of_url(target) or words or Kind.SUBMIT, action=printed, element=element, text=text,
        origin=origin, method=method, target=target, fields=fields, hidden=frozenset(map(str, hidden)),
    )  # fmt: skip


def _origin(url: str) -> str:
    return "/".join(url.split("/", 3)[:3])

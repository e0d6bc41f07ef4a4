"""The validity gate: what no page lets you do. The same in the real browser and in a dream.

It decides from the observation alone, before the browser or the model is asked; what only the page
itself can refuse (an obscured button) stays the browser's to report. The messages are shown to the
agent and are part of the interface: the same bad action has the same words in both worlds.
"""

import re

from dynaweb.axtree.tree import Node, Tree, find_element, read_tree, subtree_end
from dynaweb.records.action import (
    Action,
    Clear,
    Click,
    Dblclick,
    DragAndDrop,
    Fill,
    GoBack,
    GoForward,
    Goto,
    Hover,
    MouseUploadFile,
    SelectOption,
    TabClose,
    TabFocus,
    UploadFile,
    target_bids,
)
from dynaweb.records.observation import Observation, Tab
from dynaweb.records.trajectory import Fault

EDITABLE_ROLES = frozenset(
    {
        "textbox",
        "searchbox",
        "spinbutton",
        "combobox",
        "slider",
        "Date",
        "DateTime",
        "InputTime",
        "ColorWell",
    }
)
"""Roles that take text: text fields, numbers, dates, colours, sliders."""

SELECT_ROLES = frozenset({"combobox", "listbox"})

OPTION_ROLES = frozenset({"option", "menuitem"})

FORMS = {
    "Date": ("YYYY-MM-DD", re.compile(r"\d{4,6}-\d\d-\d\d")),
    "InputTime": ("HH:MM", re.compile(r"\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?")),
    "ColorWell": ("#rrggbb", re.compile(r"#[0-9a-fA-F]{6}")),
}
"""Role -> the form of its value, in words and as a pattern."""

URL_SCHEMES = ("http://", "https://", "about:blank")

Refusal = tuple[Fault, str]


def check_action(
    observation: Observation, action: Action, *, uploads: bool = False
) -> Refusal | None:
    """Why the action cannot be done on this page; None when the page may be asked.

    Args:
        observation: the page.
        action: what the agent wants to do.
        uploads: whether this world lets an action read files of this machine.

    Returns:
        The fault's class and the message for `last_action_error`.
    """
    match action:
        case UploadFile() | MouseUploadFile() if not uploads:
            return Fault.IMPOSSIBLE, "files cannot be uploaded here"
        case GoBack() | GoForward() | TabClose() | TabFocus() | Goto():
            return _check_page(observation, action)
        case _:
            pass
    bids = target_bids(action)
    if not bids:
        return None
    tree = read_tree(observation.tree)
    for bid in bids:
        at = find_element(tree, bid)
        if at is None:
            return Fault.MISSING_ELEMENT, f"no element with bid {bid!r} on this page"
        refusal = _check_element(tree, at, action)
        if refusal is not None:
            return refusal
    return None


def _check_page(observation: Observation, action: Action) -> Refusal | None:
    tab = _active(observation)
    match action:
        case GoBack() if tab is not None and not tab.back:
            return Fault.IMPOSSIBLE, "there is no page to go back to"
        case GoForward() if tab is not None and not tab.forward:
            return Fault.IMPOSSIBLE, "there is no page to go forward to"
        case TabClose() if len(observation.tabs) <= 1:
            return Fault.IMPOSSIBLE, "the only tab cannot be closed"
        case TabFocus(index) if not 0 <= index < max(len(observation.tabs), 1):
            return (
                Fault.IMPOSSIBLE,
                f"there is no tab {index}; tabs are 0 to {max(len(observation.tabs), 1) - 1}",
            )
        case Goto(url) if not url.startswith(URL_SCHEMES):
            return (
                Fault.IMPOSSIBLE,
                f"{url[:80]!r} is not an address; write http:// or https:// in front",
            )
        case _:
            return None


def _active(observation: Observation) -> Tab | None:
    if 0 <= observation.active_tab < len(observation.tabs):
        return observation.tabs[observation.active_tab]
    return None


def _check_element(tree: Tree, at: int, action: Action) -> Refusal | None:
    node = tree[at]
    what = f"element {node.bid!r} ({node.role})"
    touches = Click | Dblclick | Fill | Clear | SelectOption | DragAndDrop | UploadFile
    if isinstance(action, touches) and node.attr("disabled") is True:
        return Fault.DISABLED, f"{what} is disabled"
    match action:
        case Click() | Dblclick() | Hover() | DragAndDrop():
            if _in_closed_list(tree, at):
                told = f"element {node.bid!r} is inside a closed list; use select_option"
                return Fault.IMPOSSIBLE, told
        case Fill() | Clear():
            if not _editable(node) or _is_menu(tree, at):
                return Fault.NOT_EDITABLE, f"{what} cannot be filled; it is not a text field"
            return _check_form(node, action)
        case SelectOption(_, options):
            if node.role not in SELECT_ROLES:
                return Fault.NOT_AN_OPTION, f"{what} has no options to select"
            return _check_options(tree, at, options, what)
        case _:
            pass
    return None


def _editable(node: Node) -> bool:
    if node.attr("readonly") is True:
        return False
    return (
        node.role in EDITABLE_ROLES
        or node.attr("contenteditable") is not None
        or node.attr("editable") is not None
    )


def _is_menu(tree: Tree, at: int) -> bool:
    """A select element: Chromium calls it combobox too, but it takes no text."""
    return tree[at].attr("hasPopup") == "menu" or bool(_options(tree, at))


def _options(tree: Tree, at: int) -> list[Node]:
    return [n for n in tree[at + 1 : subtree_end(tree, at)] if n.role in OPTION_ROLES]


def _in_closed_list(tree: Tree, at: int) -> bool:
    """Whether this is an option of a plain drop-down, which shows its options only while it is open.

    A list that a page builds itself says whether it is open (`expanded`).
    """
    if tree[at].role != "option":
        return False
    above = (n for n in reversed(tree[:at]) if n.depth < tree[at].depth)
    list_node = next(above, None)
    return (
        list_node is not None
        and list_node.role == "combobox"
        and list_node.attr("expanded") is None
    )


def _check_form(node: Node, action: Action) -> Refusal | None:
    """Fields that take one form only, in the browser's words; a date that does not exist is its to refuse."""
    form = FORMS.get(node.role)
    if form is None or not isinstance(action, Fill) or not action.value:
        return None
    words, pattern = form
    if pattern.fullmatch(action.value):
        return None
    return Fault.IMPOSSIBLE, f"element {node.bid!r} takes {words} only"


def _check_options(tree: Tree, at: int, wanted: tuple[str, ...], what: str) -> Refusal | None:
    """Options are judged only when the page lists them; a value may differ from the text shown."""
    options = _options(tree, at)
    known = {str(text) for n in options for text in (n.name, n.attr("value")) if text is not None}
    if not known:
        return None
    for option in wanted:
        if option not in known:
            return Fault.NOT_AN_OPTION, f"{what} has no option {option[:40]!r}"
    return None

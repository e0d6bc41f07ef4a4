"""What the agent may do, one record for each of BrowserGym's 33 primitives (0.14, its `action.functions`).

Names of fields are BrowserGym's, because replies may name them; `dynaweb.records.action` joins the
records to the closed union and holds their grammar.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Click:
    """Press and release a mouse button on an element."""

    bid: str
    button: str = "left"
    modifiers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Dblclick:
    """Double-click an element."""

    bid: str
    button: str = "left"
    modifiers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Hover:
    """Move the mouse over an element."""

    bid: str


@dataclass(frozen=True, slots=True)
class Fill:
    """Replace the text of a field."""

    bid: str
    value: str
    enable_autocomplete_menu: bool = False
    """Type the last character as a key, so that a menu of suggestions opens."""


@dataclass(frozen=True, slots=True)
class Clear:
    """Empty a field."""

    bid: str


@dataclass(frozen=True, slots=True)
class Press:
    """Focus an element and press a key or combination, for example `Enter` or `Control+a`."""

    bid: str
    key_comb: str


@dataclass(frozen=True, slots=True)
class Focus:
    """Give an element the keyboard."""

    bid: str


@dataclass(frozen=True, slots=True)
class SelectOption:
    """Choose options of a select element by their text or value."""

    bid: str
    options: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DragAndDrop:
    """Drag one element onto another."""

    from_bid: str
    to_bid: str


@dataclass(frozen=True, slots=True)
class Scroll:
    """Scroll the page, in CSS pixels."""

    delta_x: float
    delta_y: float


@dataclass(frozen=True, slots=True)
class Noop:
    """Wait, in milliseconds."""

    wait_ms: float = 1000.0


@dataclass(frozen=True, slots=True)
class GoBack:
    """Go to the previous page of the tab."""


@dataclass(frozen=True, slots=True)
class GoForward:
    """Go to the next page of the tab."""


@dataclass(frozen=True, slots=True)
class Goto:
    """Open an address in the active tab."""

    url: str


@dataclass(frozen=True, slots=True)
class NewTab:
    """Open an empty tab and make it active."""


@dataclass(frozen=True, slots=True)
class TabClose:
    """Close the active tab."""


@dataclass(frozen=True, slots=True)
class TabFocus:
    """Make a tab active, counted from 0."""

    index: int


@dataclass(frozen=True, slots=True)
class SendMsgToUser:
    """Answer the user; ends the episode."""

    text: str


@dataclass(frozen=True, slots=True)
class ReportInfeasible:
    """Say that the task cannot be done; ends the episode."""

    reason: str


@dataclass(frozen=True, slots=True)
class UploadFile:
    """Give files to a file field. It reads this machine's files: off unless the world allows it."""

    bid: str
    file: tuple[str, ...]
    """Paths."""


@dataclass(frozen=True, slots=True)
class ScrollAt:
    """Scroll with the mouse over a point of the viewport, in CSS pixels."""

    x: float
    y: float
    dx: float
    dy: float


@dataclass(frozen=True, slots=True)
class MouseMove:
    """Move the mouse to a point of the viewport, in CSS pixels."""

    x: float
    y: float


@dataclass(frozen=True, slots=True)
class MouseDown:
    """Move the mouse to a point and press a button, without letting go."""

    x: float
    y: float
    button: str = "left"


@dataclass(frozen=True, slots=True)
class MouseUp:
    """Move the mouse to a point and let go of a button."""

    x: float
    y: float
    button: str = "left"


@dataclass(frozen=True, slots=True)
class MouseClick:
    """Click at a point of the viewport."""

    x: float
    y: float
    button: str = "left"


@dataclass(frozen=True, slots=True)
class MouseDblclick:
    """Double-click at a point of the viewport."""

    x: float
    y: float
    button: str = "left"


@dataclass(frozen=True, slots=True)
class MouseDragAndDrop:
    """Drag from one point of the viewport to another."""

    from_x: float
    from_y: float
    to_x: float
    to_y: float


@dataclass(frozen=True, slots=True)
class MouseUploadFile:
    """Click at a point and give files to the chooser that opens: off unless the world allows it."""

    x: float
    y: float
    file: tuple[str, ...]
    """Paths."""


@dataclass(frozen=True, slots=True)
class KeyboardDown:
    """Press a key and hold it."""

    key: str


@dataclass(frozen=True, slots=True)
class KeyboardUp:
    """Let go of a key."""

    key: str


@dataclass(frozen=True, slots=True)
class KeyboardPress:
    """Press a key or combination wherever the keyboard is, for example `Enter` or `Control+a`."""

    key: str


@dataclass(frozen=True, slots=True)
class KeyboardType:
    """Type text key by key wherever the keyboard is."""

    text: str


@dataclass(frozen=True, slots=True)
class KeyboardInsertText:
    """Put text in wherever the keyboard is, without key events."""

    text: str

"""What the agent may do: a closed union in the BrowserGym dialect. Parsed once, never executed.

`parse_action(print_action(a)) == a` for every action. The strict grammar is one call with literal
arguments; the lenient front for model replies lives in `dynaweb.agent.reply`.
"""

import ast
import warnings
from dataclasses import MISSING, dataclass, fields
from typing import Literal, TypeAlias, get_args

from dynaweb.errors import ActionError

Button: TypeAlias = Literal["left", "middle", "right"]

MAX_ACTION_CHARS = 20_000
MAX_DEPTH = 8


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


Action: TypeAlias = (
    Click
    | Dblclick
    | Hover
    | Fill
    | Clear
    | Press
    | Focus
    | SelectOption
    | DragAndDrop
    | Scroll
    | Noop
    | GoBack
    | GoForward
    | Goto
    | NewTab
    | TabClose
    | TabFocus
    | SendMsgToUser
    | ReportInfeasible
)

ACTION_TYPES: tuple[type[Action], ...] = get_args(Action)


def action_name(kind: type[Action]) -> str:
    """Name of an action in the grammar: `SelectOption` -> `select_option`."""
    word = kind.__name__
    return "".join(f"_{c.lower()}" if c.isupper() and i else c.lower() for i, c in enumerate(word))


BY_NAME: dict[str, type[Action]] = {action_name(kind): kind for kind in ACTION_TYPES}

Literals: TypeAlias = str | int | float | tuple[str, ...]


def print_action(action: Action) -> str:
    """The action as one line of the grammar, defaults left out: `click('12')`."""
    parts: list[str] = []
    skipped = False
    for f in fields(action):
        value = getattr(action, f.name)
        if f.default is not MISSING and value == f.default:
            skipped = True
            continue
        shown = (
            repr(value[0] if len(value) == 1 else list(value))
            if isinstance(value, tuple)
            else repr(value)
        )
        parts.append(f"{f.name}={shown}" if skipped else shown)
    return f"{action_name(type(action))}({', '.join(parts)})"


def parse_action(text: str) -> Action:
    """Read one action strictly.

    Raises:
        ActionError: not exactly one known call with literal arguments of the right types.
    """
    call = _parse_call(text)
    name = call.func.id if isinstance(call.func, ast.Name) else ""
    kind = BY_NAME.get(name)
    if kind is None:
        raise ActionError(f"unknown action {name[:40]!r}: use one of {', '.join(sorted(BY_NAME))}")
    declared = {f.name: f for f in fields(kind)}
    if len(call.args) > len(declared):
        raise ActionError(f"{name} takes at most {len(declared)} arguments, got {len(call.args)}")
    given: dict[str, ast.expr] = dict(zip(declared, call.args, strict=False))
    for keyword in call.keywords:
        if keyword.arg not in declared or keyword.arg in given:
            raise ActionError(f"{name} has no free argument {str(keyword.arg)[:40]!r}")
        given[keyword.arg] = keyword.value
    missing = [n for n, f in declared.items() if f.default is MISSING and n not in given]
    if missing:
        raise ActionError(f"{name} needs {', '.join(missing)}")
    values = {n: _literal(name, n, str(declared[n].type), node) for n, node in given.items()}
    return kind(**values)  # type: ignore[arg-type]  # each value was checked against its field


def _parse_call(text: str) -> ast.Call:
    if len(text) > MAX_ACTION_CHARS:
        raise ActionError(f"action of {len(text)} characters; at most {MAX_ACTION_CHARS}")
    if text.count("(") + text.count("[") + text.count("{") > 4 * MAX_DEPTH and not any(
        q in text for q in "'\""
    ):
        raise ActionError("action nested too deeply")
    try:
        with warnings.catch_warnings():
            # the parser warns of odd literals such as 1and; models write them, nobody runs them
            warnings.simplefilter("ignore", SyntaxWarning)
            tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ActionError(
            f"not an action: {text[:80]!r}; write one call such as click('12')"
        ) from error
    if not isinstance(tree.body, ast.Call):
        raise ActionError(f"not an action: {text[:80]!r}; write one call such as click('12')")
    return tree.body


def _literal(action: str, name: str, declared: str, node: ast.expr) -> Literals:
    value: object = None
    if isinstance(node, ast.List | ast.Tuple) and all(
        isinstance(e, ast.Constant) for e in node.elts
    ):
        value = tuple(e.value for e in node.elts if isinstance(e, ast.Constant))
    elif (
        isinstance(node, ast.UnaryOp)
        and isinstance(node.op, ast.USub)
        and isinstance(node.operand, ast.Constant)
    ):
        number = node.operand.value
        value = (
            -number if isinstance(number, int | float) and not isinstance(number, bool) else None
        )
    elif isinstance(node, ast.Constant):
        value = node.value
    return _typed(action, name, declared, value)


def _typed(action: str, name: str, declared: str, value: object) -> Literals:
    if "tuple" in declared:
        if isinstance(value, str):
            return (value,)
        if isinstance(value, tuple) and all(isinstance(v, str) for v in value):
            return value
    elif "float" in declared:
        if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e9:
            return float(value)
    elif "int" in declared:
        if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1_000_000:
            return value
    elif isinstance(value, str):
        return value
    raise ActionError(f"{action}: argument {name} must be {declared}, got {str(value)[:40]!r}")


def target_bids(action: Action) -> tuple[str, ...]:
    """Bids the action addresses, in order; empty for page-level actions."""
    match action:
        case DragAndDrop(from_bid, to_bid):
            return (from_bid, to_bid)
        case Click() | Dblclick() | Hover() | Fill() | Clear() | Press() | Focus() | SelectOption():
            return (action.bid,)
        case _:
            return ()

"""What the agent may do: a closed union in BrowserGym's grammar. Parsed once, never executed.

`parse_action(print_action(a)) == a` for every action within the limits below. The strict grammar is
one call with literal arguments; the lenient front for model replies lives in `dynaweb.agent.reply`,
the grammar of WebArena in `dynaweb.records.webarena`.
"""

import ast
import warnings
from collections.abc import Sequence
from dataclasses import MISSING, fields, replace
from typing import TypeAlias, get_args

from dynaweb.errors import ActionError
from dynaweb.records.calltext import scan_call, skip_space
from dynaweb.records.primitives import Clear as Clear
from dynaweb.records.primitives import Click as Click
from dynaweb.records.primitives import Dblclick as Dblclick
from dynaweb.records.primitives import DragAndDrop as DragAndDrop
from dynaweb.records.primitives import Fill as Fill
from dynaweb.records.primitives import Focus as Focus
from dynaweb.records.primitives import GoBack as GoBack
from dynaweb.records.primitives import GoForward as GoForward
from dynaweb.records.primitives import Goto as Goto
from dynaweb.records.primitives import Hover as Hover
from dynaweb.records.primitives import KeyboardDown as KeyboardDown
from dynaweb.records.primitives import KeyboardInsertText as KeyboardInsertText
from dynaweb.records.primitives import KeyboardPress as KeyboardPress
from dynaweb.records.primitives import KeyboardType as KeyboardType
from dynaweb.records.primitives import KeyboardUp as KeyboardUp
from dynaweb.records.primitives import MouseClick as MouseClick
from dynaweb.records.primitives import MouseDblclick as MouseDblclick
from dynaweb.records.primitives import MouseDown as MouseDown
from dynaweb.records.primitives import MouseDragAndDrop as MouseDragAndDrop
from dynaweb.records.primitives import MouseMove as MouseMove
from dynaweb.records.primitives import MouseUp as MouseUp
from dynaweb.records.primitives import MouseUploadFile as MouseUploadFile
from dynaweb.records.primitives import NewTab as NewTab
from dynaweb.records.primitives import Noop as Noop
from dynaweb.records.primitives import Press as Press
from dynaweb.records.primitives import ReportInfeasible as ReportInfeasible
from dynaweb.records.primitives import Scroll as Scroll
from dynaweb.records.primitives import ScrollAt as ScrollAt
from dynaweb.records.primitives import SelectOption as SelectOption
from dynaweb.records.primitives import SendMsgToUser as SendMsgToUser
from dynaweb.records.primitives import TabClose as TabClose
from dynaweb.records.primitives import TabFocus as TabFocus
from dynaweb.records.primitives import UploadFile as UploadFile

MAX_ACTION_CHARS = 20_000

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
    | UploadFile
    | ScrollAt
    | MouseMove
    | MouseDown
    | MouseUp
    | MouseClick
    | MouseDblclick
    | MouseDragAndDrop
    | MouseUploadFile
    | KeyboardDown
    | KeyboardUp
    | KeyboardPress
    | KeyboardType
    | KeyboardInsertText
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
    told = f"not an action: {text[:80]!r}; write one call such as click('12')"
    if skip_space(text, scan_call(text).end) != len(text):
        raise ActionError(told)
    try:
        with warnings.catch_warnings():
            # the parser warns of odd literals such as 1and; models write them, nobody runs them
            warnings.simplefilter("ignore", SyntaxWarning)
            tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ActionError(told) from error
    if not isinstance(tree.body, ast.Call):
        raise ActionError(told)
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
    match value:
        case bool():
            if "bool" in declared:
                return value
        case str():
            if "tuple" in declared:
                return (value,)
            if "str" in declared:
                return value
        case tuple():
            if "tuple" in declared and all(isinstance(v, str) for v in value):
                return value
        case int() if "int" in declared and abs(value) < 1_000_000:
            return value
        case int() | float() if "float" in declared and abs(value) < 1e9:
            return float(value)
        case _:
            pass
    raise ActionError(f"{action}: argument {name} must be {declared}, got {str(value)[:40]!r}")


def target_bids(action: Action) -> tuple[str, ...]:
    """Bids the action addresses, in order; empty for page-level actions."""
    match action:
        case DragAndDrop(from_bid, to_bid):
            return (from_bid, to_bid)
        case Click() | Dblclick() | Hover() | Fill() | Clear() | Press() | Focus():
            return (action.bid,)
        case SelectOption() | UploadFile():
            return (action.bid,)
        case _:
            return ()


def with_bids(action: Action, bids: Sequence[str]) -> Action:
    """The same action on other elements: as many as `target_bids` gives, in that order."""
    match action:
        case DragAndDrop():
            return replace(action, from_bid=bids[0], to_bid=bids[1])
        case Click() | Dblclick() | Hover() | Fill() | Clear() | Press() | Focus():
            return replace(action, bid=bids[0])
        case SelectOption() | UploadFile():
            return replace(action, bid=bids[0])
        case _:
            return action

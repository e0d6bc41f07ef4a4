"""Actions as they are stored: a line of the grammar, or their fields where the grammar's limits would refuse them."""

from dataclasses import fields
from typing import get_origin, get_type_hints

from dynaweb.errors import ActionError
from dynaweb.records.action import (
    ACTION_TYPES,
    BY_NAME,
    Action,
    action_name,
    parse_action,
    print_action,
)

KIND = "kind"
"""Key that names the class where a field may hold one of several records."""


def encode_action(value: object) -> object:
    """The action as a line of the grammar; an object of its fields when that line would not parse back."""
    assert isinstance(value, ACTION_TYPES)
    text = print_action(value)
    try:
        if parse_action(text) == value:
            return text
    except ActionError:  # longer text or larger numbers than a model may write; a record keeps them
        pass
    return {
        KIND: action_name(type(value)),
        **{f.name: getattr(value, f.name) for f in fields(value)},
    }


def decode_action(value: object) -> Action:
    """What `encode_action` wrote.

    Raises:
        ActionError: it did not write this.
    """
    if isinstance(value, str):
        return parse_action(value)
    kind = BY_NAME.get(str(value.get(KIND))) if isinstance(value, dict) else None
    if kind is None or not isinstance(value, dict):
        raise ActionError(f"not a stored action: {str(value)[:60]!r}")
    hints = get_type_hints(kind)
    given = {k: tuple(v) if isinstance(v, list) else v for k, v in value.items() if k != KIND}
    for name, held in given.items():
        hint = hints.get(name)
        if not isinstance(held, (int, float) if hint is float else get_origin(hint) or hint or ()):
            raise ActionError(f"not a stored {action_name(kind)}: {name}={str(held)[:40]!r}")
    try:
        return kind(**given)  # type: ignore[arg-type]  # each value was checked against its field
    except TypeError as error:
        raise ActionError(f"not a stored {action_name(kind)}: {error}") from error

"""How one field becomes JSON and back, chosen once from its type annotation.

Knows the types that records are made of: `str`, `int`, `float`, `bool`, enums, `Literal`, `X | None`, tuples, mappings,
records, unions of records, and `Action`. It refuses any other type when the codec is built, not when a file is read.
"""

import types
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from enum import StrEnum
from functools import cache
from typing import Literal, TypeAlias, TypeGuard, Union, get_args, get_origin, get_type_hints

from dynaweb.errors import ActionError, StorageError
from dynaweb.records.action import ACTION_TYPES
from dynaweb.records.actioncode import KIND, decode_action, encode_action
from dynaweb.records.packing import pack_floats, pack_ints, unpack

Json: TypeAlias = object
"""What `json.loads` returns; checked field by field."""

PACK_FROM = 8
"""Shorter number lists stay readable JSON."""


@dataclass(frozen=True, slots=True)
class FieldCodec:
    """Both directions for one type."""

    encode: Callable[[object], object]
    decode: Callable[[object, str], object]
    """Takes the JSON and where it is (`steps[3].action`); raises StorageError that says so."""


def wrong(where: str, expected: str, found: object) -> StorageError:
    """The error for a value that is not what its field holds."""
    return StorageError(f"{where}: expected {expected}, found {str(found)[:60]!r}")


def codec_for(annotation: object) -> FieldCodec:
    """The codec for a type annotation; made once.

    Raises:
        TypeError: records may not hold this type.
    """
    return _codec_for(annotation)


@cache
def _codec_for(annotation: object) -> FieldCodec:
    if isinstance(annotation, type):
        if issubclass(annotation, StrEnum):
            return _enum(annotation)
        if annotation in ACTION_TYPES:
            return _ACTION
        if is_dataclass(annotation):
            return _record(annotation)
        if annotation in _PRIMITIVES:
            return _PRIMITIVES[annotation]
    origin, args = get_origin(annotation), get_args(annotation)
    if origin in (Union, types.UnionType):
        return _union(args)
    if origin is tuple:
        return _tuple(args)
    if origin is Literal:
        return _literal(args)
    if origin in (Mapping, dict) or (isinstance(origin, type) and issubclass(origin, Mapping)):
        return _mapping(args[1])
    raise TypeError(f"a record field cannot be {annotation!r}: add it to records/fieldcodec.py")


def _primitive(
    name: str, accepts: Callable[[object], bool], make: type[float] | None = None
) -> FieldCodec:
    def encode(value: object) -> object:
        return value

    def decode(value: object, where: str) -> object:
        if not accepts(value):
            raise wrong(where, name, value)
        return make(value) if make and _is_number(value) else value

    return FieldCodec(encode, decode)


def _is_number(value: object) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


_PRIMITIVES: dict[type, FieldCodec] = {
    str: _primitive("text", lambda v: isinstance(v, str)),
    bool: _primitive("true or false", lambda v: isinstance(v, bool)),
    int: _primitive("a whole number", lambda v: isinstance(v, int) and not isinstance(v, bool)),
    float: _primitive("a number", _is_number, float),
    type(None): _primitive("null", lambda v: v is None),
}


def _enum(kind: type[StrEnum]) -> FieldCodec:
    by_value: dict[str, StrEnum] = {m.value: m for m in kind}

    def decode(value: object, where: str) -> object:
        found = by_value.get(value) if isinstance(value, str) else None
        if found is None:
            raise wrong(where, f"one of {', '.join(map(str, by_value))}", value)
        return found

    return FieldCodec(str, decode)


def _literal(values: tuple[object, ...]) -> FieldCodec:
    def decode(value: object, where: str) -> object:
        if value not in values:
            raise wrong(where, f"one of {', '.join(map(str, values))}", value)
        return value

    return FieldCodec(_PRIMITIVES[str].encode, decode)


def _decode_action(value: object, where: str) -> object:
    try:
        return decode_action(value)
    except ActionError as error:
        raise StorageError(f"{where}: {error}") from error


_ACTION = FieldCodec(encode_action, _decode_action)


def _union(args: tuple[object, ...]) -> FieldCodec:
    rest = tuple(a for a in args if a is not type(None))
    inner = codec_for(rest[0]) if len(rest) == 1 else _variants(rest)
    if len(rest) == len(args):
        return inner

    def encode(value: object) -> object:
        return None if value is None else inner.encode(value)

    def decode(value: object, where: str) -> object:
        return None if value is None else inner.decode(value, where)

    return FieldCodec(encode, decode)


def _variants(kinds: tuple[object, ...]) -> FieldCodec:
    if set(kinds) <= set(ACTION_TYPES):
        return _ACTION
    if set(kinds) <= set(_PRIMITIVES):
        return _primitive(
            "text or a number",
            lambda v: isinstance(v, tuple(k for k in kinds if isinstance(k, type))),
        )
    by_name = {k.__name__: _record(k) for k in kinds if isinstance(k, type) and is_dataclass(k)}
    if len(by_name) != len(kinds):
        raise TypeError(f"a record field cannot be one of {kinds!r}: mix records with records only")

    def encode(value: object) -> object:
        name = type(value).__name__
        body = by_name[name].encode(value)
        assert isinstance(body, dict)
        return {KIND: name, **body}

    def decode(value: object, where: str) -> object:
        if not isinstance(value, dict) or value.get(KIND) not in by_name:
            raise wrong(where, f"one of {', '.join(by_name)}", value)
        return by_name[str(value[KIND])].decode(
            {k: v for k, v in value.items() if k != KIND}, where
        )

    return FieldCodec(encode, decode)


def _tuple(args: tuple[object, ...]) -> FieldCodec:
    if len(args) == 2 and args[1] is Ellipsis:
        if args[0] in (int, float):
            return _numbers(args[0])
        return _sequence(codec_for(args[0]))
    parts = [codec_for(a) for a in args]

    def encode(value: object) -> object:
        assert isinstance(value, tuple)
        return [p.encode(v) for p, v in zip(parts, value, strict=True)]

    def decode(value: object, where: str) -> object:
        if not isinstance(value, list) or len(value) != len(parts):
            raise wrong(where, f"a list of {len(parts)}", value)
        return tuple(
            p.decode(v, f"{where}[{i}]") for i, (p, v) in enumerate(zip(parts, value, strict=True))
        )

    return FieldCodec(encode, decode)


def _sequence(item: FieldCodec) -> FieldCodec:
    def encode(value: object) -> object:
        assert isinstance(value, tuple)
        return [item.encode(v) for v in value]

    def decode(value: object, where: str) -> object:
        if not isinstance(value, list):
            raise wrong(where, "a list", value)
        return tuple([item.decode(v, f"{where}[{i}]") for i, v in enumerate(value)])

    return FieldCodec(encode, decode)


def _numbers(kind: object) -> FieldCodec:
    plain = _sequence(_PRIMITIVES[int if kind is int else float])
    pack = pack_ints if kind is int else pack_floats

    def encode(value: object) -> object:
        assert isinstance(value, tuple)
        return (pack(value) if len(value) >= PACK_FROM else None) or list(value)

    def decode(value: object, where: str) -> object:
        if not isinstance(value, str):
            return plain.decode(value, where)
        numbers = unpack(value)
        if numbers is None or not isinstance(
            numbers[0] if numbers else 0, int if kind is int else float
        ):
            raise wrong(where, "packed numbers", value)
        return numbers

    return FieldCodec(encode, decode)


def _mapping(value_type: object) -> FieldCodec:
    item = codec_for(value_type)

    def encode(value: object) -> object:
        assert isinstance(value, Mapping)
        return {str(k): item.encode(v) for k, v in value.items()}

    def decode(value: object, where: str) -> object:
        if not isinstance(value, dict):
            raise wrong(where, "an object", value)
        return {k: item.decode(v, f"{where}.{k}") for k, v in value.items()}

    return FieldCodec(encode, decode)


@cache
def _record(kind: type) -> FieldCodec:
    """The codec of a record: an object of its fields, those that hold their default left out."""
    hints = get_type_hints(kind)
    parts = [
        (
            f,
            codec_for(hints[f.name]),
            f.default_factory() if f.default_factory is not MISSING else f.default,
        )
        for f in fields(kind)
    ]
    known = {f.name: part for f, part, _ in parts}
    needed = [f.name for f, _, default in parts if default is MISSING]

    def encode(value: object) -> object:
        out: dict[str, object] = {}
        for f, part, default in parts:
            held = getattr(value, f.name)
            if held != default or type(held) is not type(default):
                out[f.name] = part.encode(held)
        return out

    def decode(value: object, where: str) -> object:
        if not isinstance(value, dict):
            raise wrong(where, f"a {kind.__name__}", value)
        if unknown := [k for k in value if k not in known]:
            raise StorageError(f"{where}: {kind.__name__} has no field {unknown[0]!r}")
        if missing := [n for n in needed if n not in value]:
            raise StorageError(f"{where}: {kind.__name__} needs {missing[0]!r}")
        return kind(**{k: known[k].decode(v, f"{where}.{k}") for k, v in value.items()})

    return FieldCodec(encode, decode)

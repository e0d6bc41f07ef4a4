"""`--set gspo.steps=20`: any field of a configuration by its dotted name, checked against its type and range."""

import types
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from dynaweb.cli.endings import did_you_mean
from dynaweb.cli.fielddocs import field_docs
from dynaweb.errors import UserError
from dynaweb.train.config import LENGTHS

C = TypeVar("C")


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One field of a configuration."""

    key: str
    """Dotted name: `gspo.steps`."""
    value: object
    """What it is now."""
    annotation: object
    """Its type."""
    doc: str
    """Its docstring."""


def settings_of(config: object, prefix: str = "") -> Iterator[Setting]:
    """Every field of a configuration and of the configurations in it."""
    assert is_dataclass(config)
    hints, docs = get_type_hints(type(config)), field_docs(type(config))
    for f in fields(config):
        value, key = getattr(config, f.name), prefix + f.name
        if is_dataclass(value):
            yield from settings_of(value, f"{key}.")
        else:
            yield Setting(key=key, value=value, annotation=hints[f.name], doc=docs[f.name])


FEW = 25
"""Settings that a message can list."""


def override(config: C, assignments: Sequence[str], lists: str = "dynaweb settings") -> C:
    """The configuration with `key=value` assignments applied, later ones winning.

    Args:
        config: before.
        assignments: `key=value`. A training's length takes the place of the one that it had in another measure.
        lists: command that lists the settings.

    Raises:
        UserError: not an assignment, no such setting, a value of another type, or out of range.
    """
    known = {s.key: s for s in settings_of(config)}
    values: dict[str, object] = {}
    for text in assignments:
        key, equals, value = text.partition("=")
        key = key.strip()
        if not equals:
            raise UserError(
                f"--set {text!r} is not an assignment: write it as key=value, for example --set seed=1"
            )
        if key not in known:
            hint = did_you_mean(key, known) or f"; {_known_words(known, lists)}"
            raise UserError(f"--set: no setting {key!r}{hint}")
        values[key] = _read(value.strip(), known[key].annotation, key)
    return _rebuilt(config, {**_other_lengths(values, known), **values}, "")


def _known_words(known: Collection[str], lists: str) -> str:
    return f"use one of {', '.join(known)}" if len(known) <= FEW else f"`{lists}` lists them"


def _other_lengths(values: Mapping[str, object], known: Collection[str]) -> dict[str, object]:
    """None for the lengths of a training that a given one stands in for."""
    found: dict[str, object] = {}
    for key in (k for k, value in values.items() if value is not None):
        stem, dot, name = key.rpartition(".")
        siblings = [f"{stem}{dot}{other}" for other in LENGTHS]
        if name in LENGTHS and all(s in known for s in siblings):
            found |= dict.fromkeys(siblings)
    return found


def _rebuilt(config: C, values: dict[str, object], prefix: str) -> C:
    assert is_dataclass(config) and not isinstance(config, type)
    changed: dict[str, object] = {}
    for f in fields(config):
        key, held = prefix + f.name, getattr(config, f.name)
        if key in values:
            changed[f.name] = values[key]
        elif any(name.startswith(f"{key}.") for name in values):
            changed[f.name] = _rebuilt(held, values, f"{key}.")
    return replace(config, **changed) if changed else config


def _read(text: str, annotation: object, key: str) -> object:
    args = get_args(annotation)
    if get_origin(annotation) in (Union, types.UnionType):
        if type(None) in args and text.lower() in ("none", ""):
            return None
        return _read(text, next(a for a in args if a is not type(None)), key)
    if get_origin(annotation) is tuple:
        return tuple(_read(part.strip(), args[0], key) for part in text.split(",") if part.strip())
    if get_origin(annotation) is Literal:
        return _one_of(text, [str(a) for a in args], key)
    if isinstance(annotation, type) and issubclass(annotation, StrEnum):
        return annotation(_one_of(text, [m.value for m in annotation], key))
    if annotation is bool:
        return _one_of(text.lower(), ["true", "false"], key) == "true"
    if annotation is str or annotation is Path:
        return Path(text) if annotation is Path else text
    if annotation is int or annotation is float:
        return _number(text, annotation, key)
    raise UserError(
        f"--set cannot change {key!r}: it holds {annotation}; write a recipe in Python for that"
    )


def _number(text: str, kind: object, key: str) -> int | float:
    try:
        return int(text) if kind is int else float(text)
    except ValueError:
        wanted = "a whole number" if kind is int else "a number"
        raise UserError(f"--set {key}={text}: expected {wanted}") from None


def _one_of(text: str, choices: list[str], key: str) -> str:
    if text not in choices:
        raise UserError(f"--set {key}={text}: use one of {', '.join(choices)}")
    return text

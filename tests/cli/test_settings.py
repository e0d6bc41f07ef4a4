from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Literal

import pytest

from dynaweb.cli.settings import override, settings_of
from dynaweb.errors import UserError
from dynaweb.recipes.presets import PRESETS, preset
from dynaweb.train.config import FitConfig


class Mode(StrEnum):
    FAST = "fast"
    SLOW = "slow"


@dataclass(frozen=True, slots=True, kw_only=True)
class Inner:
    steps: int = 3
    """How many."""
    low: float = 0.1
    high: float = 0.9

    def __post_init__(self) -> None:
        if self.low > self.high:
            raise UserError(f"low {self.low!r} is above high {self.high!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Outer:
    inner: Inner = field(default_factory=Inner)
    tasks: tuple[str, ...] = ("a",)
    cap: int | None = None
    on: bool = False
    mode: Mode = Mode.FAST
    way: Literal["up", "down"] = "up"
    path: Path = Path()


def test_every_type_is_read():
    changed = override(
        Outer(),
        [
            "inner.steps=7",
            "tasks=x, y",
            "cap=5",
            "on=true",
            "mode=slow",
            "way=down",
            "path=/tmp/a=b",
        ],
    )
    assert changed == Outer(
        inner=Inner(steps=7),
        tasks=("x", "y"),
        cap=5,
        on=True,
        mode=Mode.SLOW,
        way="down",
        path=Path("/tmp/a=b"),
    )
    assert override(changed, ["cap=none", "on=false"]).cap is None


def test_later_wins_and_a_pair_is_checked_together():
    assert override(Outer(), ["inner.steps=1", "inner.steps=2"]).inner.steps == 2
    assert override(Outer(), ["inner.low=1.5", "inner.high=2"]).inner == Inner(low=1.5, high=2.0)
    with pytest.raises(UserError, match=r"low 1\.5 is above high"):
        override(Outer(), ["inner.low=1.5"])


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("inner.stpes=1", r"did you mean 'inner\.steps'"),
        ("zzz=1", "use one of inner.steps, "),
        ("inner.steps", "write it as key=value"),
        ("inner.steps=1.5", "expected a whole number"),
        ("inner.low=much", "expected a number"),
        ("on=maybe", "use one of true, false"),
        ("mode=quick", "use one of fast, slow"),
        ("way=left", "use one of up, down"),
        ("inner=1", "no setting 'inner'"),
    ],
)
def test_a_bad_assignment_is_named(text, says):
    with pytest.raises(UserError, match=says):
        override(Outer(), [text])


def test_many_settings_are_left_to_the_command_that_lists_them():
    with pytest.raises(UserError, match=r"no setting 'zzz'; `dynaweb settings` lists them"):
        override(preset("demo"), ["zzz=1"])
    with pytest.raises(UserError, match="`dynaweb x --list` lists them"):
        override(preset("demo"), ["zzz=1"], "dynaweb x --list")


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoStages:
    """Two trainings."""

    fit: FitConfig = field(default_factory=lambda: FitConfig(epochs=6.0))
    """First."""
    stage2: FitConfig = field(default_factory=lambda: FitConfig(steps=9))
    """Second."""


def test_a_length_takes_the_place_of_the_one_in_another_measure():
    changed = override(TwoStages(), ["fit.steps=40"])
    assert changed.fit == FitConfig(steps=40)
    assert changed.stage2 == FitConfig(steps=9)
    assert override(FitConfig(steps=9), ["max_seconds=3"]) == FitConfig(max_seconds=3.0)
    assert override(FitConfig(epochs=2.0), ["epochs=none", "steps=1"]) == FitConfig(steps=1)
    with pytest.raises(UserError, match=r"exactly one of .*; got steps and max_seconds"):
        override(TwoStages(), ["fit.steps=1", "fit.max_seconds=2"])
    with pytest.raises(UserError, match="got none"):
        override(TwoStages(), ["fit.epochs=none"])


@pytest.mark.parametrize("name", PRESETS)
def test_every_setting_of_a_recipe_can_be_set_to_what_it_is(name):
    config = preset(name)
    for setting in settings_of(config):
        value = setting.value
        text = ",".join(map(str, value)) if isinstance(value, tuple) else str(value)
        assert override(config, [f"{setting.key}={text}"]) == config, setting.key

"""How a long stage tells a person where it is. The drawing is in cli/; here is only the shape of the call."""

from typing import Protocol


class Progress(Protocol):
    """Called as often as a stage likes; whoever draws decides how often to.

    Example:
        progress("collect", 120, 400, "success 0.97")
    """

    def __call__(self, stage: str, done: int, total: int | None, note: str = "") -> None:
        """Say how far a stage is.

        Args:
            stage: name of the stage, always the same words for one stage.
            done: units finished; equal to `total` when the stage is.
            total: units in all; None when nobody knows.
            note: a few words on how it goes.
        """
        ...


def silent(stage: str, done: int, total: int | None, note: str = "") -> None:
    """A `Progress` that says nothing."""

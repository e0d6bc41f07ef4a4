"""One stage of a run: skipped when it is done, timed, marked when it finishes."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from dynaweb.recipes.config import RecipeConfig
from dynaweb.runs.folder import RunFolder, StageDone
from dynaweb.runs.progress import Progress

Work = Callable[[Path], Mapping[str, object]]
"""Does the stage in its folder, taking up what is there; returns the facts to remember."""


@dataclass(slots=True)
class Run:
    """A recipe under way: where it writes, what it does, whom it tells."""

    folder: RunFolder
    config: RecipeConfig
    progress: Progress
    inputs: dict[str, object] = field(default_factory=dict)
    """Stage -> what it was made from, so that a later stage knows when its own is stale."""
    results: dict[str, StageDone] = field(default_factory=dict)
    """Stages done so far, in order."""

    def made(self, path: Path | None) -> object:
        """What a stage's folder was made from; part of the inputs of the stages that use it."""
        return self.inputs[path.name] if path is not None else None

    def path(self, stage: str) -> Path:
        """Folder of a stage."""
        return self.folder.stage(stage)

    def stage(self, name: str, inputs: object, work: Work) -> StageDone:
        """Do a stage once for these inputs.

        `seconds_so_far` in the stage's facts is the work's own count when it survives a restart;
        otherwise the wall clock of the session that finished it.
        """
        self.inputs[name] = inputs
        done = self.folder.done(name, inputs)
        if done is None:
            folder = self.folder.begin(name, inputs)
            begun = time.monotonic()
            facts = work(folder)
            counted = facts.get("seconds_so_far")
            took = counted if isinstance(counted, float) else time.monotonic() - begun
            self.folder.finish(name, inputs, seconds=took, facts=facts)
            done = self.folder.done(name, inputs)
            assert done is not None
        self.results[name] = done
        return done

    def facts(self, stage: str) -> Mapping[str, object]:
        """What a finished stage left to be remembered."""
        return self.results[stage].facts

    def number(self, stage: str, fact: str) -> float:
        """A fact of a finished stage that is a number."""
        found = self.facts(stage)[fact]
        assert isinstance(found, int | float), f"{stage}.{fact} is {found!r}"
        return found

    def seconds(self, stage: str) -> float:
        """Time a finished stage took."""
        return self.results[stage].seconds

"""What an environment of its own holds: packages pinned in a file that lies beside the code that needs them."""

from dataclasses import dataclass
from importlib.resources import files
from typing import Protocol


class Packages(Protocol):
    """What an environment of its own holds: a site's, or a tool's."""

    @property
    def name(self) -> str:
        """Short, fit for a file name."""
        ...

    @property
    def lock(self) -> str:
        """Text of the file that pins its packages, one a line."""
        ...

    @property
    def requirements(self) -> tuple[str, ...]:
        """The pinned packages."""
        ...


def pinned_in(lock: str) -> tuple[str, ...]:
    """The packages that a file of pins names: `Django==5.2.19`, ..."""
    lines = (line.strip() for line in lock.splitlines())
    return tuple(line for line in lines if line and not line.startswith("#"))


@dataclass(frozen=True, slots=True)
class ToolPackages:
    """What a tool's environment holds; `Packages`, from a file of pins that lies in one of our packages."""

    name: str
    package: str
    """Ours, dotted: where the file lies."""
    file: str
    """Its name."""

    @property
    def lock(self) -> str:
        """Text of the file, one package a line."""
        return files(self.package).joinpath(self.file).read_text("utf-8")

    @property
    def requirements(self) -> tuple[str, ...]:
        """The pinned packages."""
        return pinned_in(self.lock)

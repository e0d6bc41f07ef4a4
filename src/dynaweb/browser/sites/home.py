"""The folder that holds everything built: environments, seeded data, instances. Any part of it may be deleted."""

import hashlib
import platform
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from dynaweb.browser.sites.catalogue import SiteSpec
from dynaweb.browser.sites.packages import Packages

INSIDE = Path(__file__).parent / "inside"
PACKAGE = Path(__file__).parents[2]
SHARED = ("__init__.py", "clock.py", "djangosite.py", "people.py", "seed.py", "telling.py")
"""What the data of every site depend on, besides the site's own folder."""


@dataclass(frozen=True, slots=True)
class SiteHome:
    """Where things lie; what was made from other inputs lies elsewhere, so nothing is ever mixed up."""

    root: Path

    def environment(self, spec: Packages) -> Path:
        """A site's or tool's own Python environment."""
        made_from = (spec.lock, platform.python_version(), platform.machine())
        return self.root / "environments" / f"{spec.name}-{_key(made_from)}"

    def seeded(self, spec: SiteSpec, seed: int) -> Path:
        """The site's data as seeded: `snapshot/` and `made.json`."""
        scripts = [INSIDE / name for name in SHARED] + sorted((INSIDE / spec.name).glob("*.py"))
        made_from = (self.environment(spec).name, str(seed), *(p.read_text("utf-8") for p in scripts))  # fmt: skip
        return self.root / "data" / f"{spec.name}-{_key(made_from)}"

    def code(self) -> Path:
        """Our scripts as they are now, so that a running site does not see them change."""
        scripts = sorted(INSIDE.rglob("*.py"))
        return self.root / "code" / _key(p.read_text("utf-8") for p in scripts)

    def build_lock(self, spec: Packages) -> Path:
        """Held while it is built."""
        return self.root / f"{spec.name}.lock"

    def build_log(self, spec: Packages) -> Path:
        """What the installer and the seeding script said."""
        return self.root / "logs" / f"{spec.name}-build.log"

    @property
    def instances(self) -> Path:
        """One folder for each instance."""
        return self.root / "instances"

    def instance(self, name: str) -> Path:
        """An instance's folder: its data, `state.json` and `server.log`."""
        return self.instances / name


def _key(parts: Iterable[str]) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:12]

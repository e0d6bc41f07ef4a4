"""What a run ran on: commit, versions and machine, so that a number can be traced to what made it."""

import os
import platform
import subprocess
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

PACKAGES = (
    "dynaweb",
    "torch",
    "transformers",
    "tokenizers",
    "safetensors",
    "numpy",
    "scipy",
    "playwright",
    "miniwob",
)
"""Their versions can change a result."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """Where a run comes from."""

    commit: str
    """Git commit of the code; empty outside a checkout."""
    dirty: bool
    """The checkout had changes that the commit lacks."""
    versions: dict[str, str]
    """Package -> version; a package that is not installed is left out."""
    machine: dict[str, str | int]
    """Platform, processor, cores and memory."""


def provenance() -> Provenance:
    """Look at this machine and this code."""
    commit = _git("rev-parse", "HEAD")
    return Provenance(
        commit=commit,
        dirty=bool(commit) and bool(_git("status", "--porcelain", "--untracked-files=no")),
        versions=_versions(),
        machine={
            "platform": platform.platform(),
            "python": platform.python_version(),
            "processor": _processor(),
            "cores": _cores(),
            "memory_mib": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 20,
        },
    )


def _git(*words: str) -> str:
    here = str(Path(__file__).parent)
    try:
        done = subprocess.run(
            ["git", "-C", here, *words], capture_output=True, text=True, timeout=10, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def _versions() -> dict[str, str]:
    found: dict[str, str] = {}
    for name in PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        return platform.processor()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):  # not on macOS
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1

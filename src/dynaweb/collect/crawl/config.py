"""How a crawl is set up. Importable without a browser."""

from dataclasses import dataclass

from dynaweb.errors import UserError


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A place where the crawl may go."""

    origin: str
    """`scheme://host:port`, without a trailing slash."""
    license: str = ""
    """Licence of its pages, written on every trajectory; empty means unknown."""
    name: str = ""
    """What the trajectories say they come from; empty takes the origin."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlConfig:
    """Where a crawl goes and what it does there.

    Example:
        CrawlConfig(starts=("http://shop.localhost/",), sources=(Source(origin="http://shop.localhost"),))
    """

    starts: tuple[str, ...]
    """Addresses to begin with; at least one."""
    sources: tuple[Source, ...]
    """Where it may go; at least one."""
    min_steps: int = 3
    """Least actions of a visit (WebWorld 3.2: 3 to 10)."""
    max_steps: int = 10
    """Most actions of a visit."""
    again: int = 1
    """Visits to each address, with other actions."""
    max_depth: int = 8
    """Links followed from a start, at most."""
    per_pattern: int = 20
    """Addresses that differ in numbers alone, at most: calendars have no end (ours)."""
    banned: tuple[str, ...] = ()
    """Words that no address may hold, in any case (WebWorld 3.3; its list is not public)."""
    robots: bool = True
    """Obey robots.txt (WebWorld App. M)."""
    pause_sec: float = 0.0
    """Between two actions on a site that is not on this machine, in seconds; a longer Crawl-delay wins."""
    max_pause_sec: float = 30.0
    """Sites that ask for a longer Crawl-delay are left out."""
    tries: int = 2
    """Visits to an address that break before anything was seen."""
    min_score: float = 0.0
    """Mean of the model's four scores (0 to 10) below which a start is dropped; 0 asks no model (WebWorld 3.3, App. H)."""
    mask: bool = True
    """Replace personal details before anything is written."""
    seed: int = 0
    """Of order and actions. Workers race, so a crawl with several is not a function of it."""
    workers: int = 4
    """Visits side by side; changes no rule."""
    visits: int = 100
    """Visits in all; the same command with more goes on."""
    steps: int = 0
    """Actions in all, after which no new visit begins; 0 sets no limit."""

    def __post_init__(self) -> None:
        if not self.starts or not self.sources:
            raise UserError("a crawl needs at least one address to begin with")
        if not 1 <= self.min_steps <= self.max_steps <= 100:
            raise UserError(
                f"crawl steps {self.min_steps!r} to {self.max_steps!r} are out of range: use 1 to 100, the lower one first"
            )
        least = {
            "again": 1, "max_depth": 0, "per_pattern": 1, "tries": 1, "workers": 1, "visits": 1, "steps": 0,
            "pause_sec": 0, "max_pause_sec": 0, "min_score": 0,
        }  # fmt: skip
        for name, low in least.items():
            if getattr(self, name) < low:
                raise UserError(f"crawl {name} is {getattr(self, name)!r}: use at least {low}")
        if self.workers > 64:
            raise UserError(f"crawl workers {self.workers!r} are too many: use 1 to 64")
        if self.min_score > 10:
            raise UserError(f"crawl min_score {self.min_score!r} is out of range: use 0 to 10")

    @property
    def origins(self) -> tuple[str, ...]:
        """Where it may go."""
        return tuple(s.origin for s in self.sources)


MAY_DIFFER = frozenset({"workers", "visits", "steps", "tries", "pause_sec", "max_pause_sec"})
"""Settings that another call on the same folder may change: they change no record that is there."""

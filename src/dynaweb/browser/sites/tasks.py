"""Names of open-ended tasks: where on a site to begin, and as whom.

`shop:/catalogue/` begins there as a stranger, `anna@shop:/basket/` as Anna, `shop` at the first of the site's starts.
"""

from dataclasses import dataclass

from dynaweb.browser.sites.catalogue import SITES, SiteSpec, find_person, find_site
from dynaweb.browser.sites.inside.people import Person
from dynaweb.errors import UserError


@dataclass(frozen=True, slots=True)
class SiteTask:
    """Where to begin."""

    spec: SiteSpec
    path: str
    """Begins with a slash."""
    person: Person | None = None
    """Who is logged in; None for a stranger."""


def is_site_task(name: str) -> bool:
    """Whether this is meant as a place on a site, and not as a task of MiniWoB++."""
    before, colon, _ = name.partition(":")
    return bool(colon) or before.rpartition("@")[2] in SITES


def read_task(name: str) -> SiteTask:
    """The place that a name means.

    Raises:
        UserError: no such site or person, or the path is none.
    """
    who_and_site, _, path = name.partition(":")
    who, _, site = who_and_site.rpartition("@")
    spec = find_site(site)
    path = path or spec.starts[0]
    if not path.startswith("/") or path.startswith("//") or any(c.isspace() for c in path):
        raise UserError(
            f"task {name!r}: {path[:60]!r} is no path on the site; write it like {spec.name}:{spec.starts[0]}"
        )
    return SiteTask(spec, path, find_person(who) if who else None)


def start_tasks(spec: SiteSpec) -> tuple[str, ...]:
    """Names of the tasks that begin at the site's own starts."""
    return tuple(f"{spec.name}:{path}" for path in spec.starts)

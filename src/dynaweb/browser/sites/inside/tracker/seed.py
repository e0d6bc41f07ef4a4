"""Fill a new tracker: components, milestones, tickets with a history, wiki pages, permissions."""

from datetime import datetime, timedelta
from importlib.resources import files
from pathlib import Path
from random import Random

from trac.env import Environment
from trac.perm import PermissionSystem
from trac.ticket.model import Component, Milestone, Ticket, Version
from trac.util.datefmt import to_utimestamp
from trac.wiki.admin import WikiAdmin
from trac.wiki.model import WikiPage

from dynaweb.browser.sites.inside.clock import BEGIN, OPENED, at
from dynaweb.browser.sites.inside.people import PEOPLE
from dynaweb.browser.sites.inside.telling import STAGES, tell
from dynaweb.browser.sites.inside.tracker import content
from dynaweb.browser.sites.inside.tracker.pages import PAGES

OPTIONS = [
    ("project", "name", content.PROJECT),
    ("project", "descr", content.ABOUT),
    ("project", "footer", "Lantern is a made-up project."),
    ("project", "url", "/"),
    ("trac", "database", "sqlite:db/trac.db"),
    ("trac", "default_timezone", "UTC"),
    ("trac", "base_url", "http://tracker.localhost"),
    ("trac", "default_language", "en_US"),
    ("trac", "default_date_format", "iso8601"),
    ("trac", "default_dateinfo_format", "absolute"),
    ("notification", "smtp_enabled", "disabled"),
    ("logging", "log_type", "stderr"),
    ("logging", "log_level", "WARNING"),
    ("header_logo", "alt", "Lantern"),
    ("header_logo", "src", ""),
    ("header_logo", "link", "/wiki"),
    ("trac", "mainnav", "wiki, timeline, roadmap, tickets, newticket, search"),
]


def fill_tracker(data: Path, seed: int) -> dict[str, int]:
    """Make a tracker in the folder `data`; how many there are of each thing."""
    with at(OPENED):
        env = Environment(str(data), create=True, options=OPTIONS)
    tell(1, STAGES, "wiki")
    _wiki(env)
    tell(2, STAGES, "milestones and components")
    _lists(env)
    _permissions(env)
    tell(3, STAGES, "tickets")
    tickets = _tickets(env, Random(f"tracker {seed}"))
    env.shutdown()
    return {
        "tickets": tickets,
        "wiki pages": len(PAGES),
        "milestones": len(content.MILESTONES),
        "components": len(content.COMPONENTS),
        "users": len(PEOPLE),
    }


def _wiki(env: Environment) -> None:
    with at(OPENED):  # Trac's own manual, so that its links to help lead somewhere
        WikiAdmin(env).load_pages(str(files("trac.wiki") / "default-pages"), ignore=["WikiStart"])
    names = [p.username for p in PEOPLE]
    for number, (name, text) in enumerate(PAGES.items()):
        with at(OPENED + timedelta(days=11 * number, hours=number % 7)):
            page = WikiPage(env, name)
            page.text = text
            page.save(names[number % len(names)], "first version")


def _lists(env: Environment) -> None:
    for name in ("component1", "component2"):
        Component(env, name).delete()
    for name in ("milestone1", "milestone2", "milestone3", "milestone4"):
        Milestone(env, name).delete()
    for name in ("1.0", "2.0"):
        Version(env, name).delete()
    for name, owner in content.COMPONENTS.items():
        component = Component(env)
        component.name, component.owner = name, owner
        component.insert()
    for name, due in content.MILESTONES.items():
        milestone = Milestone(env)
        milestone.name, milestone.due = name, due
        milestone.completed = due if due < BEGIN else None
        milestone.description = f"Release {name} of {content.PROJECT}."
        milestone.insert()
    for name, time in content.VERSIONS.items():
        version = Version(env)
        version.name, version.time = name, time
        version.insert()


def _permissions(env: Environment) -> None:
    system = PermissionSystem(env)
    with env.db_transaction as db:
        for person in PEOPLE:
            rights = "TRAC_ADMIN" if person.staff else "TICKET_ADMIN"
            system.grant_permission(person.username, rights)
            for key, value in (("name", person.name), ("email", person.email)):
                db(
                    "INSERT INTO session_attribute (sid, authenticated, name, value) VALUES (%s, 1, %s, %s)",
                    (person.username, key, value),
                )
            db(
                "INSERT INTO session (sid, authenticated, last_visit) VALUES (%s, 1, %s)",
                (person.username, to_utimestamp(OPENED) // 1_000_000),
            )


def _tickets(env: Environment, rng: Random) -> int:
    wanted = [
        (component, kind, summary)
        for kind, lists in (("defect", content.DEFECTS), ("enhancement", content.WISHES))
        for component, summaries in lists.items()
        for summary in summaries
    ]
    wanted += [
        (component, "task", f"Prepare {component} for release {release}")
        for component in content.COMPONENTS
        for release in ("1.2", "1.3", "2.0")
    ]
    rng.shuffle(wanted)
    first = OPENED + timedelta(days=30)
    for number, (component, kind, summary) in enumerate(wanted):
        when = first + (BEGIN - first) * (number + 0.9 * rng.random()) / len(wanted)
        _ticket(env, rng, when.replace(microsecond=0), component, kind, summary)
    return len(wanted)


def _ticket(
    env: Environment, rng: Random, when: datetime, component: str, kind: str, summary: str
) -> None:
    names = [p.username for p in PEOPLE]
    ticket = Ticket(env)
    reporter = rng.choice(names)
    steps = "\n".join(f" 1. {s}" for s in rng.sample(content.STEPS, 3))
    milestone = (
        summary.rpartition(" ")[2]
        if kind == "task"
        else rng.choice(("1.2", "1.3", "1.3", "2.0", ""))
    )
    ticket.populate(
        {
            "summary": summary,
            "description": f"{rng.choice(content.SEEN)}\n\n{steps}\n\n{rng.choice(content.SEEN)}" if kind == "defect" else f"{summary}. {rng.choice(content.SEEN)}",
            "reporter": reporter,
            "component": component,
            "owner": content.COMPONENTS[component],
            "type": kind,
            "priority": rng.choices(content.PRIORITIES, weights=(1, 3, 8, 6, 2))[0],
            "milestone": milestone,
            "version": rng.choice(tuple(content.VERSIONS)) if kind == "defect" else "",
            "keywords": rng.choice(("", "", "regression", "easy", "support", "usability")),
            "status": "new",
        }
    )  # fmt: skip
    with at(when):
        ticket.insert()
    closes = rng.random() < 0.45
    span = min(BEGIN - timedelta(hours=1) - when, timedelta(days=20))
    parts = sorted(rng.sample(range(1, 1000), rng.randint(0, 3) + closes))
    moments = [(when + span * part / 1000).replace(microsecond=0) for part in parts]
    for moment in moments[: len(moments) - closes]:
        with at(moment):
            ticket.save_changes(rng.choice(names), rng.choice(content.REMARKS))
    if closes:
        how = rng.choices(("fixed", "worksforme", "wontfix", "duplicate"), weights=(7, 2, 2, 1))[0]
        ticket["status"], ticket["resolution"] = "closed", how
        with at(moments[-1]):
            ticket.save_changes(ticket["owner"], "Closing.")

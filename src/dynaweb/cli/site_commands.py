"""What `dynaweb sites` does."""

import json
import time
from dataclasses import asdict
from pathlib import Path

from dynaweb.browser.sites.app_site import PREFIX
from dynaweb.browser.sites.build import BuiltSite, build_site, find_built
from dynaweb.browser.sites.catalogue import SITES, SiteSpec, find_site
from dynaweb.browser.sites.checkout import Checkout
from dynaweb.browser.sites.home import SiteHome
from dynaweb.browser.sites.inside.people import PEOPLE
from dynaweb.browser.sites.instance import start_instance, stop_instance, sweep_dead
from dynaweb.browser.sites.state import (
    InstanceState,
    find_instance,
    list_instances,
    read_state,
    reset_instance,
)
from dynaweb.browser.sites.tasks import start_tasks
from dynaweb.cli.drawing import drawing
from dynaweb.cli.saying import say


def list_sites(root: Path, seed: int, *, as_json: bool) -> None:
    """Print the sites."""
    home = SiteHome(root)
    built = {name: find_built(spec, home, seed) for name, spec in SITES.items()}
    if as_json:
        rows = [
            {"site": n, "title": s.title, "package": s.package, "license": s.license, "built": built[n] is not None}
            for n, s in SITES.items()
        ]  # fmt: skip
        print(json.dumps(rows, indent=1))
        return
    for name, spec in SITES.items():
        print(f"{name:<9}{spec.title} ({spec.package}); {_built_words(built[name])}")


def _built_words(built: BuiltSite | None) -> str:
    return f"built: {_made_words(built)}" if built is not None else "not built"


def _made_words(built: BuiltSite) -> str:
    return ", ".join(f"{count} {what}" for what, count in built.data.made.items())


def show_site(name: str, *, as_json: bool) -> None:
    """Print what there is to know about a site."""
    spec = find_site(name)
    if as_json:
        users = [asdict(person) | {"email": person.email} for person in PEOPLE]
        print(json.dumps(_facts(spec) | {"users": users}, indent=1))
        return
    print(f"{spec.name}: {spec.title}\n{spec.package}, {spec.license}\nrobots.txt:")
    for line in spec.robots.splitlines():
        print(f"  {line}")
    print("tasks (with `USER@` in front: logged in):")
    for task in start_tasks(spec):
        print(f"  {task}")
    print(f"users (password; the form asks for the {'address' if spec.login.by_email else 'name'}):")  # fmt: skip
    for person in PEOPLE:
        who = person.email if spec.login.by_email else person.username
        print(f"  {who} ({person.password}){', staff' if person.staff else ''}")


def _facts(spec: SiteSpec) -> dict[str, object]:
    return {
        "site": spec.name,
        "title": spec.title,
        "package": spec.package,
        "license": spec.license,
        "requirements": spec.requirements,
        "robots": spec.robots,
        "login": spec.login.path,
        "tasks": start_tasks(spec),
    }


def build(spec: SiteSpec, home: SiteHome, seed: int, *, quiet: bool) -> BuiltSite:
    """Build a site with progress for a person."""
    with drawing(quiet=quiet) as progress:
        return build_site(spec, home, seed, progress)


def build_sites(names: tuple[str, ...], root: Path, seed: int, *, quiet: bool) -> None:
    """Build sites one after the other, and say how long each took."""
    home = SiteHome(root)
    wanted = list(SITES.values()) if names == ("all",) else [find_site(n) for n in dict.fromkeys(names)]  # fmt: skip
    for spec in wanted:
        begun = time.monotonic()
        was = find_built(spec, home, seed)
        built = was or build(spec, home, seed, quiet=quiet)
        took = "built before" if was is not None else f"built in {time.monotonic() - begun:.1f} s"
        print(
            f"{spec.name}: {took} (packages {built.environment.sec:.1f} s, data {built.data.sec:.1f} s): {_made_words(built)}"
        )


def bring_up(name: str, instance: str, port: int, root: Path, seed: int, *, quiet: bool) -> None:
    """Start an instance, or say that it runs.

    Raises:
        UserError: no such site, or the instance's name belongs to another.
        MissingDependencyError: the site cannot be built or started, or the port is taken.
    """
    spec, home = find_site(name), SiteHome(root)
    running = read_state(home.instance(instance))
    if running is not None and running.alive and _is_wanted(running, spec, port, seed):
        print(f"{instance} is up already: {_where(running)}")
        return
    sweep_dead(home)
    built = build(spec, home, seed, quiet=quiet)
    started = start_instance(built, home, instance, port=port, stay=True)
    print(f"{instance} is up after {started.start_sec:.1f} s: {_where(started.state)}")
    print(f"log: {started.log}; `dynaweb sites down {instance}` stops it")


def _is_wanted(running: InstanceState, spec: SiteSpec, port: int, seed: int) -> bool:
    return running.site == spec.name and running.seed == seed and port in (0, running.port)


def _where(state: InstanceState) -> str:
    return f"http://{state.address}/"


def reset(name: str, root: Path) -> None:
    """Reset an instance and say how long it took."""
    seconds = reset_instance(find_instance(SiteHome(root), name))
    print(f"{name}: reset in {seconds:.3f} s")


def take_down(names: tuple[str, ...], root: Path) -> None:
    """Stop instances; all of them when none is named."""
    home = SiteHome(root)
    wanted = names or tuple(state.name for state in list_instances(home))
    for name in dict.fromkeys(wanted):
        was_there = stop_instance(home, name)
        print(f"{name}: {'stopped' if was_there else 'was dead already; removed what was left'}")
    if not wanted:
        print("no instance is up")


def show_status(root: Path, *, as_json: bool) -> None:
    """Print the instances."""
    home = SiteHome(root)
    states = list_instances(home)
    if as_json:
        rows = [
            {"instance": s.name, "site": s.site, "seed": s.seed, "url": _where(s), "pid": s.pid, "alive": s.alive, "parent_pid": s.parent_pid}
            for s in states
        ]  # fmt: skip
        print(json.dumps(rows, indent=1))
        return
    for state in states:
        how = "up" if state.alive else f"dead (process {state.pid} is gone); `dynaweb sites down {state.name}` clears it"  # fmt: skip
        owner = f", belongs to process {state.parent_pid}" if state.parent_pid is not None else ""
        print(f"{state.name:<24}{_where(state):<28}pid {state.pid:<8}{how}{owner}")
    if not states:
        print("no instance is up")


def list_app_tasks(checkout: Path, app: str, *, as_json: bool) -> None:
    """Print the tasks of a checkout. Reads its lists; runs none of its programs."""
    found = Checkout(root=checkout)
    tasks = [t for name in ((app,) if app else found.apps()) for t in found.tasks(name)]
    if as_json:
        rows = [
            {"task": f"{PREFIX}{t.app}/{t.task_id}", "goal": t.goal, "difficulty": t.difficulty}
            for t in tasks
        ]
        print(json.dumps(rows, indent=1))
        return
    for task in tasks:
        say(f"{PREFIX}{task.app}/{task.task_id}  {task.goal}")

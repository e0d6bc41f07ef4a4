"""Sites as data: pinned, addressable, and as their robots.txt says."""

import re
from urllib.robotparser import RobotFileParser

import pytest

from dynaweb.browser.page import EPOCH_MS
from dynaweb.browser.sites.catalogue import SITES, SiteSpec, find_person, find_site
from dynaweb.browser.sites.inside.clock import BEGIN
from dynaweb.browser.sites.inside.people import PEOPLE
from dynaweb.browser.sites.tasks import is_site_task, read_task, start_tasks
from dynaweb.errors import UserError

EACH = pytest.mark.parametrize("spec", SITES.values(), ids=SITES)


@EACH
def test_every_package_is_pinned(spec: SiteSpec) -> None:
    assert all(re.fullmatch(r"[\w.-]+==[\w.]+", line) for line in spec.requirements)
    name, _, version = spec.package.rpartition("-")
    assert f"{name}=={version}" in spec.requirements


@EACH
def test_starts_are_tasks_that_robots_may_visit(spec: SiteSpec) -> None:
    robots = RobotFileParser()
    robots.parse(spec.robots.splitlines())
    tasks = [read_task(name) for name in start_tasks(spec)]
    assert len(tasks) >= 5
    for task in tasks:
        assert task.spec is spec and task.person is None
        assert robots.can_fetch("*", spec.origin + task.path) or "login" in task.path
    assert not robots.can_fetch("*", f"{spec.origin}{spec.robots.split()[3]}x")


def test_page_time_and_server_time_begin_together() -> None:
    assert BEGIN.timestamp() * 1000 == EPOCH_MS


def test_people_are_distinct_and_one_is_staff() -> None:
    assert len({p.username for p in PEOPLE}) == len({p.password for p in PEOPLE}) == len(PEOPLE)
    assert [p.username for p in PEOPLE if p.staff] == ["admin"]


def test_names_of_tasks() -> None:
    task = read_task("anna@shop:/search/?q=a:b")
    assert (task.spec.name, task.path, task.person) == (
        "shop",
        "/search/?q=a:b",
        find_person("anna"),
    )
    assert read_task("forum").path == "/"
    assert is_site_task("forum") and is_site_task("bo@forum") and is_site_task("x:/")
    assert not is_site_task("click-test") and not is_site_task("miniwob.click-test")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("shpo:/", "did you mean 'shop'"),
        ("bob@shop:/", "nobody called 'bob'"),
        ("shop:catalogue", "is no path on the site"),
        ("shop://evil.example/", "is no path on the site"),
        ("shop:/a b", "is no path on the site"),
    ],
)
def test_mistakes_in_tasks(name: str, said: str) -> None:
    with pytest.raises(UserError, match=said):
        read_task(name)


def test_no_such_site() -> None:
    with pytest.raises(UserError, match=r"no site 'wiki'.*The sites are shop, tracker, forum"):
        find_site("wiki")

"""The real programs, built from the package index: the same pages from the same seed, whatever was done in between.

Slow: they install packages and are skipped without an index. With `--sites-home DIR` what is built there is used.
"""

import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.browser.sites.small import ask

from dynaweb.axtree.tree import read_tree
from dynaweb.browser.config import BrowserConfig
from dynaweb.browser.sites.build import BuiltSite, build_site, find_built
from dynaweb.browser.sites.catalogue import SITES, SiteSpec, find_site
from dynaweb.browser.sites.home import SiteHome
from dynaweb.browser.sites.inside.people import PEOPLE
from dynaweb.browser.sites.instance import start_instance, stop_instance
from dynaweb.browser.sites.login import log_in
from dynaweb.browser.sites.tasks import start_tasks
from dynaweb.browser.sites.world import site_world
from dynaweb.errors import MissingDependencyError
from dynaweb.records.action import Click

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]
DYNAWEB = Path(sys.executable).with_name("dynaweb")
TOKENS = re.compile(r'(csrfmiddlewaretoken|csrfToken|__FORM_TOKEN|csrf_token|form_token)("|\')?\s*(value=|:|=)\s*["\'][^"\']+["\']')  # fmt: skip
WANTED = {
    "shop": {"products": 100, "orders": 20, "categories": 10, "users": 10},
    "tracker": {"tickets": 60, "wiki pages": 15, "milestones": 4, "users": 10},
    "forum": {"topics": 40, "comments": 150, "categories": 5, "users": 10},
}


@pytest.fixture(scope="session")
def sites_home(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> SiteHome:
    given = request.config.getoption("--sites-home")
    return SiteHome(Path(given).absolute() if given else tmp_path_factory.mktemp("sites"))


def built_site(name: str, home: SiteHome, request: pytest.FixtureRequest) -> BuiltSite:
    if name != "tracker" and not request.config.getoption("--sites-home"):
        pytest.skip("without --sites-home only the smallest site is built")
    try:
        return build_site(find_site(name), home)
    except MissingDependencyError as error:
        if "package index" in str(error) and not reachable():
            pytest.skip(f"offline: {error}")
        raise


def reachable() -> bool:
    try:
        socket.create_connection(("pypi.org", 443), timeout=5).close()
    except OSError:
        return False
    return True


@pytest.mark.parametrize("name", SITES)
def test_the_same_seed_gives_the_same_pages_after_changes_and_a_reset(
    name: str, sites_home: SiteHome, request: pytest.FixtureRequest
) -> None:
    built = built_site(name, sites_home, request)
    assert all(built.data.made[what] >= least for what, least in WANTED[name].items())
    instance = start_instance(built, sites_home, f"test-{name}")
    try:
        before = pages(built.spec, instance.state)
        for person in PEOPLE[:2]:  # changes sessions, last visits, ...
            session = log_in(built.spec, instance.state.port, person)
            cookie = "; ".join(f"{k}={v}" for k, v in session.items())
            status, page = ask(instance.state, built.spec.starts[0], headers={"Cookie": cookie, "Host": built.spec.host})  # fmt: skip
            assert status == 200 and "log out" in page.lower().replace("logout", "log out")
        seconds = sorted(instance.reset() for _ in range(5))
        assert seconds[2] < 1.0
        assert pages(built.spec, instance.state) == before
        other = start_instance(built, sites_home, f"test-{name}-2")
        try:
            assert pages(built.spec, other.state) == before
        finally:
            stop_instance(sites_home, f"test-{name}-2")
    finally:
        stop_instance(sites_home, f"test-{name}")


def pages(spec: SiteSpec, state: object) -> dict[str, str]:
    """Every start, and what a redirect leads to is not followed: its answer is compared."""
    found = {}
    for path in spec.starts:
        status, page = ask(state, path, headers={"Host": spec.host})
        assert status in (200, 301, 302), f"{path}: {status}"
        found[path] = TOKENS.sub("TOKEN", page)
    assert sum(len(page) > 1000 for page in found.values()) >= 3
    return found


@pytest.mark.browser
@pytest.mark.asyncio(loop_scope="session")
@pytest.mark.parametrize("name", SITES)
async def test_an_episode_in_chromium_at_every_start(
    name: str, sites_home: SiteHome, request: pytest.FixtureRequest
) -> None:
    built = built_site(name, sites_home, request)
    config = BrowserConfig(width_px=1280, height_px=720, deadline_sec=60.0)
    async with site_world(built, sites_home, config) as make:
        env = make()
        for task in (*start_tasks(built.spec), f"anna@{start_tasks(built.spec)[0]}"):
            page = await env.reset(task, 0)
            tree = read_tree(page.tree)
            links = [n for n in tree if n.role == "link" and n.bid and n.name]
            assert len(tree) > 10 and page.title and links, page.tree
            assert page.url.startswith(built.spec.origin)
            assert not any(p.password in page.tree for p in PEOPLE)
            result = await env.step(Click(str(links[-1].bid)))
            assert result.reward is None
        assert "Logout" in page.tree or "Anna Berg" in page.tree, page.tree
        await env.close()


def test_a_build_that_is_killed_goes_on(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """Killed in the middle of the installation, and in the middle of the seeding."""
    built_site("tracker", SiteHome(tmp_path / "warm"), request)
    home, spec = SiteHome(tmp_path / "home"), find_site("tracker")
    for seen in (home.environment(spec) / "bin", home.seeded(spec, 0) / "snapshot"):
        with subprocess.Popen([DYNAWEB, "sites", "build", "tracker", "--home", home.root]) as build:
            while not seen.exists() and build.poll() is None:
                time.sleep(0.05)
            build.send_signal(signal.SIGKILL)
        assert find_built(spec, home) is None
    built = build_site(spec, home)
    assert built.data.made["tickets"] >= 60


def test_up_reset_down_as_a_person_does(
    sites_home: SiteHome, request: pytest.FixtureRequest
) -> None:
    built_site("tracker", sites_home, request)
    home = ("--home", str(sites_home.root))

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([DYNAWEB, "sites", *words, *home], capture_output=True, text=True, timeout=300)  # fmt: skip

    assert "cli is up after" in run("up", "tracker", "--as", "cli", "-q").stdout
    assert "cli is up already" in run("up", "tracker", "--as", "cli", "-q").stdout
    assert re.search(r"cli: reset in 0\.\d+ s", run("reset", "cli").stdout)
    assert "up" in run("status").stdout and "cli" in run("status").stdout
    assert run("down", "cli").stdout == "cli: stopped\n"
    again = run("down", "cli")
    assert again.returncode == 2 and "no site instance 'cli' is up" in again.stderr

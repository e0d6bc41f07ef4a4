"""Real server processes: what they keep apart, what they forget, and that none is left behind."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.browser.sites.small import ask, state_file

from dynaweb.browser.sites.build import BuiltSite
from dynaweb.browser.sites.catalogue import find_person
from dynaweb.browser.sites.home import SiteHome
from dynaweb.browser.sites.inside.clock import BEGIN, PER_CHANGE
from dynaweb.browser.sites.instance import Instance, start_instance, stop_instance, sweep_dead
from dynaweb.browser.sites.login import log_in
from dynaweb.browser.sites.process import lives, wait_until
from dynaweb.browser.sites.state import find_instance, list_instances, read_state, reset_instance
from dynaweb.errors import BrowserError, MissingDependencyError, UserError
from dynaweb.runs.jsonfile import write_record


@pytest.fixture
def notes(built: BuiltSite, home: SiteHome) -> Iterator[Instance]:
    instance = start_instance(built, home, "notes")
    yield instance
    if read_state(home.instance("notes")) is not None:
        stop_instance(home, "notes")


def test_it_serves_under_its_own_name_and_has_robots(notes: Instance) -> None:
    status, page = ask(notes.state)
    assert status == 200 and "buy milk" in page and "<p>tracker.localhost</p>" in page
    assert ask(notes.state, "/robots.txt") == (200, notes.spec.robots)


def test_reset_gives_the_same_page_and_the_same_time_back(notes: Instance) -> None:
    before = ask(notes.state)[1]
    first, second = ask(notes.state, write="one")[1], ask(notes.state, write="two")[1]
    assert f"one at {(BEGIN + PER_CHANGE).isoformat()}" in first
    assert f"two at {(BEGIN + 2 * PER_CHANGE).isoformat()}" in second
    assert notes.reset() < 1.0
    assert ask(notes.state)[1] == before
    assert ask(notes.state, write="one")[1] == first


def test_a_reset_waits_for_pages_under_way_and_nobody_sees_half_of_one(notes: Instance) -> None:
    found: list[int] = []
    threads = [
        threading.Thread(target=lambda: found.append(ask(notes.state, "/slow", write="x")[0]))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for _ in range(3):
        notes.reset()
    for thread in threads:
        thread.join()
    assert found == [200] * 4
    notes.reset()
    assert ask(notes.state)[1].count("<li>") == 1


def test_instances_side_by_side_do_not_see_each_other(
    notes: Instance, built: BuiltSite, home: SiteHome
) -> None:
    other = start_instance(built, home, "other")
    try:
        ask(notes.state, write="mine")
        assert "mine" not in ask(other.state)[1]
        assert [s.name for s in list_instances(home)] == ["notes", "other"]
        with pytest.raises(UserError, match="runs already"):
            start_instance(built, home, "other")
        with pytest.raises(MissingDependencyError, match=f"127.0.0.1:{notes.state.port}: Address"):
            start_instance(built, home, "third", port=notes.state.port)
    finally:
        assert stop_instance(home, "other")
    assert not (home.instance("other") / "data").exists()
    assert (home.instance("other") / "server.log").is_file()


def test_only_the_parent_may_reset(notes: Instance) -> None:
    ask(notes.state, write="mine")
    for headers in ({}, {"X-Dynaweb-Token": "guess"}):
        assert "mine" in ask(notes.state, "/-/dynaweb/reset", headers=headers)[1]
    with pytest.raises(BrowserError, match="not ours"):
        reset_instance(replace(notes.state, token="guess"))


def test_it_listens_on_loopback_alone_and_its_folder_is_private(notes: Instance) -> None:
    assert (notes.folder.stat().st_mode & 0o077) == 0
    if not Path("/proc/net/tcp").exists():
        pytest.skip("no /proc")
    port = f":{notes.state.port:04X} "
    rows = [
        r.split()
        for r in Path("/proc/net/tcp").read_text(encoding="utf-8").splitlines()
        if port in r
    ]
    listening = [r[1] for r in rows if r[3] == "0A"]
    assert listening == [f"0100007F{port.strip()}"]


@pytest.mark.parametrize("name", ["", "../x", "a b", "x" * 61, "ä"])
def test_a_name_that_is_none(built: BuiltSite, home: SiteHome, name: str) -> None:
    with pytest.raises(UserError, match="is no name for an instance"):
        start_instance(built, home, name)


def test_a_killed_server_is_told_and_cleared(notes: Instance, home: SiteHome) -> None:
    os.kill(notes.state.pid, signal.SIGKILL)
    assert wait_until(lambda: not notes.state.alive, 5)
    with pytest.raises(UserError, match="is dead"):
        find_instance(home, "notes")
    with pytest.raises(BrowserError, match="does not answer"):
        reset_instance(notes.state)
    assert stop_instance(home, "notes") is False
    assert list_instances(home) == []
    with pytest.raises(UserError, match="no site instance 'notes' is up"):
        stop_instance(home, "notes")


def test_another_process_of_the_same_number_is_left_alone(
    built: BuiltSite, home: SiteHome, notes: Instance
) -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as innocent:
        stale = replace(notes.state, name="stale", pid=innocent.pid)
        home.instance("stale").mkdir(parents=True)
        write_record(home.instance("stale") / "state.json", stale)
        assert not stale.alive
        assert stop_instance(home, "stale") is False
        assert innocent.poll() is None


def test_a_site_that_does_not_start_says_why(
    built: BuiltSite, home: SiteHome, tmp_path: Path
) -> None:
    broken = replace(built, snapshot=tmp_path / "nothing")
    with pytest.raises(
        MissingDependencyError, match=r"does not start: FileNotFoundError.*server.log"
    ):
        start_instance(broken, home, "broken")
    assert list_instances(home) == []


PARENT = """
import sys, time
from pathlib import Path
from tests.browser.sites.small import small_site
from dynaweb.browser.sites.instance import start_instance
built, home = small_site(Path(sys.argv[1]))
start_instance(built, home, "child", stay=sys.argv[2] == "stay")
print("up", flush=True)
time.sleep(60)
"""


@pytest.mark.parametrize(("how", "stays"), [("leave", False), ("stay", True)])
def test_a_server_ends_with_a_killed_parent_unless_it_was_told_to_stay(
    tmp_path: Path, how: str, stays: bool
) -> None:
    root = Path(__file__).parents[3]
    with subprocess.Popen(
        [sys.executable, "-c", PARENT, str(tmp_path), how],
        stdout=subprocess.PIPE,
        cwd=root,
        env={"PYTHONPATH": f"{root}:{root / 'src'}"},
    ) as parent:
        assert parent.stdout is not None and parent.stdout.readline() == b"up\n"
        home = SiteHome(tmp_path / "home")
        state = read_state(home.instance("child"))
        assert state is not None and state.alive and state_file(home, "child")["pid"] == state.pid
        parent.kill()
    if stays:
        time.sleep(0.5)
        assert ask(state)[0] == 200
        assert sweep_dead(home) == 0 and stop_instance(home, "child") is True
    else:
        assert wait_until(lambda: not lives(state.pid, state.started), 5)
        assert sweep_dead(home) == 1 and not home.instance("child").exists()


def test_login_takes_the_form_and_gives_a_session(notes: Instance) -> None:
    person = find_person("anna")
    session = log_in(notes.spec, notes.state.port, person)
    assert session == {"user": "anna"}
    with pytest.raises(BrowserError, match="did not let 'anna' in"):
        log_in(notes.spec, notes.state.port, replace(person, password="wrong"))

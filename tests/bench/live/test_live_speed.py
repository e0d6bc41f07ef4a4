"""The benchmark of live episodes: its sums are right, and it runs, is killed and goes on in a real browser."""

import json

import pytest

from dynaweb.bench.live.measure import against, arm_speed, gain, parts_ms
from dynaweb.bench.live.plan import choose_tasks
from dynaweb.bench.live.results import BY_HAND, OURS, Block, Round
from dynaweb.bench.live.rival import PACKAGES
from dynaweb.browser.sites.build import find_environment
from dynaweb.browser.sites.home import SiteHome
from dynaweb.cli.live_told import BEGIN, END
from dynaweb.cli.main import main
from dynaweb.errors import UserError


def block(task: str, arm: str, sec: float, **more: object) -> Block:
    given = {"episodes": 2, "steps": 4, "reset_sec": sec / 2, "diverged": 0, **more}
    return Block(task=task, arm=arm, sec=sec, **given)  # type: ignore[arg-type]


def test_speeds_are_sums_over_sums():
    ours = [block("a", OURS, 1.0, parts={"act": 0.2}), block("b", OURS, 3.0, parts={"act": 0.6})]
    theirs = [block("a", BY_HAND, 4.0, diverged=1), block("b", BY_HAND, 6.0)]
    speed = arm_speed(ours)
    assert (speed.episodes, speed.steps, speed.blocks) == (4, 8, 2)
    assert (speed.episodes_per_sec.value, speed.steps_per_sec.value) == (1.0, 2.0)
    assert (speed.episode_ms.value, speed.reset_ms.value) == (1000.0, 500.0)
    assert arm_speed(theirs).diverged == 1
    row = against(ours, theirs)
    assert (row.times.value, row.median_times.value, row.goal) == (2.5, 3.0, 1.3)
    assert row.times.low <= 2.5 <= row.times.high
    assert parts_ms(ours) == {"act": pytest.approx(200.0), "rest": pytest.approx(800.0)}


def test_gain_is_taken_within_a_round():
    rounds = [
        Round(number=0, workers=1, episodes=10, sec=10.0),
        Round(number=0, workers=2, episodes=10, sec=5.0),
        Round(number=1, workers=1, episodes=10, sec=20.0),
        Round(number=1, workers=2, episodes=10, sec=16.0),
        Round(number=2, workers=2, episodes=10, sec=1.0),
    ]
    found = gain(rounds)
    assert found is not None
    assert (found.workers, found.times.low, found.times.high, found.times.n) == (2, 1.25, 2.0, 2)
    assert gain(rounds[:1]) is None


def test_tasks_are_spread_evenly_or_named():
    assert len(set(choose_tasks((), 7))) == 7
    assert choose_tasks(("login-user", "login-user"), 7) == ("login-user",)
    with pytest.raises(UserError, match="no scripted expert for task 'book-flight'"):
        choose_tasks(("book-flight",), 1)


def test_every_package_of_browsergym_is_pinned(tmp_path):
    packages = PACKAGES.requirements
    assert all(line.count("==") == 1 for line in packages)
    assert {"browsergym-miniwob==0.14.3", "playwright==1.44.0", "miniwob==1.1.0"} <= set(packages)
    assert find_environment(PACKAGES, SiteHome(tmp_path)) is None


@pytest.mark.browser
def test_the_command_measures_and_goes_on_where_it_stopped(tmp_path, capsys):
    page = tmp_path / "page.md"
    page.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n", encoding="utf-8")
    command = ["bench", "live", "click-test", "login-user", "--seeds", "1", "--rounds", "0", "-q"]
    command += ["--out", str(tmp_path / "out"), "--json"]
    assert main([*command, "--into", str(page)]) == 0
    first = json.loads(capsys.readouterr().out)
    assert first["tasks"] == ["click-test", "login-user"]
    (arm,) = first["arms"]
    assert (arm["episodes"], arm["steps"], arm["diverged"]) == (2, 4, 0)
    assert set(first["parts_ms"]) == {"tab", "open", "act", "settle", "observe", "rest"}
    text = page.read_text("utf-8")
    assert text.startswith(f"before\n{BEGIN}\nMeasured with `") and text.endswith(f"{END}\nafter\n")
    assert "old" not in text

    kept = tmp_path / "out" / "measured.jsonl"
    lines = kept.read_bytes().splitlines(keepends=True)
    kept.write_bytes(b"".join(lines[:-1]) + lines[-1][:20])  # as a kill leaves it
    assert main(command) == 0
    assert kept.read_bytes().splitlines(keepends=True)[: len(lines) - 1] == lines[:-1]
    assert json.loads(capsys.readouterr().out)["arms"][0]["blocks"] == 2

    assert main([*command[:-1], "--seeds", "2"]) == 2
    assert "choose another --out" in capsys.readouterr().err


@pytest.mark.browser
@pytest.mark.slow
def test_browsergym_beside_us_ends_every_episode_alike(request, tmp_path, capsys):
    home = request.config.getoption("--sites-home")
    if home is None:
        pytest.skip("needs --sites-home")
    command = ["bench", "live", "click-test", "login-user", "--seeds", "1", "--rounds", "0", "-q"]
    main([*command, "--browsergym", "--home", home, "--out", str(tmp_path), "--json"])
    found = json.loads(capsys.readouterr().out)
    assert [a["arm"] for a in found["arms"]] == ["dynaweb", "browsergym", "browsergym tuned"]
    assert all(a["diverged"] == 0 for a in found["arms"])
    assert found["sight"]["controls"] == found["sight"]["controls_same"] == 10

"""`dynaweb sites` where nothing is built: what it lists, and what it says to mistakes."""

import json

import pytest
from tests.browser.sites.made_checkout import make_checkout

from dynaweb.cli.main import main
from dynaweb.cli.siting import home_folder


@pytest.fixture
def home(tmp_path):
    return ["--home", str(tmp_path / "home")]


def test_list(home, capsys):
    assert main(["sites", "list", *home, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [(row["site"], row["built"]) for row in rows] == [
        ("shop", False),
        ("tracker", False),
        ("forum", False),
    ]
    assert main(["sites", "list", *home]) == 0
    assert capsys.readouterr().out.count("not built") == 3


def test_show(capsys):
    assert main(["sites", "show", "shop", "--json"]) == 0
    shop = json.loads(capsys.readouterr().out)
    assert "shop:/basket/" in shop["tasks"] and len(shop["users"]) == 12
    assert "Disallow: /checkout/" in shop["robots"] and "Django==5.2.19" in shop["requirements"]
    assert main(["sites", "show", "tracker"]) == 0
    assert "anna (anna-lantern-2)" in capsys.readouterr().out


def test_status_and_down_of_nothing(home, capsys):
    assert main(["sites", "status", *home]) == main(["sites", "down", "--all", *home]) == 0
    assert capsys.readouterr().out == "no instance is up\n" * 2
    assert main(["sites", "status", *home, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == []


def test_the_home_follows_the_xdg_specification(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert home_folder(None) == tmp_path / "dynaweb" / "sites"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert home_folder(None) == tmp_path / ".cache" / "dynaweb" / "sites"
    monkeypatch.chdir(tmp_path)
    assert str(home_folder(tmp_path / "x")) == str(tmp_path / "x")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("up shpo", "no site 'shpo'; did you mean 'shop'?"),
        ("show wiki", "The sites are shop, tracker, forum"),
        ("reset shop", "no site instance 'shop' is up (up: none)"),
        ("down shop", "no site instance 'shop' is up"),
        ("down", "say --all"),
        ("down x --all", "say --all"),
        ("tasks nowhere", "expected apps/NAME/server.py"),
    ],
)
def test_mistakes(words, said, home, capsys):
    with_home = [] if words.startswith(("show", "tasks")) else home
    assert main(["sites", *words.split(), *with_home]) == 2
    assert said in capsys.readouterr().err


def test_tasks_of_a_checkout(tmp_path, capsys):
    root = make_checkout(tmp_path)
    assert main(["sites", "tasks", str(root)]) == 0
    assert "infinity:lists/task_e1  Star the list.\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("shop:/ click-test --policy random", "collect them separately"),
        ("shop:/ --policy expert", "on sites use --policy random"),
        ("bob@shop:/ --policy random", "nobody called 'bob'"),
        ("infinity:lists/task_e1 --policy random", "need --checkout DIR"),
        ("infinity:lists/task_e1 --policy random --checkout {root}", "--trust-checkout"),
        ("infinity:lists/x --policy random --checkout {root} --trust-checkout", "no task 'x'"),
    ],
)
def test_mistakes_of_collect(words, said, tmp_path, home, capsys):
    given = words.format(root=make_checkout(tmp_path / "c")).split()
    assert main(["collect", *given, "--out", str(tmp_path / "o.jsonl"), *home]) == 2
    assert said in capsys.readouterr().err
    assert not (tmp_path / "o.jsonl").exists()


@pytest.mark.browser
def test_collect_on_an_app_of_a_checkout(tmp_path, home, capsys):
    out, root = tmp_path / "o.jsonl", make_checkout(tmp_path / "c")
    words = ["infinity:lists/task_e1", "--policy", "random", "--episodes", "2", "--workers", "2", "--max-steps", "3"]  # fmt: skip
    trust = ["--checkout", str(root), "--trust-checkout", "--quiet", *home]
    assert main(["collect", *words, "--out", str(out), *trust]) == 0
    rows = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert [row["seed"] for row in rows] == [0, 1], [row.get("detail") for row in rows]
    assert rows[0]["origin"] == "webarena-infinity/lists" and rows[0]["goal"] == "Star the list."
    assert "lists.localhost" in out.read_text(encoding="utf-8")
    assert "2 episodes" in capsys.readouterr().out

"""Commands that work, run as a person runs them."""

import gzip
import json
import os
import signal
import subprocess
import sys

import pytest
from tests.records.test_codec import TRAJECTORY

from dynaweb.cli.drawing import drawing
from dynaweb.cli.main import app, main
from dynaweb.records.codec import dump

COMMANDS = sorted(c.name or c.callback.__name__ for c in app.registered_commands)


def python(*words, **more):
    return subprocess.run(
        [sys.executable, *words], capture_output=True, text=True, timeout=110, **more
    )


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help(command, capsys):
    assert main([*([command] if command else []), "--help"]) == 0
    assert "Usage: dynaweb" in capsys.readouterr().out


def test_help_is_light():
    """Processor time of the whole process, so that a busy machine does not fail it; the target is half a second."""
    code = (
        "import sys, time\nfrom dynaweb.cli.main import main\nmain(['--help'])\n"
        "heavy = {'torch', 'transformers', 'playwright', 'pydantic', 'numpy', 'rich'} & set(sys.modules)\n"
        "print(f'heavy={sorted(heavy)} seconds={time.process_time():.2f}', file=sys.stderr)"
    )
    best = 9.0
    for _ in range(3):
        said = python("-c", code).stderr
        assert "heavy=[]" in said
        best = min(best, float(said.rpartition("=")[2]))
    assert best < 0.5


def test_the_installed_command_answers():
    assert python("-m", "dynaweb.cli.main", "version").stdout.strip() == "0.1.0"


def test_tasks(capsys):
    assert main(["tasks", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert len(rows) == 125
    assert sum(row["expert_steps"] is not None for row in rows) >= 25
    assert main(["tasks", "--experts"]) == 0
    assert "click-test " in capsys.readouterr().out


def test_settings(capsys):
    assert main(["settings", "--size", "smoke", "--set", "seed=5", "--json"]) == 0
    rows = {row["key"]: row for row in json.loads(capsys.readouterr().out)}
    assert rows["seed"]["value"] == 5 and rows["gspo.iterations"]["doc"]


def test_show_prints_a_trajectory_and_nothing_that_steers_the_terminal(tmp_path, capsys):
    file = tmp_path / "x.jsonl"
    hostile = dump(TRAJECTORY).replace("Click the button.", r"Click \u001b[2J\u202eit.")
    file.write_text(hostile + "\n")
    assert main(["show", str(file)]) == 0
    out = capsys.readouterr().out
    assert "action   click('1')" in out and "outcome  success (task_ended)" in out
    assert "\x1b" not in out and "\u202e" not in out


def test_compare(tmp_path, capsys):
    for name, outcome in (("a", "success"), ("b", "failure")):
        lines = [
            dump(TRAJECTORY)
            .replace('"seed":3', f'"seed":{n}', 1)
            .replace('"trajectory_id":"t1"', f'"trajectory_id":"t{n}"', 1)
            .replace('"outcome":"success"', f'"outcome":"{outcome}"')
            for n in range(4)
        ]
        (tmp_path / f"{name}.jsonl").write_text("".join(f"{line}\n" for line in lines))
    words = ["compare", str(tmp_path / "a.jsonl"), str(tmp_path / "b.jsonl")]
    assert main(words) == 0
    assert "difference: +100.0%" in capsys.readouterr().out
    assert main([*words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["pairs"] == 4


def test_doctor_without_the_slow_looks(tmp_path, capsys):
    words = [
        w
        for name in ("python", "packages", "pages", "port", "disk", "memory")
        for w in ("--only", name)
    ]
    assert main(["doctor", *words, "--out", str(tmp_path), "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["name"] for row in rows if row["ok"]] == [
        "python",
        "packages",
        "pages",
        "port",
        "disk",
        "memory",
    ]


@pytest.mark.browser
def test_collect_goes_on_where_it_stopped(tmp_path, capsys):
    file = str(tmp_path / "t.jsonl")
    assert main(["collect", "click-test", "--out", file, "--episodes", "2", "-q"]) == 0
    assert "2 episodes, 2 successes, 0 broken; 0 were there before" in capsys.readouterr().out
    assert (
        main(["collect", "click-test", "--out", file, "--episodes", "3", "--workers", "1", "-q"])
        == 0
    )
    assert "3 episodes, 3 successes, 0 broken; 2 were there before" in capsys.readouterr().out
    assert main(["show", file, "-i", "-1"]) == 0


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_signals_end_it_with_their_code_and_one_line(number, code):
    child = subprocess.Popen(
        [sys.executable, "-m", "dynaweb.cli.main", "pages"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # the tests themselves may run as a background job, deaf to the keyboard
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert "miniwob" in child.stdout.readline()
    os.kill(child.pid, number)
    assert child.wait(20) == code
    assert child.stderr.read() == "dynaweb: interrupted; run the same command again to go on\n"


def test_a_background_job_that_is_deaf_to_the_keyboard_still_ends_when_told_to():
    child = subprocess.Popen(
        [sys.executable, "-m", "dynaweb.cli.main", "pages"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
    )
    assert "miniwob" in child.stdout.readline()
    os.kill(child.pid, signal.SIGTERM)
    assert child.wait(20) == 143
    child.communicate()


def test_progress_without_a_terminal_is_a_line_now_and_then(capsys):
    with drawing(quiet=False) as progress:
        for n in range(101):
            progress("collect", n, 100, "so far")
        progress("gspo", 0, None)
    lines = capsys.readouterr().err.splitlines()
    assert lines == [
        "collect: 0/100 after 0 s so far",
        "collect: 100/100 after 0 s so far",
        "gspo: 0 after 0 s",
    ]
    with drawing(quiet=True) as progress:
        progress("collect", 1, 1)
    assert capsys.readouterr().err == ""


def test_version_as_an_option(capsys):
    assert main(["--version"]) == 0
    plain = capsys.readouterr().out
    assert main(["version"]) == 0
    assert capsys.readouterr().out == plain


def test_show_reads_other_tools_files_and_gzip(tmp_path, capsys):
    pair = {"obs": "RootWebArea 'A'\n  [1] button 'Go'", "action": "click('1')", "next_obs": "RootWebArea 'B'"}  # fmt: skip
    (tmp_path / "pairs.jsonl").write_text(json.dumps(pair) + "\n")
    assert main(["show", str(tmp_path / "pairs.jsonl")]) == 0
    assert "click('1')" in capsys.readouterr().out
    with gzip.open(tmp_path / "own.jsonl.gz", "wt") as file:
        file.write(dump(TRAJECTORY) + "\n")
    assert main(["show", str(tmp_path / "own.jsonl.gz")]) == 0
    assert TRAJECTORY.goal in capsys.readouterr().out


def test_import_passes_over_a_folders_card_but_not_over_a_lone_one(tmp_path, capsys):
    rows, card = tmp_path / "own.jsonl", tmp_path / "README.md"
    rows.write_text(dump(TRAJECTORY) + "\n")
    card.write_text("# What this is\n")
    assert main(["import", str(card), str(rows), "--out", str(tmp_path / "a.jsonl")]) == 0
    assert "1  file passed over: Markdown" in capsys.readouterr().out
    assert main(["import", str(card), "--out", str(tmp_path / "b.jsonl")]) == 2

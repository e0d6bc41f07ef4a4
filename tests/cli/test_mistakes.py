"""Mistakes a user makes: each ends in one line that says how to mend it, the right exit code, and no traceback."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.records.test_codec import TRAJECTORY

from dynaweb.cli import endings
from dynaweb.cli.main import main
from dynaweb.errors import StorageError
from dynaweb.recipes.presets import preset
from dynaweb.records.codec import dump
from dynaweb.runs.folder import RunFolder

USAGE, MISSING = 2, 4


@pytest.fixture
def dynaweb(capsys):
    """The command in this process: the same `main`, without starting Python again."""

    def call(*words: str) -> Ending:
        code = main(list(words))
        out, err = capsys.readouterr()
        return Ending(code, out, err)

    return call


class Ending(NamedTuple):
    returncode: int
    stdout: str
    stderr: str


def complaint(done: Ending | subprocess.CompletedProcess[str], code: int) -> str:
    assert done.returncode == code, done.stderr
    assert done.stdout == ""
    lines = done.stderr.splitlines()
    assert len(lines) == 1, done.stderr
    assert lines[0].startswith("dynaweb: ")
    assert "Traceback" not in done.stderr
    return lines[0]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("collcet", "did you mean 'collect'"),
        ("demo --siez smoke", "--size"),
        ("demo --size tiny", "'tiny': use one of smoke, demo"),
        ("demo --set gspo", "write it as key=value"),
        ("demo --set gspo.iteratoins=3", "did you mean 'gspo.iterations'"),
        ("demo --set seed=one", "expected a whole number"),
        ("demo --set live_workers=0", "must be 1 or more"),
        ("demo --set tasks=clik-test", "did you mean 'click-test'"),
        ("demo --seed x", "--seed"),
        ("collect clik-test --out x.jsonl", "did you mean 'click-test'"),
        ("collect chase-circle --out x.jsonl", "left out: it needs a continuous mouse path"),
        ("collect terminal --out x.jsonl", "has no scripted expert"),
        ("collect click-test --out x.jsonl --policy expret", "use one of expert, noisy, random"),
        ("collect click-test --out no/such/folder/x.jsonl", "make it first"),
        ("collect click-test", "--out"),
        ("collect --out x.jsonl", "task"),
        ("collect click-test --out x.jsonl --episodes 0", "--episodes"),
        ("collect click-test --out x.jsonl --episodes two", "'--episodes': not a whole number"),
        ("export x.jsonl --format nope --out y", "'--format': 'nope' is not one of"),
        ("show missing.jsonl", "no file 'missing.jsonl'"),
        ("compare missing.jsonl other.jsonl", "no file 'missing.jsonl'"),
        ("report nowhere", "not a run folder"),
        ("doctor --only brwser", "did you mean 'browser'"),
        ("pages --port 70000", "--port"),
        ("settings --size tiny", "use one of smoke, demo, study"),
    ],
)
def test_wrong_words(dynaweb, words, says, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert says.lower() in complaint(dynaweb(*words.split()), USAGE).lower()
    assert list(tmp_path.iterdir()) == [], "a refused command leaves nothing behind"


def test_pickles_in_hidden_folders_do_not_make_an_experiment(dynaweb, tmp_path):
    (tmp_path / ".venv").mkdir()
    (tmp_path / ".venv" / "cache.pkl").write_bytes(b"")
    assert "name the files in it" in complaint(dynaweb("inspect", str(tmp_path)), USAGE)
    (tmp_path / "step_0.pkl.gz").write_bytes(b"")
    assert "steps are pickles" in complaint(dynaweb("inspect", str(tmp_path)), USAGE)


def test_an_unwritable_run_folder(dynaweb, tmp_path):
    (tmp_path / "file").write_text("")
    said = complaint(dynaweb("demo", "--out", str(tmp_path / "file" / "run")), USAGE)
    assert "cannot write in" in said and "choose a folder you can write" in said


def test_a_corrupt_run_folder(dynaweb, tmp_path):
    (tmp_path / "run.json").write_text("{")
    said = complaint(dynaweb("demo", "--out", str(tmp_path)), USAGE)
    assert "run.json is damaged" in said and "delete the folder" in said


def test_a_folder_that_is_something_else(dynaweb, tmp_path):
    (tmp_path / "thesis.tex").write_text("")
    assert "is not a run folder" in complaint(dynaweb("demo", "--out", str(tmp_path)), USAGE)


def test_a_run_folder_of_another_configuration(dynaweb, tmp_path):
    with RunFolder(tmp_path, config={"tasks": ["x"]}, seed=0) as run:
        run.begin("collect")
    said = complaint(dynaweb("demo", "--out", str(tmp_path)), USAGE)
    assert "another configuration" in said and "choose another folder" in said


def test_a_run_folder_in_use(dynaweb, tmp_path):
    with RunFolder(tmp_path, config=preset("demo"), seed=0):
        assert f"pid {os.getpid()}" in complaint(dynaweb("demo", "--out", str(tmp_path)), USAGE)


def test_a_file_of_other_records(dynaweb, tmp_path):
    file = tmp_path / "x.jsonl"
    file.write_text('{"schema_version":1,"record":"Verdict","outcome":"success"}\n')
    assert "expected a Trajectory, found a Verdict" in complaint(dynaweb("show", str(file)), USAGE)
    file.write_text("not json\n")
    assert "line is not JSON (x.jsonl:1" in complaint(dynaweb("show", str(file)), USAGE)
    file.write_text("")
    assert "it is empty" in complaint(dynaweb("show", str(file)), USAGE)


def test_a_busy_port(dynaweb):
    with socket.socket() as busy:
        busy.bind(("127.0.0.1", 0))
        busy.listen()
        port = str(busy.getsockname()[1])
        assert "use port 0 for a free one" in complaint(dynaweb("pages", "--port", port), MISSING)
        done = dynaweb("doctor", "--only", "port", "--port", port)
        assert done.returncode == MISSING and "use another port" in done.stdout


def test_no_browser(dynaweb, tmp_path):
    words = ("collect", "click-test", "--out", str(tmp_path / "x.jsonl"), "-q")
    env = {"PATH": str(tmp_path), "PLAYWRIGHT_BROWSERS_PATH": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-m", "dynaweb.cli.main", *words],
        capture_output=True,
        text=True,
        timeout=110,
        env=env,
    )
    assert "install one with `apt-get install" in complaint(done, MISSING)
    said = complaint(dynaweb(*words, "--browser", "/no/such/chromium"), MISSING)
    assert "no browser at '/no/such/chromium'" in said


@pytest.mark.parametrize("package", ["torch", "playwright", "scipy"])
def test_a_missing_package(package, tmp_path):
    """The package is hidden from the import system in the child; everything else is the real command."""
    words = {
        "torch": "demo --size smoke --out run",
        "playwright": "tasks",
        "scipy": "compare a.jsonl b.jsonl",
    }[package]
    for name in ("a.jsonl", "b.jsonl"):
        (tmp_path / name).write_text(dump(TRAJECTORY) + "\n")
    code = (
        f"import sys; sys.modules[{package!r}] = None\n"
        f"from dynaweb.cli.main import main; sys.exit(main({words.split()!r}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=110, cwd=tmp_path
    )
    assert f"needs the package {package!r}: pip install 'dynaweb[" in complaint(done, MISSING)


def test_debug_shows_the_traceback(dynaweb, tmp_path):
    done = dynaweb("report", "nowhere", "--debug")
    assert done.returncode == USAGE and "Traceback" in done.stderr


def test_a_reader_that_leaves_is_no_error():
    line = f"{sys.executable} -m dynaweb.cli.main tasks --json | head -1"
    done = subprocess.run(
        ["bash", "-c", line],
        capture_output=True,
        text=True,
    )
    assert json.loads(done.stdout + "]") == [] and done.stderr == ""


def test_import_onto_its_own_source(dynaweb, tmp_path):
    file = tmp_path / "own.jsonl"
    file.write_text(dump(TRAJECTORY) + "\n")
    said = complaint(dynaweb("import", str(file), "--out", str(file)), USAGE)
    assert "is one of the files to import" in said
    assert file.read_text() == dump(TRAJECTORY) + "\n"


def test_prose_that_quotes_a_tree_is_no_tree(dynaweb, tmp_path):
    file = tmp_path / "notes.md"
    file.write_text("# Notes\n\nSome text\n\n    [1] button 'a'\n    [2] link 'b'\n\nmore prose\n")
    said = complaint(dynaweb("inspect", str(file)), USAGE)
    assert "2 lines look like elements and 2 like none (the first is line 3)" in said
    assert dynaweb("inspect", "--as", "tree", str(file)).returncode == 0


def test_a_damaged_file_is_named_once(dynaweb, tmp_path):
    file = tmp_path / "own.jsonl"
    file.write_text(dump(TRAJECTORY) + '\n{"a":\n' + dump(TRAJECTORY) + "\n")
    said = complaint(dynaweb("compare", str(file), str(file)), USAGE)
    assert said.count("own.jsonl") == 1
    shown = dynaweb("show", str(file))
    assert shown.returncode == 0 and "line is not JSON" in shown.stderr


def test_a_full_disk_is_the_machines_fault(capsys):
    def written():
        try:
            with Path("/dev/full").open("w", encoding="utf-8") as file:
                file.write("x")
        except OSError as error:
            raise StorageError(f"cannot write rows: {error.strerror}") from error

    assert endings.run(written, debug=False) == 4
    assert capsys.readouterr().err == "dynaweb: cannot write rows: No space left on device\n"

    def elsewhere():
        raise StorageError("rows is damaged")

    assert endings.run(elsewhere, debug=False) == 2


def test_a_reader_that_left_before_the_command_was_done_is_no_error():
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "dynaweb.cli.main", "settings"]
    done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, "")

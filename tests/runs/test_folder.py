import json
import os
import signal
import subprocess
import sys
import textwrap
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from dynaweb.errors import StorageError, UserError
from dynaweb.runs.atomic import read_json, write_json, write_text
from dynaweb.runs.differences import differences
from dynaweb.runs.folder import RunFolder, fingerprint, plain
from dynaweb.runs.jsonl import read_prefix


@dataclass(frozen=True, slots=True, kw_only=True)
class Gspo:
    steps: int = 20
    rate: float = 1e-4


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    tasks: tuple[str, ...] = ("click-test",)
    browser: Path | None = None
    gspo: Gspo = Gspo()


def open_run(path, config=None, seed=0, **more):
    return RunFolder(path, config=config or Config(), seed=seed, argv=("dynaweb", "demo"), **more)


def test_a_new_run_says_what_it_is(tmp_path):
    with open_run(tmp_path / "a" / "run") as run:
        assert not run.resumed and run.notices == ()
    info = read_json(tmp_path / "a" / "run" / "run.json")
    assert info["seed"] == 0 and info["config"]["gspo"] == {"steps": 20, "rate": 1e-4}
    assert len(info["commit"]) == 40 and isinstance(info["dirty"], bool)
    assert "torch" in info["versions"] and info["machine"]["cores"] >= 1
    sessions = read_prefix(tmp_path / "a" / "run" / "sessions.jsonl").lines
    assert json.loads(sessions[0])["argv"] == ["dynaweb", "demo"]


def test_the_same_command_takes_it_up(tmp_path):
    with open_run(tmp_path) as run:
        folder = run.begin("collect", "v1")
        (folder / "half.jsonl").write_text("{}\n")
    with open_run(tmp_path) as run:
        assert run.resumed
        assert run.done("collect", "v1") is None
        folder = run.begin("collect", "v1")
        assert (folder / "half.jsonl").exists(), "unfinished work of the same inputs is kept"
        run.finish("collect", "v1", seconds=2.5, facts={"episodes": 3})
    with open_run(tmp_path) as run:
        done = run.done("collect", "v1")
        assert done is not None and done.seconds == 2.5 and done.facts == {"episodes": 3}
        assert run.done("collect", "v2") is None
        assert not (run.begin("collect", "v2") / "half.jsonl").exists(), (
            "work of other inputs is not"
        )
    assert len(read_prefix(tmp_path / "sessions.jsonl").lines) == 3


def test_beginning_again_unmarks(tmp_path):
    with open_run(tmp_path) as run:
        run.begin("sft")
        run.finish("sft", seconds=1.0)
        assert run.done("sft")
        run.begin("sft")
        assert run.done("sft") is None


def test_another_configuration_is_refused_with_the_difference(tmp_path):
    with open_run(tmp_path) as run:
        run.begin("collect")
    other = replace(Config(), gspo=Gspo(steps=5), tasks=("click-test", "enter-text"))
    with pytest.raises(UserError, match=r"config\.gspo\.steps was 20, now 5; config\.tasks was"):
        open_run(tmp_path, other)
    with pytest.raises(UserError, match="seed was 0, now 1"):
        open_run(tmp_path, seed=1)
    open_run(
        tmp_path,
        replace(Config(), browser=Path("/opt/chromium")),
        may_differ=frozenset({"browser"}),
    ).close()
    with pytest.raises(UserError, match=r"config\.browser"):
        open_run(tmp_path, replace(Config(), browser=Path("/opt/chromium")))


def test_a_run_that_left_nothing_keeps_no_other_out(tmp_path):
    other = replace(Config(), gspo=Gspo(steps=5))
    open_run(tmp_path).close()
    with open_run(tmp_path, other) as run:
        assert not run.resumed
        run.begin("collect")
    assert read_json(tmp_path / "run.json")["config"]["gspo"]["steps"] == 5
    assert len(read_prefix(tmp_path / "sessions.jsonl").lines) == 2, "what was tried stays written"
    with pytest.raises(UserError, match=r"config\.gspo\.steps was 5, now 20"):
        open_run(tmp_path)
    with open_run(tmp_path, other) as run:
        assert run.resumed


def test_a_run_that_is_just_beginning_is_nobody_elses(tmp_path):
    with open_run(tmp_path), pytest.raises(UserError, match="another process"):
        open_run(tmp_path, replace(Config(), gspo=Gspo(steps=5)))
    assert read_json(tmp_path / "run.json")["config"]["gspo"]["steps"] == 20


def test_another_commands_folder_is_called_so(tmp_path):
    with RunFolder(tmp_path, config={"tuning": 1}, seed=0) as run:
        run.begin("training")
    with pytest.raises(UserError, match=r"what another command made.*choose another folder"):
        open_run(tmp_path)


def test_long_values_are_shown_in_part(tmp_path):
    with RunFolder(tmp_path, config={"sources": ["a" * 16] * 500}, seed=0) as run:
        run.begin("training")
    with pytest.raises(UserError, match=r"sources was .*\.\.\., now \[\]") as refused:
        RunFolder(tmp_path, config={"sources": []}, seed=0)
    assert len(str(refused.value)) < 300 + len(str(tmp_path))


def test_a_file_in_the_folders_place_is_called_so(tmp_path):
    (tmp_path / "run").write_text("mine")
    with pytest.raises(UserError, match=r"run' is a file: name a folder"):
        open_run(tmp_path / "run")
    assert (tmp_path / "run").read_text() == "mine"


def test_code_that_changed_half_way_is_said(tmp_path):
    open_run(tmp_path).close()
    info = read_json(tmp_path / "run.json")
    write_json(
        tmp_path / "run.json",
        {**info, "commit": "f" * 40, "versions": {**info["versions"], "torch": "1.0"}},
    )
    with open_run(tmp_path) as run:
        assert "begun with code ffffffffffff" in run.notices[0]
        assert run.notices[1].startswith("versions: torch was '1.0'")


def test_one_writer(tmp_path):
    with open_run(tmp_path), pytest.raises(UserError, match=f"pid {os.getpid()}"):
        open_run(tmp_path)
    open_run(tmp_path).close()


def test_racing_writers_leave_one(tmp_path):
    script = textwrap.dedent("""
        import sys, time
        from pathlib import Path
        from dynaweb.errors import UserError
        from dynaweb.runs.folder import RunFolder
        sys.stdin.readline()
        try:
            run = RunFolder(Path(sys.argv[1]), config={}, seed=0)
        except UserError as error:
            print("lost", error, flush=True)
        else:
            print("won", flush=True)
            sys.stdin.readline()
    """)
    racers = [
        subprocess.Popen(
            [sys.executable, "-c", script, str(tmp_path / "run")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(4)
    ]
    for racer in racers:
        racer.stdin.write("go\n")
        racer.stdin.flush()
    said = [racer.stdout.readline() for racer in racers]
    winner = next(r for r, line in zip(racers, said, strict=True) if line.startswith("won"))
    assert sorted(line.split()[0] for line in said) == ["lost", "lost", "lost", "won"]
    os.kill(winner.pid, signal.SIGKILL)
    for racer in racers:
        racer.communicate()
    RunFolder(tmp_path / "run", config={}, seed=0).close()


def test_a_damaged_run_is_named(tmp_path):
    (tmp_path / "run.json").write_text('{"seed": 0, ')
    with pytest.raises(StorageError, match=r"run\.json is damaged.*delete the folder"):
        open_run(tmp_path)


def test_a_damaged_marker_is_named(tmp_path):
    with open_run(tmp_path) as run:
        run.begin("sft")
        write_json(tmp_path / "sft" / "stage.done.json", {"inputs": fingerprint(None)})
        with pytest.raises(StorageError, match="delete it to run the stage again"):
            run.done("sft")


def test_a_foreign_folder_is_left_alone(tmp_path):
    (tmp_path / "thesis.tex").write_text("important")
    with pytest.raises(UserError, match=r"holds 'thesis\.tex'"):
        open_run(tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == ["thesis.tex"]


def test_an_unwritable_place_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match=r"cannot write in .*choose a folder"):
        open_run(tmp_path / "file" / "run")


def test_a_write_that_fails_leaves_the_old_file(tmp_path):
    write_text(tmp_path / "a.json", "old")
    with pytest.raises(StorageError):
        write_json(tmp_path / "a.json", {"x": float("nan")})
    with pytest.raises(StorageError, match="cannot write"):
        write_text(tmp_path / "missing" / "a.json", "new")
    assert (tmp_path / "a.json").read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["a.json"]


def test_fingerprints_see_values_not_types():
    assert fingerprint({"a": (1, 2)}) == fingerprint({"a": [1, 2]})
    assert (
        fingerprint(Config()) == fingerprint(Config()) != fingerprint(replace(Config(), tasks=()))
    )
    assert plain(frozenset({"b", "a"})) == ["a", "b"]
    assert differences({"a": {"b": 1}}, {"a": {"b": 1}}) == {}

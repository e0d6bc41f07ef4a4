"""Files and paths that are hostile or careless: a value or one line and exit 2, nothing lost, nothing overwritten."""

import json
import os

import pytest

from dynaweb.cli.main import main
from dynaweb.errors import StorageError
from dynaweb.runs.atomic import writing

PAIR = {"obs": "RootWebArea 'x'\n\t[1] button 'a'", "action": "click('1')", "next_obs": "RootWebArea 'y'"}  # fmt: skip


@pytest.fixture
def pair(tmp_path):
    file = tmp_path / "pair.jsonl"
    file.write_text(json.dumps(PAIR) + "\n")
    return file


def complaint(capsys, *words):
    assert main([str(w) for w in words]) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.count("\n") == 1 and err.startswith("dynaweb: ")
    return err


@pytest.mark.parametrize("words", [("inspect",), ("convert", "--to", "html"), ("import", "--out", "o"), ("changes",)])  # fmt: skip
def test_a_path_that_no_file_can_have_and_a_pipe_end_in_one_line(words, tmp_path, capsys):
    command, *rest = words
    assert "File name too long" in complaint(capsys, command, "a" * 300, *rest)
    os.mkfifo(tmp_path / "pipe")
    assert "is a pipe or a device" in complaint(capsys, command, tmp_path / "pipe", *rest)


@pytest.mark.parametrize("index", [10**30, -(10**30), 5, -5])
def test_a_trajectory_far_out_of_range_ends_in_one_line(index, pair, capsys):
    assert "--show" in complaint(capsys, "inspect", pair, "--show", index)


@pytest.mark.parametrize("out", [".", "/", "/dev/null"])
def test_no_place_for_a_file(out, pair, capsys):
    assert "name a file" in complaint(capsys, "import", pair, "--out", out)


def test_a_device_is_not_replaced_by_a_file(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(StorageError, match="a device or a pipe"), writing(tmp_path / "pipe"):
        pass
    assert (tmp_path / "pipe").is_fifo()


def test_convert_keeps_the_page_it_reads(tmp_path, capsys):
    page = tmp_path / "page.txt"
    page.write_text(PAIR["obs"])
    assert "is the page itself" in complaint(capsys, "convert", page, "--to", "html", "--out", page)
    assert page.read_text() == PAIR["obs"]
    made = tmp_path / "page.json"
    assert "--json" in complaint(capsys, "convert", page, "--to", "html", "--out", made, "--json")


def test_an_export_that_fails_leaves_the_same_command_able_to_work(pair, tmp_path, capsys):
    own, out = tmp_path / "own.jsonl", tmp_path / "out"
    assert main(["import", str(pair), "--out", str(own)]) == 0
    capsys.readouterr()
    words = ("export", str(own), "--out", str(out), "--format", "session-trace")
    assert "licence" in complaint(capsys, *words)
    assert not out.exists()
    # as a kill leaves it
    (tmp_path / ".out.part").mkdir()
    (tmp_path / ".out.part" / "half").write_text("{")
    assert main([*words, "--license", "MIT"]) == 0
    assert len(list(out.iterdir())) == 1 and not (tmp_path / ".out.part").exists()


def test_a_file_name_does_not_steer_the_terminal(tmp_path, capsys):
    assert "\x1b" not in complaint(capsys, "inspect", tmp_path / "a\x1b[2Jb")
    file = tmp_path / "a\x1b[2Jb.jsonl"
    file.write_text(json.dumps({**PAIR, "more": 1}) + "\n")
    assert main(["import", str(file), "--out", str(tmp_path / "\x1b[2J")]) == 0
    said = capsys.readouterr()
    assert "\x1b" not in said.out + said.err and "a\\x1b[2Jb.jsonl:1" in said.out


def test_a_bomb_is_not_unpacked(tmp_path, capsys):
    import gzip

    bomb = tmp_path / "bomb.gz"
    bomb.write_bytes(gzip.compress(b"x" * (17 << 20), 1))
    assert "longer than 16 MB" in complaint(capsys, "convert", bomb, "--to", "html")


def test_a_row_that_nests_deeply_is_left_out_and_counted(tmp_path, capsys):
    file = tmp_path / "deep.jsonl"
    file.write_text('{"a": %s, "b": "\\ud800"}\n' % ("[" * 600 + "]" * 600))
    assert main(["inspect", str(file), "--as", "rows"]) == 0
    assert "nests too deeply" in capsys.readouterr().out

"""How far a file is read: told on a terminal, to people alone, and never for a file that is read at once."""

import gzip
import json
import os
import pty
import subprocess
import sys
from pathlib import Path

from dynaweb.cli import reading
from dynaweb.cli.inspected.rows import rows_facts
from dynaweb.cli.reading import watched
from dynaweb.dataset.imports.rows import read_rows
from dynaweb.dataset.imports.tally import Tally


def _told(path: Path, monkeypatch) -> list[tuple[str, int, int | None, str]]:
    said: list[tuple[str, int, int | None, str]] = []
    monkeypatch.setattr(reading, "PATIENCE_SEC", -1.0)
    monkeypatch.setattr(reading, "EVERY_SEC", 0.0)
    tally = Tally()
    rows = watched(read_rows(path, tally), path, tally, lambda *call: said.append(call))
    assert len(list(rows)) == 3
    assert tally.read_bytes == len(gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes())  # fmt: skip
    return said


def test_megabytes_and_rows_are_told_with_a_total_unless_the_file_is_packed(tmp_path, monkeypatch):
    lines = b"".join(json.dumps({"a": "x" * (1 << 20)}).encode() + b"\n" for _ in range(3))
    plain, packed = tmp_path / "a.jsonl", tmp_path / "a.jsonl.gz"
    plain.write_bytes(lines)
    packed.write_bytes(gzip.compress(lines))
    assert _told(plain, monkeypatch) == [("read", n, 3, f"MB, {n} rows") for n in (1, 2, 3)]
    assert _told(packed, monkeypatch) == [("read", n, None, f"MB, {n} rows") for n in (1, 2, 3)]


def test_a_list_counts_its_bytes_too(tmp_path, monkeypatch):
    path = tmp_path / "a.json"
    path.write_text('[{"a": 1}, {"a": 2}, {"a": "3"}]')
    assert [call[0] for call in _told(path, monkeypatch)] == ["read"] * 3
    facts = rows_facts(path, "")
    assert (facts["objects"], facts["fields"]) == (3, {"a": {"number": 2, "text": 1}})


def test_whole_numbers_and_others_are_one_kind_of_number_and_what_is_odd_is_exact(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(
        b'{"a": 1, "b": null}\n  {"a": 1.5}\r\n\n{"a": 1, "a": true}\n[1]\n{"a"\n\xef\xbb\xbf{"b": []}\n'
    )
    facts = rows_facts(path, "")
    assert facts["objects"] == 4
    assert facts["fields"] == {"a": {"number": 2, "boolean": 1}, "b": {"null": 1, "list": 1}}
    assert facts["odd"] == {"key 'a' stands twice in an object: its last value was read": 1}
    assert facts["left_out"] == {"row is not a JSON object": 1, "line is not JSON": 1}
    assert facts["first"] == {
        "key 'a' stands twice in an object: its last value was read": "a.jsonl:4",
        "row is not a JSON object": "a.jsonl:5: '[1]'",
        "line is not JSON": "a.jsonl:6: b'{\"a\"\\n'",
    }


BARRED = """
import sys
from dynaweb.cli import reading
reading.PATIENCE_SEC = -1.0
from dynaweb.cli.main import main
sys.exit(main(["inspect", sys.argv[1]]))
"""


def test_the_bar_is_drawn_on_a_terminal_alone_and_never_among_results(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"a": 1}\n' * 2_000)
    command = [sys.executable, "-c", BARRED, str(path)]
    quiet = subprocess.run(command, capture_output=True, check=True)
    assert quiet.stderr == b""
    ours, theirs = pty.openpty()
    env = {"TERM": "xterm", "COLUMNS": "120"}
    drawn = subprocess.run(command, stdout=subprocess.PIPE, stderr=theirs, check=True, env=env)
    os.close(theirs)
    seen = os.read(ours, 1 << 16)
    os.close(ours)
    assert drawn.stdout == quiet.stdout and b"2000 JSON objects" in drawn.stdout
    assert b"rows" in seen

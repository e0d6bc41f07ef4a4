"""Whole files or none, also after a kill."""

import os
import subprocess
import sys
from pathlib import Path

from dynaweb.runs.atomic import write_text

KILLED = """
import os, signal, sys
from pathlib import Path
from dynaweb.runs.atomic import writing
with writing(Path(sys.argv[1])) as file:
    file.write("half")
    file.flush()
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_kill_leaves_the_old_file_and_the_next_write_removes_what_is_left(tmp_path: Path) -> None:
    target = tmp_path / "a[1].txt"
    target.write_text("old")
    killed = subprocess.run([sys.executable, "-c", KILLED, str(target)], check=False, timeout=60)
    assert killed.returncode == -9
    assert target.read_text() == "old"
    assert len(list(tmp_path.iterdir())) == 2
    write_text(target, "new")
    assert [p.name for p in tmp_path.iterdir()] == ["a[1].txt"]
    assert target.read_text() == "new"


def test_a_running_process_keeps_what_it_writes_and_other_files_are_left_alone(
    tmp_path: Path,
) -> None:
    kept = [
        tmp_path / f".a.txt.{os.getppid()}.part",
        tmp_path / ".a.txt.notes.part",
        tmp_path / ".b.txt.999999999.part",
    ]
    for path in kept:
        path.write_text("x")
    write_text(tmp_path / "a.txt", "whole")
    assert all(path.exists() for path in kept)

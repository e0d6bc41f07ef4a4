import json
import os
import signal
import subprocess
import sys
import textwrap

import pytest

from dynaweb.errors import StorageError
from dynaweb.runs.jsonl import JsonlWriter, read_prefix, repair

LINES = tuple(json.dumps({"n": n, "text": "x\u2028\ud800" * n}) for n in range(4))
WHOLE = "".join(f"{line}\n" for line in LINES).encode()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "records.jsonl"


def test_what_is_appended_is_read_back(path):
    with JsonlWriter(path) as out:
        out.append(LINES[0])
        out.extend(LINES[1:])
    with JsonlWriter(path, sync=False) as out:
        out.append(LINES[0])
        prefix = read_prefix(path)
    assert prefix.lines == (*LINES, LINES[0])
    assert (
        not prefix.damage
        and prefix.dropped_bytes == 0
        and prefix.valid_bytes == path.stat().st_size
    )


def test_a_missing_file_is_empty(path):
    assert read_prefix(path).lines == ()


@pytest.mark.parametrize("cut", range(len(WHOLE)))
def test_torn_at_every_byte(path, cut):
    path.write_bytes(WHOLE[:cut])
    prefix = read_prefix(path)
    count = WHOLE[:cut].count(b"\n")
    assert prefix.lines == LINES[:count]
    assert prefix.valid_bytes + prefix.dropped_bytes == cut
    with JsonlWriter(path, sync=False) as out:
        assert bool(out.repaired) == bool(prefix.dropped_bytes)
        out.append(LINES[3])
    assert read_prefix(path).lines == (*LINES[:count], LINES[3])
    kept = path.with_name(path.name + ".torn")
    assert (kept.read_bytes()[:-1] if kept.exists() else b"") == WHOLE[
        WHOLE[:cut].rfind(b"\n") + 1 : cut
    ]


@pytest.mark.parametrize("tail", [b"\0" * 50, b"\0" * 5 + b"\n" + b"\0" * 5, b'{"a":\0\0\0'])
def test_nul_tails_are_torn(path, tail):
    path.write_bytes(WHOLE + tail)
    assert read_prefix(path).lines == LINES
    assert repair(path)
    assert path.read_bytes() == WHOLE


@pytest.mark.parametrize("line", [b"garbage", b"[1]", b'{"a":\xff}', b"", b'{"a":1', b"\0\0", b"3"])
def test_damage_in_the_middle_is_never_cut(path, line):
    data = LINES[0].encode() + b"\n" + line + b"\n" + LINES[1].encode() + b"\n"
    path.write_bytes(data)
    prefix = read_prefix(path)
    assert prefix.lines == LINES[:1]
    assert "line 2" in prefix.damage and not prefix.torn
    with pytest.raises(StorageError, match=r"line 2.*nothing was changed"):
        JsonlWriter(path)
    assert path.read_bytes() == data


def test_a_line_end_inside_a_line_is_a_bug(path):
    with JsonlWriter(path) as out, pytest.raises(ValueError, match="line end"):
        out.append('{"a":\n1}')
    assert path.read_bytes() == b""


def test_unwritable_and_unreadable_are_named(tmp_path):
    with pytest.raises(StorageError, match="cannot write"):
        JsonlWriter(tmp_path / "no" / "such" / "folder.jsonl")
    with pytest.raises(StorageError, match="cannot read"):
        read_prefix(tmp_path)


def test_a_full_disk_is_named(path):
    script = textwrap.dedent("""
        import resource, signal, sys
        from pathlib import Path
        from dynaweb.errors import StorageError
        from dynaweb.runs.jsonl import JsonlWriter
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (200, 200))
        out = JsonlWriter(Path(sys.argv[1]))
        try:
            for _ in range(100):
                out.append('{"a": "' + "x" * 40 + '"}')
        except StorageError as error:
            print(error)
    """)
    done = subprocess.run(
        [sys.executable, "-c", script, str(path)], capture_output=True, text=True, check=True
    )
    assert "cannot write" in done.stdout
    assert len(read_prefix(path).lines) >= 3


def test_a_killed_writer_loses_nothing_it_acknowledged(path):
    script = textwrap.dedent("""
        import sys
        from pathlib import Path
        from dynaweb.runs.jsonl import JsonlWriter
        out = JsonlWriter(Path(sys.argv[1]))
        n = int(sys.argv[2])
        while True:
            out.append('{"n": %d, "pad": "%s"}' % (n, "x" * 3000))
            print(n, flush=True)
            n += 1
    """)
    told = 0
    for _ in range(5):
        child = subprocess.Popen(
            [sys.executable, "-c", script, str(path), str(told)], stdout=subprocess.PIPE, text=True
        )
        assert child.stdout is not None
        acknowledged = [int(child.stdout.readline()) for _ in range(20)]
        os.kill(child.pid, signal.SIGKILL)
        acknowledged += [int(line) for line in child.stdout.read().splitlines() if line]
        child.wait()
        found = [json.loads(line)["n"] for line in read_prefix(path).lines]
        assert found == list(range(len(found))), "no gap, no duplicate"
        assert found[-1] >= acknowledged[-1]
        told = len(found)

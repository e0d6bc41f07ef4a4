"""Processes at a time: real ones, that end well, badly, or when their parent is killed."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dynaweb.errors import MissingDependencyError, TrainingError, UserError
from dynaweb.recipes.learning.fleet import Errand, work_off
from dynaweb.runs.progress import silent


def python(code: str) -> tuple[str, ...]:
    return (sys.executable, "-c", code)


def noting(path: Path, name: str, *, seconds: float = 0.0) -> tuple[str, ...]:
    """A process that writes its beginning and its end into a file."""
    return python(
        f"import time, pathlib\nf = pathlib.Path({str(path)!r})\n"
        f"def say(w):\n    with f.open('a') as out: out.write(w + ' {name}\\n')\n"
        f"say('begin'); time.sleep({seconds}); say('end')"
    )


def test_all_are_run_and_the_order_is_kept_where_it_matters(tmp_path):
    log = tmp_path / "log"
    told = []
    work_off(
        [
            Errand(name="slow", command=noting(log, "slow", seconds=0.5)),
            Errand(name="other", command=noting(log, "other")),
            Errand(name="after", command=noting(log, "after"), after="slow"),
        ],
        3,
        lambda stage, done, total, note="": told.append((stage, done, total)),
    )
    lines = log.read_text().splitlines()
    assert sorted(lines) == sorted(
        f"{w} {n}" for w in ("begin", "end") for n in ("slow", "other", "after")
    )
    assert lines.index("begin after") > lines.index("end slow")
    assert told[0] == ("runs", 0, 3) and told[-1] == ("runs", 3, 3)


@pytest.mark.parametrize(
    ("code", "kind"), [(2, UserError), (4, MissingDependencyError), (1, TrainingError)]
)
def test_a_run_that_ends_badly_says_why_and_none_is_begun_after_it(tmp_path, code, kind):
    log = tmp_path / "log"
    bad = python(f"import sys; print('dynaweb: no luck here', file=sys.stderr); sys.exit({code})")
    with pytest.raises(kind, match=f"run 'bad' ended with exit code {code} and said: no luck here"):
        work_off(
            [
                Errand(name="bad", command=bad),
                Errand(name="next", command=noting(log, "next", seconds=60)),
            ],
            1,
            silent,
        )
    assert not log.exists() or "end" not in log.read_text()


def test_the_others_are_ended_when_one_fails(tmp_path):
    log = tmp_path / "log"
    begun = time.monotonic()
    slow = noting(log, "slow", seconds=60)
    late = python("import sys, time; time.sleep(1); sys.exit(1)")
    with pytest.raises(TrainingError):
        work_off([Errand(name="slow", command=slow), Errand(name="bad", command=late)], 2, silent)
    assert time.monotonic() - begun < 30
    assert "end slow" not in log.read_text()


def test_a_child_ends_with_its_parent_even_by_sigkill(tmp_path):
    here = tmp_path / "pid"
    child = (
        "import os, pathlib, time\nfrom dynaweb.recipes.learning.fleet import tied\ntied()\n"
        f"pathlib.Path({str(here)!r}).write_text(str(os.getpid()))\ntime.sleep(120)"
    )
    parent = (
        "import sys\nfrom dynaweb.recipes.learning.fleet import Errand, work_off\n"
        "from dynaweb.runs.progress import silent\n"
        f"work_off([Errand(name='x', command=(sys.executable, '-c', {child!r}))], 1, silent)"
    )
    with subprocess.Popen(python(parent)) as running:
        pid = int(_awaited(lambda: here.read_text() if here.exists() else ""))
        running.send_signal(signal.SIGKILL)
        running.wait()
    _awaited(lambda: "" if _alive(pid) else "gone")


def test_a_tied_child_ends_well_by_itself(tmp_path):
    code = "from dynaweb.recipes.learning.fleet import tied\ntied()"
    work_off([Errand(name="x", command=python(code))], 1, silent)


def _awaited(look) -> str:
    deadline = time.monotonic() + 60
    while not (found := look()):
        assert time.monotonic() < deadline, "it never came"
        time.sleep(0.05)
    return found


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{pid}/stat")
    return not (
        stat.exists() and stat.read_text(encoding="utf-8").rpartition(")")[2].split()[0] == "Z"
    )

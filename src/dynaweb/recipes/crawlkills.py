"""A crawl that is killed again and again: is a step lost that was acknowledged, does one stand there twice?

The crawl is a process of its own, run the way a user would, over a made-up site that this process serves. It says on its
standard output, a file here, which steps it has written down. SIGKILL comes at random moments, some before its first step.
In the end the same command puts right what the last kill left, and what it says it has is compared with what it said.

    acks/00000.txt, ...   what each killed life acknowledged; .end.txt for those that ended by themselves
    crawl/                the crawl
    port                  where the site is served: part of its addresses
"""

import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from random import Random

from dynaweb.bench.madesite import MadeSite
from dynaweb.collect.crawl.log import read_events
from dynaweb.collect.run import read_trajectories
from dynaweb.errors import BrowserError, StorageError
from dynaweb.records.seeds import derive_seed
from dynaweb.runs.progress import Progress

EARLY_SHARE = 0.15
"""Of the kills: at any time since the start of the process, often before it does anything."""
EARLY_SEC = 6.0
LATE_SEC = 2.0
"""After the first step of a life, at most."""
FIRST_STEP_SEC = 120.0
POLL_SEC = 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlKills:
    """What kills did."""

    kills: int
    """By SIGKILL, all calls together."""
    before_any_step: int
    """Of them, in lives that had acknowledged nothing."""
    acknowledged: int
    """Steps that some life said it had written."""
    lost: int
    """Of them, those that the log lacks."""
    duplicates: int
    """Pages and ends that stand there more than once."""
    torn: int
    """Unfinished last lines that were put aside: nobody had acknowledged them."""
    trajectories: int
    """In the end, kept."""
    repeated_ids: int
    """Trajectories whose id stands there before."""
    seconds: float
    """Wall clock of the last call."""

    @property
    def sound(self) -> bool:
        """Nothing was lost and nothing doubled, and there was something to lose."""
        return self.acknowledged > 0 and not (self.lost or self.duplicates or self.repeated_ids)


def kill_crawls(
    out: Path, *, times: int, workers: int, seed: int, progress: Progress
) -> CrawlKills:
    """Kill a crawl so many times, then let it end, and count.

    Args:
        out: folder of its own; called again it goes on with the kills that are missing.
        times: SIGKILLs in all.
        workers: of the crawl.
        seed: of the moments.
        progress: told after each kill.

    Raises:
        BrowserError: a crawl ended by itself; its last line is in the message.
        StorageError: `out` cannot be written.
    """
    begun = time.monotonic()
    acks = out / "acks"
    try:
        acks.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError(f"cannot write {acks}: {error.strerror}") from error
    port = out / "port"
    with MadeSite(port=int(port.read_text("utf-8")) if port.exists() else 0) as site:
        port.write_text(site.origin.rpartition(":")[2], encoding="utf-8")
        command = [
            sys.executable, "-m", "dynaweb.cli.main", "crawl", f"{site.origin}/", "--out", str(out / "crawl"),
            "--quiet", "--acknowledge", "--near", "0", "--workers", str(workers), "--again", "1000000",
        ]  # fmt: skip
        for number in range(len(_killed(out)), times):
            life = acks / f"{number:05d}.txt"
            rng = Random(derive_seed(seed, "crawl kills", number))
            _life([*command, "--visits", "1000000"], life, rng)
            progress("kills", number + 1, times, f"{len(_acknowledged(life))} steps")
        _end([*command, "--visits", "1"], acks / f"{len(_killed(out)):05d}.end.txt")
    return count_kills(out, time.monotonic() - begun)


def _killed(out: Path) -> list[Path]:
    return sorted((out / "acks").glob("[0-9][0-9][0-9][0-9][0-9].txt"))


def _life(command: list[str], life: Path, rng: Random) -> None:
    """One process from its start to its kill."""
    early = rng.random() < EARLY_SHARE
    with life.open("wb") as told, (life.parent.parent / "last.err").open("wb") as said:
        child = subprocess.Popen(command, stdout=told, stderr=said)
        try:
            if early:
                time.sleep(rng.uniform(0.0, EARLY_SEC))
            else:
                _await_first(child, life)
                time.sleep(rng.uniform(0.0, LATE_SEC))
        finally:
            child.send_signal(signal.SIGKILL)
            child.wait()
    if child.returncode != -signal.SIGKILL:
        raise _ended(life, child.returncode)


def _await_first(child: "subprocess.Popen[bytes]", life: Path) -> None:
    until = time.monotonic() + FIRST_STEP_SEC
    while child.poll() is None and not life.stat().st_size and time.monotonic() < until:
        time.sleep(POLL_SEC)


def _end(command: list[str], life: Path) -> None:
    with life.open("wb") as told, (life.parent.parent / "last.err").open("wb") as said:
        code = subprocess.run(command, stdout=told, stderr=said, check=False).returncode
    if code != 0:
        raise _ended(life, code)


def _ended(life: Path, code: int) -> BrowserError:
    lines = (life.parent.parent / "last.err").read_text("utf-8", "replace").strip().splitlines()
    return BrowserError(f"a crawl ended by itself with code {code}: {(lines or ['it said nothing'])[-1][:300]}")  # fmt: skip


def _acknowledged(life: Path) -> list[tuple[int, int]]:
    """Visit and number of each step; the card at the end of a life that ended is none."""
    found = []
    for line in life.read_text("utf-8", "replace").splitlines(keepends=True):
        words = line.split()
        if line.endswith("\n") and len(words) == 2 and all(w.isdecimal() for w in words):
            found.append((int(words[0]), int(words[1])))
    return found


def count_kills(out: Path, seconds: float) -> CrawlKills:
    """What a folder of `kill_crawls` says now.

    Args:
        out: the folder; its crawl has ended by itself.
        seconds: to be written into the result.

    Raises:
        StorageError: the crawl is damaged.
    """
    said = [pair for life in sorted((out / "acks").iterdir()) for pair in _acknowledged(life)]
    killed = _killed(out)
    crawl = out / "crawl"
    written = Counter((e.visit, -1 if e.end is not None else e.n) for e in read_events(crawl))
    ids = Counter(t.trajectory_id for t in read_trajectories(crawl / "trajectories.jsonl"))
    torn = sum(len(p.read_bytes().splitlines()) for p in crawl.glob("*.jsonl.torn"))
    return CrawlKills(
        kills=len(killed),
        before_any_step=sum(not _acknowledged(life) for life in killed),
        acknowledged=len(said),
        lost=sum(pair not in written for pair in said),
        duplicates=sum(n - 1 for n in written.values()) + len(said) - len(set(said)),
        torn=torn,
        trajectories=len(ids),
        repeated_ids=sum(n - 1 for n in ids.values()),
        seconds=round(seconds, 1),
    )

"""Live speed, whole: fix the episodes, time every arm on them, keep each piece as it comes, and go on where it stopped."""

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TypeVar

from dynaweb.bench.live.measure import (
    against,
    arm_speed,
    gain,
    one_round,
    our_block,
    parts_ms,
    rival_block,
)
from dynaweb.bench.live.plan import WatchedEnvironment, plan_task
from dynaweb.bench.live.results import AS_IT_COMES, BY_HAND, OURS, Block, LiveReport, Planned, Round
from dynaweb.bench.live.rival import Rival, open_rival
from dynaweb.bench.live.sight import add_up
from dynaweb.browser.chromium import find_chromium
from dynaweb.browser.config import BrowserConfig
from dynaweb.browser.environment import miniwob_world
from dynaweb.browser.pages import PageServer, miniwob_root
from dynaweb.browser.running import HOW_TO_INSTALL
from dynaweb.errors import MissingDependencyError, StorageError, UserError
from dynaweb.runs.jsonfile import decode
from dynaweb.runs.jsonl import JsonlWriter, read_prefix
from dynaweb.runs.progress import Progress, silent
from dynaweb.runs.provenance import provenance

MEASURED = "measured.jsonl"
T = TypeVar("T", Planned, Block, Round)


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveWish:
    """What to measure."""

    tasks: tuple[str, ...]
    """Those with an expert."""
    seeds: int = 2
    """Episodes of each task; the seeds are 0, 1, ..."""
    rounds: int = 3
    """Of all episodes, by one worker and by more; 0 measures one worker alone."""
    workers: int = 2
    browsergym: bool = False
    """Beside BrowserGym."""
    executable: str = ""
    """Chromium for every arm; empty means the first one found."""

    def __post_init__(self) -> None:
        if self.seeds < 1 or self.rounds < 0 or self.workers < 2:
            raise UserError("seeds are 1 or more, rounds 0 or more, and workers 2 or more")


class Kept:
    """The pieces that are measured already, and the file that takes the next."""

    def __init__(self, out: Path, wish: LiveWish) -> None:
        """Read what is there.

        Raises:
            StorageError: it belongs to another measurement, or cannot be written.
        """
        try:
            out.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StorageError(f"cannot write {str(out)!r}: {error.strerror}") from error
        self.path = out / MEASURED
        head = {**asdict(wish), "commit": provenance().commit}
        lines = [json.loads(line) for line in read_prefix(self.path).lines]
        if lines and lines[0] != json.loads(json.dumps(head)):
            raise StorageError(
                f"{str(self.path)!r} holds a measurement with other settings or of another commit; choose another --out"
            )
        self._file = JsonlWriter(self.path)
        if not lines:
            self._file.append(json.dumps(head))
        where = str(self.path)
        self.planned = _read(Planned, lines, where)
        self.blocks = _read(Block, lines, where)
        self.rounds = _read(Round, lines, where)

    def add(self, piece: Planned | Block | Round) -> None:
        """Keep one more."""
        self._file.append(json.dumps({"kind": type(piece).__name__, "piece": asdict(piece)}))
        match piece:
            case Planned():
                self.planned.append(piece)
            case Block():
                self.blocks.append(piece)
            case Round():
                self.rounds.append(piece)

    def close(self) -> None:
        """Write no more."""
        self._file.close()


def _read(kind: type[T], lines: Sequence[Mapping[str, object]], where: str) -> list[T]:
    return [decode(kind, x["piece"], where) for x in lines if x.get("kind") == kind.__name__]


async def measure_live(
    wish: LiveWish, out: Path, python: Path | None = None, progress: Progress = silent
) -> LiveReport:
    """Measure what is not measured yet.

    Args:
        wish: what.
        out: folder that keeps every piece.
        python: interpreter of BrowserGym's environment, where it is wished.
        progress: stages `fix episodes`, `time episodes` and `workers`.

    Raises:
        UserError: no episode can be measured.
        MissingDependencyError: pages or browser are missing.
        BrowserError: a browser failed while it was timed; run again to go on.
        StorageError: `out` holds another measurement.
    """
    executable = find_chromium(wish.executable)
    if wish.browsergym and not executable:
        raise MissingDependencyError(
            f"BrowserGym must be told which Chromium to drive, and none is found: {HOW_TO_INSTALL}, or give one with --browser"
        )
    kept = Kept(out, wish)
    try:
        async with (
            miniwob_world(BrowserConfig(executable=executable)) as make_env,
            _rivals(python if wish.browsergym else None, executable, out) as rivals,
        ):
            env = make_env()
            await _fix(env, rivals[-1] if rivals else None, wish, kept, progress)
            plans = [p for p in kept.planned if p.episodes]
            if not plans:
                raise UserError(f"no episode can be measured: {kept.planned[0].left_out[0]}")
            await _time(env, rivals, plans, kept, progress)
            episodes = [e for p in plans for e in p.episodes]
            for number in range(wish.rounds):
                progress("workers", number, wish.rounds)
                for count in (1, wish.workers) if number % 2 == 0 else (wish.workers, 1):
                    if not any((r.number, r.workers) == (number, count) for r in kept.rounds):
                        kept.add(await one_round(make_env, episodes, number, count))
            progress("workers", wish.rounds, wish.rounds)
    finally:
        kept.close()
    return report_live(wish, kept, executable)


async def _fix(
    env: WatchedEnvironment, rival: Rival | None, wish: LiveWish, kept: Kept, progress: Progress
) -> None:
    """The episodes of every task that has none yet."""
    known = {p.task for p in kept.planned}
    for number, task in enumerate(wish.tasks):
        progress("fix episodes", number, len(wish.tasks), task)
        if task not in known:
            kept.add(await plan_task(env, rival, task, range(wish.seeds)))
    await env.close()
    await env.quiet()
    progress("fix episodes", len(wish.tasks), len(wish.tasks))


async def _time(
    env: WatchedEnvironment,
    rivals: Sequence[Rival],
    plans: Sequence[Planned],
    kept: Kept,
    progress: Progress,
) -> None:
    """Every arm on every task, the arms in turn; the first of a task is another one each time."""
    arms: tuple[Rival | None, ...] = (None, *rivals)
    known = {(b.task, b.arm) for b in kept.blocks}
    await our_block(env, plans[0].episodes)  # nobody pays for what happens once
    for rival in rivals:
        await rival_block(rival, plans[0].episodes[:1])
    for number, plan in enumerate(plans):
        progress("time episodes", number, len(plans), plan.task)
        turn = number % len(arms)
        for arm in (*arms[turn:], *arms[:turn]):
            if (plan.task, OURS if arm is None else arm.name) in known:
                continue
            if arm is None:
                kept.add(await our_block(env, plan.episodes))
            else:
                kept.add(await rival_block(arm, plan.episodes))
    progress("time episodes", len(plans), len(plans))


def report_live(wish: LiveWish, kept: Kept, executable: str) -> LiveReport:
    """What was measured, added up."""
    ran = provenance()
    arms = {b.arm: [c for c in kept.blocks if c.arm == b.arm] for b in kept.blocks}
    return LiveReport(
        commit=ran.commit,
        machine=ran.machine,
        versions=ran.versions,
        browser=executable or "Playwright's own",
        tasks=tuple(p.task for p in kept.planned if p.episodes),
        left_out=tuple(line for p in kept.planned for line in p.left_out),
        arms=tuple(arm_speed(blocks) for blocks in arms.values()),
        parts_ms=parts_ms(arms[OURS]),
        against=tuple(
            against(arms[OURS], arms[rival]) for rival in (AS_IT_COMES, BY_HAND) if rival in arms
        ),
        gain=gain(kept.rounds),
        sight=add_up(p.sight for p in kept.planned) if wish.browsergym else None,
    )


@asynccontextmanager
async def _rivals(
    python: Path | None, executable: str, out: Path
) -> AsyncIterator[tuple[Rival, ...]]:
    """BrowserGym as it comes and tuned by hand; none without its interpreter."""
    async with AsyncExitStack() as stack:
        if python is None:
            yield ()
            return
        server = PageServer(miniwob_root())
        stack.callback(server.close)
        opened = [
            await stack.enter_async_context(
                open_rival(
                    name,
                    python,
                    base_url=f"{server.origin}/miniwob/",
                    executable=executable,
                    tuned=name == BY_HAND,
                    log=out / "browsergym.log",
                )
            )
            for name in (AS_IT_COMES, BY_HAND)
        ]
        yield tuple(opened)

"""Against the clock: the same fixed episodes in each arm, block by block, one arm after the other in turn."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import cast

from dynaweb.bench.live.plan import WatchedEnvironment
from dynaweb.bench.live.results import (
    GOALS,
    OURS,
    WORKERS_GOAL,
    Against,
    ArmSpeed,
    Block,
    Episode,
    Gain,
    Round,
)
from dynaweb.bench.live.rival import Rival
from dynaweb.bench.speed.spread import Estimate, estimate, spread
from dynaweb.records.action import parse_action
from dynaweb.rollout.workers import work_through


@dataclass(frozen=True, slots=True)
class _Done:
    steps: int
    reset_sec: float
    as_fixed: bool


async def _attempt(env: WatchedEnvironment, episode: Episode) -> _Done:
    begun = time.perf_counter()
    await env.reset(episode.task, episode.page_seed)
    reset_sec = time.perf_counter() - begun
    steps, ended = 0, False
    for action in episode.actions:
        result = await env.step(parse_action(action))
        steps, ended = steps + 1, result.terminated
        if ended:
            break
    return _Done(steps, reset_sec, ended is episode.ended and steps == len(episode.actions))


async def our_block(env: WatchedEnvironment, episodes: Sequence[Episode]) -> Block:
    """Ours; what goes on in the background is waited for and counted.

    Raises:
        BrowserError: the browser failed.
    """
    before, begun = dict(env.watch.sec), time.perf_counter()
    done = [await _attempt(env, episode) for episode in episodes]
    await env.close()
    await env.quiet()
    sec = time.perf_counter() - begun
    parts = {p.value: s - before.get(p, 0.0) for p, s in env.watch.sec.items()}
    return Block(
        task=episodes[0].task,
        arm=OURS,
        episodes=len(done),
        steps=sum(d.steps for d in done),
        sec=sec,
        reset_sec=sum(d.reset_sec for d in done),
        diverged=sum(not d.as_fixed for d in done),
        parts=parts,
    )


async def rival_block(rival: Rival, episodes: Sequence[Episode]) -> Block:
    """BrowserGym's, timed where it runs.

    Raises:
        BrowserError: it failed.
    """
    sec = reset_sec = 0.0
    steps = diverged = 0
    for e in episodes:
        said = await rival.ask("episode", task=e.task, seed=e.seed, actions=e.rival_actions)
        spent = cast("dict[str, float]", said["sec"])
        sec, reset_sec = sec + sum(spent.values()), reset_sec + spent["reset"]
        did = cast("int", said["steps"])
        steps += did
        diverged += said["ended"] is not e.ended or did != len(e.rival_actions)
    return Block(
        task=episodes[0].task,
        arm=rival.name,
        episodes=len(episodes),
        steps=steps,
        sec=sec,
        reset_sec=reset_sec,
        diverged=diverged,
    )


async def one_round(
    make_env: Callable[[], WatchedEnvironment],
    episodes: Sequence[Episode],
    number: int,
    workers: int,
) -> Round:
    """All episodes once, by so many workers.

    Raises:
        BrowserError: the browser failed.
    """
    last = make_env()
    begun = time.perf_counter()
    await work_through(episodes, make_env, _attempt, lambda _, __: None, workers=workers)
    await last.quiet()
    return Round(
        number=number, workers=workers, episodes=len(episodes), sec=time.perf_counter() - begun
    )


def arm_speed(blocks: Sequence[Block]) -> ArmSpeed:
    """One arm; there is at least one block."""
    return ArmSpeed(
        arm=blocks[0].arm,
        blocks=len(blocks),
        episodes=sum(b.episodes for b in blocks),
        steps=sum(b.steps for b in blocks),
        diverged=sum(b.diverged for b in blocks),
        episodes_per_sec=_ratio([(b.episodes, b.sec) for b in blocks]),
        steps_per_sec=_ratio([(b.steps, b.sec) for b in blocks]),
        episode_ms=estimate([1000 * b.sec / b.episodes for b in blocks], median),
        reset_ms=estimate([1000 * b.reset_sec / b.episodes for b in blocks], median),
    )


def against(ours: Sequence[Block], theirs: Sequence[Block]) -> Against:
    """Ours beside a rival, on the blocks that both have; at least one."""
    at = {b.task: b for b in ours}
    pairs = [(b.sec, at[b.task].sec) for b in theirs if b.task in at]
    rival = theirs[0].arm
    return Against(
        rival=rival,
        blocks=len(pairs),
        times=_ratio(pairs),
        median_times=estimate([a / b for a, b in pairs], median),
        goal=GOALS[rival],
    )


def gain(rounds: Sequence[Round]) -> Gain | None:
    """More workers beside one; None without a round of both."""
    one = {r.number: r.episodes / r.sec for r in rounds if r.workers == 1}
    more = {r.number: r.episodes / r.sec for r in rounds if r.workers > 1 and r.number in one}
    if not more:
        return None
    return Gain(
        workers=max(r.workers for r in rounds),
        times=spread([speed / one[number] for number, speed in more.items()]),
        one_episodes_per_sec=spread([one[number] for number in more]),
        more_episodes_per_sec=spread(list(more.values())),
        goal=WORKERS_GOAL,
    )


def parts_ms(blocks: Sequence[Block]) -> dict[str, float]:
    """Milliseconds of one of our episodes by part."""
    episodes = sum(b.episodes for b in blocks)
    names = dict.fromkeys(name for b in blocks for name in b.parts)
    found = {n: 1000 * sum(b.parts.get(n, 0.0) for b in blocks) / episodes for n in names}
    return {**found, "rest": 1000 * sum(b.sec for b in blocks) / episodes - sum(found.values())}


def _ratio(pairs: Sequence[tuple[float, float]]) -> Estimate:
    """Sum by sum, drawn block by block."""
    places = [float(i) for i in range(len(pairs))]

    def of(drawn: Sequence[float]) -> float:
        return sum(pairs[int(i)][0] for i in drawn) / sum(pairs[int(i)][1] for i in drawn)

    return estimate(places, of)

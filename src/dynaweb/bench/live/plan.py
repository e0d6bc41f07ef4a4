"""Fix the episodes before anything is timed: the expert's actions on the same pages, for us and for BrowserGym.

The expert looks at our observation alone. With BrowserGym beside, every page is shown by both, compared node by node, and
each action is carried over to the element that stands at the same place of the document.
"""

from collections.abc import Sequence
from typing import Protocol, cast

from dynaweb.bench.live.results import Episode, Planned, Sight
from dynaweb.bench.live.rival import Rival
from dynaweb.bench.live.sight import FURNITURE, add_up, compare_pages, rival_places
from dynaweb.browser.stopwatch import Stopwatch
from dynaweb.collect.experts import EXPERTS
from dynaweb.contracts import Environment, StepResult
from dynaweb.errors import BrowserError, UserError
from dynaweb.records.action import print_action, target_bids, with_bids
from dynaweb.records.observation import Observation
from dynaweb.records.trajectory import Step


class WatchedEnvironment(Environment, Protocol):
    """A live environment that says where elements stand and where its time goes."""

    watch: Stopwatch

    async def places(self, without: frozenset[str]) -> dict[str, str]:
        """Bid -> path in the document."""
        ...

    async def quiet(self) -> None:
        """Wait for what is done in the background."""
        ...


class _LeftOutError(Exception):
    """The episode cannot be the same in both."""


def choose_tasks(names: Sequence[str], count: int) -> tuple[str, ...]:
    """The tasks that are named, or so many of those with an expert, spread evenly over their names.

    Raises:
        UserError: no such task, or it has no expert.
    """
    unknown = [n for n in names if n not in EXPERTS]
    if unknown:
        raise UserError(
            f"no scripted expert for task {unknown[0]!r}: `dynaweb tasks --experts` lists them"
        )
    if names:
        return tuple(dict.fromkeys(names))
    known = sorted(EXPERTS)
    taken = min(count, len(known))
    return tuple(known[i * len(known) // taken] for i in range(taken))


async def plan_task(
    env: WatchedEnvironment, rival: Rival | None, task: str, seeds: Sequence[int]
) -> Planned:
    """Attempt a task once for each seed, untimed.

    Args:
        env: ours.
        rival: BrowserGym; None fixes our actions alone.
        task: has an expert.
        seeds: one episode each.
    """
    episodes: list[Episode] = []
    left_out: list[str] = []
    sights: list[Sight] = []
    for seed in seeds:
        try:
            episodes.append(await _plan(env, rival, task, seed, sights))
        except (_LeftOutError, BrowserError) as why:
            left_out.append(f"{task}, seed {seed}: {why}")
    return Planned(
        task=task, episodes=tuple(episodes), left_out=tuple(left_out), sight=add_up(sights)
    )


async def _plan(
    env: WatchedEnvironment, rival: Rival | None, task: str, seed: int, sights: list[Sight]
) -> Episode:
    shown = await rival.ask("reset", task=task, seed=seed) if rival is not None else {}
    page_seed = cast("int", shown.get("page_seed", seed))
    observation = await env.reset(task, page_seed)
    if rival is not None and " ".join(str(shown["goal"]).split()) != env.goal:
        raise _LeftOutError(f"the goals differ: {shown['goal']!r} and {env.goal!r}")
    expert = EXPERTS[task]
    past: tuple[Step, ...] = ()
    ours: list[str] = []
    theirs: list[str] = []
    result: StepResult | None = None
    while result is None or not (result.terminated or len(ours) == expert.steps):
        map_bid = await _both(env, task, observation, shown, sights) if shown else {}
        step = await expert.decide(env.goal, past, observation, 0)
        if step.action is None:
            break
        ours.append(print_action(step.action))
        if rival is not None:
            bids = [map_bid.get(bid, "") for bid in target_bids(step.action)]
            if not all(bids):
                raise _LeftOutError(f"BrowserGym has no bid for the element of {ours[-1]}")
            theirs.append(print_action(with_bids(step.action, bids)))
            shown = await rival.ask("step", action=theirs[-1])
        result = await env.step(step.action)
        past = (*past, Step(observation=observation, action=step.action))
        observation = result.observation
        _agree(result, shown, ours[-1])
    if result is None:
        raise _LeftOutError("the expert sees nothing to do")
    return Episode(
        task=task,
        seed=seed,
        page_seed=page_seed,
        actions=tuple(ours),
        rival_actions=tuple(theirs),
        ended=result.terminated,
    )


def _agree(result: StepResult, shown: dict[str, object], action: str) -> None:
    if shown and bool(shown["ended"]) is not result.terminated:
        error = str(shown["error"]).splitlines()[:1]
        ended = "BrowserGym's page ended" if shown["ended"] else "our page ended"
        raise _LeftOutError(f"only {ended} at {action}{': ' + error[0] if error else ''}")


async def _both(
    env: WatchedEnvironment,
    task: str,
    observation: Observation,
    shown: dict[str, object],
    sights: list[Sight],
) -> dict[str, str]:
    """Compare a page; our bid -> theirs."""
    mine = await env.places(FURNITURE)
    their = rival_places(cast("dict[str, object]", shown["dom"]))
    sights.append(compare_pages(task, str(shown["text"]), their, observation.tree, mine))
    at = {path: bid for bid, path in their.items()}
    return {bid: at[path] for bid, path in mine.items() if path in at}

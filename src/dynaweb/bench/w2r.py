"""Dreams replayed for real: how far can they be trusted, by depth (Word2World; papers F10).

A dream's actions are done again in a real environment from the same start. Elements are found by
alignment of the dreamed page with the real one; an element that cannot be found ends the replay as a
failure, as a wrong click would. Dreamed success is never a result; its precision is what is measured.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from dynaweb.axtree.match import match as pair
from dynaweb.axtree.place import Places
from dynaweb.axtree.tree import Tree, find_element, read_tree
from dynaweb.bench.results import DepthRow, ReplayReport, Share
from dynaweb.contracts import Environment
from dynaweb.errors import BrowserError
from dynaweb.records.action import Action, target_bids, with_bids
from dynaweb.records.observation import Observation
from dynaweb.records.trajectory import Outcome, Reason, Step, Trajectory
from dynaweb.world.shown import equal_as_shown


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """One dream and what its actions really did."""

    dream: Trajectory
    pages: tuple[Observation, ...]
    """Real pages after each action that could be done, in order."""
    ended_at: int | None
    """Depth, from 1, at which the real episode ended; None if it never did."""
    succeeded: bool
    """The real episode ended with its reward."""
    unmapped_at: int | None
    """Depth, from 1, of the action whose element could not be found; None if all were."""
    actions: int
    """Actions tried."""
    broken: str = ""
    """Why the browser broke the replay off; empty when it did not."""

    def page_equal(self, depth: int) -> bool:
        """Whether the page dreamed after so many actions is the real one.

        Where the dream ends, it is right if the real episode ends there, and a dream that goes on
        past the real end is wrong.
        """
        if self.dreamed_end() == depth:
            return self.ended_at == depth
        if depth > len(self.pages) or self.ended_at == depth:
            return False
        dreamed = dreamed_page(self.dream, depth)
        return dreamed is not None and equal_as_shown(dreamed, self.pages[depth - 1], dreamed)

    def dreamed_end(self) -> int | None:
        """Depth at which the dream says the episode ends; None if it does not say so."""
        ended = self.dream.reason in (Reason.TASK_ENDED, Reason.ANSWERED, Reason.JUDGE_FAULT)
        return len(self.dream.steps) if ended else None


def dreamed_page(dream: Trajectory, depth: int) -> Observation | None:
    """The page after so many actions of the dream."""
    if depth < len(dream.steps):
        return dream.steps[depth].observation
    return dream.final if depth == len(dream.steps) else None


async def replay(dream: Trajectory, env: Environment) -> Replay:
    """Do a dream's actions for real, from the dream's start.

    Args:
        dream: at least one step; its start is a real state.
        env: a live environment; it is reset.

    Raises:
        UserError: the environment does not know the task.
    """
    pages: list[Observation] = []
    state = _State()
    try:
        here = await env.reset(dream.task, dream.seed, dream.start)
        for depth, step in enumerate(dream.steps, start=1):
            here = await _redo(env, step, here, depth, state)
            pages.append(here)
            if state.ended_at is not None or state.unmapped_at is not None:
                break
    except BrowserError as error:
        state.broken = str(error)
    return Replay(
        dream=dream,
        pages=tuple(pages if state.unmapped_at is None else pages[:-1]),
        ended_at=state.ended_at,
        succeeded=state.succeeded,
        unmapped_at=state.unmapped_at,
        actions=len(pages),
        broken=state.broken,
    )


@dataclass(slots=True)
class _State:
    """What has come of a replay so far."""

    ended_at: int | None = None
    succeeded: bool = False
    unmapped_at: int | None = None
    broken: str = ""


async def _redo(
    env: Environment, step: Step, here: Observation, depth: int, state: _State
) -> Observation:
    """One dreamed step on the real page."""
    if step.action is None:
        return here
    action = map_action(step.action, step.observation, here)
    if action is None:
        state.unmapped_at = depth
        return here
    result = await env.step(action)
    if result.terminated:
        state.ended_at = depth
        state.succeeded = result.reward is not None and result.reward > 0
    return result.observation


def map_action(action: Action, dreamed: Observation, real: Observation) -> Action | None:
    """The action with the bids of the real page; None when an element is not there.

    An element that the dreamed page does not have either keeps its bid: the fault is the policy's
    and must be the same fault.
    """
    old, new = read_tree(dreamed.tree), read_tree(real.tree)
    pairs = pair(Places(old), Places(new))
    mapped: list[str] = []
    for bid in target_bids(action):
        at = find_element(old, bid)
        found = bid if at is None else _find(old, new, at, pairs[at])
        if found is None:
            return None
        mapped.append(found)
    return with_bids(action, mapped)


def _find(old: Tree, new: Tree, at: int, paired: int | None) -> str | None:
    """The same element on the real page: what it is comes before where it stands.

    New elements are numbered apart in dream and browser, so an equal bid alone proves nothing.
    """
    what = (old[at].role, old[at].name)
    if paired is not None and (new[paired].role, new[paired].name) == what:
        return new[paired].bid
    earlier = sum((n.role, n.name) == what for n in old[:at])
    alike = [n.bid for n in new if (n.role, n.name) == what and n.bid is not None]
    if earlier < len(alike):
        return alike[earlier]
    same_role = paired is not None and new[paired].role == old[at].role
    return new[paired].bid if paired is not None and same_role else None


def replay_report(replays: Iterable[Replay], *, max_depth: int = 5) -> ReplayReport:
    """Count replays by depth; those that broke off are counted apart."""
    everything = list(replays)
    whole = [r for r in everything if not r.broken]
    rows = {d: DepthRow(depth=d) for d in range(1, max_depth + 1)}
    for r in whole:
        for depth in range(1, min(len(r.dream.steps), max_depth) + 1):
            rows[depth] = _add(rows[depth], r, depth)
    judged = [r for r in whole if r.dream.outcome is not Outcome.UNKNOWN]
    said = [r for r in judged if r.dream.outcome is Outcome.SUCCESS]
    real = [r for r in judged if r.succeeded]
    return ReplayReport(
        rows=tuple(rows.values()),
        dreams=len(everything),
        unmapped=Share(
            hits=sum(r.unmapped_at is not None for r in whole), n=sum(r.actions for r in whole)
        ),
        success_precision=Share(hits=sum(r.succeeded for r in said), n=len(said)),
        success_recall=Share(
            hits=sum(r.dream.outcome is Outcome.SUCCESS for r in real), n=len(real)
        ),
        dreamed_success=Share(hits=len(said), n=len(judged)),
        real_success=Share(hits=len(real), n=len(judged)),
        broken=len(everything) - len(whole),
    )


def _add(row: DepthRow, r: Replay, depth: int) -> DepthRow:
    ends = r.dreamed_end() == depth
    success = r.dream.outcome is Outcome.SUCCESS
    return DepthRow(
        depth=depth,
        pages_equal=row.pages_equal + Share(hits=int(r.page_equal(depth)), n=1),
        endings_equal=row.endings_equal + Share(hits=int(ends == (r.ended_at == depth)), n=1),
        success_precision=row.success_precision
        + (Share(hits=int(r.succeeded), n=1) if ends and success else Share()),
    )

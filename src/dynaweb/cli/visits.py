"""What `dynaweb visit` does."""

import asyncio
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from dynaweb.browser.config import BrowserConfig
from dynaweb.browser.crawl.manners import origin_of
from dynaweb.browser.guard.approval import Writes
from dynaweb.browser.guard.secretfile import read_secrets
from dynaweb.browser.guard.world import LiveConfig, live_world
from dynaweb.browser.sites.home import SiteHome
from dynaweb.cli.drawing import drawing
from dynaweb.cli.saying import clean, indented, say
from dynaweb.errors import ActionError, UserError
from dynaweb.records.action import SendMsgToUser, parse_action, print_action
from dynaweb.records.codec import dump
from dynaweb.records.observation import Observation
from dynaweb.records.secrets import NO_SECRETS, Secrets, scrub_logs
from dynaweb.records.trajectory import Behaviour, Fault, Step, Trajectory
from dynaweb.rollout.episode import EpisodeConfig, run_episode
from dynaweb.runs.jsonl import JsonlWriter

MOST_STEPS = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """What was asked for."""

    url: str
    actions: tuple[str, ...]
    """Empty: lines of standard input."""
    writes: str
    allow: tuple[str, ...]
    also: tuple[str, ...]
    private: tuple[str, ...]
    secrets: Path | None
    out: Path | None
    home: Path
    browser: str


class Hand:
    """A person at the keyboard as an agent; satisfies `contracts.Agent`."""

    version = "hand"

    def __init__(self, lines: Iterator[str]) -> None:
        """Lines hold one action each; the visit ends with them."""
        self._lines = lines

    async def decide(
        self, goal: str, past: tuple[Step, ...], observation: Observation, seed: int
    ) -> Step:
        """The next line."""
        show(observation)
        line = await asyncio.to_thread(next, self._lines, None)
        if line is None:
            return Step(observation=observation, action=SendMsgToUser("done"))
        try:
            action = parse_action(line)
        except ActionError as error:
            say(f"! {error}")
            return Step(observation=observation, thought=str(error), fault=Fault.MALFORMED)
        say(f"> {print_action(action)}")
        return Step(observation=observation, action=action)


def visit(wish: Visit, *, quiet: bool) -> None:
    """Act, show every page, and keep the trajectory.

    Raises:
        UserError: something that was given means nothing, or nobody can be asked.
        MissingDependencyError: browser or proxy are missing.
    """
    live = _checked(wish)
    secrets = read_secrets(wish.secrets) if wish.secrets is not None else NO_SECRETS
    undo = scrub_logs(secrets)
    try:
        attempt = asyncio.run(_visit(wish, live, secrets, quiet=quiet))
    finally:
        undo()
    if attempt.detail:
        say(f"the visit broke: {attempt.detail}")
    if wish.out is not None:
        with JsonlWriter(wish.out) as writer:
            writer.append(dump(attempt))


def _checked(wish: Visit) -> LiveConfig:
    if not wish.url.startswith(("http://", "https://")):
        raise UserError(f"{wish.url[:80]!r} is no address: write http:// or https:// in front")
    if wish.writes and wish.writes not in tuple(Writes):
        raise UserError(f"--writes {wish.writes!r}: use {', '.join(Writes)}")
    if wish.writes == Writes.ASK and not (sys.stdin.isatty() and wish.actions):
        raise UserError("--writes ask needs a terminal to ask at, and the actions as --action")
    if wish.out is not None and not wish.out.absolute().parent.is_dir():
        raise UserError(f"no folder {str(wish.out.parent)!r} for --out: make it first")
    for line in wish.actions:
        try:
            parse_action(line)
        except ActionError as error:
            raise UserError(f"--action {line[:80]!r}: {error}") from error
    origins = tuple(dict.fromkeys((origin_of(wish.url), *(o.rstrip("/") for o in wish.allow))))
    return LiveConfig(origins=origins, writes=Writes(wish.writes) if wish.writes else None, also=wish.also, private=wish.private)  # fmt: skip


async def _visit(wish: Visit, live: LiveConfig, secrets: Secrets, *, quiet: bool) -> Trajectory:
    view = BrowserConfig(executable=wish.browser, width_px=1280, height_px=720, deadline_sec=60.0)
    ask = ask_here if live.policy is Writes.ASK else None
    lines = iter(wish.actions) if wish.actions else _typed()
    with drawing(quiet=quiet) as progress:
        world = live_world(live, view, SiteHome(wish.home), ask=ask, secrets=secrets, progress=progress)  # fmt: skip
        async with world as make:
            env = make()
            attempt = await run_episode(
                env, Hand(lines), trajectory_id=f"visit-{time.time_ns()}", task=wish.url, seed=0,
                config=EpisodeConfig(max_steps=len(wish.actions) or MOST_STEPS), behaviour=Behaviour.HUMAN, origin=live.origins[0],
            )  # fmt: skip
            await env.close()
    if attempt.final is not None:
        show(attempt.final)
    counts = env.guard.counts
    say(f"writes: {live.policy}; {counts.actions_refused} actions refused, {counts.requests_blocked} requests blocked, {counts.approved} of {counts.asked} approved")  # fmt: skip
    return attempt


def _typed() -> Iterator[str]:
    return (line.strip() for line in sys.stdin if line.strip())


def show(page: Observation) -> None:
    """Print a page."""
    say("\n".join((page.url, *map(indented, page.tree.split("\n")))))
    if page.last_action_error:
        say(f"! {page.last_action_error}")


async def ask_here(text: str) -> bool:
    """Ask at the terminal; anything but a yes is a no."""
    print(clean(f"\n{text}\nDo it? [y/N] "), end="", file=sys.stderr, flush=True)
    answer = await asyncio.to_thread(sys.stdin.readline)
    return answer.strip().lower() in ("y", "yes")

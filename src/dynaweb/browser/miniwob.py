"""MiniWoB++: 125 tasks, their goal, seed and reward (source: miniwob 1.1.0; list as BrowserGym registers it).

Differences from BrowserGym's set-up, on purpose: the page shows nothing of the human furniture
because a constructed style sheet hides it, not because it is cut out of the DOM; the reward is
BrowserGym's (`raw reward > 0`), with the raw number kept, but tasks that pay for part of the work
need all of it: `find-greatest` gives 0.1 to any card (BrowserGym issue 392).
"""

import asyncio
import json
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import cast

from dynaweb.browser.page import LivePage
from dynaweb.browser.pages import miniwob_root
from dynaweb.browser.site import Standing
from dynaweb.errors import BrowserError, UserError

NOT_TASKS = {
    "button-delay": "rewards waiting in real time",
    "chase-circle": "needs a continuous mouse path over time",
    "hover-shape": "needs a continuous mouse path over time",
    "moving-items": "needs clicks on moving targets in real time",
    "simon-says": "needs a memory of flashes in real time",
}
"""Pages of the package that BrowserGym leaves out, and why: they test reflexes, not the web."""

NEEDS_MORE = {
    "ascending-numbers": 0.99,
    "click-checkboxes": 0.99,
    "click-checkboxes-large": 0.99,
    "click-checkboxes-soft": 0.99,
    "click-checkboxes-transfer": 0.99,
    "find-greatest": 0.99,
    "odd-or-even": 0.99,
    "phone-book": 0.99,
}
"""Success is a raw reward above this; every other task needs above 0. These pay for part of the work, e.g. for
more right boxes than wrong ones: calling that success would teach that submitting at once is often enough."""

MAX_SEED = 2**31

# The cover stays hidden at the end of an episode too: what the action left is what the agent sees.
START = r"""(async () => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync('#reward-display,#click-canvas,#sync-task-cover{display:none!important}' +
                    '#query{visibility:hidden!important}#query *{visibility:hidden!important}');
  document.adoptedStyleSheets = [sheet];
  document.body.removeEventListener('click', core.canvasDrawClick);
  core.EPISODE_MAX_TIME = 2147483647;
  Math.seedrandom(%d);
  core.startEpisodeReal();
  core.clearTimer();
  core.startEpisode = () => {};
})()"""

STATUS = """(typeof WOB_DONE_GLOBAL === 'undefined' ? null :
  {done: WOB_DONE_GLOBAL, raw: Number(WOB_RAW_REWARD_GLOBAL)})"""

GOAL = """(() => { const u = core.getUtterance(); return typeof u === 'string' ? u : u.utterance; })()"""
# Two goals are drawn, not written: an icon, and a colour (BrowserGym says them in words too).
GOALS = {
    "click-menu-2": r"""(() => {
  const q = document.getElementById('query'), clean = (n) => n.textContent.replace(/\s+/g, ' ').trim();
  if (!q.children.length) return clean(q);
  return clean(q.childNodes[0]) + ' "' + q.children[0].className.split(' ')[1] + '" ' + clean(q.childNodes[2]);
})()""",
    "use-colorwheel-2": r"""(() => {
  const q = document.getElementById('query'), clean = (n) => n.textContent.replace(/\s+/g, ' ').trim();
  const rgb = q.children[1].style.backgroundColor.match(/\d+/g).slice(0, 3);
  const hex = '#' + rgb.map((n) => Number(n).toString(16).padStart(2, '0')).join('');
  return clean(q.children[0]) + ' ' + hex + ' ' + clean(q.children[2]);
})()""",
}


@cache
def miniwob_tasks(root: Path | None = None) -> tuple[str, ...]:
    """Names of all tasks, sorted: `click-test`, ...

    Raises:
        MissingDependencyError: the pages are not installed.
    """
    folder = (root or miniwob_root()) / "miniwob"
    return tuple(sorted(p.stem for p in folder.glob("*.html") if p.stem not in NOT_TASKS))


def check_task(task: str) -> str:
    """The task's name, without the prefix `miniwob.` if it has one.

    Raises:
        UserError: no such task.
    """
    name = task.removeprefix("miniwob.")
    if name in miniwob_tasks():
        return name
    if name in NOT_TASKS:
        raise UserError(f"task {task!r} is left out: it {NOT_TASKS[name]}")
    near = get_close_matches(name, miniwob_tasks(), n=3, cutoff=0.0)
    raise UserError(f"no MiniWoB++ task {task!r}; did you mean {', '.join(near)}?")


def succeeded(task: str, raw_reward: float) -> bool:
    """Whether a raw reward means success."""
    return raw_reward > NEEDS_MORE.get(task, 0.0)


class MiniwobSite:
    """The tasks as a `Site`."""

    def __init__(self, origin: str) -> None:
        """Tasks whose pages are served at `origin`."""
        self._origin = origin

    @property
    def origins(self) -> tuple[str, ...]:
        """The one place the pages come from."""
        return (self._origin,)

    async def begin(self, live: LivePage, task: str, seed: int) -> None:
        """Open the task's page and start its episode with this seed."""
        name = check_task(task)
        if not 0 <= seed < MAX_SEED:
            raise UserError(f"seed {seed!r} is out of range: use 0 to {MAX_SEED - 1}")
        await live.goto(self._url(name), must_exist=True)
        # a tab may have served another episode: there is nothing to go back to
        await asyncio.gather(live.send("Page.resetNavigationHistory"), live.evaluate(START % seed))

    async def goal(self, live: LivePage, task: str) -> str:
        """The task's utterance, spaces normalised."""
        goal = await live.evaluate(GOALS.get(check_task(task), GOAL))
        if not isinstance(goal, str):
            raise BrowserError(f"task {task!r} gave no goal, but {json.dumps(goal)[:80]}")
        return " ".join(goal.split())

    async def standing(self, live: LivePage, task: str, *, ends: bool) -> Standing | None:
        """The page's own reward; None when the address is another (a fragment does not count)."""
        name = check_task(task)
        if live.page.url.partition("#")[0] != self._url(name):
            return None
        found = await live.evaluate(STATUS)
        if not isinstance(found, dict):
            return None
        raw = float(cast("float", found["raw"] or 0.0))
        return Standing(done=bool(found["done"]), success=succeeded(name, raw), raw_reward=raw)

    def _url(self, name: str) -> str:
        return f"{self._origin}/miniwob/{name}.html"

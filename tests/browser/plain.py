"""Tasks that are just pages: nothing to win, everything on the origin is allowed."""

from dynaweb.axtree.tree import read_tree
from dynaweb.browser.page import LivePage
from dynaweb.browser.site import Standing
from dynaweb.contracts import StepResult
from dynaweb.records.observation import Observation


class PlainSite:
    def __init__(self, origin: str) -> None:
        self.origins = (origin,)

    async def begin(self, live: LivePage, task: str, seed: int) -> None:
        await live.goto(f"{self.origins[0]}/{task}.html", must_exist=True)

    async def goal(self, live: LivePage, task: str) -> str:
        return f"Look at {task}."

    async def standing(self, live: LivePage, task: str, *, ends: bool) -> Standing | None:
        return Standing(done=False, success=False, raw_reward=0.0)


def bid(page: Observation, name: str) -> str:
    """Bid of the only element with this name."""
    found = [n.bid for n in read_tree(page.tree) if n.name == name and n.bid is not None]
    assert len(found) == 1 and found[0] is not None, f"no one {name!r} in\n{page.tree}"
    return found[0]


def value(page: Observation, name: str) -> object:
    """What the field holds."""
    return next(n.attr("value") for n in read_tree(page.tree) if n.name == name and n.bid)


def said(page: Observation | StepResult) -> str:
    """The page's own log: its first line of text, or the one that is no label."""
    shown = page.observation if isinstance(page, StepResult) else page
    return next(n.name or "" for n in read_tree(shown.tree) if n.role == "StaticText")

"""What the world model is asked: the page and the action, and what changes (DynaWeb 3.2, A.2)."""

from collections.abc import Sequence

from dynaweb.prompts.lines import done_lines, section


def render_predict(tree: str, did: str, goal: str | None = None, done: Sequence[str] = ()) -> str:
    """Ask for the state change.

    Args:
        tree: the page, with what the rules already know of the action applied.
        did: the labelled action.
        goal: hidden unless a recipe reproduces a paper that shows it: a world model that knows
            what is wanted tends to grant it (WebWorld section 7, sycophancy).
        done: labelled actions before this one, oldest first: what a page does may hang on them.
    """
    wanted = section("goal", goal) if goal is not None else ""
    wanted += done_lines(list(done))
    return f"{wanted}<page>\n{tree}\n{section('did', did)}<change> "


def shown_in(prompt: str) -> tuple[bool, int]:
    """Whether a prompt of `render_predict` tells the goal, and how many earlier actions."""
    head = prompt.partition("<page>")[0]
    return head.startswith("<goal> "), head.count("<did> ")

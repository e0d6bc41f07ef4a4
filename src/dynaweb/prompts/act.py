"""What the agent is asked at every step; the same in the real web and in a dream (DynaWeb A.1)."""

from collections.abc import Sequence

from dynaweb.prompts.lines import done_lines, section


def render_act(goal: str, done: Sequence[str], error: str, tree: str) -> str:
    """Ask for the next action.

    The goal stands before the page so that a causal model reads every element knowing what is
    wanted (ours: a small model has few layers to look back with).

    Args:
        goal: what the user wants.
        done: labelled past actions, oldest first.
        error: why the previous action failed; empty when it did not.
        tree: the page.
    """
    failed = section("error", error) if error else ""
    return f"{section('goal', goal)}{done_lines(list(done))}{failed}<page>\n{tree}\n<act> "

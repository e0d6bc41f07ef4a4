"""What the judge is asked: did these actions do what was wanted (DynaWeb 3.3, self-assessment)."""

from collections.abc import Mapping, Sequence

from dynaweb.prompts.lines import done_lines, section
from dynaweb.prompts.pointers import GRAMMAR, words_in

SUCCESS = "success"
FAILURE = "failure"

MAX_WORDS = 24
"""At most so many words of either kind of evidence."""


def render_judge(goal: str, done: Sequence[str], acted: Sequence[str], tree: str) -> str:
    """Ask for a verdict.

    Before the verdict stand the goal's words that no action names, and the actions' words that the goal
    does not: a comparison that a small model cannot make for itself in few layers, and that a large one
    may ignore (ours).

    Args:
        goal: what the user wanted.
        done: labelled actions, oldest first, the final one last. Words the agent sent to the user
            are claims: they stand here as an action, not as evidence.
        acted: those of them that did something to the page; only they are compared with the goal.
        tree: the last page before the final action: the evidence (papers F14).
    """
    asked, named = _words(goal), _words(" ".join(acted))
    missing = section("missing", " ".join(_without(asked, named)))
    extra = section("extra", " ".join(_without(named, asked)))
    return (
        f"{section('goal', goal)}<page>\n{tree}\n{done_lines(list(done))}{missing}{extra}<verdict> "
    )


def _words(text: str) -> dict[str, str]:
    """Words once each, in order, by what they are compared as: names exactly, grammar in any case."""
    found = (w for w in words_in(text) if w[0] not in "\\[($")
    return {w.lower() if w.lower() in GRAMMAR else w: w for w in found}


def _without(some: Mapping[str, str], others: Mapping[str, str]) -> list[str]:
    return [word for key, word in some.items() if key not in others][:MAX_WORDS]

"""What the judge is asked: did these actions do what was wanted (DynaWeb 3.3, self-assessment)."""

import re
from collections.abc import Mapping, Sequence

from dynaweb.prompts.lines import done_lines, section
from dynaweb.prompts.pointers import GRAMMAR, words_in

SUCCESS = "success"
FAILURE = "failure"

MAX_WORDS = 24
"""At most so many words of either kind of evidence."""


_SIGNED = re.compile(r"(?<![^\s'\"(,=])-\d+(?!\w)")
"""A number below zero is another word than the same one above."""


def render_judge(
    goal: str, done: Sequence[str], *, holds: Sequence[str], meant: Sequence[str], tree: str
) -> str:
    """Ask for a verdict.

    Before the verdict stand the goal's words that nothing on the page or among the actions fulfils, and
    those of what the agent brought about that the goal does not ask for: a comparison that a small model
    cannot make for itself in few layers, and that a large one may ignore (ours).

    Args:
        goal: what the user wanted.
        done: labelled actions, oldest first, the final one last. Words the agent sent to the user
            are claims: they stand here as an action, not as evidence.
        holds: what is true in the end: the page's state, and actions that left no state.
        meant: those of them that the agent brought about.
        tree: the last page before the final action: the evidence (papers F14).
    """
    asked, true, made = _words(goal), _words(" ".join(holds)), _words(" ".join(meant))
    missing = section("missing", " ".join(_without(asked, true)))
    extra = section("extra", " ".join(_without(made, asked)))
    return (
        f"{section('goal', goal)}<page>\n{tree}\n{done_lines(list(done))}{missing}{extra}<verdict> "
    )


def _words(text: str) -> dict[str, str]:
    """Words once each, in order, by what they are compared as: names exactly, grammar in any case."""
    signed = _SIGNED.findall(text)
    found = [w for w in words_in(_SIGNED.sub(" ", text)) if w[0] not in "\\[($"]
    return {w.lower() if w.lower() in GRAMMAR else w: w for w in (*found, *signed)}


def _without(some: Mapping[str, str], others: Mapping[str, str]) -> list[str]:
    return [word for key, word in some.items() if key not in others][:MAX_WORDS]

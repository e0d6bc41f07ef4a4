"""What the judge is asked: did these actions do what was wanted (DynaWeb 3.3, self-assessment)."""

from collections.abc import Sequence

from dynaweb.prompts.lines import done_lines, section

SUCCESS = "success"
FAILURE = "failure"


def render_judge(goal: str, done: Sequence[str], tree: str) -> str:
    """Ask for a verdict.

    Args:
        goal: what the user wanted.
        done: labelled actions, oldest first, the final one last. Words the agent sent to the user
            are claims: they stand here as an action, not as evidence.
        tree: the last page before the final action: the evidence (papers F14).
    """
    return f"{section('goal', goal)}<page>\n{tree}\n{done_lines(list(done))}<verdict> "

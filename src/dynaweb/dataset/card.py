"""A dataset card: what is in a folder of trajectories, counted, for people and for the Hub."""

from collections import Counter
from collections.abc import Sequence

from dynaweb.records.trajectory import Trajectory

_HEAD = """---
license: {license}
task_categories: [reinforcement-learning]
tags: [web-agents, world-model, accessibility-tree]
---

# {title}

{count} trajectories, {steps} steps, {tasks} tasks. {layout} Trajectories that ended as `unknown` (a fault of browser, model
or judge) are kept and counted, and are nobody's reward.

"""

RUN_LAYOUT = """One JSON record a line; fields are described in `docs/records.md`.
Split by (task, seed): a page is never on both sides."""
"""How a run keeps its data sets."""


def dataset_card(
    trajectories: Sequence[Trajectory], *, title: str, layout: str = RUN_LAYOUT
) -> str:
    """Markdown with YAML front matter: counts by behaviour and outcome, then by task.

    Args:
        trajectories: what is in the folder; only how many steps they have is looked at, not their pages.
        title: heading of the card.
        layout: how the files are made.
    """
    licenses = sorted({t.license or "unknown" for t in trajectories})
    head = _HEAD.format(
        license=licenses[0].lower() if len(licenses) == 1 else "other",
        title=title,
        layout=layout,
        count=len(trajectories),
        steps=sum(len(t.steps) for t in trajectories),
        tasks=len({t.task for t in trajectories}),
    )
    return head + _behaviours(trajectories) + _tasks(trajectories) + _origins(trajectories)


def _behaviours(trajectories: Sequence[Trajectory]) -> str:
    counts = Counter(
        (t.behaviour.value, _family(t.policy_version), t.outcome.value) for t in trajectories
    )
    rows = [f"| {b} | {p} | {o} | {n} |" for (b, p, o), n in sorted(counts.items())]
    return (
        "| behaviour | policy | outcome | trajectories |\n|---|---|---|---|\n"
        + "\n".join(rows)
        + "\n\n"
    )


def _family(policy_version: str) -> str:
    return policy_version.split("@")[0] or "-"


def _tasks(trajectories: Sequence[Trajectory]) -> str:
    counts: Counter[tuple[str, str]] = Counter((t.task, t.outcome.value) for t in trajectories)
    names = sorted({t.task for t in trajectories})
    rows = [
        f"| {n} | {counts[n, 'success']} | {counts[n, 'failure']} | {counts[n, 'unknown']} |"
        for n in names
    ]
    return "| task | success | failure | unknown |\n|---|---|---|---|\n" + "\n".join(rows) + "\n\n"


def _origins(trajectories: Sequence[Trajectory]) -> str:
    origins = sorted(
        {f"{t.origin or 'unknown'} ({t.license or 'unknown licence'})" for t in trajectories}
    )
    return "Pages from: " + "; ".join(origins) + ".\n"

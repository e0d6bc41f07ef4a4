"""What `dynaweb world study` measured: lines for a terminal, and a section for a page of the docs."""

from collections.abc import Sequence

from dynaweb.bench.results import FidelityRow, JudgeRow, Share
from dynaweb.cli.sections import table
from dynaweb.recipes.worldstudy import Measure, WorldStudy

BEGIN, END = "<!-- dynaweb world study: begin -->", "<!-- dynaweb world study: end -->"

SAID = {
    "local_determined": "parts changed, page, action and goal say how: exact page",
    "local": "parts changed, all: exact page",
    "full_page_determined": "page replaced, determined: exact page",
    "full_page": "page replaced, all: exact page",
    "unchanged": "nothing changed: said so",
    "by_rules": "rules had made the whole change: nothing added",
    "settled": "settled by a rule: exact page",
    "ended": "episode ended: said so",
    "end_precision": "said to end: it did",
    "any_page": "all steps that went on: exact page",
    "element_f1": "all steps that changed something: F1 of changed lines",
    "invalid": "answers that are no page (lower is better)",
    "repaired": "answers mended at a second try",
    "right": "right",
    "right_of_decided": "right, of those decided",
    "false_positives": "real failures called success (lower is better)",
    "recall": "real successes called success",
    "false_negatives": "real successes called failure (lower is better)",
    "unknown": "left open",
}
HEAD = ("", "of", "tasks", "%, 95 % interval", "without a model, %")


def lines(study: WorldStudy, missed: Sequence[str], *, markdown: bool = True) -> list[str]:
    """The study, number by number and task by task."""
    at = study.machine
    said = [
        f"Commit {study.commit[:7] or 'unknown'}{' with changes' if study.commit.endswith('+') else ''}, {at['processor']}, {at['cores']} cores, Python {at['python']}.",
        f"A model of {study.parameters:,} parameters, {study.tasks} tasks, {study.attempts:,} real attempts ({study.live_steps:,} steps) to learn from, {study.unseen:,} attempts on other pages to measure on.",
        f"Training with {study.threads} thread(s): {study.base_seconds:,.0f} s of reading exercises, then {study.seconds:,.0f} s for {study.steps:,} steps ({study.tokens:,} tokens).",
        "Intervals draw whole tasks.",
        "",
    ]
    for title, measures in (
        ("World model", study.world),
        ("Judge, success from one half on; the agent's attempts", study.judge),
        ("Judge with bars set on the other half of the pages", study.judge_with_bars),
    ):
        rows = [_row(m) for m in measures if m.n]
        said += [*table((title, *HEAD[1:]), rows, markdown=markdown), ""]
    said += _by_task(study, markdown=markdown)
    goals = ["", *(f"missed: {line}" for line in missed)] if missed else ["", "All goals are met."]
    return [*said, *(_apart(goals) if markdown else goals)]


def _apart(said: Sequence[str]) -> list[str]:
    """Each a paragraph of its own on a page."""
    return [line for text in said if text for line in ("", text)]


def _row(m: Measure) -> tuple[str, ...]:
    between = "" if m.low is None or m.high is None else f" ({m.low:.1%} to {m.high:.1%})"
    share = "" if m.mean is None else f"{m.mean:.1%}{between}"
    total = f"{m.total:.0f}" if m.total == round(m.total) else f"{m.total:.1f}"
    return (
        SAID[m.name],
        f"{total} of {m.n}",
        str(m.tasks),
        share.replace("%", ""),
        "" if m.beside is None else f"{m.beside:.1%}".removesuffix("%"),
    )


TASK_HEAD = (
    "task",
    "parts changed, determined",
    "parts changed",
    "unchanged",
    "ended",
    "said to end: right",
    "verdicts right",
    "failures passed",
    "successes found",
)


def _by_task(study: WorldStudy, *, markdown: bool) -> list[str]:
    judged = {row.task: row for row in study.judge_by_task}
    rows = [_task_row(row, judged.get(row.task, JudgeRow(task=row.task))) for row in study.by_task]
    return table(TASK_HEAD, rows, markdown=markdown)


def _task_row(world: FidelityRow, judge: JudgeRow) -> tuple[str, ...]:
    shares = (
        world.local_determined,
        world.local,
        world.unchanged,
        world.ended,
        world.end_precision,
        judge.right,
        judge.false_positives,
        judge.recall,
    )
    return (world.task, *(_share(s) for s in shares))


def _share(share: Share) -> str:
    return f"{share.hits}/{share.n}" if share.n else ""

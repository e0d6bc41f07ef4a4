"""The card of a data set: what is in it, what was left out and why, for people and for the Hub."""

from collections import Counter
from collections.abc import Mapping

from dynaweb.dataset.imports.tally import Tally
from dynaweb.world.data.compare import NEAR, Comparison
from dynaweb.world.data.counts import Counts, quantiles
from dynaweb.world.data.settings import DataConfig

MOST_TASKS = 40
"""Tasks named in the card; how many more there are is said."""

_HEAD = """---
license: {license}
task_categories: [text-generation]
tags: [web-agents, world-model, accessibility-tree]
---

# {title}

Rows that teach a model what a web page answers to an action: {rows} rows from {kept} of {steps} steps of {attempts} attempts.
Split by {by}, {held:.0%} of the groups held out, by a hash of seed {seed}: no group, and no page with the same action, is on both sides.
Every step is accounted for: {steps} = {kept} kept + {dropped} left out; {read} rows of the source files could not be read.

Files: `rows/train` and `rows/held_out`, a folder for each form, JSON lines. `messages` (or `prompt` and `completion`) is what a model reads and
writes; `about` says where the row comes from, who annotated it, and which questions it answers. `rows/index` has a line for each transition.

Known bias (WebWorld 7): a world model learns from what agents did, mostly things that work. {rejected} rows teach actions that fail; {made} of
them are made up on recorded pages by rule. Rationales marked `template` are written by rules, not by a model.

"""


def data_card(
    counts: Counts,
    read: Tally,
    config: DataConfig,
    found: Comparison,
    *,
    title: str,
    license: str,
    exact_tokens: bool,
) -> str:
    """Markdown with YAML front matter.

    Args:
        counts: of the whole data set.
        read: what was left out before.
        config: what decided it.
        found: training side against held-out side.
        title: heading.
        license: of pages that name none; empty when it is not known.
        exact_tokens: lengths in tokens are a tokenizer's.
    """
    t = counts.tables
    licences = {
        name if name != "unknown" else license or "unknown" for name in t.get("rows by licence", {})
    }
    kinds = t.get("rows by kind", Counter())
    made = sum(n for name, n in kinds.items() if name.endswith("rejected_made"))
    head = _HEAD.format(
        license=licences.pop().lower() if len(licences) == 1 else "other",
        title=title,
        rows=counts.total("rows"),
        kept=counts.total("kept"),
        steps=counts.total("steps"),
        attempts=counts.total("attempts"),
        dropped=counts.total("dropped"),
        read=sum(read.dropped.values()),
        by=config.split.by.value,
        held=config.split.held_out,
        seed=config.seed,
        rejected=made + sum(n for name, n in kinds.items() if name.endswith(" rejected")),
        made=made,
    )
    parts = [
        head,
        _table("Rows", t.get("rows", {})),
        _table("By kind", kinds),
        _lengths(counts, exact=exact_tokens),
    ]
    parts += [_overlap(found)]
    for form in config.forms:
        name = form.value
        lost = {f"not taught: {k}": n for k, n in t.get(f"{name}: dropped", {}).items()}
        parts.append(
            _table(f"Transitions in form {name}", {**t.get(f"{name}: taught", {}), **lost})
        )
    parts.append(_table("Steps left out", t.get("dropped", {})))
    parts.append(_table("Rows left out before", read.dropped))
    parts.append(_table("Other rows left out", t.get("other rows: dropped", {})))
    for title_, table in (
        ("Annotations", "annotations"), ("Rows by annotation", "rows by annotation"), ("Answers by action", "answers by action"),
        ("By format of pages", "rows by format of pages"), ("By site", "rows by site"), ("By source", "rows by source"),
        ("By licence in the files", "rows by licence"), ("Personal details replaced", "masked"), ("Odd, and kept", "noted"), ("By task", "rows by task"),
    ):  # fmt: skip
        parts.append(_table(title_, t.get(table, {})))
    return "".join(parts)


def _table(title: str, counts: Mapping[str, int]) -> str:
    """A section, most frequent first; nothing where nothing was counted."""
    if not counts:
        return ""
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    rows = [f"| {_cell(name)} | {n} |" for name, n in ordered[:MOST_TASKS]]
    more = len(ordered) - len(rows)
    rows += [f"| {more} more | {sum(n for _, n in ordered[MOST_TASKS:])} |"] if more else []
    return f"## {title}\n\n| | count |\n|---|---|\n" + "\n".join(rows) + "\n\n"


def _lengths(counts: Counts, *, exact: bool) -> str:
    rows = []
    for unit in ("chars", "tokens") if exact else ("chars",):
        for name, lengths in sorted(counts.tables.items()):
            if name.startswith(f"{unit} of "):
                shown = " | ".join(map(str, quantiles(lengths)))
                rows.append(f"| {name.removeprefix(f'{unit} of ')} | {unit} | {shown} |")
    return (
        "## Length of rows\n\n| | unit | median | 90 % | 99 % | longest |\n|---|---|---|---|---|---|\n"
        + "\n".join(rows)
        + "\n\n"
    )


def _overlap(found: Comparison) -> str:
    near = (
        f"{found.near} of {found.sketched} held-out transitions have a near-duplicate in training (MinHash likeness of both pages at least {NEAR:g}, same action)"
        if found.sketched
        else "near-duplicates were not measured"
    )
    return f"## Overlap\n\n{found.same} of {found.eval} held-out transitions and {len(found.groups)} groups stand in training too; {near}.\n\n"


def _cell(text: str) -> str:
    """Names come from files: nothing in them is markup."""
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;").replace("`", "'")[:120]

"""World models side by side: one HTML file that needs nothing. Pages, goals and names can only ever be text on it."""

from collections.abc import Sequence

from dynaweb.report.dreams import dreamed_step
from dynaweb.report.html import Child, Html, tag
from dynaweb.report.page import document
from dynaweb.report.parts import note, section, table
from dynaweb.report.words import NONE, percent
from dynaweb.report.worlds.data import Cell, ModelReport, WorldsReport
from dynaweb.report.worlds.guards import costs_section, guards_section, replay_section
from dynaweb.report.worlds.sayings import GROUP_WORDS, HEADLINES, LABELS, gain_words, mean_words

SHOWN_TASKS = 60
"""Rows of the table by task; `report.json` holds all."""


def render_worlds(report: WorldsReport) -> str:
    """The page."""
    makers = (
        ("result", "Result", _result),
        ("numbers", "All numbers", _numbers),
        ("groups", "By group", _groups),
        ("guards", "Guards", guards_section),
        ("replay", "Replay", replay_section),
        ("steps", "Steps", _steps),
        ("costs", "Cost and data", costs_section),
    )
    body = tag(
        "body",
        tag("a", "Skip to the result", href="#result", cls="skip"),
        tag(
            "header",
            tag("p", "dynaweb", cls="brand"),
            tag("h1", "World models on real transitions"),
            _facts(report),
        ),
        tag("nav", [tag("a", name, href=f"#{a}") for a, name, _ in makers], aria_label="sections"),
        tag("main", [make(report) for _, _, make in makers]),
        tag(
            "footer",
            tag(
                "p",
                "Numbers of a world model are never an agent's results. This file loads nothing and sends nothing.",
            ),
        ),
    )
    return document("World models \u00b7 dynaweb", body)


def _facts(report: WorldsReport) -> Html:
    facts = [
        ("transitions", f"{report.transitions} of {report.found}"),
        ("tasks", str(report.tasks)),
        ("sites", str(len(report.sites))),
        ("seed", str(report.seed)),
        ("intervals", percent(report.confidence)),
    ]
    return tag("dl", [tag("div", tag("dt", k), tag("dd", v)) for k, v in facts], cls="facts")


def _result(report: WorldsReport) -> Html:
    intro = (
        "One imagined step each, beside what the browser really did. Copy says that nothing changes beyond what rules know of "
        "browsers; the same rules and the same gate stand in front of every model, so what is above copy is knowledge of the site."
    )
    heads = ["", *(m.name for m in report.models)]
    rows: list[list[Child]] = [
        [LABELS[metric], *(_headline(_total(m, metric)) for m in report.models)]
        for metric in HEADLINES
        if any(_total(m, metric) is not None for m in report.models)
    ]
    kinds = ", ".join(f"{n} {kind.replace('_', ' ')}" for kind, n in report.regimes.items())
    return section(
        "result",
        "Result",
        intro,
        table(heads, rows, caption="Mean, interval, and gain over copy"),
        _unanswered(report),
        note(
            f"What really happened: {kinds}. Intervals draw whole tasks; gains are paired step by step."
        ),
    )


def _unanswered(report: WorldsReport) -> Html | None:
    said = [f"{m.name} {m.unanswered}" for m in report.models if m.unanswered]
    return note(f"Questions without an answer, in no number: {', '.join(said)}.") if said else None


def _total(model: ModelReport, metric: str) -> Cell | None:
    return next((c for c in model.cells if c.metric == metric and c.group_by == "all"), None)


def _headline(cell: Cell | None) -> Child:
    if cell is None:
        return NONE
    gain = (
        tag("div", f"over copy {gain_words(cell)}", cls="words") if cell.gain is not None else None
    )
    return [tag("b", mean_words(cell)), tag("div", f"n = {cell.n}", cls="words"), gain]


def _numbers(report: WorldsReport) -> Html:
    intro = "Every number over the steps that it can speak of. A step that a rule settled asks no model and stands apart."
    body = [_metric_table(report, metric) for metric in LABELS]
    return section("numbers", "All numbers", intro, body)


def _metric_table(report: WorldsReport, metric: str) -> Html | None:
    found = [(m.name, c) for m in report.models if (c := _total(m, metric)) is not None]
    if not found:
        return None
    rows = [_row(name, c) for name, c in found]
    return table(
        ["model", "n", "tasks", "mean", "copy", "gain over copy", "normalised"],
        rows,
        numeric=(1, 2),
        caption=LABELS[metric],
    )


def _row(name: str, c: Cell) -> list[Child]:
    return [
        name,
        c.n,
        c.clusters,
        mean_words(c),
        NONE if c.copy is None else mean_words(c, of="copy"),
        gain_words(c),
        percent(c.normalised),
    ]


def _groups(report: WorldsReport) -> Html:
    intro = "The same numbers by who acted, where, by what kind of action, and by task."
    body = [
        _group_table(report, metric, group_by)
        for group_by in GROUP_WORDS
        for metric in ("local_exact", "local_f1", "full_structure", "unchanged_exact")
    ]
    return section("groups", "By group", intro, body)


def _group_table(report: WorldsReport, metric: str, group_by: str) -> Html | None:
    cells = {
        (m.name, c.group): c
        for m in report.models
        for c in m.cells
        if c.metric == metric and c.group_by == group_by
    }
    if not cells:
        return None
    size = {group: c.n for (_, group), c in cells.items()}
    groups = sorted(size, key=lambda g: (-size[g], g))
    rows: list[list[Child]] = [
        [group, size[group], *(_short(cells.get((m.name, group))) for m in report.models)]
        for group in groups[:SHOWN_TASKS]
    ]
    left_out = len(groups) - len(rows)
    name = f"{LABELS[metric]}, by {GROUP_WORDS[group_by]}"
    return tag(
        "details",
        tag("summary", name),
        table(
            [GROUP_WORDS[group_by], "n", *(m.name for m in report.models)],
            rows,
            numeric=(1,),
            caption=name,
        ),
        note(f"{left_out} smaller groups are in report.json.") if left_out else None,
    )


def _short(cell: Cell | None) -> str:
    return NONE if cell is None else mean_words(cell)


def _steps(report: WorldsReport) -> Html:
    intro = (
        "Left what the browser showed, in the middle what was imagined, right where they differ; chosen by rule. Worst: changed "
        "steps with the lowest score. Typical: those around the median."
    )
    body = [_model_steps(m) for m in report.models if m.worst or m.typical]
    return section("steps", "Steps", intro, body)


def _model_steps(model: ModelReport) -> Sequence[Child]:
    return [
        [tag("h3", f"{model.name}: {name}"), [dreamed_step(p, is_open=False) for p in pages]]
        for name, pages in (("typical", model.typical), ("worst", model.worst))
        if pages
    ]

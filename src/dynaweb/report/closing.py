"""The end of the page: what fell short, and everything one needs to make this run again."""

from collections.abc import Mapping

from dynaweb.report.data import ReportData
from dynaweb.report.html import Child, Html, tag
from dynaweb.report.parts import missing, section, table


def shortfalls_section(data: ReportData) -> Html:
    """What the run did not show."""
    intro = "What this run did not reach or could not show. Nothing here is hidden above."
    said = [*data.summary.shortfalls, *_absent(data), *data.problems]
    body: Child = (
        tag("ul", [tag("li", s) for s in said], cls="shortfalls")
        if said
        else missing("shortfalls; the recipe named none", "summary.json")
    )
    return section("shortfalls", "What fell short", intro, body)


def run_section(data: ReportData) -> Html:
    """Command, configuration, versions."""
    run = data.run
    intro = "The same commit, configuration and seed make the same run."
    return section(
        "run",
        "This run",
        intro,
        tag("pre", tag("code", f"$ {run.command}")) if run.command else None,
        _plan(data),
        _pairs("Configuration", run.config),
        _pairs("Versions", run.versions),
    )


def _absent(data: ReportData) -> list[str]:
    """Sections without data, so that a gap in the page is never mistaken for a good result."""
    looked: list[tuple[str, object]] = [
        ("success on the real web", data.results),
        ("training curves", data.curves),
        ("the world model's fidelity", data.fidelity),
        ("the judge's errors", data.judge),
        ("whether dreamed success is real", data.replays),
        ("speed", data.summary.speed),
    ]
    return [f"Not measured: {what}." for what, found in looked if not found]


def _plan(data: ReportData) -> Html | None:
    if data.plan is None:
        return None
    plan = data.plan
    seeds = f"{plan.seeds[0]} \u2026 {plan.seeds[-1]} ({len(plan.seeds)})"
    return _pairs(
        "Evaluation plan",
        {
            "tasks": ", ".join(plan.tasks),
            "seeds": seeds,
            "arms": ", ".join(plan.arms),
            "comparisons": "; ".join(
                f"{c.treatment} against {c.control}{' (the question)' if c.primary else ''}"
                for c in plan.comparisons
            ),
            "max_steps": str(plan.max_steps),
            "temperature": f"{plan.temperature:g}",
            "bootstrap": f"{plan.statistics.resamples} draws, seed {plan.statistics.seed}",
        },
    )


def _pairs(heading: str, pairs: Mapping[str, str]) -> Html | None:
    if not pairs:
        return None
    rows: list[list[Child]] = [[tag("code", k), v] for k, v in pairs.items()]
    return tag(
        "details",
        tag("summary", heading),
        table(["setting", "value"], rows, caption=heading),
    )

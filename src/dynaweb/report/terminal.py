"""The report's tables for the terminal, as rich renderables. Whoever has a console prints them."""

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from dynaweb.evaluate.results import EvaluationResults
from dynaweb.report.data import ReportData
from dynaweb.report.html import visible
from dynaweb.report.shares import share_words
from dynaweb.report.words import (
    NONE,
    caution,
    comparison_order,
    finding,
    headline,
    interval,
    number,
    p_value,
    percent,
    points,
    points_interval,
)


def terminal_report(data: ReportData) -> RenderableType:
    """Result, differences, trust and speed; a line for what was not measured."""
    parts: list[RenderableType] = []
    if data.results is None:
        parts.append(Text("Not measured: success on the real web.", style="yellow"))
    else:
        parts += _result(data, data.results)
    trust = _trust(data)
    if trust.row_count:
        parts.append(trust)
    parts += [Text(f"fell short: {visible(s)}", style="yellow") for s in data.summary.shortfalls]
    return Group(*parts)


def _result(data: ReportData, results: EvaluationResults) -> list[RenderableType]:
    lines: list[RenderableType] = [Text(visible(headline(results)), style="bold")]
    lines += [Text(visible(finding(c.paired))) for c in comparison_order(results)]
    if (said := caution(results)) is not None:
        lines.append(Text(visible(said), style="yellow"))
    return [*lines, _arms(data, results), _differences(results)]


def _table(title: str, *heads: str) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold")
    for i, head in enumerate(heads):
        table.add_column(head, justify="left" if i == 0 else "right")
    return table


def _text(text: str) -> str:
    """Names come from outside: shown as they are, never as markup."""
    return escape(visible(text))


def _arms(data: ReportData, results: EvaluationResults) -> Table:
    table = _table(
        "Real success", "arm", "real", "95 % interval", "n", "unknown", "in dreams (no result)"
    )
    dreamed = {d.arm: d.rate for d in data.summary.dreamed}
    for arm in results.arms:
        rate, dream = arm.rate, dreamed.get(arm.arm)
        table.add_row(
            _text(arm.arm),
            percent(rate.rate),
            interval(rate.low, rate.high),
            str(rate.n),
            str(rate.unknown),
            NONE if dream is None else percent(dream.rate),
        )
    return table


def _differences(results: EvaluationResults) -> Table:
    table = _table(
        "Paired differences, points",
        "arms",
        "difference",
        "interval",
        "won : lost : tied",
        "McNemar",
    )
    for answer in comparison_order(results):
        p = answer.paired
        if p.difference is None:
            continue
        table.add_row(
            _text(f"{p.treatment} - {p.control}"),
            points(p.difference),
            points_interval(p.low, p.high),
            f"{p.episodes.wins} : {p.episodes.losses} : {p.episodes.ties}",
            p_value(p.episodes.p_value),
        )
    return table


def _trust(data: ReportData) -> Table:
    table = _table("World model, judge, dreams", "", "")
    if data.fidelity is not None:
        total = data.fidelity.total
        table.add_row("exact, part changed, determined", share_words(total.local_determined))
        table.add_row("exact, part changed", share_words(total.local))
        table.add_row("exact, page replaced", share_words(total.full_page))
        table.add_row("copy, steps that a model is for", share_words(total.copy))
    if data.judge is not None:
        table.add_row(
            "judge: failures called success", share_words(data.judge.total.false_positives)
        )
        table.add_row("judge: successes called success", share_words(data.judge.total.recall))
    if data.replays is not None:
        table.add_row("dreamed success that was real", share_words(data.replays.success_precision))
    for a in data.summary.audits:
        table.add_row(
            f"iteration {a.iteration}: dreamed success / the same for real",
            f"{a.dreamed_success} / {a.real_success} of {a.dreams}{' (warned)' if a.warned else ''}",
        )
    speed = data.summary.speed
    if speed is not None:
        table.add_row(
            "episodes a second, live / dreamed", f"{number(speed.live)} / {number(speed.dreamed)}"
        )
    return table

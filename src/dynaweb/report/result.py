"""The answer: real success by arm, paired differences, and what may be said about them."""

from collections.abc import Mapping

from dynaweb.evaluate.plan import EvaluationPlan
from dynaweb.evaluate.results import ArmResult, ComparisonResult, EvaluationResults
from dynaweb.evaluate.statistics import PairedDifference, Tally
from dynaweb.report.charts import (
    RATE_AXIS,
    Axis,
    Mark,
    axis_labels,
    difference_axis,
    interval_strip,
    share_bar,
)
from dynaweb.report.data import DreamedSuccess, ReportData
from dynaweb.report.html import Child, Html, tag
from dynaweb.report.parts import badge, missing, note, section, table
from dynaweb.report.words import (
    MINUS,
    NONE,
    caution,
    comparison_order,
    finding,
    headline,
    interval,
    p_value,
    percent,
    points,
    points_interval,
    rate_words,
)


def result_section(data: ReportData) -> Html:
    """The first thing that a reader sees."""
    how = "greedy, " if data.plan is not None and data.plan.temperature == 0.0 else ""
    intro = f"Attempts at real pages in a real browser, {how}on seeds that no training saw."
    if data.results is None:
        return section(
            "result",
            "The result",
            intro,
            missing("success on the real web", "results.json"),
        )
    results = data.results
    dreamed = {d.arm: d for d in data.summary.dreamed}
    return section(
        "result",
        "The result",
        intro,
        tag("p", headline(results), cls="lead"),
        tag("ul", [_finding(c) for c in comparison_order(results)], cls="findings"),
        _cautions(data, results),
        _arms(results, dreamed, data.summary.arms),
        _differences(results) if results.comparisons else None,
        _method(data.plan, results),
    )


def tasks_section(data: ReportData) -> Html:
    """Every arm on every task."""
    intro = "Which tasks carry the result. A bar is the share of real attempts that succeeded."
    if data.results is None:
        return section("tasks", "Task by task", intro, missing("success by task", "results.json"))
    arms = data.results.arms
    names = [r.task for r in arms[0].by_task]
    rows: list[list[Child]] = [
        [tag("code", name), *(_task_cell(a, i) for a in arms)] for i, name in enumerate(names)
    ]
    rows.append(
        [tag("strong", "all"), *(_rate_cell(a.rate.rate, rate_words(a.rate)) for a in arms)]
    )
    return section(
        "tasks",
        "Task by task",
        intro,
        table(["task", *(a.arm for a in arms)], rows, caption="Real success by task", cls="tasks"),
        _endings(arms),
    )


def _finding(answer: ComparisonResult) -> Html:
    mark = _direction(answer.paired)
    return tag(
        "li",
        badge("planned", "the question") if answer.primary else None,
        finding(answer.paired),
        cls=mark,
    )


def _direction(paired: PairedDifference) -> str:
    if not paired.excludes_zero:
        return "open"
    return "better" if (paired.difference or 0) > 0 else "worse"


def _cautions(data: ReportData, results: EvaluationResults) -> Html | None:
    said = [caution(results)]
    if data.summary.is_demonstration:
        fewest = min(a.rate.n for a in results.arms)
        said.append(
            f"This is a demonstration with {fewest} episodes an arm: its intervals are wide, and a difference of a "
            "few points would not show. The study is the same recipe with more tasks and seeds."
        )
    kept = [tag("p", s) for s in said if s]
    return tag("div", kept, cls="caution", role="note") if kept else None


def _arms(
    results: EvaluationResults, dreamed: Mapping[str, DreamedSuccess], told: Mapping[str, str]
) -> Html:
    rows: list[list[Child]] = []
    for arm in results.arms:
        dream = dreamed.get(arm.arm)
        rows.append(
            [
                [tag("span", arm.arm, cls="arm"), tag("br"), tag("small", told.get(arm.arm, ""))],
                tag("span", percent(arm.rate.rate), cls="big"),
                [
                    rate_words(arm.rate).split(" (")[0],
                    tag("br"),
                    tag("small", interval(arm.rate.low, arm.rate.high)),
                ],
                interval_strip(RATE_AXIS, _arm_marks(arm, dream), _arm_label(arm, dream)),
                _dream_cell(dream),
            ]
        )
    return table(
        [
            "arm",
            badge("live", "real"),
            "episodes, 95 % interval",
            axis_labels(RATE_AXIS),
            [badge("dream"), " not a result"],
        ],
        rows,
        numeric=(1,),
        caption="Real success by arm",
        cls="arms",
    )


def _arm_marks(arm: ArmResult, dream: DreamedSuccess | None) -> list[Mark]:
    marks = []
    if arm.rate.rate is not None:
        marks.append(Mark(value=arm.rate.rate, low=arm.rate.low, high=arm.rate.high, kind="live"))
    if dream is not None and dream.rate.rate is not None:
        rate = dream.rate
        marks.append(
            Mark(value=dream.rate.rate, low=rate.low, high=rate.high, kind="dream", hollow=True)
        )
    return marks


def _arm_label(arm: ArmResult, dream: DreamedSuccess | None) -> str:
    real = f"{arm.arm}: {percent(arm.rate.rate)} of real episodes, interval {interval(arm.rate.low, arm.rate.high)}"
    return real if dream is None else f"{real}; in its dreams {percent(dream.rate.rate)}"


def _dream_cell(dream: DreamedSuccess | None) -> Child:
    if dream is None:
        return tag("span", NONE, cls="quiet")
    text = f"{percent(dream.rate.rate)} of {dream.rate.n} dreams"
    return tag("span", text, tag("br"), tag("small", dream.note), cls="dreamed")


def _differences(results: EvaluationResults) -> Html:
    answers = [c.paired for c in comparison_order(results)]
    axis = difference_axis([p.low for p in answers], [p.high for p in answers])
    level = percent(answers[0].confidence)
    return table(
        [
            "difference, in points",
            "",
            f"{level} interval",
            axis_labels(axis, signed=True),
            ["episodes", tag("br"), "won : lost : tied"],
            ["tasks", tag("br"), "won : lost : tied"],
        ],
        [_difference_row(p, axis) for p in answers],
        numeric=(1,),
        caption="Paired differences on the same pages",
        cls="differences",
    )


def _difference_row(paired: PairedDifference, axis: Axis) -> list[Child]:
    name: Child = [tag("span", paired.treatment, cls="arm"), f" {MINUS} {paired.control}"]
    if paired.difference is None:
        return [name, NONE, NONE, None, NONE, NONE]
    words = points_interval(paired.low, paired.high)
    mark = Mark(value=paired.difference, low=paired.low, high=paired.high, kind=_direction(paired))
    return [
        name,
        tag("span", points(paired.difference), cls="big"),
        words,
        interval_strip(axis, [mark], f"{points(paired.difference)} points, interval {words}"),
        _tally(paired.episodes),
        _tally(paired.by_task),
    ]


def _tally(tally: Tally) -> Child:
    return [
        f"{tally.wins} : {tally.losses} : {tally.ties}",
        tag("br"),
        tag("small", p_value(tally.p_value)),
    ]


def _method(plan: EvaluationPlan | None, results: EvaluationResults) -> Html:
    unknown = sum(a.rate.unknown for a in results.arms)
    planned = (
        f"Tasks, seeds, arms and analysis were written down before the first episode (plan {results.plan_hash}): "
        f"{len(plan.tasks)} tasks with {len(plan.seeds)} seeds, at most {plan.max_steps} actions. "
        if plan is not None
        else f"The plan was written down before the first episode ({results.plan_hash}). "
    )
    return note(
        planned,
        "Intervals of rates are Wilson's (fresh seeds of these tasks). Intervals of differences come from a bootstrap that "
        "draws whole tasks (other tasks like these). P-values are exact: McNemar's test by episode, sign test by task. ",
        f"{unknown} episode(s) ended unknown, because browser or model broke: they are counted here and are nobody's failure.",
    )


def _task_cell(arm: ArmResult, index: int) -> Child:
    rate = arm.by_task[index].rate
    return _rate_cell(rate.rate, rate_words(rate))


def _rate_cell(rate: float | None, words: str) -> Child:
    return [share_bar(rate, "live", words), " ", tag("span", words, cls="words")]


def _endings(arms: tuple[ArmResult, ...]) -> Html:
    names = sorted({r for a in arms for r in a.reasons})
    faults = sorted({f for a in arms for f in a.faults})
    rows: list[list[Child]] = [
        [f"ended: {_plain(n)}", *(a.reasons.get(n, 0) for a in arms)] for n in names
    ]
    rows += [[f"action: {_plain(n)}", *(a.faults.get(n, 0) for a in arms)] for n in faults]
    steps: list[Child] = [
        "mean actions",
        *(f"{a.mean_steps:.1f}" if a.mean_steps is not None else NONE for a in arms),
    ]
    return tag(
        "details",
        tag("summary", "How attempts ended, and what was wrong with actions"),
        table(
            ["", *(a.arm for a in arms)],
            [*rows, steps],
            numeric=range(1, len(arms) + 1),
            caption="Endings and faults",
        ),
    )


def _plain(name: str) -> str:
    return name.replace("_", " ")

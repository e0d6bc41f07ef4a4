"""Learning against live steps: one HTML file that needs nothing."""

from collections.abc import Sequence

from dynaweb.evaluate.learning import ArmCurve, ComparedArms, CurvePoint
from dynaweb.report.html import Child, Html, tag
from dynaweb.report.learning.data import LearningReport, RunSpent
from dynaweb.report.learning.figure import learning_figure
from dynaweb.report.page import document
from dynaweb.report.parts import missing, note, section, table
from dynaweb.report.words import (
    NONE,
    duration,
    finding,
    interval,
    number,
    p_value,
    percent,
    points,
    points_interval,
)


def render_learning(report: LearningReport, tasks: Sequence[str]) -> str:
    """The page."""
    makers: tuple[tuple[str, str, Html], ...] = (
        ("figure", "Figure", _figure(report)),
        ("arms", "Arms", _arms(report)),
        ("compared", "Compared", _compared(report)),
        ("tasks", "Tasks", _tasks(report, tasks)),
        ("training", "Training", _training(report)),
        ("shortfalls", "What fell short", _shortfalls(report)),
    )
    body = tag(
        "body",
        tag("a", "Skip to the figure", href="#figure", cls="skip"),
        tag("header", tag("p", "dynaweb", cls="brand"), tag("h1", "Learning against live steps"), _facts(report)),
        tag("nav", [tag("a", name, href=f"#{a}") for a, name, _ in makers], aria_label="sections"),
        tag("main", [made for _, _, made in makers]),
        tag(
            "footer",
            tag("p", "Every rate is of attempts in the real browser. This file loads nothing and sends nothing."),
        ),
    )  # fmt: skip
    return document("Learning \u00b7 dynaweb", body)


def rate_interval(point: CurvePoint) -> str:
    """Interval of a point; a dash where there is none."""
    return NONE if point.low is None or point.high is None else interval(point.low, point.high)


def rate_words(point: CurvePoint) -> str:
    """`97 of 160 (60.6 %)`."""
    return f"{point.successes} of {point.n} ({percent(point.rate, 1)})"


def offset_words(report: LearningReport) -> str:
    """What the live steps are made of, in a sentence."""
    return (
        f"Live steps: {report.experts_steps} of the demonstrations for every arm; arms that dream besides {report.world_steps} that made, "
        f"calibrated and measured world model and judge; these and the arms at real pages {report.opening_steps} first pages that were opened to begin from."
    )


def _facts(report: LearningReport) -> Html:
    machine = report.machine
    facts = [
        ("plan", report.name),
        ("commit", report.commit[:10]),
        ("machine", f"{machine.get('processor', '')}, {machine.get('cores', '?')} cores"),
        *report.facts.items(),
    ]
    return tag("dl", [tag("div", tag("dt", k), tag("dd", v)) for k, v in facts if v], cls="facts")


def _figure(report: LearningReport) -> Html:
    intro = "Real success on unseen pages against every action on a real page that an arm has had a part in."
    body: Child = missing("the first agent and the arms", "results.json")
    if any(c.points for c in report.results.curves):
        body = tag("figure", learning_figure(report))
    return section(
        "figure",
        "Real success against live steps",
        intro,
        body,
        note(
            offset_words(report),
            " Whiskers: intervals of the last points, clustered by task. Curves are set a few pixels apart where they have spent the same.",
        ),
    )


def _arms(report: LearningReport) -> Html:
    rows = [_arm_row(c, p) for c in report.results.curves for p in c.points]
    heads = ["arm", "checkpoint", "live steps", "seeds", "successes", "rate", "95 % interval over tasks", "unknown", "seed by seed"]  # fmt: skip
    words = table(
        ["arm", "learns from"],
        [[c.arm, c.words] for c in report.results.curves],
        caption="What the arms are",
    )
    return section(
        "arms",
        "Arms and checkpoints",
        "Before the last checkpoint the seeds share the pages out; at the last every run attempts all of them.",
        table(
            heads, rows, numeric=(1, 2, 3, 4, 5, 7), caption="Real success by arm and checkpoint"
        ),
        words,
    )


def _arm_row(curve: ArmCurve, p: CurvePoint) -> list[Child]:
    seeds = ", ".join(f"{s.successes} of {s.n}" for s in p.seeds)
    return [
        curve.arm,
        p.checkpoint,
        f"{p.live_steps:.0f}",
        len(p.seeds),
        f"{p.successes} of {p.n}",
        percent(p.rate, 1),
        rate_interval(p),
        p.unknown,
        seeds,
    ]


def _compared(report: LearningReport) -> Html:
    rows = [_comparison_row(c) for c in report.results.comparisons]
    primary = [c.paired for c in report.results.comparisons if c.primary]
    heads = ["treatment", "control", "seeds", "pairs", "points", "95 % interval over tasks", "won, lost", "McNemar", "tasks won, lost", "sign test"]  # fmt: skip
    return section(
        "compared",
        "Arms compared",
        "At their last checkpoint, paired by task, page and seed. Intervals draw whole tasks. McNemar's test takes pages as independent, which pages of one task "
        "and seeds of one arm are not: the interval and the sign test over tasks say more.",
        tag("ul", [tag("li", finding(p)) for p in primary], cls="findings"),
        table(heads, rows, numeric=(2, 3, 4), caption="Comparisons, those that matter first"),
    )


def _comparison_row(c: ComparedArms) -> list[Child]:
    p = c.paired
    return [
        tag("strong", p.treatment) if c.primary else p.treatment,
        p.control,
        len(c.seeds),
        p.pairs,
        points(p.difference),
        points_interval(p.low, p.high),
        f"{p.episodes.wins}, {p.episodes.losses}",
        p_value(p.episodes.p_value),
        f"{p.by_task.wins}, {p.by_task.losses}",
        p_value(p.by_task.p_value),
    ]


def _tasks(report: LearningReport, tasks: Sequence[str]) -> Html:
    curves = [c for c in report.results.curves if c.points]
    by_task = [{t.task: t for t in c.points[-1].tasks} for c in curves]
    rows: list[list[Child]] = [
        [task, *(f"{t[task].successes} of {t[task].n}" if task in t else NONE for t in by_task)]
        for task in tasks
    ]
    return section(
        "tasks",
        "Task by task",
        "Successes at the last checkpoint that is measured, all seeds together.",
        table(
            ["task", *(c.arm for c in curves)],
            rows,
            numeric=tuple(range(1, len(curves) + 1)),
            caption="Successes by task",
            cls="tasks",
        ),
    )


def _training(report: LearningReport) -> Html:
    heads = ["arm", "seed", "time", "steps or iterations", "live steps", "groups that teach", "attempts", "unknown", "their reward, first", "last"]  # fmt: skip
    return section(
        "training",
        "Training",
        "The reward of dreams is the judge's word, never a result.",
        table(
            heads,
            [_training_row(t) for t in report.trainings],
            numeric=tuple(range(1, len(heads))),
            caption="What every run made of its budget",
        ),
    )


def _training_row(t: RunSpent) -> list[Child]:
    s = t.spent
    return [
        t.arm,
        t.seed,
        duration(s.seconds),
        s.units,
        s.live_steps,
        f"{s.groups_taught} of {s.groups}" if s.groups else NONE,
        s.attempts or NONE,
        s.unknown if s.groups else NONE,
        number(s.reward_first),
        number(s.reward_last),
    ]


def _shortfalls(report: LearningReport) -> Html:
    lacking = report.results.missing
    said: list[Child] = [tag("li", f"Not measured yet: {name}.") for name in lacking]
    said += [
        tag("li", finding(c.paired))
        for c in report.results.comparisons
        if c.primary and not (c.paired.excludes_zero and (c.paired.difference or 0.0) > 0)
    ]
    return section(
        "shortfalls",
        "What fell short",
        "Everything that this measurement did not show.",
        tag("ul", said) if said else tag("p", "Nothing that was planned is missing."),
    )

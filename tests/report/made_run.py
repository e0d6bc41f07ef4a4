"""A made-up run, large enough to look like a real one. Its numbers are invented and shown nowhere else."""

import math
import random
from functools import cache

from dynaweb.bench.results import (
    DepthRow,
    FidelityReport,
    FidelityRow,
    JudgeReport,
    JudgeRow,
    Mean,
    ReplayReport,
    Share,
)
from dynaweb.evaluate.plan import Comparison, EvaluationPlan
from dynaweb.evaluate.results import analyse
from dynaweb.evaluate.statistics import success_rate
from dynaweb.records.action import Click, Fill
from dynaweb.records.observation import Observation
from dynaweb.records.trajectory import Behaviour, Fault, Outcome, Reason, Step, Trajectory, World
from dynaweb.report.data import (
    Attempt,
    Curve,
    DataRow,
    DreamedPage,
    DreamedSuccess,
    Drop,
    ReportData,
    RunInfo,
    Speed,
    StageTime,
    Summary,
)

TASKS = (
    "click-checkboxes",
    "click-tab-2",
    "enter-password",
    "focus-text-2",
    "login-user",
    "search-engine",
    "use-autocomplete",
    "click-option",
)
ARMS = ("SFT", "SFT continued", "DynaWeb")
PLAN = EvaluationPlan(
    tasks=TASKS,
    seeds=tuple(range(1_000_000, 1_000_020)),
    arms=ARMS,
    comparisons=(
        Comparison(treatment="DynaWeb", control="SFT", primary=True),
        Comparison(treatment="DynaWeb", control="SFT continued", primary=True),
        Comparison(treatment="SFT continued", control="SFT"),
    ),
)

LOGIN = """RootWebArea 'Login User Task'
\tStaticText 'Username'
\t[7] textbox '', value='{user}'
\tStaticText 'Password'
\t[9] textbox '', value='{password}'
\t[11] button 'Login'
\tStaticText 'Forgot?'
\t[13] link 'Help'
\t[14] link 'Terms of use'
\t[15] link 'About'"""

CHECKS = """RootWebArea 'Click Checkboxes Task'
\t[12] checkbox 'KfL', checked='{a}'
\tStaticText 'KfL'
\t[14] checkbox 'zRe2', checked='{b}'
\tStaticText 'zRe2'
\t[16] checkbox 'Mqp', checked='{c}'
\tStaticText 'Mqp'
\t[18] button 'Submit'"""


def page(tree, error="", focused=None):
    title = tree.split("'")[1] if "'" in tree else ""
    return Observation(
        url="http://127.0.0.1:8123/miniwob/login-user.html",
        title=title,
        tree=tree,
        last_action_error=error,
        focused=focused,
    )


def login(arm, seed, outcome, world=World.LIVE, task="login-user", reason=Reason.TASK_ENDED):
    pages = [
        page(LOGIN.format(user="", password="")),
        page(LOGIN.format(user="leonie", password=""), focused="7"),
        page(LOGIN.format(user="leonie", password=""), "no element has bid '99' on this page", "7"),
        page(LOGIN.format(user="leonie", password="•••••"), focused="9"),
    ]
    steps = (
        Step(observation=pages[0], thought="The name first.", action=Fill("7", "leonie")),
        Step(observation=pages[1], action=Click("99"), fault=Fault.MISSING_ELEMENT),
        Step(observation=pages[2], action=Fill("9", "XjQ2z")),
        Step(observation=pages[3], action=Click("11")),
    )
    return Trajectory(
        trajectory_id=f"{arm}/{task}/{seed}",
        task=task,
        goal='Enter the username "leonie" and the password "XjQ2z" into the text fields and press login.',
        seed=seed,
        steps=steps,
        final=pages[3],
        outcome=outcome,
        reason=Reason.BROWSER_FAULT if outcome is Outcome.UNKNOWN else reason,
        detail="reward 1.0 from the page"
        if outcome is Outcome.SUCCESS
        else "reward 0.0 from the page",
        world=world,
        behaviour=Behaviour.AGENT,
        policy_version=f"{arm.lower().replace(' ', '-')}@300",
        world_model_version="patch@1200" if world is World.DREAM else "",
    )


def evaluated():
    """Raw episodes of every arm; success rates vary by task."""
    rng = random.Random(4)
    skill = {"SFT": 0.0, "SFT continued": 0.06, "DynaWeb": 0.17}
    base = {t: rng.uniform(0.25, 0.75) for t in TASKS}

    def outcome(arm, task):
        if rng.random() < 0.006:
            return Outcome.UNKNOWN
        return Outcome.SUCCESS if rng.random() < base[task] + skill[arm] else Outcome.FAILURE

    return {
        arm: [login(arm, s, outcome(arm, t), task=t) for t in TASKS for s in PLAN.seeds]
        for arm in ARMS
    }


def rate(successes, n, unknown=0):
    outcomes = [Outcome.SUCCESS] * successes + [Outcome.FAILURE] * (n - successes)
    return success_rate(outcomes + [Outcome.UNKNOWN] * unknown)


def curves():
    rng = random.Random(2)

    def points(start, end, noise):
        return tuple(
            (float(i), start + (end - start) * (1 - math.exp(-i / 12)) + rng.uniform(-noise, noise))
            for i in range(0, 41, 2)
        )

    return (
        Curve(metric="reward", source="dream", points=points(0.45, 0.82, 0.04)),
        Curve(metric="reward", source="expert", points=points(1.0, 1.0, 0.0)),
        Curve(metric="advantage", source="dream", points=points(-0.4, -0.15, 0.05)),
        Curve(metric="advantage", source="expert", points=points(0.5, 0.2, 0.05)),
        Curve(metric="update/clip_fraction", source="all", points=points(0.1, 0.22, 0.03)),
        Curve(metric="groups_no_variance", source="all", points=points(0.2, 0.45, 0.05)),
        Curve(metric="steps", source="dream", points=points(3.1, 2.4, 0.15)),
    )


def dreamed_pages():
    before = CHECKS.format(a="false", b="false", c="false")
    return (
        DreamedPage(
            task="click-checkboxes",
            seed=400_012,
            goal="Select KfL, zRe2 and click Submit.",
            action="click('14') checkbox 'zRe2'",
            before=before,
            truth=CHECKS.format(a="false", b="true", c="false"),
            prediction=CHECKS.format(a="false", b="true", c="false"),
            exact=True,
            confidence=0.97,
        ),
        DreamedPage(
            task="login-user",
            seed=400_031,
            goal='Enter the username "leonie" and the password "XjQ2z" and press login.',
            action="click('11') button 'Login'",
            before=LOGIN.format(user="leonie", password="•••••"),
            truth=LOGIN.format(user="leonie", password="•••••").replace(
                "[13] link 'Help'", "[13] link 'Help', expanded='true'"
            )
            + "\n\t[16] alert 'Wrong password'",
            prediction=LOGIN.format(user="leoni", password="••••") + "\n\t[16] heading 'Welcome'",
            exact=False,
            step=3,
            confidence=0.41,
            status="repaired",
        ),
        DreamedPage(
            task="enter-password",
            seed=400_002,
            goal="Enter the password.",
            action="fill('7', 'leonie') textbox",
            before=LOGIN.format(user="", password=""),
            truth=LOGIN.format(user="leonie", password=""),
            prediction=LOGIN.format(user="leonie", password=""),
            exact=True,
            by_rule=True,
        ),
    )


def share(hits, n):
    return Share(hits=hits, n=n)


def fidelity():
    total = FidelityRow(
        task="all",
        local=share(431, 540),
        local_determined=share(402, 455),
        full_page=share(33, 88),
        full_page_determined=share(20, 31),
        unchanged=share(190, 201),
        by_rules=share(88, 90),
        settled=share(611, 612),
        ended=share(150, 171),
        end_precision=share(150, 158),
        invalid=share(9, 919),
        repaired=share(14, 919),
        copy=share(3, 628),
        rules_only=share(31, 628),
        any_page=share(1353, 1531),
        any_page_copy=share(244, 1531),
        element_f1=Mean(total=1240.0, n=1330),
        element_f1_copy=Mean(total=0.0, n=1330),
    )
    by_task = tuple(
        FidelityRow(
            task=t,
            local=share(30 + 3 * i, 60),
            local_determined=share(30 + 3 * i, 52),
            any_page=share(90 + 5 * i, 150),
            any_page_copy=share(20, 150),
        )
        for i, t in enumerate(TASKS)
    )
    return FidelityReport(
        world_model="patch@1200", total=total, by_task=by_task, steps=1702, seeds=320
    )


def judge():
    return JudgeReport(
        population="First agent's real attempts on unseen pages",
        total=JudgeRow(
            task="all",
            false_positives=share(17, 231),
            recall=share(172, 210),
            unknown=share(0, 441),
        ),
        by_task=(),
        asked_total=JudgeRow(task="all", false_positives=share(17, 140), recall=share(160, 198)),
    )


def replays():
    return ReplayReport(
        rows=tuple(
            DepthRow(depth=d, pages_equal=share(e, n + 2), success_precision=share(c, n))
            for d, c, n, e in (
                (1, 38, 40, 37),
                (2, 30, 36, 29),
                (3, 19, 28, 18),
                (4, 9, 17, 8),
                (5, 3, 9, 2),
            )
        ),
        dreams=160,
        unmapped=share(7, 420),
        success_precision=share(99, 130),
        success_recall=share(99, 104),
        dreamed_success=share(130, 160),
        real_success=share(104, 160),
        broken=1,
    )


@cache
def made_run():
    episodes = evaluated()
    return ReportData(
        run=RunInfo(
            name="demo, seed 7",
            seed=7,
            commit="3d8290b5c1ffab02",
            dirty=True,
            command="dynaweb demo --out runs/demo --seed 7",
            started="2026-11-30 07:41 UTC",
            machine="2 cores, AVX2, 8 GB",
            versions={"dynaweb": "0.1.0", "torch": "2.13.0+cpu", "python": "3.11.2"},
            config={"world.minutes": "6", "gspo.iterations": "40", "gspo.expert_fraction": "0.5"},
        ),
        plan=PLAN,
        results=analyse(PLAN, episodes),
        curves=curves(),
        fidelity=fidelity(),
        judge=judge(),
        replays=replays(),
        dreamed_pages=dreamed_pages(),
        attempts=(
            Attempt(arm="DynaWeb", trajectory=login("DynaWeb", 1_000_003, Outcome.SUCCESS)),
            Attempt(
                arm="SFT",
                trajectory=login("SFT", 1_000_003, Outcome.FAILURE, reason=Reason.OUT_OF_STEPS),
            ),
            Attempt(arm="DynaWeb", trajectory=login("DynaWeb", 1_000_004, Outcome.UNKNOWN)),
            Attempt(
                arm="GSPO iteration 20",
                trajectory=login("DynaWeb", 5_003, Outcome.SUCCESS, World.DREAM),
            ),
        ),
        summary=Summary(
            dreamed=(
                DreamedSuccess(
                    arm="DynaWeb", rate=rate(262, 320, 4), note="last 5 iterations, own judge"
                ),
            ),
            speed=Speed(live=1.9, dreamed=23.4, note="2 browsers; 32 dreams at once; 60 s each."),
            data=(
                DataRow(
                    world="live",
                    behaviour="expert",
                    policy="script",
                    success=318,
                    failure=2,
                    unknown=0,
                    steps=1203,
                ),
                DataRow(
                    world="live",
                    behaviour="random",
                    policy="noisy-expert",
                    success=102,
                    failure=214,
                    unknown=4,
                    steps=1711,
                ),
                DataRow(
                    world="live",
                    behaviour="agent",
                    policy="sft",
                    success=148,
                    failure=172,
                    unknown=0,
                    steps=1390,
                ),
            ),
            drops=(
                Drop(stage="world model", reason="duplicate", count=811),
                Drop(stage="agent", reason="too long", count=12),
            ),
            stages=tuple(
                StageTime(stage=s, seconds=x)
                for s, x in (
                    ("collect", 130.0),
                    ("SFT", 120.0),
                    ("world model", 360.0),
                    ("GSPO in dreams", 290.0),
                    ("evaluate", 170.0),
                    ("report", 1.0),
                )
            ),
            shortfalls=(
                "Local exact match 88 % (bar: 85 %), but on whole new pages only 38 %.",
                "Judge false positives 7.4 %, interval up to 11.5 %.",
            ),
            is_demonstration=True,
            precision_bar=0.6,
            notes={"replays": "16 dreams every 10 iterations."},
        ),
    )

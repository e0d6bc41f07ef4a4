"""Numbers with intervals beside copy, on a page that shows hostile text as text."""

import dataclasses
import html
import json

import numpy as np
import pytest
from tests.bench.worlds.models import Truth
from tests.bench.worlds.test_scores import page, scored, shop
from tests.conformance.toy import TASKS
from tests.world.toys import expert, wanderer

from dynaweb.bench.results import DepthRow, ReplayReport, Share
from dynaweb.bench.worlds.judging import JudgedPages
from dynaweb.bench.worlds.overlap import Overlap
from dynaweb.bench.worlds.probes import GoalSwaps, ProbeRow
from dynaweb.bench.worlds.scores import StepScores
from dynaweb.evaluate.config import StatisticsConfig
from dynaweb.evaluate.statistics import clustered_interval, wilson
from dynaweb.report.choose import dreamed_page
from dynaweb.report.worlds.data import Cell, ModelReport, WorldsReport
from dynaweb.report.worlds.page import render_worlds
from dynaweb.report.worlds.sayings import LABELS, gain_words, mean_words
from dynaweb.report.worlds.table import LOWER_IS_BETTER, METRICS, cells
from dynaweb.world.baselines import CopyWorldModel

HOSTILE = "<script>alert(1)</script>'\"&\u202e"
HOW = StatisticsConfig(resamples=500)


@pytest.fixture(scope="module")
def attempts():
    return [*(expert(t, s) for t in TASKS for s in range(3)), *(wanderer(t, s) for t in TASKS for s in range(3)), shop()]  # fmt: skip


@pytest.fixture(scope="module")
def table(attempts):
    copy = scored(CopyWorldModel(), attempts)
    copied = {s.case.case_id: s.scores for s in copy}
    return cells(scored(Truth(attempts), attempts), copied, HOW)


def one(table, metric, group_by="all", group="all"):
    return next(c for c in table if (c.metric, c.group_by, c.group) == (metric, group_by, group))


def test_every_score_has_a_label_and_a_side():
    assert list(LABELS) == list(METRICS) == [f.name for f in dataclasses.fields(StepScores)]
    assert set(METRICS) >= LOWER_IS_BETTER


def test_the_truths_gain_over_copy_is_whole(table):
    cell = one(table, "local_exact")
    assert (cell.mean, cell.copy, cell.gain, cell.normalised) == (1.0, 0.0, 1.0, 1.0)
    # tasks all agree: each counts as one throw
    assert (cell.low, cell.high) == wilson(cell.clusters, cell.clusters)
    same = one(table, "unchanged_exact")
    assert (same.gain, same.gain_low, same.normalised) == (0.0, None, None)


def test_groups_add_up(table):
    for metric in ("local_exact", "ended_said", "kind_right"):
        whole = one(table, metric)
        for group_by in ("behaviour", "site", "task", "action"):
            parts = [c for c in table if (c.metric, c.group_by) == (metric, group_by)]
            assert sum(c.n for c in parts) == whole.n
            assert sum(c.n * c.mean for c in parts) == pytest.approx(whole.n * whole.mean)


def test_the_interval_draws_whole_tasks(attempts):
    """The same values give another interval when they are of other tasks."""
    found = scored(CopyWorldModel(), attempts)
    cell = one(cells(found, {}, HOW), "kind_right")
    by_task: dict[str, list[float]] = {}
    for s in found:
        if s.scores.kind_right is not None:
            by_task.setdefault(s.case.known.task, []).append(s.scores.kind_right)
    sums = np.array([sum(v) for v in by_task.values()])
    counts = np.array([len(v) for v in by_task.values()], dtype=float)
    assert (cell.low, cell.high) == clustered_interval(sums, counts, HOW)
    assert cell.clusters == len(by_task) and cell.copy is None


def test_words_of_a_cell():
    cell = Cell(metric="local_f1", group_by="all", group="all", n=4, clusters=2, mean=0.5, low=0.25, high=0.75, copy=0.1, gain=-0.4, gain_low=-0.6, gain_high=0.1)  # fmt: skip
    assert mean_words(cell).replace("\u202f", " ") == "50.0 % (25 % to 75 %)"
    assert gain_words(cell) == "\u221240.0 (\u221260.0 to +10.0)"
    judged = dataclasses.replace(cell, metric="full_judged", mean=3.25, low=None, high=None)
    assert mean_words(judged) == "3.25"


def hostile_report(attempts):
    wicked = dataclasses.replace(
        shop(), goal=HOSTILE, task=HOSTILE, origin=HOSTILE, final=page(f"\tStaticText {HOSTILE!r}")
    )
    found = scored(Truth([wicked]), [wicked])
    depth = DepthRow(depth=1, pages_equal=Share(hits=1, n=2), endings_equal=Share(hits=2, n=2))
    nothing = Share()
    model = ModelReport(
        name=HOSTILE, version=HOSTILE, checksum="0" * 64, shows_goal=True, cells=cells(found, {}, HOW),
        blocked=(ProbeRow(kind="all", invented=Share(hits=1, n=3)),),
        swaps=GoalSwaps(shown=True, differs=Share(hits=1, n=2)),
        judged=JudgedPages(judge=HOSTILE, judged=1, unknown={HOSTILE: 2}),
        replay=ReplayReport(
            rows=(depth,), dreams=2, unmapped=nothing, success_precision=nothing, success_recall=nothing,
            dreamed_success=nothing, real_success=nothing, broken=0,
        ),
        worst=tuple(dreamed_page(s.compared) for s in found), typical=(),
    )  # fmt: skip
    return WorldsReport(
        models=(model,), transitions=2, found=2, limit=None, seed=0, regimes={"full_page": 1}, tasks=1,
        sites={HOSTILE: 2}, behaviours={"human": 2}, overlap=Overlap(), dropped={HOSTILE: 1},
    )  # fmt: skip


def test_hostile_text_stays_text_and_the_page_may_load_and_run_nothing(attempts):
    page = render_worlds(hostile_report(attempts))
    assert "<script" not in page and "\u202e" not in page
    assert page.count("&lt;script&gt;alert(1)&lt;/script&gt;") > 10
    policy = html.unescape(
        page.partition('Content-Security-Policy" content="')[2].partition('"')[0]
    )
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "script-src" not in policy
    assert " src=" not in page and "url(" not in page


def test_the_report_is_plain_json(attempts):
    report = hostile_report(attempts)
    back = json.loads(json.dumps(dataclasses.asdict(report)))
    assert back["models"][0]["cells"][0]["n"] == report.models[0].cells[0].n

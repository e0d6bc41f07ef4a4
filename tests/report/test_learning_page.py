"""Page and figure of a learning measurement: whole, harmless, and no more said than is measured."""

import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest

from dynaweb.evaluate.config import StatisticsConfig
from dynaweb.evaluate.learning import MeasuredPoint, Spent, learning_results
from dynaweb.evaluate.plan import Comparison
from dynaweb.evaluate.statistics import EpisodeOutcome
from dynaweb.records.trajectory import Outcome
from dynaweb.report.learning.data import LearningReport, RunSpent
from dynaweb.report.learning.figure import learning_figure, standalone
from dynaweb.report.learning.page import render_learning
from dynaweb.runs.jsonfile import read_record, write_record

TASKS = ("a", "b")
ARMS = {"sft": "demonstrations", "live": "real pages", "dreams": "<b>dreams</b>"}


def point(arm: str, seed: int, checkpoint: int, steps: int, hits: int) -> MeasuredPoint:
    episodes = tuple(
        EpisodeOutcome(task=t, seed=i, outcome=Outcome.SUCCESS if i < hits else Outcome.FAILURE)
        for t in TASKS
        for i in range(4 if t == "a" else 5)
    )
    return MeasuredPoint(
        arm=arm, seed=seed, checkpoint=checkpoint, live_steps=steps, seconds=60.0, episodes=episodes
    )


def report(*points: MeasuredPoint, missing: tuple[str, ...] = ()) -> LearningReport:
    return LearningReport(
        name="full",
        results=learning_results(
            ARMS,
            (Comparison(treatment="dreams", control="live", primary=True),),
            points,
            StatisticsConfig(resamples=200),
            missing,
        ),
        experts_steps=100,
        world_steps=900,
        opening_steps=50,
        trainings=(
            RunSpent(
                arm="live", seed=0, spent=Spent(seconds=60.0, units=6, groups=9, groups_taught=4)
            ),
        ),
    )


WHOLE = (
    point("sft", 0, 0, 100, 1),
    point("live", 0, 1, 400, 2),
    point("live", 0, 2, 700, 2),
    point("dreams", 0, 1, 1050, 3),
    point("dreams", 0, 2, 1050, 4),
)


def test_every_arm_has_a_curve_that_begins_at_the_first_agent():
    drawing = ET.fromstring(standalone(learning_figure(report(*WHOLE))))
    name = "{http://www.w3.org/2000/svg}"
    lines = drawing.findall(f".//{name}polyline")
    assert len(lines) == 2
    paths = [
        [tuple(map(float, xy.split(","))) for xy in line.attrib["points"].split()] for line in lines
    ]
    start = drawing.find(f".//{name}g[@class='curve all']/{name}circle")
    assert start is not None
    for path in paths:
        assert path[0] == pytest.approx(
            (float(start.attrib["cx"]), float(start.attrib["cy"])), abs=0.1
        )
        assert len(path) == 4  # first agent, where its training begins, two checkpoints
    live, dreams = paths
    assert live[1][0] < live[2][0] < live[3][0]  # spends while it learns
    assert dreams[1][0] == dreams[2][0] == dreams[3][0]  # paid before, spends nothing more
    assert dreams[3][1] < dreams[2][1]  # up the page is more success


def test_numbers_are_on_the_page_and_words_stay_text():
    page = render_learning(report(*WHOLE), TASKS)
    assert "8 of 9" in page and "2 of 9" in page
    assert "&lt;b&gt;dreams&lt;/b&gt;" in page and "<b>dreams" not in page
    assert "100 of the demonstrations" in page and "900" in page
    assert "4 of 9" in page  # groups that teach
    assert not re.search(r"(src|href)=\"(?!#|data:,)", page)


def test_what_is_missing_is_said():
    page = render_learning(report(*WHOLE[:3], missing=("dreams-0 at checkpoint 2",)), TASKS)
    assert "Not measured yet: dreams-0 at checkpoint 2." in page


def test_nothing_measured_is_no_figure():
    page = render_learning(report(), TASKS)
    assert "Not measured in this run" in page


def test_an_interval_that_is_not_there_has_no_whisker():
    alike = replace(WHOLE[0], episodes=WHOLE[0].episodes[:4])
    drawing = standalone(learning_figure(report(alike)))
    assert 'whisker"' not in drawing


def test_it_comes_back_from_disk(tmp_path):
    found = report(*WHOLE)
    write_record(tmp_path / "results.json", found)
    assert read_record(LearningReport, tmp_path / "results.json") == found

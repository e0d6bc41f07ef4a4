"""A run folder becomes a report; what is missing or damaged is said, not guessed."""

import dataclasses
import io
import json

import pytest
from rich.console import Console
from tests.report.made_run import PLAN, evaluated, login, made_run

from dynaweb.errors import StorageError, UserError
from dynaweb.evaluate.plan import save_plan
from dynaweb.evaluate.run import analyse_folder, episodes_file
from dynaweb.records.codec import dump
from dynaweb.records.trajectory import Outcome, World
from dynaweb.report.data import DreamedPages, ReportFiles
from dynaweb.report.load import load_report, read_curves, write_report
from dynaweb.report.terminal import terminal_report
from dynaweb.runs.folder import RunFolder
from dynaweb.runs.jsonfile import write_record

FILES = ReportFiles()


@pytest.fixture
def folder(tmp_path):
    """A run folder with every file, written by the functions that the recipes use."""
    made, path = made_run(), tmp_path / "run"
    with RunFolder(
        path, config={"name": "made", "gspo": {"groups": 8}}, seed=7, argv=("dynaweb", "demo")
    ):
        pass
    save_plan(PLAN, path / FILES.evaluation)
    for arm, attempts in evaluated().items():
        out = episodes_file(path / FILES.evaluation, arm)
        out.parent.mkdir(exist_ok=True)
        out.write_text("".join(dump(t) + "\n" for t in attempts), "utf-8")
    analyse_folder(path / FILES.evaluation)
    write_record(path / FILES.fidelity, made.fidelity)
    write_record(path / FILES.judge, made.judge)
    write_record(path / FILES.replays, made.replays)
    write_record(path / FILES.dreamed_pages, DreamedPages(pages=made.dreamed_pages))
    write_record(path / FILES.summary, made.summary)
    dreams = [
        login("dream", s, Outcome.SUCCESS if s % 2 else Outcome.FAILURE, World.DREAM)
        for s in range(8)
    ]
    (path / FILES.dreams).write_text("".join(dump(t) + "\n" for t in dreams), "utf-8")
    rows = [
        {"iteration": i, "dream/reward": i / 10, "expert/reward": None, "groups": 8}
        for i in range(3)
    ]
    (path / FILES.metrics).parent.mkdir()
    (path / FILES.metrics).write_text(
        "".join(json.dumps(r) + "\n" for r in rows) + '{"iter', "utf-8"
    )
    return path


def test_everything_comes_back(folder):
    made, found = made_run(), load_report(folder)
    assert found.problems == ()
    for name in ("plan", "results", "fidelity", "judge", "replays", "dreamed_pages", "summary"):
        assert getattr(found, name) == getattr(made, name), name
    assert (found.run.name, found.run.seed, found.run.command) == ("made", 7, "dynaweb demo")
    assert found.run.config["gspo.groups"] == "8"
    assert {(c.metric, c.source) for c in found.curves} == {("reward", "dream"), ("groups", "all")}
    assert found.curves[0].points == (
        (0.0, 0.0),
        (1.0, 0.1),
        (2.0, 0.2),
    )  # the torn line is left out


def test_attempts_are_chosen_by_rule(folder):
    attempts = load_report(folder).attempts
    live = [a for a in attempts if a.trajectory.world is World.LIVE]
    by_page = {}
    for a in live:
        by_page.setdefault((a.trajectory.task, a.trajectory.seed), []).append(a)
    assert len(by_page) == 6 and len({t for t, _ in by_page}) == 6
    for same in by_page.values():  # the arms side by side, where they differ
        assert [a.arm for a in same] == list(PLAN.arms)
        assert len({a.trajectory.outcome for a in same}) > 1
    dreams = [a.trajectory.outcome for a in attempts if a.trajectory.world is World.DREAM]
    assert dreams == [Outcome.SUCCESS, Outcome.FAILURE] * 3


def test_report_is_written_and_the_same_every_time(folder):
    out = folder / "report.html"
    data = write_report(folder, out)
    first = out.read_bytes()
    write_report(folder, out)
    assert out.read_bytes() == first and b"DynaWeb" in first
    assert len(first) < 3_000_000
    assert data.results is not None


def test_a_damaged_file_is_named_and_the_rest_shown(folder):
    (folder / FILES.judge).write_text('{"population": 3', "utf-8")
    body = json.loads((folder / FILES.fidelity).read_text("utf-8"))
    body["total"]["local"]["hits"] = "many"
    (folder / FILES.fidelity).write_text(json.dumps(body), "utf-8")
    found = load_report(folder)
    assert found.judge is None and found.fidelity is None and found.results is not None
    assert len(found.problems) == 2
    assert any("judge.json" in p for p in found.problems)
    assert any("total.local.hits" in p for p in found.problems)


def test_an_unfinished_run_has_a_report(tmp_path):
    with RunFolder(tmp_path / "run", config={}, seed=0):
        pass
    data = write_report(tmp_path / "run", tmp_path / "r.html")
    assert data.results is None and "Not measured" in (tmp_path / "r.html").read_text("utf-8")


def test_a_plan_that_changed_is_told(folder):
    save_plan(dataclasses.replace(PLAN, max_steps=3), folder / FILES.plan)
    found = load_report(folder)
    assert found.plan == PLAN
    assert any("did not follow the plan" in p for p in found.problems)
    text = "\n".join(found.problems)
    (folder / FILES.evaluation / "plan.json").unlink()
    found = load_report(folder)
    assert found.plan.max_steps == 3 and "another plan" in "\n".join(found.problems) != text


def test_a_folder_of_something_else_is_refused(tmp_path):
    with pytest.raises(UserError, match="not a run folder"):
        load_report(tmp_path)


def test_unwritable_report_is_one_clear_error(folder):
    with pytest.raises(StorageError, match="cannot write"):
        write_report(folder, folder / "nowhere" / "report.html")


def test_curves_of_nothing(tmp_path):
    assert read_curves(tmp_path / "none.jsonl") == ()


def test_terminal_tables_say_the_same(folder):
    console = Console(width=140, record=True, file=io.StringIO())
    data = load_report(folder)
    hostile = dataclasses.replace(data.results.arms[0], arm="[red]x[/red] \x1b[31mred")
    results = dataclasses.replace(data.results, arms=(hostile, *data.results.arms[1:]))
    console.print(terminal_report(dataclasses.replace(data, results=results)))
    text = console.export_text()
    assert "beats" in text and "Real success" in text and "interval includes zero" in text
    assert "[red]x[/red]" in text and "\x1b" not in text
    assert "17 of 231" in text


def test_terminal_says_what_is_missing(tmp_path):
    console = Console(width=100, record=True, file=io.StringIO())
    with RunFolder(tmp_path / "run", config={}, seed=0):
        pass
    console.print(terminal_report(load_report(tmp_path / "run")))
    assert "Not measured" in console.export_text()

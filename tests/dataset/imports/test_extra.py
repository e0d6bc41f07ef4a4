"""Formats that need the extra `data`: Parquet there and back, Mind2Web's HTML; and what is said where it is missing."""

import importlib.util
import json
import sys
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from tests.records.strategies import trajectories

from dynaweb.dataset.exports.formats import ExportFormat
from dynaweb.dataset.exports.run import ExportWish, export
from dynaweb.dataset.imports.detect import detect
from dynaweb.dataset.imports.formats import Format
from dynaweb.dataset.imports.recorded import Provenance
from dynaweb.dataset.imports.run import read_trajectories
from dynaweb.dataset.imports.tally import Tally
from dynaweb.dataset.surrogates import clean_json
from dynaweb.errors import MissingDependencyError
from dynaweb.records.action import Click, Fill, Press, SelectOption
from dynaweb.records.codec import dump, load_as
from dynaweb.records.trajectory import Fault, Outcome, Trajectory

needs_arrow = pytest.mark.skipif(
    importlib.util.find_spec("pyarrow") is None, reason="needs the extra `data` (pyarrow)"
)
needs_html = pytest.mark.skipif(
    importlib.util.find_spec("selectolax") is None, reason="needs the extra `data` (selectolax)"
)


def read(path):
    tally = Tally()
    return list(read_trajectories(path, detect(path), Provenance(), tally)), tally


def storable(t: Trajectory) -> Trajectory:
    """Without lone surrogates, which no Parquet holds, and with a seed of 64 bits."""
    held = replace(t, license="MIT", seed=t.seed % (1 << 62))
    return load_as(Trajectory, json.dumps(clean_json(json.loads(dump(held)))[0]))


@needs_arrow
@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(trajectories)
def test_parquet_gives_trajectories_back(tmp_path_factory, made):
    t = storable(made)
    folder = tmp_path_factory.mktemp("parquet")
    other = replace(t, trajectory_id=t.trajectory_id + "'")
    export([t, other], ExportWish(out=folder, format=ExportFormat.PARQUET))
    assert detect(folder / "train.parquet") is Format.PARQUET
    assert read(folder / "train.parquet")[0] == [t, other]
    assert "2 trajectories" in (folder / "README.md").read_text("utf-8")


@needs_arrow
def test_columns_come_and_go(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = [{"trajectory_id": "a", "row": 0, "part": "step", "tree": "RootWebArea 'x'", "outcome": "success", "reason": "answered",
             "world": "live", "behaviour": "agent", "action": "click('1')", "colour": "red"}]  # fmt: skip
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "f.parquet")
    (t,), tally = read(tmp_path / "f.parquet")
    assert t.steps[0].action == Click("1") and t.steps[0].observation.url == ""
    assert tally.noted == {"column 'colour' is not read": 1}


def act(op, bid, value="", original=""):
    html = f"<html><body><div backend_node_id='{bid}'>Tea</div><input backend_node_id='7' placeholder='Search'></body></html>"
    return {"action_uid": "u", "raw_html": "", "cleaned_html": html, "operation": {"op": op, "original_op": original or op, "value": value},
            "pos_candidates": [{"tag": "div", "backend_node_id": bid, "is_original_target": True}], "neg_candidates": []}  # fmt: skip


@needs_html
def test_mind2web_targets_are_on_their_pages(tmp_path):
    actions = [act("CLICK", "5"), act("TYPE", "7", "tea"), act("SELECT", "5", "One"), act("CLICK", "7", original="ENTER"),
               {**act("CLICK", "5"), "pos_candidates": []}]  # fmt: skip
    task = {"annotation_id": "a", "website": "shop", "domain": "d", "subdomain": "s", "confirmed_task": "Buy tea", "action_reprs": [], "actions": actions}  # fmt: skip
    for text in (json.dumps([task], indent=1), json.dumps(task) + "\n"):
        path = tmp_path / "train.json"
        path.write_text(text, "utf-8")
        (t,), _ = read(path)
        assert [s.action for s in t.steps] == [Click("5"), Fill("7", "tea"), SelectOption("5", ("One",)), Press("7", "Enter"), None]  # fmt: skip
        assert "[5] generic ''\n\t\tStaticText 'Tea'" in t.steps[0].observation.tree
        assert "[7] textbox 'Search'" in t.steps[0].observation.tree
        assert (t.outcome, t.goal, t.steps[-1].fault) == (
            Outcome.SUCCESS,
            "Buy tea",
            Fault.NO_ACTION,
        )


def test_a_missing_package_is_named_with_its_extra(tmp_path, monkeypatch):
    for module in ("pyarrow", "dynaweb.dataset.imports.parquet", "dynaweb.dataset.exports.parquet"):
        monkeypatch.setitem(sys.modules, module, None)
    for name in ("imports.parquet", "exports.parquet"):
        monkeypatch.delitem(sys.modules, f"dynaweb.dataset.{name}")
        package = sys.modules[f"dynaweb.dataset.{name.partition('.')[0]}"]
        monkeypatch.delattr(package, "parquet", raising=False)
    (tmp_path / "x.parquet").write_bytes(b"PAR1")
    with pytest.raises(MissingDependencyError, match="data"):
        read_trajectories(tmp_path / "x.parquet", Format.PARQUET, Provenance(), Tally())
    with pytest.raises(MissingDependencyError, match="pyarrow"):
        export([], ExportWish(out=tmp_path / "o", format=ExportFormat.PARQUET))

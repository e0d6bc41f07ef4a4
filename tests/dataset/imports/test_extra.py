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


@needs_html
def test_what_mind2webs_browser_did_not_draw_is_no_element_unless_it_can_be_chosen():
    from dynaweb.dataset.imports.html import html_tree

    hidden = 'bounding_box_rect="-1,-1,-1,-1"'
    markup = f"""<html backend_node_id="1"><body><button backend_node_id="2" bounding_box_rect="0,0,9,9"><text backend_node_id="3"
      bounding_box_rect="0,0,9,9">Help</text></button><div backend_node_id="4" {hidden} role="dialog"><a backend_node_id="5" {hidden}
      is_clickable="true"><text backend_node_id="6" {hidden}>Answers</text></a></div><select backend_node_id="7" bounding_box_rect="0,0,9,9">
      <option backend_node_id="8" {hidden} value="usd">USD</option></select></body></html>"""
    tree = "RootWebArea ''\n\t[2] button 'Help'\n\t\tStaticText 'Help'\n\t[7] combobox ''\n\t\t[8] option 'USD', value='usd'"
    assert html_tree(markup) == tree + "\n\t\t\tStaticText 'USD'"
    assert "[5] link 'Answers'" in html_tree(markup, frozenset({"5"}))


PUBLISHED_PAGE = """<html backend_node_id="1"><head backend_node_id="2"><title backend_node_id="3"><text backend_node_id="4">Shop</text></title></head>
<body backend_node_id="5"><header backend_node_id="6"><a backend_node_id="7" aria_label="Home"/><div backend_node_id="8"/></header>
<label backend_node_id="9"><text backend_node_id="10">Size</text></label><select backend_node_id="11" name="size" bounding_box_rect="0,0,9,9">
<option backend_node_id="12" option_selected="true" value="s"><text backend_node_id="13">Small</text></option>
<option backend_node_id="14" value="l"><text backend_node_id="15">Large</text></option></select>
<input backend_node_id="16" type="checkbox" input_checked="true" value="on"/><input backend_node_id="17" type="search" value="old" input_value="tea"/>
<textarea backend_node_id="18"><text backend_node_id="19">Hello</text></textarea>
<iframe backend_node_id="20"><html backend_node_id="21"><body backend_node_id="22"><button backend_node_id="23"><text backend_node_id="24">Pay</text></button></body></html></iframe>
<button backend_node_id="25"><svg backend_node_id="26"/></button><a backend_node_id="27"><text backend_node_id="28">Help</text></a></body></html>"""
"""In the shape of the published rows: XML with closed elements, text wrapped, states as Chromium's snapshot spells them, frames inside."""


def published(bid, tag, *, original=True, **said):
    attributes = json.dumps({"backend_node_id": bid, "bounding_box_rect": "60,1701,146.203125,34", "data_pw_testid_buckeye_candidate": "1", **said})  # fmt: skip
    return {"tag": tag, "attributes": attributes, "is_original_target": original, "is_top_level_target": True, "backend_node_id": bid}  # fmt: skip


@needs_html
def test_a_row_as_mind2web_publishes_it(tmp_path):
    def action(op, value, positive):
        operation = {"original_op": op, "value": value, "op": op}
        other = {k: v for k, v in published("27", "a").items() if not k.startswith("is_")}
        return {"action_uid": "6c7a7082-897e-41c7-9688-4b0f3d778cdb", "raw_html": f"<!DOCTYPE html>{PUBLISHED_PAGE}", "cleaned_html": PUBLISHED_PAGE,
                "operation": operation, "pos_candidates": positive, "neg_candidates": [other]}  # fmt: skip

    task = {
        "website": "shop", "domain": "Shopping", "subdomain": "General", "annotation_id": "cc4e5c4e-7fe4-4c07-a65f-5f1c4b1b0c8b",
        "confirmed_task": "Pay for large tea", "action_reprs": ["[combobox]  Size -> SELECT: Large", "[button]  Pay -> CLICK"],
        "actions": [action("SELECT", "Large", [published("9", "label", original=False), published("11", "select")]), action("CLICK", "", [published("23", "button")])],
    }  # fmt: skip
    path = tmp_path / "train_0.json"
    path.write_text(json.dumps([task]), "utf-8")
    (t,), tally = read(path)
    assert [s.action for s in t.steps] == [SelectOption("11", ("Large",)), Click("23")]
    assert (tally.dropped, tally.noted) == ({}, {})
    assert t.steps[1].observation.tree.split("\n") == [
        "RootWebArea 'Shop'",
        "\t[6] banner ''",
        "\t\t[7] link 'Home'",
        "\t[9] LabelText 'Size'",
        "\t\tStaticText 'Size'",
        "\t[11] combobox ''",
        "\t\t[12] option 'Small', value='s', selected='true'",
        "\t\t\tStaticText 'Small'",
        "\t\t[14] option 'Large', value='l'",
        "\t\t\tStaticText 'Large'",
        "\t[16] checkbox '', value='on', checked='true'",
        "\t[17] searchbox '', value='tea'",
        "\t[18] textbox ''",
        "\t\tStaticText 'Hello'",
        "\t[20] Iframe ''",
        "\t\t[23] button 'Pay'",
        "\t\t\tStaticText 'Pay'",
        "\t[25] button ''",
        "\t\t[26] image ''",
        "\t[27] link 'Help'",
        "\t\tStaticText 'Help'",
    ]


def action_rows():
    """Two demonstrations in the columns of Multimodal-Mind2Web; of the second, the action in the middle is missing."""
    rows = []
    for task, numbers in (("a", (0, 1)), ("b", (0, 2))):
        for n in numbers:
            row = act("CLICK", "5") if n == 0 else act("TYPE", "7", "tea")
            told = {"website": "shop", "domain": "d", "subdomain": "s", "annotation_id": task, "confirmed_task": f"Buy {task}", "screenshot": None,
                    "action_reprs": ["[div] Tea -> CLICK"] * (max(numbers) + 1), "target_action_index": str(n), "target_action_reprs": "[div] Tea -> CLICK"}  # fmt: skip
            positive = [json.dumps(c) for c in row["pos_candidates"]]
            rows.append({**row, **told, "operation": json.dumps(row["operation"]), "pos_candidates": positive})  # fmt: skip
    return rows


@needs_html
@needs_arrow
def test_multimodal_mind2web_has_a_row_an_action(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = action_rows()
    (tmp_path / "train.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    (tmp_path / "train.json").write_text(json.dumps(rows), "utf-8")
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "train.parquet")
    for path in tmp_path.iterdir():
        (whole, cut), tally = read(path)
        assert [s.action for s in whole.steps] == [Click("5"), Fill("7", "tea")]
        assert (whole.trajectory_id, whole.goal, whole.outcome) == ("mind2web.a", "Buy a", Outcome.SUCCESS)  # fmt: skip
        assert ([s.action for s in cut.steps], cut.outcome) == ([Click("5")], Outcome.UNKNOWN)
        assert tally.dropped == {"action out of order, and what follows it": 1}, path
        assert (tally.rows, tally.noted) == (4, {}), path


@needs_html
def test_an_action_row_without_its_number_is_counted(tmp_path):
    first, *_ = action_rows()
    del first["target_action_index"]
    broken = {**first, "target_action_index": "0", "operation": "{'op': 'CLICK'}"}
    (tmp_path / "f.jsonl").write_text(json.dumps(first) + "\n" + json.dumps(broken) + "\n", "utf-8")  # fmt: skip
    found, tally = read(tmp_path / "f.jsonl")
    assert found == [] and sum(tally.dropped.values()) == 2
    assert any("target_action_index: field required" in why for why in tally.dropped)
    assert any("operation" in why for why in tally.dropped)


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

"""Rules measured: right ones are all right, wrong pages show."""

from dataclasses import replace

from tests.conformance.toy import FIELD, TASKS
from tests.world.toys import walk, wanderer

from dynaweb.bench.rule_check import check_rules
from dynaweb.records.action import Click, Fill, Noop
from dynaweb.records.trajectory import Fault


def test_rules_are_right_on_the_toy() -> None:
    report = check_rules([wanderer(t, s) for t in TASKS for s in range(10)])
    assert report.gate_agrees.hits == report.gate_agrees.n > 100
    assert report.refused_by_the_gate == report.refused_by_the_page == 0
    rows = {r.rule: r for r in report.by_rule}
    assert rows["gate"].settled_right.fraction == 1.0
    for rule in ("typing", "ticking"):
        assert rows[rule].stood.fraction == rows[rule].whole.fraction == 1.0
    assert rows["focus"].whole.hits < rows["focus"].whole.n  # changing a pane is not a rule


def test_a_page_that_undoes_a_rule_is_counted() -> None:
    t = walk("toy-write", 0, (Fill(FIELD, "gold"), Noop()))
    typed = t.steps[1].observation
    refused = replace(typed, tree=typed.tree.replace(", value='gold'", ""))
    moved = replace(typed, tree=typed.tree.replace("gold", "gone"))
    steps = (t.steps[0], replace(t.steps[1], observation=refused))
    rows = {r.rule: r for r in check_rules([replace(t, steps=steps, final=moved)]).by_rule}
    assert (rows["typing"].stood.hits, rows["typing"].stood.n) == (0, 1)
    assert (rows["wait"].settled_right.hits, rows["wait"].settled_right.n) == (0, 1)


def test_a_gate_that_disagrees_with_the_browser_is_counted() -> None:
    t = walk("toy-check", 0, (Click("3"), Click("99")))
    covered = replace(t.steps[0], fault=Fault.IMPOSSIBLE)
    done = replace(t.steps[1], fault=None)
    report = check_rules([replace(t, steps=(covered, done))])
    assert (report.refused_by_the_page, report.refused_by_the_gate) == (1, 1)
    assert report.gate_agrees.hits == 0

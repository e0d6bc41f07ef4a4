"""The page shows everything it is given, says what it lacks, and nothing given to it becomes markup."""

import dataclasses
import json
import re
from collections.abc import Mapping
from enum import Enum
from html.parser import HTMLParser

import pytest
from tests.report.made_run import made_run
from tests.report.payloads import PAYLOADS

from dynaweb.report.data import Attempt, Curve, ReportData, RunInfo, Summary
from dynaweb.report.html import Html, code_block, tag, visible
from dynaweb.report.page import SECTIONS, render_report


class Parsed(HTMLParser):
    """Elements with their attributes, and what the reader would see."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.seen, self.data, self._at = [], [], "", ""
        self.feed(text)

    def handle_starttag(self, name, attributes):
        self._at = name
        self.elements.append((name, dict(attributes)))

    def handle_data(self, data):
        if self._at == "script" and self.elements[-1][1].get("id") == "attempts":
            self.data += data
        elif self._at not in ("script", "style"):
            self.seen.append(data)

    def handle_endtag(self, name):
        self._at = ""


def poisoned(value, text, field=""):
    """The same record with `text` in every place that holds text."""
    if isinstance(value, Enum) or (field in ("metric", "source") and text is None):
        return value
    if isinstance(value, str):
        return f"{value} {text}"
    if dataclasses.is_dataclass(value):
        kept = ("plan", "results")
        changed = {
            f.name: poisoned(getattr(value, f.name), text, f.name)
            for f in dataclasses.fields(value)
            if f.name not in kept
        }
        return dataclasses.replace(value, **changed)
    if isinstance(value, Mapping):
        return {f"{k} {text}": poisoned(v, text) for k, v in value.items()}
    if isinstance(value, tuple):
        return tuple(poisoned(v, text) for v in value)
    return value


def poisoned_run(text):
    """`made_run` with the text in every field, names of tasks and arms in the results included."""
    run = made_run()
    arms = tuple(
        dataclasses.replace(
            a,
            arm=f"{a.arm} {text}",
            by_task=tuple(dataclasses.replace(t, task=f"{t.task} {text}") for t in a.by_task),
            reasons={text: 1},
            faults={text: 1},
        )
        for a in run.results.arms
    )
    comparisons = tuple(
        dataclasses.replace(
            c, paired=dataclasses.replace(c.paired, treatment=text, control=f"b{text}")
        )
        for c in run.results.comparisons
    )
    results = dataclasses.replace(run.results, arms=arms, comparisons=comparisons)
    return dataclasses.replace(poisoned(run, text), results=results, plan=run.plan)


@pytest.fixture(scope="module")
def clean():
    return Parsed(render_report(made_run()))


def test_every_section_is_there_once(clean):
    ids = [a["id"] for n, a in clean.elements if n == "section"]
    assert ids == [anchor for anchor, _, _ in SECTIONS]


def test_numbers_of_the_result_are_on_the_page(clean):
    text = " ".join(clean.seen)
    for arm in made_run().results.arms:
        assert f"{arm.rate.successes} of {arm.rate.n}" in text
    assert "interval includes zero" in text  # SFT continued against SFT
    assert "not a result" in text


def test_policy_forbids_everything_but_our_own(clean):
    [policy] = [
        a["content"] for n, a in clean.elements if a.get("http-equiv") == "Content-Security-Policy"
    ]
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy and "http" not in policy and "*" not in policy
    assert len(re.findall(r"sha256-", policy)) == 2


def test_nothing_loads_and_nothing_handles(clean):
    for name, attributes in clean.elements:
        assert name not in ("img", "iframe", "object", "embed", "form", "base")
        assert not any(a.startswith("on") or a in ("style", "src", "action") for a in attributes)
        if "href" in attributes:
            assert attributes["href"].startswith(("#", "data:,"))


@pytest.mark.parametrize("payload", PAYLOADS)
def test_hostile_text_changes_no_element(clean, payload):
    page = Parsed(render_report(poisoned_run(payload)))
    names = [n for n, _ in page.elements]
    handlers = [a for _, attributes in page.elements for a in attributes if a.startswith("on")]
    assert not handlers
    assert names.count("script") == 2 and names.count("style") == 1
    allowed = {n for n, _ in clean.elements} | {"small", "br", "mark", "b"}
    assert set(names) <= allowed
    assert visible(payload).strip() in " ".join(page.seen).replace("\n", " ") or "\n" in payload
    assert isinstance(json.loads(page.data), list)


def test_an_empty_run_says_what_is_missing():
    page = Parsed(render_report(ReportData(run=RunInfo(name="empty", seed=0))))
    text = " ".join(page.seen)
    assert [a["id"] for n, a in page.elements if n == "section"] == [s[0] for s in SECTIONS]
    for what in (
        "success on the real web",
        "training",
        "fidelity",
        "the judge",
        "replays of dreams",
    ):
        assert f"Not measured in this run: {what}" in text or what in text
    assert "Not measured: speed." in text


@pytest.mark.parametrize(
    "field",
    ["results", "curves", "fidelity", "judge", "replays", "dreamed_pages", "attempts", "summary"],
)
def test_each_part_may_be_missing(field):
    empty = {"summary": Summary()}.get(
        field, () if isinstance(getattr(made_run(), field), tuple) else None
    )
    assert "<html" in render_report(dataclasses.replace(made_run(), **{field: empty}))


def test_odd_numbers_do_not_break_charts():
    curves = (
        Curve(metric="one", source="dream", points=((1.0, 0.5),)),
        Curve(metric="flat", source="all", points=((1.0, 7.0), (2.0, 7.0))),
        Curve(metric="zero", source="all", points=((1.0, 0.0), (2.0, 0.0))),
        Curve(metric="huge", source="all", points=((1.0, -1e12), (2.0, 1e12))),
        Curve(metric="tiny", source="all", points=((1.0, 1e-12), (2.0, 2e-12))),
    )
    text = render_report(dataclasses.replace(made_run(), curves=curves))
    assert "nan" not in text.lower().replace("finance", "") and "inf" not in re.sub(
        "[a-z]*inf[a-z]+", "", text.lower()
    )


def test_long_pages_are_cut_and_counted():
    run = made_run()
    attempt = run.attempts[0].trajectory
    tree = "\n".join(["RootWebArea 'x'", *(f"\t[{i}] button '{i}'" for i in range(1000))])
    step = dataclasses.replace(
        attempt.steps[0],
        observation=dataclasses.replace(attempt.steps[0].observation, tree=tree),
    )
    long = dataclasses.replace(attempt, steps=(step,))
    page = Parsed(
        render_report(dataclasses.replace(run, attempts=(Attempt(arm="a", trajectory=long),)))
    )
    first = json.loads(page.data)[0]["steps"][0]
    assert len(first["tree"]) == 400 and first["more"] == 601


def test_only_known_markup_can_be_made():
    assert tag("p", "<b>", title='"').text == '<p title="&quot;">&lt;b&gt;</p>'
    assert tag("p", tag("b", "x"), ["y", None, Html("<i></i>")]).text == "<p><b>x</b>y<i></i></p>"
    for bad in (
        lambda: tag("iframe"),
        lambda: tag("p", onclick="x"),
        lambda: tag("p", style="x"),
        lambda: tag("a", href="javascript:1"),
        lambda: tag("a", href="//evil"),
        lambda: code_block("script", "</SCRIPT>"),
        lambda: code_block("style", "<!--"),
    ):
        with pytest.raises(ValueError):
            bad()


def test_signs_for_what_cannot_be_seen():
    assert visible("a\0b\x1bc") == "a\u2400b\u241bc"
    assert visible("\u202eabc") == "\u27e8U+202E\u27e9abc"
    assert visible("\ud800") == "\u27e8U+D800\u27e9"
    assert visible("caf\u00e9 \U0001f600\n\t") == "caf\u00e9 \U0001f600\n\t"

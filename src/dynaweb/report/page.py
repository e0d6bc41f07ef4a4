"""The whole report: one HTML file that needs nothing and asks nothing of anyone.

Its policy (CSP) allows our own style and script by hash and nothing else: no network, no inline handler, no
markup made by scripts. Pages, models and users can only ever put text on it.
"""

import base64
import hashlib
import json
from importlib.resources import files

from dynaweb.report.attempts import attempt_view, attempts_section
from dynaweb.report.belief import belief_section
from dynaweb.report.closing import run_section, shortfalls_section
from dynaweb.report.data import ReportData
from dynaweb.report.dreams import dreams_section
from dynaweb.report.html import Html, code_block, tag
from dynaweb.report.measures import data_section, learning_section, speed_section
from dynaweb.report.result import result_section, tasks_section
from dynaweb.report.trust import fidelity_section
from dynaweb.report.words import THIN

SECTIONS = (
    ("result", "Result", result_section),
    ("tasks", "Tasks", tasks_section),
    ("dreams", "Dreams", dreams_section),
    ("trajectories", "Trajectories", attempts_section),
    ("learning", "Learning", learning_section),
    ("fidelity", "World model", fidelity_section),
    ("belief", "Belief", belief_section),
    ("speed", "Speed", speed_section),
    ("data", "Data", data_section),
    ("shortfalls", "What fell short", shortfalls_section),
    ("run", "This run", run_section),
)
"""Anchor, name in the menu, and the function that makes it; in the order of the page."""


def render_report(data: ReportData) -> str:
    """The report as one HTML document."""
    script = asset("report.js")
    body = tag(
        "body",
        tag("a", "Skip to the result", href="#result", cls="skip"),
        _masthead(data),
        tag(
            "nav", [tag("a", name, href=f"#{a}") for a, name, _ in SECTIONS], aria_label="sections"
        ),
        tag("main", [make(data) for _, _, make in SECTIONS]),
        _footer(),
        code_block("script", _payload(data), type="application/json", id="attempts"),
        code_block("script", script),
    )
    return document(f"{data.run.name} \u00b7 dynaweb report", body, script)


def document(title: str, body: Html, script: str = "") -> str:
    """One HTML file that loads nothing: our style, our policy, and `script` by its hash where there is one."""
    style = asset("report.css")
    allowed = f"script-src '{_hash(script)}'; " if script else ""
    policy = (
        f"default-src 'none'; style-src '{_hash(style)}'; {allowed}img-src data:; base-uri 'none'; "
        "form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    )
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=policy),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="referrer", content="no-referrer"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", title),
        tag("link", rel="icon", href="data:,"),
        code_block("style", style),
    )
    return "<!doctype html>\n" + tag("html", head, body, lang="en").text + "\n"


def _masthead(data: ReportData) -> Html:
    run = data.run
    commit = run.commit[:10] + (" with changes" if run.dirty else "")
    facts = [
        ("seed", str(run.seed)),
        ("commit", commit),
        ("machine", run.machine),
        ("started", run.started),
    ]
    return tag(
        "header",
        tag("p", _glyph(), "dynaweb", cls="brand"),
        tag("h1", run.name),
        tag("dl", [tag("div", tag("dt", k), tag("dd", v)) for k, v in facts if v], cls="facts"),
        tag("button", "Light or dark", id="theme", type="button", title="key: t", hidden=""),
    )


def _glyph() -> Html:
    """A real page and its dream."""
    return tag(
        "svg",
        tag("circle", cls="real", cx=11, cy=12, r=8),
        tag("circle", cls="dreamed", cx=20, cy=12, r=8),
        cls="glyph",
        aria_hidden="true",
        viewBox="0 0 30 24",
        width=30,
        height=24,
    )


def _footer() -> Html:
    keys = [("t", "light or dark"), ("\u2190 \u2192", "step"), ("j k", "trajectory")]
    return tag(
        "footer",
        tag("p", [[tag("kbd", k), f"{THIN}{what}  "] for k, what in keys], cls="keys"),
        tag(
            "p",
            "Numbers measured in a dream are never shown as results. This file loads nothing and sends nothing.",
        ),
    )


def _payload(data: ReportData) -> str:
    """The viewer's data as JSON that cannot leave its element."""
    text = json.dumps([attempt_view(a) for a in data.attempts], separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def asset(name: str) -> str:
    """A file of the report: its style or its script."""
    return files("dynaweb.report").joinpath(name).read_text("utf-8")


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()

"""What the docs say and the code can tell: generated pages are fresh, names exist, links lead somewhere."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from dynaweb.batch.source import Source
from dynaweb.cli.main import app
from dynaweb.cli.settings import settings_of
from dynaweb.gspo.audit import AuditReport, Replayed
from dynaweb.gspo.fresh import lag_metrics
from dynaweb.gspo.groups import Harvest
from dynaweb.gspo.guard import counted
from dynaweb.gspo.update import Tally
from dynaweb.recipes.presets import preset
from dynaweb.records.trajectory import Reason

ROOT = Path(__file__).parents[2]
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "CHANGELOG.md",
    *sorted((ROOT / "docs").glob("*.md")),
]


def test_generated_pages_are_what_the_code_says():
    done = subprocess.run(
        [sys.executable, "docs/generate.py", "--check"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_every_metric_of_dream_training_is_defined_once():
    logged = {
        "iteration",
        "dreams_sec",
        "update_sec",
        "audit/warned",
        "update/drift",
        "live/real_steps_total",
        "guard/restored",
        *counted(None),
        *lag_metrics([], {}),
        *Harvest(groups=(), dreams=(), starts_used=0).metrics(),
        *Tally().metrics(),
        *AuditReport(
            replayed=(Replayed(depth=1, dreams=1, dreamed_success=1, real_success=1, confirmed=1),)
        ).metrics(),
    }
    text = (ROOT / "docs" / "metrics.md").read_text("utf-8").partition("<!-- generated")[0]
    defined = [
        name
        for row in re.findall(r"(?m)^\| (`.*?) \|", text)
        for name in re.findall(r"`([^`]+)`", row)
    ]
    assert len(defined) == len(set(defined))
    sources, reasons = [s.value for s in Source], [r.value for r in Reason]
    spelled = set()
    for name in defined:
        for source in sources if "SOURCE" in name else [""]:
            for reason in reasons if "REASON" in name else [""]:
                spelled.add(
                    name.replace("SOURCE", source)
                    .replace("REASON", reason)
                    .replace("depth_N", "depth_1")
                )
    assert sorted(logged - spelled) == [], "logged, but not in docs/metrics.md"
    assert sorted(spelled - logged) == [], "in docs/metrics.md, but never logged"


def test_settings_that_the_papers_page_names_exist():
    keys = {s.key for s in settings_of(preset("study"))}
    text = (ROOT / "docs" / "papers.md").read_text("utf-8")
    roots = {k.partition(".")[0] for k in keys}
    named = {
        w
        for w in re.findall(r"`([a-z_]+(?:\.[a-z_]+)+)`", text)
        if w.partition(".")[0] in roots and not w.endswith(".py")
    }
    assert len(named) > 15
    assert sorted(named - keys) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_files_that_docs_name_exist(page):
    text = page.read_text("utf-8")
    for target in re.findall(r"\]\(([^)#]+)\)", text):
        if not target.startswith("http"):
            assert (page.parent / target).exists(), target
    for name in re.findall(r"`([a-z_]+/[a-z_/]+\.py)`", text):
        assert (ROOT / "src" / "dynaweb" / name).exists() or (ROOT / name).exists(), name


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_commands_that_docs_name_exist(page):
    text = page.read_text("utf-8")
    commands = {c.name or c.callback.__name__ for c in app.registered_commands}
    commands |= {g.name or g.typer_instance.info.name for g in app.registered_groups}
    targets = set(re.findall(r"(?m)^([a-z]+):", (ROOT / "Makefile").read_text("utf-8")))
    assert set(re.findall(r"(?:`|\$ |\.venv/bin/)dynaweb ([a-z]+)", text)) <= commands
    assert set(re.findall(r"(?:`|(?m:^    ))make ([a-z]+)", text)) <= targets


def test_scripts_are_sound():
    for script in ("scripts/setup.sh", ".ci/run"):
        assert (ROOT / script).stat().st_mode & 0o111, f"{script} cannot be executed"
        subprocess.run(["bash", "-n", script], cwd=ROOT, check=True)


def test_setup_names_the_machine_that_lacks_python(tmp_path):
    done = subprocess.run(
        ["bash", str(ROOT / "scripts" / "setup.sh")],
        env={"PATH": "/usr/bin:/bin", "PYTHON": "/no/such/python", "VENV": str(tmp_path / "venv")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 4
    assert "is not Python 3.11 or newer" in done.stderr.splitlines()[-1]
    assert not (tmp_path / "venv").exists()

"""Writes what the docs take from the code: records, settings, layers, measured numbers.

python docs/generate.py            write the pages
python docs/generate.py --check    exit 1 if a page is not what the code says
"""

import dataclasses
import importlib
import inspect
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

from dynaweb.bench.results import DepthRow, FidelityRow, JudgeRow, ReplayReport
from dynaweb.bench.worlds.judging import JudgedPages
from dynaweb.bench.worlds.overlap import Overlap
from dynaweb.bench.worlds.probes import GoalSwaps, ProbeRow
from dynaweb.bench.worlds.scores import StepScores
from dynaweb.cli.fielddocs import field_docs
from dynaweb.cli.settings import settings_of
from dynaweb.evaluate.learning import ComparedArms, CurvePoint, SeedRate, Spent
from dynaweb.evaluate.results import ArmResult
from dynaweb.evaluate.statistics import PairedDifference, Rate, Tally
from dynaweb.recipes.crawlcard import CrawlCard
from dynaweb.recipes.crawlkills import CrawlKills
from dynaweb.recipes.presets import PRESETS
from dynaweb.recipes.verifiable import RlvrRow
from dynaweb.recipes.worldstudy import Measure, WorldStudy
from dynaweb.records.action import Action
from dynaweb.records.codec import SCHEMA_VERSION, STORED
from dynaweb.report.learning.data import LearningReport
from dynaweb.report.worlds.data import Cell, ModelReport, WorldsReport
from dynaweb.runs.folder import plain
from dynaweb.train.metrics import FitRow

DOCS = Path(__file__).parent
ROOT = DOCS.parent

MEASURED = {
    "A random crawl (`card.json` of `dynaweb crawl`)": (CrawlCard,),
    "A crawl that is killed (`dynaweb bench kills`)": (CrawlKills,),
    "Supervised training (`metrics.jsonl` of a training folder)": (FitRow,),
    "World model on unseen pages (`fidelity.json`)": (FidelityRow,),
    "World models side by side (`report.json` of `dynaweb world eval`)": (
        WorldsReport,
        ModelReport,
        Cell,
        StepScores,
        ProbeRow,
        GoalSwaps,
        JudgedPages,
        Overlap,
    ),
    "Judge on the first agent's real attempts (`judge.json`)": (JudgeRow,),
    "A small world model at full strength (`world_study.json` of `dynaweb world study`)": (
        WorldStudy,
        Measure,
    ),
    "Dreams replayed in the real browser (`replays.json`)": (ReplayReport, DepthRow),
    "Agents in the real browser (`results.json`)": (ArmResult, Rate, PairedDifference, Tally),
    "Learning against live steps (`results.json` of `dynaweb bench learning`)": (
        LearningReport,
        CurvePoint,
        SeedRate,
        ComparedArms,
        Spent,
    ),
    "World models reinforced on what happened (`metrics.jsonl` of `dynaweb world rlvr`)": (
        RlvrRow,
    ),
}


def first_lines(kind: type) -> str:
    """A class's docstring without its example."""
    return inspect.cleandoc(kind.__doc__ or "").partition("\n\nExample:")[0]


def field_table(kind: type) -> str:
    """A dataclass's fields as a table."""
    docs = field_docs(kind)
    rows = [
        f"| `{f.name}` | `{_type(f.type)}` | {_default(f)} | {_cell(docs[f.name])} |"
        for f in dataclasses.fields(kind)
    ]
    return (
        "\n".join(["| field | type | default | meaning |", "|---|---|---|---|", *rows])
        if rows
        else ""
    )


def _type(annotation: object) -> str:
    text = (
        annotation
        if isinstance(annotation, str)
        else getattr(annotation, "__name__", str(annotation))
    )
    if not isinstance(annotation, type):
        text = str(annotation)
    return (
        re.sub(r"\b[a-z_]+(\.[a-z_]+)*\.(?=[A-Z])", "", text.replace(str(Action), "Action"))
        .replace("|", "\\|")
        .replace("<class '", "")
        .replace("'>", "")
    )


def _default(field: "dataclasses.Field[object]") -> str:
    if field.default is not dataclasses.MISSING:
        shown = getattr(field.default, "value", field.default)
        return f"`{shown!r}`" if len(repr(shown)) < 40 else "see the code"
    return (
        ""
        if field.default_factory is dataclasses.MISSING
        else f"`{field.default_factory()!r}`"
        if field.default_factory in (dict, tuple)
        else "see the code"
    )


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def records_page() -> str:
    """docs/records.md."""
    parts = [
        "# Records",
        "Generated from `src/dynaweb/records/` by `make docs`. What flows between stages: frozen, slotted, keyword-only "
        "dataclasses of the standard library.",
        f"On disk a record is one JSON line (`dynaweb.records.codec`) with `schema_version` (now {SCHEMA_VERSION}) and `record`, "
        f"its name. Fields that hold their default are left out; actions are written in their grammar; long lists of token ids "
        "and log-probabilities are packed (`dynaweb.records.packing`). A line of an older version is migrated when it is read; one of "
        f"a newer version is refused. Stored: {', '.join(f'`{n}`' for n in STORED)}.",
    ]
    for module in ("observation", "primitives", "action", "trajectory", "delta"):
        parts.append(f"## {module}")
        code = importlib.import_module(f"dynaweb.records.{module}")
        parts.append(inspect.cleandoc(code.__doc__ or ""))
        for kind in _classes(code.__name__):
            parts += [f"### {kind.__name__}", first_lines(kind)]
            parts.append(field_table(kind) if dataclasses.is_dataclass(kind) else _members(kind))
    return "\n\n".join(p for p in parts if p) + "\n"


def _classes(module: str) -> Iterator[type]:
    for value in vars(importlib.import_module(module)).values():
        if isinstance(value, type) and value.__module__ == module:
            yield value


def _members(kind: type) -> str:
    return ", ".join(f"`{m.value}`" for m in kind)  # type: ignore[attr-defined]  # an enum


def settings_page() -> str:
    """docs/settings.md."""
    columns = {name: {s.key: s for s in settings_of(make())} for name, make in PRESETS.items()}
    names = list(columns)
    lines = [
        "# Settings",
        "",
        "Generated from the configuration classes by `make docs`. Change one with `--set KEY=VALUE`; "
        "`dynaweb settings --size demo` prints them with their values.",
        "",
        f"| setting | {' | '.join(names)} | meaning |",
        f"|---|{'---|' * len(names)}---|",
    ]
    for key, setting in columns["demo"].items():
        values = " | ".join(_shown(columns[n][key].value) for n in names)
        lines.append(f"| `{key}` | {values} | {_cell(setting.doc)} |")
    return "\n".join(lines) + "\n"


def _shown(value: object) -> str:
    held = plain(value)
    if isinstance(held, list):
        return f"{len(held)} values" if len(held) > 3 else ", ".join(f"`{v}`" for v in held)
    return f"`{held}`" if held != "" else ""


def layers_block() -> str:
    """The flow, from the import contract, first what everything else leans on."""
    config = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]
    flow = next(c for c in config["contracts"] if c["type"] == "layers")["layers"]
    lines = ["| layer | package | what it is for |", "|---|---|---|"]
    for number, layer in enumerate(reversed(flow), 1):
        for name in re.findall(r"[a-z_]+", layer):
            purpose = _purpose(name)
            if purpose:
                lines.append(f"| {number} | `{name}` | {purpose} |")
    return "\n".join(lines)


def _purpose(name: str) -> str:
    package = ROOT / "src" / "dynaweb" / name / "__init__.py"
    file = package if package.exists() else package.parent.with_suffix(".py")
    if not file.exists():
        return ""
    found = re.match(r'r?"""(.*?)(\n\n|""")', file.read_text("utf-8"), re.S)
    return " ".join(found.group(1).split()) if found else ""


def contracts_block() -> str:
    """The other import contracts, by name."""
    config = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]
    return "\n".join(f"- {c['name']}" for c in config["contracts"] if c["type"] != "layers")


def measured_block() -> str:
    """Every number in a table record."""
    parts = []
    for title, kinds in MEASURED.items():
        parts.append(f"## {title}")
        for kind in kinds:
            parts += [f"**{kind.__name__}**: {first_lines(kind)}", field_table(kind)]
    return "\n\n".join(parts)


BLOCKS = {
    "architecture.md": {"layers": layers_block, "contracts": contracts_block},
    "metrics.md": {"measured": measured_block},
}
PAGES = {"records.md": records_page, "settings.md": settings_page}


def with_blocks(name: str) -> str:
    """A hand-written page with its generated blocks filled."""
    text = (DOCS / name).read_text("utf-8")
    for block, make in BLOCKS[name].items():
        begin, end = f"<!-- generated: {block} -->", f"<!-- end: {block} -->"
        before, _, rest = text.partition(begin)
        _, found, after = rest.partition(end)
        assert found, f"{name} has no block {block!r}"
        text = f"{before}{begin}\n\n{make()}\n\n{end}{after}"
    return text


def generated() -> dict[str, str]:
    """Page -> what it should hold."""
    return {**{n: make() for n, make in PAGES.items()}, **{n: with_blocks(n) for n in BLOCKS}}


def main(check: bool) -> int:
    """Write the pages, or say which are stale."""
    stale = [
        n
        for n, text in generated().items()
        if not (DOCS / n).exists() or (DOCS / n).read_text("utf-8") != text
    ]
    if check:
        for name in stale:
            sys.stderr.write(f"docs/{name} is not what the code says: run make docs\n")
        return bool(stale)
    for name in stale:
        (DOCS / name).write_text(generated()[name], "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main("--check" in sys.argv[1:]))

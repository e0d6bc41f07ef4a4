"""Conventions that a test can hold: light imports, small files, no dangerous calls, frozen records, documented settings."""

import ast
import importlib
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path

import pytest

from dynaweb.cli.fielddocs import field_docs

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "dynaweb"
FILES = sorted(SOURCE.rglob("*.py"))
NAMES = [str(p.relative_to(SOURCE)) for p in FILES]

HEAVY = ("torch", "transformers", "tokenizers", "playwright", "numpy", "scipy")
LIGHT = [
    "dynaweb.cli.main",
    "dynaweb.contracts",
    "dynaweb.records.codec",
    "dynaweb.runs.folder",
    "dynaweb.recipes.presets",
    *(
        ".".join(p.relative_to(SOURCE.parent).with_suffix("").parts)
        for p in FILES
        if p.name == "config.py"
    ),
]

BANNED_CALLS = {"eval", "exec", "compile", "__import__"}
BANNED_ATTRIBUTES = {
    ("torch", "load"),
    ("yaml", "load"),
    ("os", "system"),
    ("os", "popen"),
    ("marshal", "loads"),
}
BANNED_MODULES = {"pickle", "cPickle", "dill", "cloudpickle", "shelve", "marshal"}
BANNED_WORDS = (
    "trust_remote_code=True",
    "innerHTML",
    "shell=True",
    "dangerouslySetInnerHTML",
    "document.write",
)


def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


def test_there_is_something_to_check():
    assert len(FILES) > 100 and len(LIGHT) > 8


@pytest.mark.parametrize("module", LIGHT)
def test_light_import(module):
    """In a fresh interpreter, since this one has torch already."""
    code = f"import sys, {module}; print([m for m in {HEAVY!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]", f"{module} loads {done.stdout.strip()}"


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_a_file_is_read_in_one_sitting(path):
    assert len(path.read_text("utf-8").splitlines()) <= 300


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_no_dangerous_call(path):
    text = path.read_text("utf-8")
    for word in BANNED_WORDS:
        assert word not in text.replace(f'"{word}"', ""), f"{word} in {path.name}"
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = (
                {(node.module or "").partition(".")[0]}
                if isinstance(node, ast.ImportFrom)
                else {a.name.partition(".")[0] for a in node.names}
            )
            assert not names & BANNED_MODULES
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            assert node.func.id not in BANNED_CALLS, f"{node.func.id}() at line {node.lineno}"
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and isinstance(node.func.value, ast.Name)
        ):
            assert (node.func.value.id, node.func.attr) not in BANNED_ATTRIBUTES, (
                f"line {node.lineno}"
            )


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.js")), ids=lambda p: p.name)
def test_scripts_never_make_markup_from_text(path):
    text = path.read_text("utf-8")
    for word in (
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "document.write",
        "eval(",
        "new Function",
    ):
        assert word not in text


def records() -> Iterator[type]:
    for name in ("action", "delta", "observation", "primitives", "trajectory"):
        module = importlib.import_module(f"dynaweb.records.{name}")
        for value in vars(module).values():
            if (
                isinstance(value, type)
                and is_dataclass(value)
                and value.__module__ == module.__name__
            ):
                yield value


def test_records_are_frozen_and_slotted():
    found = list(records())
    assert len(found) > 30
    for kind in found:
        assert kind.__dataclass_params__.frozen, kind
        assert "__slots__" in vars(kind), kind
        assert kind.__doc__ and not kind.__doc__.startswith(f"{kind.__name__}("), kind


def configurations() -> list[type]:
    found = []
    for path in FILES:
        for node in parsed(path).body:
            if isinstance(node, ast.ClassDef) and node.name.endswith("Config"):
                module = ".".join(path.relative_to(SOURCE.parent).with_suffix("").parts)
                found.append(getattr(importlib.import_module(module), node.name))
    return found


def test_every_setting_is_documented_and_frozen():
    kinds = configurations()
    assert len(kinds) > 8
    bare = [
        f"{k.__module__}.{k.__name__}.{f.name}"
        for k in kinds
        for f in fields(k)
        if not field_docs(k)[f.name]
    ]
    # what a recipe is made of speaks for itself: its parts are configurations with docstrings of their own
    assert [b for b in bare if ".RecipeConfig." not in b] == []
    assert all(k.__dataclass_params__.frozen for k in kinds)


LONG = 300
NOT_PROMPTS = {
    "dataset/card.py": "template of a data card",
    "world/data/card.py": "template of a data card",
    "axtree/vocabulary.py": "list of common words",
    "axtree/dialects/roles.py": "list of roles",
    "bench/speed/made.py": "words of made-up pages",
    "bench/madesite.py": "pages of a made-up site",
    "browser/sites/inside/tracker/pages.py": "wiki pages of a made-up project",
    "browser/sites/inside/tracker/app.py": "a login form",
}
WORDS_LIVE_IN = ("prompts", "report", "cli")


@pytest.mark.parametrize(
    "path", [p for p in FILES if p.relative_to(SOURCE).parts[0] not in WORDS_LIVE_IN], ids=str
)
def test_no_prompt_hides_in_the_code(path):
    tree = parsed(path)
    docs = {id(n.value) for n in ast.walk(tree) if isinstance(n, ast.Expr)}
    if str(path.relative_to(SOURCE)) in NOT_PROMPTS:
        return
    scripts = path.parent.name == "browser"  # page scripts are JavaScript, not words to a model
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs:
            assert len(node.value) <= LONG or scripts, (
                f"line {node.lineno}: a text of {len(node.value)} characters"
            )


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("__init__.py")), ids=lambda p: p.parent.name)
def test_a_package_says_what_it_is_for_and_imports_nothing(path):
    body = parsed(path).body
    assert ast.get_docstring(ast.Module(body=body, type_ignores=[]))
    assert all(isinstance(n, ast.Expr | ast.Assign) for n in body)


def test_import_contracts():
    lint = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run([str(lint)], capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stdout


def test_every_package_has_its_place_in_the_flow():
    text = (ROOT / "pyproject.toml").read_text("utf-8")
    block = text[text.index("layers = [") :]
    placed = set(
        re.findall(r"[a-z_]+", " ".join(re.findall(r'"([^"]+)"', block[: block.index("]")])))
    )
    packages = {p.parent.name for p in SOURCE.glob("*/__init__.py")} | {
        p.stem for p in SOURCE.glob("[a-z]*.py")
    }
    assert packages <= placed, f"not in pyproject's layers: {sorted(packages - placed)}"


def test_nothing_made_is_committed():
    done = subprocess.run(["git", "ls-files"], capture_output=True, text=True, cwd=ROOT, check=True)
    bad = [
        n
        for n in done.stdout.splitlines()
        if n.endswith((".pyc", ".safetensors", ".pt", ".whl"))
        or ".egg-info" in n
        or n.startswith("runs/")
    ]
    assert bad == []

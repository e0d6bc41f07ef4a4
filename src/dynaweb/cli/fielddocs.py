"""The docstring under each field of a dataclass, which Python itself throws away; read from the source."""

import ast
import inspect
from dataclasses import fields, is_dataclass
from functools import cache


def field_docs(kind: type) -> dict[str, str]:
    """Field -> its docstring on one line; empty where it has none."""
    return _field_docs(kind.__module__, kind.__qualname__, kind)


@cache
def _field_docs(module: str, name: str, kind: object) -> dict[str, str]:
    assert isinstance(kind, type) and is_dataclass(kind)
    found: dict[str, str] = {f.name: "" for f in fields(kind)}
    for base in kind.__bases__:
        found |= field_docs(base) if is_dataclass(base) else {}
    tree = ast.parse(inspect.getsource(kind).lstrip())
    body = tree.body[0]
    assert isinstance(body, ast.ClassDef)
    for line, after in zip(body.body, [*body.body[1:], ast.Pass()], strict=True):
        if isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name):
            text = after.value if isinstance(after, ast.Expr) else None
            if isinstance(text, ast.Constant) and isinstance(text.value, str):
                found[line.target.id] = " ".join(text.value.split())
    return found

"""A person's secrets on disk: one JSON object in a file that nobody else can read."""

import json
import stat
from pathlib import Path

from dynaweb.errors import UserError
from dynaweb.records.secrets import Secret, Secrets

EXAMPLE = '{"shop.password": {"value": "...", "origins": ["https://shop.example"]}}'


def read_secrets(path: Path) -> Secrets:
    """Secrets by name.

    Raises:
        UserError: there is no such file, others may read it, or it is not laid out so; never shows a value.
    """
    try:
        mode = path.stat().st_mode
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"cannot read the secrets in {str(path)!r}: {getattr(error, 'strerror', None) or 'not UTF-8'}") from None  # fmt: skip
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise UserError(f"others may read the secrets in {str(path)!r}: chmod 600 {path}")
    try:
        held = json.loads(text)
    except ValueError:
        held = None  # its message would show a part of the file
    if not isinstance(held, dict):
        raise UserError(f"{str(path)!r} holds no secrets: write {EXAMPLE}")
    found: list[Secret] = []
    for name, entry in held.items():
        value = entry.get("value") if isinstance(entry, dict) else None
        origins = entry.get("origins") if isinstance(entry, dict) else None
        if not isinstance(value, str) or not isinstance(origins, list) or not all(isinstance(o, str) for o in origins):  # fmt: skip
            raise UserError(f"secret {str(name)[:40]!r} in {str(path)!r}: write {EXAMPLE}")
        found.append(Secret(name=str(name), value=value, origins=tuple(o.rstrip("/") for o in origins)))  # fmt: skip
    return Secrets(tuple(found))

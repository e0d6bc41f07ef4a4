"""What differs between two configurations, for people."""

MAX_SHOWN = 60
"""Characters of a setting's value in a message."""


def differences(before: object, after: object, key: str = "") -> dict[str, str]:
    """Dotted key -> what changed there, for people."""
    if isinstance(before, dict) and isinstance(after, dict):
        found: dict[str, str] = {}
        for name in sorted({*before, *after}, key=str):
            found |= differences(
                before.get(name), after.get(name), f"{key}.{name}" if key else str(name)
            )
        return found
    if before == after:
        return {}
    return {key: f"{key} was {_shown(before)}, now {_shown(after)}"}


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}..."

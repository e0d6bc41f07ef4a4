"""Halves of surrogate pairs: JSON can spell them, UTF-8 and most tools cannot.

A pair is joined when JSON is read; a lone half becomes U+FFFD here, and is counted.
"""

import re

_LONE = re.compile("[\ud800-\udfff]")
REPLACEMENT = "\ufffd"


def without_surrogates(text: str) -> tuple[str, int]:
    """The text with every lone half replaced, and how many there were."""
    return _LONE.subn(REPLACEMENT, text)


def clean_json(value: object) -> tuple[object, int]:
    """`without_surrogates` for every text in a JSON value, keys included."""
    if isinstance(value, str):
        return without_surrogates(value)
    if isinstance(value, list):
        items = [clean_json(item) for item in value]
        return [item for item, _ in items], sum(n for _, n in items)
    if isinstance(value, dict):
        pairs = [(without_surrogates(k), clean_json(v)) for k, v in value.items()]
        return {k: v for (k, _), (v, _) in pairs}, sum(a + b for (_, a), (_, b) in pairs)
    return value, 0

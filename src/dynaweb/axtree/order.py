"""The order in which attributes are shown; so that a change need not say where a new one goes."""

from dynaweb.axtree.tree import Attrs, AttrValue

ATTR_ORDER = (
    "value",
    "valuetext",
    "checked",
    "pressed",
    "selected",
    "expanded",
    "valuemin",
    "valuemax",
    "disabled",
    "required",
    "readonly",
    "multiselectable",
    "clickable",
)
"""The order in which the browser's extraction shows them."""

_RANK = {key: i for i, key in enumerate(ATTR_ORDER)}


def insert_attr(attrs: Attrs, key: str, value: AttrValue) -> Attrs:
    """With one attribute set: in its old place, else before the first that ranks after it.

    Unknown keys go last.
    """
    if any(k == key for k, _ in attrs):
        return tuple((k, value if k == key else v) for k, v in attrs)
    rank = _RANK.get(key)
    if rank is None:
        return (*attrs, (key, value))
    at = next((i for i, (k, _) in enumerate(attrs) if _RANK.get(k, len(_RANK)) > rank), len(attrs))
    return (*attrs[:at], (key, value), *attrs[at:])

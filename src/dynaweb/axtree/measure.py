"""How good and how short state changes are: element F1, and tokens against those of the next page."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from statistics import median

from dynaweb.axtree.text import print_delta
from dynaweb.records.delta import Content, Delta, DeltaKind, Moved, Rewritten, Updated


def delta_f1(predicted: Delta, true: Delta) -> float:
    """F1 over the single facts of two changes of one page, in [0, 1]; 1.0 when neither has any.

    A fact is one attribute set or taken away, one new name, one element gone, new (what it says,
    not where) or moved, the address, the title, the focus, the end. Compare changes made by `diff`
    with the same action: then equal text has equal words.
    """
    guessed, wanted = facts(predicted), facts(true)
    if not guessed and not wanted:
        return 1.0
    hits = sum((guessed & wanted).values())
    return 2 * hits / (sum(guessed.values()) + sum(wanted.values()))


def facts(delta: Delta) -> Counter[Hashable]:
    """What a change says, one by one."""
    said: Counter[Hashable] = Counter()
    if delta.kind not in (DeltaKind.NONE, DeltaKind.LOCAL):
        said["kind", delta.kind] += 1
    for u in delta.updated:
        said.update(_updated(u))
    said.update(("gone", d.ref, d.alone) for d in delta.deleted)
    said.update(("gone up to", d.to) for d in delta.deleted if d.to is not None)
    for placed in delta.placed:
        for item in placed.items:
            if isinstance(item, Moved):
                said["moved", item.ref, placed.after] += 1
            else:
                said["new", item.has_bid, *_content(item.content)] += 1
    fields = (
        ("url", delta.url),
        ("title", delta.title),
        ("focus", delta.focus),
        ("tabs", delta.tabs),
    )
    said.update((key, value) for key, value in fields if value is not None)
    return said


def _updated(u: Updated | Rewritten) -> list[Hashable]:
    if isinstance(u, Rewritten):
        return [("line", u.ref, *_content(u.content))]
    named: list[Hashable] = [] if u.name is None else [("name", u.ref, u.name)]
    return (
        named
        + [("set", u.ref, k, repr(v)) for k, v in u.set]
        + [("unset", u.ref, k) for k in u.unset]
    )


def _content(content: Content) -> tuple[Hashable, ...]:
    return (content.role, content.name, tuple((k, repr(v)) for k, v in content.attrs))


@dataclass(frozen=True, slots=True, kw_only=True)
class DeltaCost:
    """What changes of one kind cost to write."""

    count: int
    delta_tokens: int
    """In the compact form, all changes together."""
    page_tokens: int
    """In the next pages' trees, all together."""
    median_ratio: float
    """Median over changes of delta tokens by next-page tokens."""


def delta_costs(
    changes: Iterable[tuple[Delta, str]], count_tokens: Callable[[str], int]
) -> dict[DeltaKind, DeltaCost]:
    """Cost by kind, kinds in their own order; a kind that never occurs is left out.

    Args:
        changes: a change in the form that models write, and the next page's tree.
        count_tokens: length of a text in tokens.
    """
    tokens: dict[DeltaKind, list[tuple[int, int]]] = {}
    for delta, tree in changes:
        cost = (count_tokens(print_delta(delta)), max(count_tokens(tree), 1))
        tokens.setdefault(delta.kind, []).append(cost)
    return {
        kind: DeltaCost(
            count=len(tokens[kind]),
            delta_tokens=sum(d for d, _ in tokens[kind]),
            page_tokens=sum(p for _, p in tokens[kind]),
            median_ratio=median(d / p for d, p in tokens[kind]),
        )
        for kind in DeltaKind
        if kind in tokens
    }

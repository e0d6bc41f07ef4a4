"""Pairing two sequences of lines in order: what is the same line in both. Linear in all but short stretches."""

from bisect import bisect_left
from collections import Counter, deque
from collections.abc import Hashable, Sequence

SMALL = 4096
"""Stretches with at most so many pairs are aligned exactly (longest common subsequence)."""

MAX_NESTING = 24
"""So often a stretch is cut at lines that stand once in both; then it is paired greedily."""

Pair = tuple[int, int]


def increasing(values: Sequence[int]) -> list[int]:
    """Positions of a longest strictly increasing subsequence; O(n log n)."""
    tails: list[int] = []
    at: list[int] = []
    back: list[int] = []
    for i, value in enumerate(values):
        k = bisect_left(tails, value)
        back.append(at[k - 1] if k else -1)
        if k == len(tails):
            tails.append(value)
            at.append(i)
        else:
            tails[k], at[k] = value, i
    chain: list[int] = []
    i = at[-1] if at else -1
    while i >= 0:
        chain.append(i)
        i = back[i]
    return chain[::-1]


def align(old: Sequence[Hashable], new: Sequence[Hashable]) -> list[Pair]:
    """Pairs of equal items, in order in both."""
    pairs: list[Pair] = []
    work = [(0, len(old), 0, len(new), 0)]
    while work:
        a, b, c, d, nesting = work.pop()
        while a < b and c < d and old[a] == new[c]:
            pairs.append((a, c))
            a, c = a + 1, c + 1
        while a < b and c < d and old[b - 1] == new[d - 1]:
            b, d = b - 1, d - 1
            pairs.append((b, d))
        if a == b or c == d:
            continue
        if (b - a) * (d - c) <= SMALL:
            pairs += _exact(old, new, a, b, c, d)
            continue
        anchors = _anchors(old, new, a, b, c, d) if nesting < MAX_NESTING else []
        if not anchors:
            pairs += _greedy(old, new, a, b, c, d)
            continue
        for i, j in anchors:
            pairs.append((i, j))
            work.append((a, i, c, j, nesting + 1))
            a, c = i + 1, j + 1
        work.append((a, b, c, d, nesting + 1))
    return sorted(pairs)


def _exact(
    old: Sequence[Hashable], new: Sequence[Hashable], a: int, b: int, c: int, d: int
) -> list[Pair]:
    rows, columns = b - a, d - c
    best = [[0] * (columns + 1) for _ in range(rows + 1)]
    for i in range(rows - 1, -1, -1):
        row, below = best[i], best[i + 1]
        for j in range(columns - 1, -1, -1):
            row[j] = below[j + 1] + 1 if old[a + i] == new[c + j] else max(below[j], row[j + 1])
    pairs: list[Pair] = []
    i = j = 0
    while i < rows and j < columns:
        if old[a + i] == new[c + j]:
            pairs.append((a + i, c + j))
            i, j = i + 1, j + 1
        elif best[i + 1][j] >= best[i][j + 1]:
            i += 1
        else:
            j += 1
    return pairs


def _anchors(
    old: Sequence[Hashable], new: Sequence[Hashable], a: int, b: int, c: int, d: int
) -> list[Pair]:
    """Items that stand once in both stretches, a longest run of them in order (patience diff)."""
    left, right = Counter(old[a:b]), Counter(new[c:d])
    where = {new[j]: j for j in range(c, d) if right[new[j]] == 1}
    pairs = [(i, where[old[i]]) for i in range(a, b) if left[old[i]] == 1 and old[i] in where]
    return [pairs[k] for k in increasing([j for _, j in pairs])]


def _greedy(
    old: Sequence[Hashable], new: Sequence[Hashable], a: int, b: int, c: int, d: int
) -> list[Pair]:
    waiting: dict[Hashable, deque[int]] = {}
    for j in range(c, d):
        waiting.setdefault(new[j], deque()).append(j)
    pairs: list[Pair] = []
    reached = c - 1
    reach = max(64, (d - c) // max(b - a, 1) * 8)
    for i in range(a, b):
        queue = waiting.get(old[i])
        while queue and queue[0] <= reached:
            queue.popleft()
        if queue and queue[0] - reached <= reach:
            reached = queue.popleft()
            pairs.append((i, reached))
    return pairs

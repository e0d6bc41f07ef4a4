"""Attempts as conversations: a page, an action, the whole next page, and on (WebWorld 3.1, N.1).

A conversation goes on while each page is the one that the action before led to. One that would be longer than a row may be ends there, and
the next begins with its own page: no transition is lost by it, and none is taught twice.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from dynaweb.axtree.views.convert import Form
from dynaweb.axtree.views.view import View
from dynaweb.contracts import ChatMessage
from dynaweb.prompts.guard import guard
from dynaweb.prompts.webworld import MARKERS, render_webworld, webworld_action
from dynaweb.records.observation import Observation
from dynaweb.world.data.admit import Admitted, Kept
from dynaweb.world.data.forms import TOO_LONG, CountTokens, Source, answer
from dynaweb.world.data.row import Row, RowKind
from dynaweb.world.data.settings import FullConfig, OverLong, RowForm
from dynaweb.world.landing import shown_text

FORMS = {v: Form.DYNAWEB if v is View.A11Y else Form(v.value) for v in View}
"""View -> the same as `world.forms` names it."""


def full_rows(
    source: Source,
    admitted: Admitted,
    config: FullConfig,
    count: CountTokens,
    *,
    view: View,
    kind: RowKind = RowKind.DYNAMICS,
) -> tuple[list[Row], Counter[str]]:
    """The attempt's rows in one format, and why transitions have none: `kept == taught + dropped`."""
    dropped: Counter[str] = Counter()
    shown: list[Kept] = []
    for held in admitted.kept:
        if held.known.terminal:
            dropped["episode_ended"] += 1
        else:
            shown.append(held)
    written = _Written(view)
    chains = list(_chains(shown))
    if config.over_long is OverLong.DROP:
        whole = sum(_Window(written, count).cost(chain) for chain in chains)
        if whole > config.max_tokens:
            dropped["attempt_over_max_tokens"] += len(shown)
            return [], dropped
    rows: list[Row] = []
    for chain in chains:
        for window in _windows(chain, config.max_tokens, _Window(written, count), dropped):
            rows.append(_row(source, window, written, kind))
    return rows, dropped


@dataclass(frozen=True, slots=True)
class _Written:
    """Pages in one format, as `world.full` shows them to the model that is asked."""

    view: View

    def __call__(self, page: Observation) -> str:
        return shown_text(page.tree, page.focused, FORMS[self.view])


@dataclass(slots=True)
class _Window:
    """What conversations cost."""

    written: _Written
    count: CountTokens

    def opening(self, held: Kept) -> int:
        """Tokens of the first turn: the system's words, the page and the action."""
        return sum(self.count(m.content) for m in _asked([held], self.written))

    def turn(self, held: Kept) -> int:
        """Tokens of a further question."""
        action = webworld_action(held.known.action)
        return self.count(render_webworld(("", ""), (action, action))[-1].content)

    def reply(self, held: Kept) -> int:
        """Tokens of the answer."""
        return self.count(self.written(held.known.next_page))

    def cost(self, chain: Sequence[Kept]) -> int:
        """Tokens of a whole conversation."""
        first, *others = chain
        return self.opening(first) + sum(map(self.reply, chain)) + sum(map(self.turn, others))


def _chains(kept: Sequence[Kept]) -> Iterator[list[Kept]]:
    """Transitions in rows that go on from page to page."""
    chain: list[Kept] = []
    for held in kept:
        goes_on = (
            bool(chain)
            and held.follows
            and _shows(chain[-1].known.next_page) == _shows(held.known.history[-1])
        )
        if chain and not goes_on:
            yield chain
            chain = []
        chain.append(held)
    if chain:
        yield chain


def _shows(page: Observation) -> tuple[str, str | None]:
    return page.tree, page.focused


def _windows(
    chain: Sequence[Kept], most: int, cost: _Window, dropped: Counter[str]
) -> Iterator[list[Kept]]:
    window: list[Kept] = []
    spent = 0
    for held in chain:
        reply = cost.reply(held)
        further = spent + cost.turn(held) + reply
        if window and further <= most:
            window.append(held)
            spent = further
            continue
        if window:
            yield window
        alone = cost.opening(held) + reply
        if alone > most:
            dropped[TOO_LONG] += 1
            window = []
            continue
        window, spent = [held], alone
    if window:
        yield window


def _asked(window: Sequence[Kept], written: _Written) -> tuple[ChatMessage, ...]:
    states = [written(held.known.history[-1]) for held in window]
    return render_webworld(states, [webworld_action(held.known.action) for held in window])


def _row(source: Source, window: Sequence[Kept], written: _Written, kind: RowKind) -> Row:
    last = written(window[-1].known.next_page)
    messages = (*_asked(window, written), answer(guard(last, MARKERS)))
    taught = tuple((held.key, held.known.action) for held in window)
    row = source.row(messages, kind, RowForm.FULL.value, index=window[0].known.index, taught=taught)
    return replace(row, view=written.view.value)

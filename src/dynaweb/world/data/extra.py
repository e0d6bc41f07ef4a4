"""Rows beside the dynamics of recorded attempts: other formats, made-up rejections, descriptions, generation, chain of thought."""

from collections.abc import Iterator
from dataclasses import replace

from dynaweb.axtree.tree import read_tree
from dynaweb.axtree.views.view import View, write_view
from dynaweb.prompts.agentworld import BLOCK, render_agentworld
from dynaweb.prompts.agentworld import MARKERS as AGENT_MARKERS
from dynaweb.prompts.enrich import render_describe, render_generate
from dynaweb.prompts.guard import guard
from dynaweb.prompts.webworld import MARKERS, render_webworld, webworld_action
from dynaweb.records.action import Action
from dynaweb.records.observation import Observation
from dynaweb.records.seeds import derive_seed
from dynaweb.world.data.admit import Admitted, Kept
from dynaweb.world.data.annotate import Explained
from dynaweb.world.data.forms import Source, answer, nl_gated_row, nl_refused_row
from dynaweb.world.data.keys import labelled, question_key
from dynaweb.world.data.rejected import made_refusal, rejection_of
from dynaweb.world.data.row import Row, RowKind
from dynaweb.world.data.settings import DataConfig, RowForm
from dynaweb.world.data.windows import FORMS
from dynaweb.world.landing import shown_text
from dynaweb.world.steps import Known

FORM = ""
"""Of rows that are no world model's form."""
_PARTS = 1_000_000


def drawn(share: float, seed: int, *parts: str | int) -> bool:
    """Whether something belongs to a share, by a hash: the same in any order."""
    return derive_seed(seed, *parts) % _PARTS < round(share * _PARTS)


def other_view(config: DataConfig, trajectory: str) -> View | None:
    """The other format that an attempt is written in as well; None for most."""
    full = config.full
    if RowForm.FULL not in config.forms:
        return None
    if not drawn(full.format_share, config.seed, "format", trajectory):
        return None
    others = [v for v in full.formats if v is not full.view]
    return others[derive_seed(config.seed, "view", trajectory) % len(others)] if others else None


def recorded_rejections(source: Source, admitted: Admitted, config: DataConfig) -> Iterator[Row]:
    """Rows for actions that failed and were pruned, since the page stayed: that they fail is what they teach."""
    for known in admitted.pruned:
        if not rejection_of(known):
            continue
        page, action = known.history[-1], known.action
        if RowForm.FULL in config.forms:
            yield _full_refused(source, page, action, RowKind.REJECTED, known.index, config)
        if RowForm.NL in config.forms:
            row = nl_gated_row(source, known)
            yield from [row] if isinstance(row, Row) else []


def made_rejections(source: Source, admitted: Admitted, config: DataConfig) -> Iterator[Row]:
    """Rows for actions that recorded pages refuse for certain."""
    for held in admitted.kept:
        name = (source.trajectory, held.known.index)
        if not drawn(config.rejected.made_share, config.seed, "refuse", *name):
            continue
        page = held.known.history[-1]
        made = made_refusal(page, derive_seed(config.seed, "refusal", *name))
        if made is None:
            continue
        action, _, message = made
        kind, index = RowKind.REJECTED_MADE, held.known.index
        if RowForm.FULL in config.forms:
            yield _full_refused(source, page, action, kind, index, config)
        if RowForm.NL in config.forms:
            yield nl_refused_row(source, page, action, message, kind, index=index)


def _full_refused(
    source: Source,
    page: Observation,
    action: Action,
    kind: RowKind,
    index: int,
    config: DataConfig,
) -> Row:
    """The whole page again: it is what comes after an action that was refused."""
    shown = shown_text(page.tree, page.focused, FORMS[config.full.view])
    asked = render_webworld((shown,), (webworld_action(action),))
    told = answer(guard(shown, MARKERS))
    taught = ((question_key(page, action), action),)
    row = source.row((*asked, told), kind, RowForm.FULL.value, index=index, taught=taught)
    return replace(row, view=config.full.view.value)


def described(source: Source, admitted: Admitted, config: DataConfig) -> Iterator[Row]:
    """Descriptive simulator: the next page in words (WebWorld 3.4)."""
    for held in admitted.kept:
        known = held.known
        name = (source.trajectory, known.index)
        if known.terminal or not drawn(
            config.enrich.describe_share, config.seed, "describe", *name
        ):
            continue
        page = known.history[-1]
        asked = render_describe(url=page.url, tree=page.tree, did=labelled(known.action, page))
        told = answer(write_view(read_tree(known.next_page.tree), View.PROSE))
        taught = ((held.key, known.action),)
        row = source.row((*asked, told), RowKind.DESCRIBE, FORM, index=known.index, taught=taught)
        yield replace(row, view=View.PROSE.value)


def generated(source: Source, admitted: Admitted, config: DataConfig) -> Iterator[Row]:
    """Web generation: a page from what it is for (WebWorld 3.4); the intent is the attempt's own goal."""
    for held in admitted.kept:
        known = held.known
        name = (source.trajectory, known.index)
        if not drawn(config.enrich.generate_share, config.seed, "generate", *name):
            continue
        page = known.history[-1]
        asked = render_generate(url=page.url, title=page.title, intent=known.goal)
        yield source.row((*asked, answer(page.tree)), RowKind.GENERATE, FORM, index=known.index)


def cot_row(source: Source, held: Kept, made: Explained, config: DataConfig) -> Row:
    """Rationale, then the next page, in the layout of models that reason first (WebWorld 3.5; `prompts.agentworld`)."""
    known = held.known
    pages, actions = _recent(known, config.cot.past_pages)
    form = FORMS[config.full.view]
    asked = render_agentworld(
        [shown_text(p.tree, p.focused, form) for p in pages],
        [labelled(a, p) for a, p in zip(actions, pages, strict=True)],
        goal=known.goal if config.show_goal else None,
        left_out=known.index + 1 - len(pages),
    )
    after = known.next_page
    page = guard(shown_text(after.tree, after.focused, form), AGENT_MARKERS)
    reasoning = guard(f"{made.annotation.reasoning}\n{made.annotation.changes}", AGENT_MARKERS)
    told = answer(f"{reasoning}\n\n<{BLOCK}>\n{page}\n</{BLOCK}>")
    taught = ((held.key, known.action),)
    row = source.row((*asked, told), RowKind.COT, RowForm.FULL.value, index=known.index, taught=taught)  # fmt: skip
    return replace(row, annotation=made.by, last_only=True, view=config.full.view.value)


def _recent(known: Known, past: int) -> tuple[list[Observation], list[Action]]:
    """The present page and those before it, as far back as every step had an action."""
    pages, actions = [known.history[-1]], [known.action]
    earlier = list(zip(known.done, known.history, strict=False))
    for action, page in reversed(earlier[len(earlier) - min(past, len(earlier)) :]):
        if action is None:
            break
        pages.insert(0, page)
        actions.insert(0, action)
    return pages, actions


def shortened(held: Kept, config: DataConfig) -> Kept:
    """The transition with only the pages that a chain-of-thought row shows, so that many can be held."""
    known, past = held.known, config.cot.past_pages
    done = known.done[len(known.done) - min(past, len(known.done)) :]
    short = replace(known, history=known.history[-past - 1 :], done=done)
    return replace(held, known=short)


def can_think(held: Kept) -> bool:
    """Whether a transition may be a chain-of-thought row: something happened, and a page came of it."""
    return not held.known.terminal and not held.unchanged

"""One transition as a row, in each form that answers one question at a time; `windows` has the rows of many turns."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from dynaweb.axtree.items import changed_items, print_items
from dynaweb.contracts import ChatMessage
from dynaweb.prompts.change import NOTHING, render_change, write_change
from dynaweb.prompts.items import render_items
from dynaweb.prompts.lines import MAX_DONE
from dynaweb.records.action import Action, action_name
from dynaweb.records.observation import Observation
from dynaweb.world.data.admit import Admitted, Kept
from dynaweb.world.data.annotate import TEMPLATE, Case, Explained
from dynaweb.world.data.keys import labelled, question_key
from dynaweb.world.data.rejected import changed_nothing
from dynaweb.world.data.row import Row, RowKind
from dynaweb.world.data.settings import DataConfig, RowForm
from dynaweb.world.data.template import template_refusal
from dynaweb.world.examples import Said, done_before, say
from dynaweb.world.rules import apply_rules
from dynaweb.world.steps import Known

CountTokens = Callable[[str], int]
"""Length of a text in tokens."""

TOO_LONG = "row_over_max_tokens"


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where rows come from: what all rows of one attempt have in common."""

    side: str
    task: str
    site: str
    trajectory: str
    license: str
    origin: str

    def row(
        self,
        messages: tuple[ChatMessage, ...],
        kind: RowKind,
        form: str,
        *,
        index: int = 0,
        taught: tuple[tuple[str, Action], ...] = (),
    ) -> Row:
        """A row; `taught` are the questions that it answers, each a `keys.question_key` and its action."""
        return Row(
            messages=messages,
            form=form,
            kind=kind,
            side=self.side,
            task=self.task,
            site=self.site,
            trajectory=self.trajectory,
            index=index,
            actions=tuple(action_name(type(action)) for _, action in taught),
            keys=tuple(key for key, _ in taught),
            license=self.license,
            origin=self.origin,
        )


def source_of(admitted: Admitted) -> Source:
    """What the rows of an attempt have in common."""
    t = admitted.trajectory
    return Source(
        side=admitted.side,
        task=t.task,
        site=admitted.site,
        trajectory=t.trajectory_id,
        license=t.license,
        origin=t.origin,
    )


def answer(text: str) -> ChatMessage:
    """The model's turn."""
    return ChatMessage(role="assistant", content=text)


def fits(row: Row, most: int, count: CountTokens) -> bool:
    """Whether the row is no longer than it may be, in tokens."""
    return sum(count(m.content) for m in row.messages) <= most


def patch_row(source: Source, held: Kept, config: DataConfig) -> Row | str:
    """The structured change, in the words of the trained model; or why there is no row."""
    known = held.known
    goal = config.patch.show_goal or config.show_goal
    said = say(known, replace(config.patch, show_goal=goal))
    if not isinstance(said, Said):
        return said
    turns = (ChatMessage(role="user", content=said.prompt), answer(said.completion))
    taught = ((held.key, known.action),)
    row = source.row(turns, kind_of(held), RowForm.PATCH.value, index=known.index, taught=taught)
    return replace(row, plain=True)


def condensed_row(source: Source, held: Kept, config: DataConfig, count: CountTokens) -> Row | str:
    """WMA's items; or why there is no row."""
    known = held.known
    if known.terminal:
        return "episode_ended"
    page = known.history[-1]
    asked = render_items(
        url=page.url,
        title=page.title,
        tree=page.tree,
        did=labelled(known.action, page),
        goal=known.goal if config.show_goal else None,
        done=done_before(known.asked, MAX_DONE),
    )
    told = answer(print_items(changed_items(page, known.next_page)))
    taught = ((held.key, known.action),)
    row = source.row((*asked, told), kind_of(held), RowForm.CONDENSED.value, index=known.index, taught=taught)  # fmt: skip
    return row if fits(row, config.nl.max_tokens, count) else TOO_LONG


def nl_row(
    source: Source, held: Kept, case: Case, made: Explained, config: DataConfig, count: CountTokens
) -> Row | str:
    """Reasoning and change in words; or why there is no row."""
    known = case.known
    asked = render_change(
        url=case.page.url,
        title=case.page.title,
        tree=case.page.tree,
        did=labelled(known.action, known.history[-1]),
        goal=known.goal if config.show_goal else None,
        done=done_before(known.asked, MAX_DONE),
    )
    told = answer(write_change(made.annotation.reasoning, made.annotation.changes))
    taught = ((held.key, known.action),)
    row = source.row((*asked, told), kind_of(held), RowForm.NL.value, index=known.index, taught=taught)  # fmt: skip
    return replace(row, annotation=made.by) if fits(row, config.nl.max_tokens, count) else TOO_LONG


def nl_refused_row(
    source: Source,
    page: Observation,
    action: Action,
    message: str,
    kind: RowKind,
    *,
    index: int,
) -> Row:
    """An action that the page does not let happen, in words: nothing changes."""
    asked = render_change(
        url=page.url, title=page.title, tree=page.tree, did=labelled(action, page)
    )
    told = answer(write_change(template_refusal(page, action, message), NOTHING))
    row = source.row(
        (*asked, told),
        kind,
        RowForm.NL.value,
        index=index,
        taught=((question_key(page, action), action),),
    )
    return replace(row, annotation=TEMPLATE)


def nl_gated_row(source: Source, known: Known) -> Row | str:
    """A recorded action that the gate refuses too: an example of failing, where the recording agrees with the gate."""
    ruled = apply_rules(known.history, known.action)
    if ruled.fault is None:
        return f"settled_by_{ruled.rule}"
    if not changed_nothing(known):
        return "refused_by_the_gate_but_not_by_the_page"
    message = ruled.page.last_action_error
    page = known.history[-1]
    return nl_refused_row(source, page, known.action, message, RowKind.REJECTED, index=known.index)


def kind_of(held: Kept) -> RowKind:
    """Dynamics, or a recorded rejection."""
    return RowKind.REJECTED if held.rejection else RowKind.DYNAMICS

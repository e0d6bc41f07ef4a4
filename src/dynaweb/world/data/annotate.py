"""Reasoning and change of many transitions: by a model that saw what really came next, checked, or by template."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from dynaweb.axtree.items import changed_items, print_items
from dynaweb.contracts import ChatModel, ChatReply, ChatRequest
from dynaweb.errors import DeltaError, SamplerError
from dynaweb.prompts.annotate import Annotation, read_annotation, render_annotate
from dynaweb.records.delta import Delta
from dynaweb.records.observation import Observation
from dynaweb.world.data.keys import labelled
from dynaweb.world.data.settings import DataConfig, Fallback
from dynaweb.world.data.template import template_annotation
from dynaweb.world.data.truth import refuse
from dynaweb.world.examples import change_after_rules
from dynaweb.world.rules import apply_rules
from dynaweb.world.steps import Known

TEMPLATE = "template"

MAX_ASKED_CHARS = 400_000
"""A longer question is not asked: no model's context holds it."""


LEAST_FAILURES = 3
"""So many failures without one answer are no accident: the run stops, instead of filling its rows with templates."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A transition to be explained."""

    known: Known
    page: Observation
    """With what the rules know of the action applied."""
    delta: Delta
    """From that page."""


def case_of(known: Known) -> Case | str:
    """The transition as a question, or why a rule has answered it."""
    ruled = apply_rules(known.history, known.action)
    if ruled.settled:
        return f"settled_by_{ruled.rule}"
    return Case(known=known, page=ruled.page, delta=change_after_rules(ruled, known))


@dataclass(frozen=True, slots=True, kw_only=True)
class Explained:
    """An annotation, and who made it."""

    annotation: Annotation
    by: str
    """`template`, or the model's version."""


@dataclass(slots=True)
class Annotator:
    """Explains transitions."""

    config: DataConfig
    model: ChatModel | None = None
    counts: Counter[str] = field(default_factory=Counter)
    """`asked`, `accepted`, `template`, and `refused.<reason>`: each refusal is one annotation that was not used."""

    def explain(self, cases: Sequence[Case]) -> list[Explained | str]:
        """For each case its annotation, or why it has none; in order.

        Raises:
            SamplerError: the model cannot be reached, or answers nothing.
        """
        if self.model is None:
            return [self._template(case) for case in cases]
        replies = self._asked([self._request(case) for case in cases])
        return [self._checked(case, reply) for case, reply in zip(cases, replies, strict=True)]

    def _request(self, case: Case) -> ChatRequest:
        known = case.known
        messages = render_annotate(
            tree=case.page.tree,
            did=labelled(known.action, known.history[-1]),
            items=print_items(changed_items(case.page, known.next_page)),
            next_tree=known.next_page.tree,
            goal=known.goal if self.config.show_goal else None,
        )
        return ChatRequest(
            messages=messages, max_new_tokens=self.config.nl.max_new_tokens, seed=self.config.seed
        )

    def _asked(self, requests: Sequence[ChatRequest]) -> list[ChatReply]:
        """Replies in order; equal questions are asked once, and those that no context holds not at all."""
        assert self.model is not None
        new = list(dict.fromkeys(r for r in requests if _chars(r) <= MAX_ASKED_CHARS))
        self.counts["asked"] += len(new)
        got = dict(zip(new, self.model.chat(new), strict=True)) if new else {}
        failed = [r.error for r in got.values() if r.finish == "error"]
        if len(failed) == len(got) >= LEAST_FAILURES:
            raise SamplerError(
                f"none of {len(got)} annotations came, e.g. {failed[0][:200]!r}: look after {self.model.version!r}; the same command goes on from here"
            )
        too_long = ChatReply(text="", finish="error", model="", error="question_too_long")
        return [got.get(request, too_long) for request in requests]

    def _checked(self, case: Case, reply: ChatReply) -> Explained | str:
        assert self.model is not None
        known = case.known
        annotation = read_annotation(reply.text)
        if reply.finish == "error":
            why = f"no_reply ({reply.error.partition(':')[0][:40] or 'unknown'})"
        elif reply.finish == "length":
            why = "cut_off"
        elif annotation is None:
            why = "not_in_the_form"
        else:
            why = refuse(annotation, case.page, known.action, known.next_page, case.delta.kind)
        if not why:
            assert annotation is not None
            self.counts["accepted"] += 1
            return Explained(annotation=annotation, by=self.model.version)
        self.counts[f"refused.{why}"] += 1
        if self.config.nl.fallback is Fallback.DROP:
            return f"annotation_refused_{why}"
        return self._template(case)

    def _template(self, case: Case) -> Explained | str:
        try:
            made = template_annotation(
                case.page, case.known.action, case.delta, case.known.next_page
            )
        except DeltaError:
            return "change_not_expressible"
        self.counts["template"] += 1
        return Explained(annotation=made, by=TEMPLATE)


def _chars(request: ChatRequest) -> int:
    return sum(len(m.content) for m in request.messages)

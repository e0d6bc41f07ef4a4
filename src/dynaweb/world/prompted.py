"""The `prompted` form: a general model that nobody trained as a world model (DynaWeb 5.4, the frozen variant; D20).

With an index of known transitions it is shown the most alike ones as examples, as UI-Simulator's retrieval variant is. Models tend to
copy what they are shown (papers F21): a page that shows what was typed in an example, and nothing of what was typed here, is
no answer.
"""

from collections.abc import Callable, Sequence
from typing import Protocol, TypeAlias

from dynaweb.axtree.describe import describe_delta
from dynaweb.axtree.diff import diff
from dynaweb.axtree.edit import WHOLE_PAGE
from dynaweb.axtree.label import label_action
from dynaweb.axtree.tree import read_tree
from dynaweb.axtree.words import MIN_PART_CHARS, typed_text
from dynaweb.contracts import ChatModel, ChatReply, Imagine
from dynaweb.prompts.change import PAGE_BLOCK
from dynaweb.prompts.next_page import SeenBefore, render_next_page
from dynaweb.records.action import Action
from dynaweb.records.delta import Delta
from dynaweb.records.observation import Observation
from dynaweb.world.chatting import (
    ChatWorldModel,
    FollowUp,
    Imagined,
    Outcome,
    Put,
    Question,
    outcomes_of,
)
from dynaweb.world.examples import done_before
from dynaweb.world.flaws import Flaw, UnusableReplyError
from dynaweb.world.forms import PromptedConfig
from dynaweb.world.full import imagined
from dynaweb.world.landing import shown_text
from dynaweb.world.reading import read_reply, reply_text
from dynaweb.world.ruled import Ruled
from dynaweb.world.steps import Known


class Precedent(Protocol):
    """A step that was seen for real (`nearest.Neighbour`)."""

    @property
    def known(self) -> Known:
        """The step."""
        ...


Nearest: TypeAlias = Callable[[Observation, Action, int], Sequence[Precedent]]
"""The most alike known steps for a page and an action, best first (`nearest.TransitionIndex.nearest`)."""


def prompted_world_model(
    chat: ChatModel, config: PromptedConfig, nearest: Nearest | None = None
) -> ChatWorldModel:
    """A world model that is only told what to do.

    Args:
        chat: any model that follows instructions.
        config: format, number of examples.
        nearest: where examples come from; none are shown without it.
    """
    return ChatWorldModel(chat, PromptedForm(config, nearest), config)


class PromptedForm:
    """How a general model is asked and read (`chatting.ChatForm`)."""

    def __init__(self, config: PromptedConfig, nearest: Nearest | None) -> None:
        """Examples come from `nearest`."""
        self._config = config
        self._nearest = nearest

    @property
    def name(self) -> str:
        """Form and format."""
        shown = self._config.examples if self._nearest is not None else 0
        return f"prompted-{self._config.view.value}-{shown}"

    def put(self, question: Imagine, ruled: Ruled) -> Put:
        """The page after the rules, and what happened elsewhere."""
        page, config = ruled.page, self._config
        known = self._known(question)
        messages = render_next_page(
            url=page.url,
            title=page.title,
            page=shown_text(page.tree, page.focused, config.view),
            did=label_action(question.action, question.history[-1]),
            goal=question.goal if config.show_goal else None,
            done=done_before(question, config.past_actions),
            examples=[_seen(k, config) for k in reversed(known)],
        )
        return Put(messages=messages)

    def read(
        self, questions: Sequence[Question], replies: Sequence[ChatReply], ask: FollowUp
    ) -> list[Outcome]:
        """One reply, one page."""
        return outcomes_of(questions, replies, self._page)

    def _page(self, question: Question, reply: ChatReply) -> Imagined:
        before = read_tree(question.ruled.page.tree)
        read = read_reply(reply_text(reply), self._config.view, before, block=PAGE_BLOCK)
        page = imagined(question, read, reply.text)
        if not page.terminal and self._is_copied(question, page.page):
            raise UnusableReplyError(Flaw.COPIED_EXAMPLE)
        return page

    def _known(self, question: Imagine) -> list[Known]:
        if self._nearest is None or not self._config.examples:
            return []
        found = self._nearest(question.history[-1], question.action, self._config.examples)
        return [p.known for p in found]

    def _is_copied(self, question: Question, page: Observation) -> bool:
        """Whether the page answers an example's query instead of this one."""
        own = _queries(question.ruled.page, question.imagine.action)
        shown = page.tree.lower()
        if not own or any(query in shown for query in own):
            return False
        others = (_queries(k.history[-1], k.action) - own for k in self._known(question.imagine))
        here = question.ruled.page.tree.lower()
        return any(query in shown and query not in here for other in others for query in other)


def _queries(page: Observation, action: Action) -> set[str]:
    """What has been typed into the page's fields, or is being typed, in lower case."""
    values = [node.attr("value") for node in read_tree(page.tree)]
    said = [v for v in (*values, typed_text(action)) if isinstance(v, str)]
    return {v.lower() for v in said if len(v) >= MIN_PART_CHARS}


def _seen(known: Known, config: PromptedConfig) -> SeenBefore:
    """A known step as an example: its page, its action, and what changed, in words."""
    page = known.history[-1]
    delta = diff(page, known.action, known.next_page, terminal=known.terminal)
    return SeenBefore(
        page=shown_text(page.tree, page.focused, config.view),
        did=label_action(known.action, page),
        after=_after(known, delta, config),
    )


def _after(known: Known, delta: Delta, config: PromptedConfig) -> str:
    """What came of it: the words of the change, or the page where it is another one."""
    page = known.next_page
    if delta.kind in WHOLE_PAGE:
        return shown_text(page.tree, page.focused, config.view)
    return describe_delta(known.history[-1], known.action, delta)

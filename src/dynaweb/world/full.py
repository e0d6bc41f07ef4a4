"""The `full` form: the whole next page, in a conversation that holds the pages before (WebWorld 3.1, W1, W7, W8)."""

from collections.abc import Sequence
from dataclasses import dataclass

from dynaweb.axtree.label import label_action
from dynaweb.axtree.tree import read_tree
from dynaweb.contracts import ChatModel, ChatReply, Imagine
from dynaweb.prompts import agentworld, webworld
from dynaweb.prompts.agentworld import render_agentworld
from dynaweb.prompts.webworld import render_webworld, webworld_action
from dynaweb.records.action import Action
from dynaweb.records.delta import Delta, DeltaKind
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
from dynaweb.world.flaws import Flaw, UnusableReplyError
from dynaweb.world.forms import FullConfig, Layout
from dynaweb.world.landing import land, shown_text
from dynaweb.world.reading import ReadPage, read_reply, reply_text
from dynaweb.world.ruled import Ruled


@dataclass(frozen=True, slots=True)
class _Turn:
    """A page and what was done on it, as the conversation shows them."""

    state: str
    action: str


def full_world_model(chat: ChatModel, config: FullConfig) -> ChatWorldModel:
    """A world model that writes whole pages.

    Args:
        chat: the model; one trained in the layout, or a general one.
        config: layout, format, budget.
    """
    return ChatWorldModel(chat, FullForm(config), config)


class FullForm:
    """How pages are asked for and read (`chatting.ChatForm`)."""

    def __init__(self, config: FullConfig) -> None:
        """As the model was trained."""
        self._config = config
        agent = config.layout is Layout.AGENTWORLD
        self._markers = agentworld.MARKERS if agent else webworld.MARKERS
        self._stop = agentworld.STOP if agent else webworld.STOP
        self._block = agentworld.BLOCK if agent else None

    @property
    def name(self) -> str:
        """Form, layout and format."""
        return f"full-{self._config.layout.value}-{self._config.view.value}"

    def put(self, question: Imagine, ruled: Ruled) -> Put:
        """The conversation up to the present action; the oldest turns leave first.

        The page stands as it was before the rules: these models are trained on what a browser showed, and predict
        typing like everything else. What they then leave undone a rule does (`landing`).
        """
        turns = self._turns(question)
        kept = turns[-self._fitting(turns) :]
        left_out = len(turns) - len(kept)
        states, actions = [t.state for t in kept], [t.action for t in kept]
        if self._config.layout is Layout.WEBWORLD:
            messages = render_webworld(states, actions)
        else:
            goal = question.goal if self._config.show_goal else None
            messages = render_agentworld(states, actions, goal=goal, left_out=left_out)
        return Put(messages=messages, stop=self._stop, left_out=left_out)

    def read(
        self, questions: Sequence[Question], replies: Sequence[ChatReply], ask: FollowUp
    ) -> list[Outcome]:
        """One reply, one page."""
        return outcomes_of(questions, replies, self._page)

    def _page(self, question: Question, reply: ChatReply) -> Imagined:
        before = read_tree(question.ruled.page.tree)
        text = reply_text(reply, self._markers)
        read = read_reply(text, self._config.view, before, block=self._block)
        if read.ended:
            # neither layout has words for the end: nobody told the model that it may say so
            raise UnusableReplyError(Flaw.NOT_A_PAGE)
        return imagined(question, read, reply.text)

    def _turns(self, question: Imagine) -> list[_Turn]:
        """Pages with an action, oldest first; steps without one showed no change, and are passed over."""
        pages, done = question.history[:-1], question.done
        earlier = [
            self._turn(page, action)
            for page, action in zip(pages if done else (), done, strict=True)
            if action is not None
        ]
        return [*earlier, self._turn(question.history[-1], question.action)]

    def _turn(self, page: Observation, action: Action) -> _Turn:
        config = self._config
        spelt = (
            webworld_action(action)
            if config.layout is Layout.WEBWORLD
            else label_action(action, page)
        )
        return _Turn(shown_text(page.tree, page.focused, config.view), spelt)

    def _fitting(self, turns: Sequence[_Turn]) -> int:
        """How many of the latest turns fit into the prompt; the present one always stays."""
        config = self._config
        room = config.max_prompt_tokens * config.chars_per_token
        room -= len(agentworld.SYSTEM if self._block else webworld.SYSTEM)
        kept = 0
        for turn in reversed(turns[-config.max_turns :]):
            room -= len(turn.state) + len(turn.action) + TURN_CHARS
            if room < 0 and kept:
                break
            kept += 1
        return kept


TURN_CHARS = 160
"""Upper bound of the words that a layout puts around a page and an action."""


def imagined(question: Question, read: ReadPage, raw_text: str) -> Imagined:
    """What was read, as the next page of the question's."""
    if read.ended:
        return ended(question, raw_text)
    imagine = question.imagine
    landed = land(imagine.history[-1], question.ruled, imagine.action, read)
    return Imagined(
        page=landed.page,
        delta=landed.delta,
        raw_text=raw_text,
        mends=read.mends | landed.mends,
    )


def ended(question: Question, raw_text: str) -> Imagined:
    """The end: what is left on screen is not part of the change."""
    return Imagined(
        page=question.ruled.page,
        delta=Delta(kind=DeltaKind.TERMINAL),
        raw_text=raw_text,
        terminal=True,
    )

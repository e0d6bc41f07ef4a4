"""The `nl` form: reasoning and a change in words, which a second call applies to the page (DynaWeb 3.2, D12 to D14).

The second call follows instructions and is trained by nobody, so it is checked: what the words do not speak of survives
(`survive`). Words that say that nothing changed, or that the episode ended, need no second call.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from dynaweb.axtree.apply import apply
from dynaweb.axtree.label import label_action
from dynaweb.axtree.place import Places
from dynaweb.axtree.tree import read_tree
from dynaweb.axtree.views.convert import Form
from dynaweb.contracts import ChatModel, ChatReply, Imagine
from dynaweb.errors import DeltaError
from dynaweb.prompts.change import (
    ENDED,
    NOTHING,
    PAGE_BLOCK,
    read_change,
    render_apply,
    render_change,
)
from dynaweb.records.delta import Delta, DeltaKind
from dynaweb.world.chatting import (
    ChatWorldModel,
    Failed,
    FollowUp,
    Imagined,
    Outcome,
    Put,
    Question,
)
from dynaweb.world.examples import done_before
from dynaweb.world.flaws import Flaw, Mend, UnusableReplyError
from dynaweb.world.forms import NlConfig
from dynaweb.world.full import ended
from dynaweb.world.landing import land, shown_text
from dynaweb.world.reading import ReadPage, read_reply, reply_text
from dynaweb.world.ruled import Ruled
from dynaweb.world.survive import speaks_of_everything, surviving

_ADDRESS = re.compile(r"\baddress is now (['\"])(?P<said>[^\s]{1,2000}?)\1")
_TITLE = re.compile(r"\btitle is now (['\"])(?P<said>.{0,500}?)\1(?=[.\s]|$)")


@dataclass(frozen=True, slots=True)
class _Said:
    """A change in words."""

    question: Question
    words: str
    raw_text: str


def nl_world_model(chat: ChatModel, config: NlConfig) -> ChatWorldModel:
    """A world model that says what changes, and then writes the page.

    Args:
        chat: the model; asked once for the change, and once more to apply it.
        config: what it is shown, and how much may be put back.
    """
    return ChatWorldModel(chat, NlForm(config), config)


class NlForm:
    """How changes are asked for, applied and checked (`chatting.ChatForm`)."""

    def __init__(self, config: NlConfig) -> None:
        """As the model was trained."""
        self._config = config

    @property
    def name(self) -> str:
        """Form."""
        return "nl"

    def put(self, question: Imagine, ruled: Ruled) -> Put:
        """Ask for reasoning and change; the rules' part is in the page already."""
        page = ruled.page
        messages = render_change(
            url=page.url,
            title=page.title,
            tree=page.tree,
            did=label_action(question.action, question.history[-1]),
            goal=question.goal if self._config.show_goal else None,
            done=done_before(question, self._config.past_actions),
        )
        return Put(messages=messages)

    def read(
        self, questions: Sequence[Question], replies: Sequence[ChatReply], ask: FollowUp
    ) -> list[Outcome]:
        """The changes, and then, in one batch, the pages that they lead to."""
        said = [self._said(q, r) for q, r in zip(questions, replies, strict=True)]
        open_ones = [s for s in said if isinstance(s, _Said)]
        written = iter(ask([(s.question, self._application(s)) for s in open_ones]))
        return [self._applied(s, next(written)) if isinstance(s, _Said) else s for s in said]

    def _said(self, question: Question, reply: ChatReply) -> _Said | Outcome:
        try:
            told = read_change(reply_text(reply))
        except UnusableReplyError as unusable:
            return Failed(flaw=unusable.flaw, raw_text=reply.text)
        if told is None or not told[1]:
            return Failed(flaw=Flaw.NO_CHANGE_SAID, raw_text=reply.text)
        words = told[1]
        if words == ENDED:
            return ended(question, reply.text)
        if words == NOTHING:
            nothing = Delta(kind=DeltaKind.NONE)
            return Imagined(page=question.ruled.page, delta=nothing, raw_text=reply.text)
        return _Said(question, words, reply.text)

    def _application(self, said: _Said) -> Put:
        page = said.question.ruled.page
        shown = shown_text(page.tree, page.focused, Form.DYNAWEB)
        return Put(messages=render_apply(tree=shown, changes=said.words))

    def _applied(self, said: _Said, reply: ChatReply) -> Outcome:
        raw = f"{said.raw_text}\n{reply.text}"
        before = said.question.ruled.page
        try:
            text = reply_text(reply)
            read = read_reply(text, Form.DYNAWEB, read_tree(before.tree), block=PAGE_BLOCK)
            if read.ended:
                return ended(said.question, raw)
            return self._checked(said, read, raw)
        except UnusableReplyError as unusable:
            return Failed(flaw=unusable.flaw, raw_text=raw)

    def _checked(self, said: _Said, read: ReadPage, raw: str) -> Imagined:
        """The page with what the words do not speak of as it was.

        Raises:
            UnusableReplyError: too much of that was lost.
        """
        ruled, action = said.question.ruled, said.question.imagine.action
        read = replace(read, url=_found(_ADDRESS, said.words))
        landed = land(ruled.page, ruled, action, read)
        places = Places(read_tree(ruled.page.tree))
        left = surviving(places, action, landed.delta, said.words)
        if left.share_lost > self._config.most_lost:
            raise UnusableReplyError(Flaw.LOST_TOO_MUCH)
        delta = _framed(left.delta, said.words)
        try:
            page = landed.page if delta == landed.delta else apply(ruled.page, action, delta)
        except DeltaError as error:
            raise UnusableReplyError(Flaw.LOST_TOO_MUCH) from error
        put_back = {Mend.PUT_BACK} if left.lost else set[Mend]()
        return Imagined(
            page=page, delta=delta, raw_text=raw, mends=read.mends | landed.mends | put_back
        )


def _framed(delta: Delta, words: str) -> Delta:
    """Title and focus only as far as the words speak of them."""
    if speaks_of_everything(words) or delta.kind is not DeltaKind.LOCAL:
        return delta
    low = words.lower()
    title = _found(_TITLE, words)
    if title is None and "title" in low:
        title = delta.title
    return replace(delta, title=title, focus=delta.focus if "focus" in low else None)


def _found(pattern: re.Pattern[str], words: str) -> str | None:
    found = pattern.search(words)
    return None if found is None else found.group("said")

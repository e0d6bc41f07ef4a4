"""Conversations to learn from: which tokens a model is asked with, and which it has to write, exactly.

A row is what the model would be asked (`ChatTemplate.encode`) followed by the reply and the token that ends it, so
training sees what asking sees. Earlier replies are found between the template's own control tokens, which no message
can spell. A template in which that cannot be done (no control token before a reply, none after it, or one that
rewrites replies) is refused.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from dynaweb.contracts import ChatMessage
from dynaweb.errors import SamplerError, UserError
from dynaweb.lm.chattemplate import ChatTemplate


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """A conversation in tokens.

    Example:
        Conversation(prompt_ids=(1, 5, 2), completion_ids=(7, 2, 5, 2, 8, 2), silent=((2, 4),))
    """

    prompt_ids: tuple[int, ...]
    """All before the first reply that is learnt."""
    completion_ids: tuple[int, ...]
    """From there to the end of the last reply, its end token included."""
    silent: tuple[tuple[int, int], ...] = ()
    """Half-open ranges of `completion_ids` that are turns of others."""


class Turns:
    """Encodes conversations of one model."""

    def __init__(self, template: ChatTemplate) -> None:
        """Look at how the template writes a reply.

        Raises:
            UserError: it cannot be told where a reply begins and ends.
        """
        self._template = template
        tokenizer = template.tokenizer
        self._control = {i for i, t in tokenizer.added_tokens_decoder.items() if t.special}
        self._asking = self._before_reply()
        self.end_id = self._after_reply()
        """The token that ends a reply."""

    def encode(self, messages: Sequence[ChatMessage], *, last_only: bool) -> Conversation | str:
        """A conversation whose last message is the assistant's; or why it cannot be learnt from.

        Args:
            messages: oldest first.
            last_only: learn the last reply alone, with all before it as context (WebWorld 3.5, App. T9).
        """
        if not messages or messages[-1].role != "assistant":
            return "the last message is not the assistant's"
        try:
            asked = self._template.encode(messages[:-1])
        except SamplerError as error:
            return str(error)
        last = self._reply(messages[-1].content)
        if last_only:
            return Conversation(prompt_ids=asked, completion_ids=last)
        said = [m.content for m in messages[:-1] if m.role == "assistant"]
        spans = self._spans(asked, said)
        if isinstance(spans, str):
            return spans
        spans.append((len(asked), len(asked) + len(last)))
        first = spans[0][0]
        silent = tuple((end - first, begin - first) for (_, end), (begin, _) in pairwise(spans))
        ids = asked + last
        return Conversation(prompt_ids=ids[:first], completion_ids=ids[first:], silent=silent)

    def _spans(self, asked: tuple[int, ...], said: Sequence[str]) -> list[tuple[int, int]] | str:
        """Where earlier replies stand in what the model is asked with."""
        spans: list[tuple[int, int]] = []
        at = 0
        for number, text in enumerate(said, start=1):
            begin = _find(asked, self._asking, at)
            if begin is None:
                return f"the chat template drops reply {number}"
            written = self._written(asked, begin + len(self._asking), text)
            if written is None:
                return f"the chat template rewrites reply {number}"
            spans.append(written)
            at = written[1]
        return spans

    def _written(self, ids: tuple[int, ...], begin: int, text: str) -> tuple[int, int] | None:
        """The reply at a place, as it is or as templates trim it."""
        for said in dict.fromkeys((text, text.strip())):
            reply = self._reply(said)
            if ids[begin : begin + len(reply)] == reply:
                return begin, begin + len(reply)
        return None

    def _reply(self, text: str) -> tuple[int, ...]:
        return (*self._plain(text), self.end_id)

    def _plain(self, text: str) -> tuple[int, ...]:
        clean = text.encode("utf-8", "replace").decode("utf-8")
        found = self._template.tokenizer(clean, add_special_tokens=False, split_special_tokens=True)
        return tuple(found.input_ids)

    def _probe(self, *texts: str) -> tuple[int, ...]:
        roles = ("user", "assistant", "user")
        try:
            return self._template.encode(
                [ChatMessage(role=r, content=t) for r, t in zip(roles, texts, strict=False)]  # type: ignore[arg-type]
            )
        except SamplerError as error:
            raise _refused(str(error)) from error

    def _before_reply(self) -> tuple[int, ...]:
        """What stands between a user's words and a reply."""
        one, other = self._probe("a"), self._probe("b")
        same = 0
        while same < min(len(one), len(other)) and one[-1 - same] == other[-1 - same]:
            same += 1
        found = one[len(one) - same :]
        if not any(i in self._control for i in found):
            raise _refused("no control token stands before a reply, so a page could forge one")
        return found

    def _after_reply(self) -> int:
        begin = len(self._probe("a"))
        text = "A reply."
        ids, words = self._probe("a", text, "b"), self._plain(text)
        if ids[:begin] != self._probe("a") or ids[begin : begin + len(words)] != words:
            raise _refused("replies of earlier turns are not written as they would be answered")
        end = ids[begin + len(words)]
        if end not in self._control:
            raise _refused("no control token ends a reply")
        return end


def _find(ids: tuple[int, ...], part: tuple[int, ...], at: int) -> int | None:
    for i in range(at, len(ids) - len(part) + 1):
        if ids[i] == part[0] and ids[i : i + len(part)] == part:
            return i
    return None


def _refused(why: str) -> UserError:
    return UserError(
        f"the model's chat template cannot be trained with exactly: {why}; use a model with another template (ChatML, Llama 3, Qwen)"
    )

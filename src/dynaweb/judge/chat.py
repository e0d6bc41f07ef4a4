"""A general model as a judge, asked in words: local, or at an address.

Rules decide first, as for the trained judge. A reply that is no verdict is unknown: the judge's fault and nobody's zero.
"""

from collections.abc import Sequence
from typing import Final

from dynaweb.contracts import ChatModel, ChatReply, ChatRequest, Judge
from dynaweb.errors import MissingDependencyError, SamplerError
from dynaweb.judge.evidence import done_labels, rule_verdict
from dynaweb.prompts.verdict import read_verdict, render_verdict
from dynaweb.records.trajectory import Outcome, Trajectory, Verdict

REPLY_TOKENS: Final = 512
"""Longest reply: a sentence and a word, and room for models that think aloud."""

EVIDENCE_CHARACTERS: Final = 400
"""Of the reply, kept beside the verdict."""


class ChatJudge:
    """A `contracts.Judge` over a chat model."""

    def __init__(self, chat: ChatModel, *, answers_count: bool = False) -> None:
        """Ask `chat`.

        Args:
            chat: who is asked.
            answers_count: whether a message to the user can fulfil a task (`judge.config.JudgeConfig`).
        """
        self._chat = chat
        self._answers_count = answers_count

    def judge(self, trajectories: Sequence[Trajectory]) -> list[Verdict]:
        """Verdicts in order; rules first, then one batch for the rest.

        Raises:
            MissingDependencyError: no question to the model can succeed.
        """
        ruled = [rule_verdict(t, answers_count=self._answers_count) for t in trajectories]
        requests = [_request(t) for t, v in zip(trajectories, ruled, strict=True) if v is None]
        try:
            replies = iter(self._chat.chat(requests) if requests else [])
        except SamplerError as error:
            raise MissingDependencyError(f"the judge cannot be asked: {error}") from error
        return [_verdict(next(replies)) if v is None else v for v in ruled]


def _request(trajectory: Trajectory) -> ChatRequest:
    steps = trajectory.past + trajectory.steps
    messages = render_verdict(trajectory.goal, done_labels(steps), steps[-1].observation.tree)
    return ChatRequest(messages=messages, max_new_tokens=REPLY_TOKENS)


def _verdict(reply: ChatReply) -> Verdict:
    if reply.finish != "stop":
        why = reply.error or f"its reply was cut at {REPLY_TOKENS} tokens"
        return Verdict(outcome=Outcome.UNKNOWN, evidence=f"the judge failed: {why}")
    word = read_verdict(reply.text)
    if word is None:
        said = reply.text[:EVIDENCE_CHARACTERS]
        return Verdict(outcome=Outcome.UNKNOWN, evidence=f"the judge gave no verdict: {said!r}")
    return Verdict(outcome=Outcome(word), evidence=reply.text[-EVIDENCE_CHARACTERS:])


def _conforms(judge: ChatJudge) -> Judge:
    """Typed proof that the class is what the contract asks for."""
    return judge

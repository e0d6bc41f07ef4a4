"""Replaced pages judged in words: four criteria, a strict reader, and `unknown` for everything else (DynaWeb 5.2).

A judge's fault is never a score: a reply that is not exactly what was asked for, a failed request and a page that
is too long to be shown whole are counted under their reason.
"""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from dynaweb.axtree.label import label_action
from dynaweb.bench.fidelity import Regime
from dynaweb.bench.worlds.scores import Scored, is_usable
from dynaweb.contracts import ChatModel, ChatReply, ChatRequest
from dynaweb.prompts.full_page import CRITERIA, render_full_page_judge
from dynaweb.records.observation import Observation
from dynaweb.runs.jsonl import JsonlWriter, read_prefix
from dynaweb.runs.progress import Progress

COMPLETELY_WRONG_BELOW = 0.25
COMPLETELY_WRONG_CRITERIA = 2
"""A page with so many criteria below this is completely wrong: "fails several core dimensions" (DynaWeb 5.2; the numbers are ours)."""

MAX_CHARS = 400_000
"""Longest request, in characters; a longer one is not sent cut, but counted."""

MAX_REPLY_TOKENS = 2_000
BATCH = 16

_FENCED = re.compile(r"\A```(?:json)?\s*\n(.*?)\n?```\Z", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedPages:
    """What came of the judging."""

    judge: str
    """Which model judged."""
    judged: int
    unknown: Mapping[str, int]
    """Reason -> pages without a verdict."""


def read_criteria(text: str) -> tuple[float, ...] | None:
    """The four scores of a reply; None unless it is one JSON object, bare or in one code fence, with these and only these."""
    body = text.strip()
    fenced = _FENCED.match(body)
    try:
        said: object = json.loads(fenced.group(1) if fenced is not None else body)
    except (ValueError, RecursionError):
        return None
    if not isinstance(said, dict) or said.keys() != set(CRITERIA):
        return None
    scores = [said[name] for name in CRITERIA]
    if not all(type(s) in (int, float) and 0.0 <= s <= 1.0 for s in scores):
        return None
    return tuple(float(s) for s in scores)


def is_completely_wrong(criteria: Sequence[float]) -> bool:
    """Fails several core dimensions."""
    return sum(c < COMPLETELY_WRONG_BELOW for c in criteria) >= COMPLETELY_WRONG_CRITERIA


def judge_pages(
    scored: Sequence[Scored], judge: ChatModel, path: Path, progress: Progress
) -> tuple[list[Scored], JudgedPages]:
    """The same steps with the judge's numbers on those that replaced the page.

    An answer that is no page is completely wrong without being shown to the judge. Replies are kept in `path` and
    not asked for again.

    Raises:
        SamplerError: no request to the judge can succeed. StorageError: `path` is damaged or cannot be written.
    """
    unknown: Counter[str] = Counter()
    criteria: dict[int, tuple[float, ...]] = {}
    requests: dict[int, ChatRequest] = {}
    for at, one in enumerate(scored):
        if one.compared.regime is not Regime.FULL_PAGE:
            continue
        if not is_usable(one.compared) or one.compared.prediction.terminal:
            criteria[at] = (0.0,) * len(CRITERIA)
            continue
        request = _request(one)
        if sum(len(m.content) for m in request.messages) > MAX_CHARS:
            unknown["too long for the judge"] += 1
        else:
            requests[at] = request
    replies = _ask(list(requests.values()), judge, path, progress)
    for at, reply in zip(requests, replies, strict=True):
        read = read_criteria(reply.text) if reply.finish == "stop" else None
        if read is None:
            unknown[_why(reply)] += 1
        else:
            criteria[at] = read
    told = [_with(one, criteria.get(at)) for at, one in enumerate(scored)]
    return told, JudgedPages(judge=judge.version, judged=len(criteria), unknown=dict(unknown))


def _with(one: Scored, criteria: tuple[float, ...] | None) -> Scored:
    if criteria is None:
        return one
    wrong = float(is_completely_wrong(criteria))
    return replace(one, scores=replace(one.scores, full_judged=sum(criteria), full_wrong=wrong))


def _request(one: Scored) -> ChatRequest:
    known, said = one.case.known, one.compared.prediction.observation
    pages: tuple[Observation, ...] = (known.history[-1], known.next_page, said)
    before, truth, imagined = (p.tree for p in pages)
    messages = render_full_page_judge(
        did=label_action(known.action, known.history[-1]),
        before=before,
        truth=truth,
        imagined=imagined,
        addresses=(pages[0].url, pages[1].url, pages[2].url),
    )
    return ChatRequest(messages=messages, max_new_tokens=MAX_REPLY_TOKENS)


def _ask(
    requests: Sequence[ChatRequest], judge: ChatModel, path: Path, progress: Progress
) -> list[ChatReply]:
    """Replies in order; failed requests are not kept, so the next run tries them again."""
    keys = [_key(judge, r) for r in requests]
    with JsonlWriter(path, sync=False) as out:
        known = _kept(path)
        missing = list(dict.fromkeys(k for k in keys if k not in known))
        by_key = dict(zip(keys, requests, strict=True))
        progress("judge pages", len(keys) - len(missing), len(keys))
        for first in range(0, len(missing), BATCH):
            batch = missing[first : first + BATCH]
            new = dict(zip(batch, judge.chat([by_key[k] for k in batch]), strict=True))
            out.extend(_line(k, r) for k, r in new.items() if r.finish != "error")
            known |= new
            progress("judge pages", len(keys) - len(missing) + first + len(batch), len(keys))
    return [known[k] for k in keys]


def _kept(path: Path) -> dict[str, ChatReply]:
    lines = [json.loads(line) for line in read_prefix(path).lines]
    return {
        body["key"]: ChatReply(text=body["text"], finish=body["finish"], model=body["model"])
        for body in lines
    }


def _line(key: str, reply: ChatReply) -> str:
    body = {"key": key, "text": reply.text, "finish": reply.finish, "model": reply.model}
    return json.dumps(body, ensure_ascii=True)


def _key(judge: ChatModel, request: ChatRequest) -> str:
    said = repr((judge.version, request)).encode("utf-8", "surrogatepass")
    return hashlib.sha256(said).hexdigest()


def _why(reply: ChatReply) -> str:
    match reply.finish:
        case "error":
            return "the judge could not be asked"
        case "length":
            return "the judge's reply was cut off"
        case _:
            return "the judge's reply is not the four numbers"

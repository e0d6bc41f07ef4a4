"""Ask a model whether a start is worth a visit (WebWorld 3.3, the third of its URL filters)."""

import asyncio

from dynaweb.contracts import ChatModel, ChatRequest
from dynaweb.prompts.urlscore import read_url_score, render_url_score
from dynaweb.records.observation import Observation

MOST_TOKENS = 120


async def refusal_by_score(model: ChatModel, page: Observation, min_score: float, seed: int) -> str:
    """Why a page is no place to begin; empty when it is.

    A reply that cannot be read drops the page too: an address that nobody vouched for is not visited.

    Raises:
        SamplerError: the model cannot be asked at all.
    """
    messages = render_url_score(page.url, page.title, page.tree)
    request = ChatRequest(messages=messages, max_new_tokens=MOST_TOKENS, seed=seed)
    reply = (await asyncio.to_thread(model.chat, [request]))[0]
    if reply.finish == "error":
        return "score: no answer"
    score = read_url_score(reply.text)
    if score is None:
        return "score: unreadable answer"
    if not score.safe:
        return "score: unsafe"
    return "" if score.mean >= min_score else f"score: below {min_score:g}"

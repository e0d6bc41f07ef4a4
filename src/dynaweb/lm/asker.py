"""Asking one OpenAI-compatible server side by side, with deadlines and retries: what words and token ids share.

A failed request is a `Failure` that says why; only what no request can mend is raised. The key travels in one
header and nowhere else: whatever a server says is shown with the key struck out.
"""

import asyncio
import random
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias, TypeVar

import httpx2

from dynaweb.errors import SamplerError, UserError
from dynaweb.lm.chatwire import error_message, short
from dynaweb.lm.config import EndpointConfig
from dynaweb.lm.loopthread import LoopThread
from dynaweb.lm.retry import Failure, may_recover, pause_sec
from dynaweb.lm.transport import Transport, unknown_host

T = TypeVar("T")
R = TypeVar("R")

Body: TypeAlias = Mapping[str, object]

SECRET_CHARACTERS: Final = 12
"""Shorter keys are placeholders that local servers accept."""

LEFT_OUT: Final = "left_out"
"""Kind of the failure of a server that refuses a field it may do without: asked again at once, without it."""


@dataclass(slots=True)
class EndpointTally:
    """What an endpoint was asked and what came of it: `requests == answered + from_store + sum(failed.values())`."""

    requests: int = 0
    """Different requests that were finished."""
    attempts: int = 0
    """Posts to the server."""
    answered: int = 0
    """Requests that the server answered."""
    from_store: int = 0
    """Requests answered from the store."""
    retried: Counter[str] = field(default_factory=Counter)
    """Kind of failure -> tries that were followed by another."""
    failed: Counter[str] = field(default_factory=Counter)
    """Kind of the last failure -> requests that were given up."""
    prompt_tokens: int = 0
    """Of the answered ones, as the server counts."""
    completion_tokens: int = 0
    """Of the answered ones, as the server counts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """One thing that a server does."""

    address: str
    """Absolute."""
    missing: str
    """What a 404 means there, for people."""
    method: str = "POST"
    optional: str = ""
    """Field that a server may refuse by name; it is then asked without, from then on."""


class Asker:
    """A server at an address. Close it when it is not needed any more.

    Example:
        asker = Asker(config)
        replies = asker.each(lambda body: asker.ask(route, body, read), bodies)
    """

    def __init__(self, config: EndpointConfig, *, api_key: str = "") -> None:
        """Nothing is asked yet.

        Args:
            config: where and how to ask.
            api_key: sent as bearer token; empty sends none.

        Raises:
            UserError: a key that no header can carry.
        """
        if api_key != api_key.strip() or not api_key.isascii() or not (api_key + "x").isprintable():
            # not shown: it is a secret
            raise UserError(
                f"the API key ({config.key_variable or 'given by the caller'}) holds blanks, line ends or letters that no header can carry: set it anew"
            )
        self._config = config
        self._key = api_key
        self._thread = LoopThread("dynaweb-endpoint")
        self._transport: Transport | None = None
        self._slots = asyncio.Semaphore(config.in_flight)
        self._quiet_until = 0.0
        self._refused: set[str] = set()
        self._jitter = random.Random()  # no result depends on it; processes must differ
        self.tally = EndpointTally()
        """Since the asker was made."""

    def each(
        self,
        work: Callable[[T], Awaitable[R]],
        items: Sequence[T],
        done: Callable[[int], None] = lambda count: None,
    ) -> list[R]:
        """Do the work for every item, side by side in a thread of the asker's own; results in order.

        Args:
            work: awaits `ask`.
            items: what to do it for.
            done: told after each how many are done.

        Raises:
            SamplerError: what `work` raised first; the others are cancelled.
        """
        return self._thread.run(self._each(work, items, done))

    async def _each(
        self,
        work: Callable[[T], Awaitable[R]],
        items: Sequence[T],
        done: Callable[[int], None],
    ) -> list[R]:
        if self._transport is None:
            # both belong to the loop that uses them, and a closed asker begins with another
            self._transport = Transport(self._config, self._key)
            self._slots = asyncio.Semaphore(self._config.in_flight)
        count = 0

        async def one(item: T) -> R:
            nonlocal count
            result = await work(item)
            count += 1
            done(count)
            return result

        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(one(item)) for item in items]
        except ExceptionGroup as failed:
            # the first says it all; the others were cancelled, or met the same
            raise failed.exceptions[0] from None
        return [t.result() for t in tasks]

    def close(self) -> None:
        """Close connections; safe to call twice."""
        if self._transport is not None:
            transport, self._transport = self._transport, None
            self._thread.run(transport.close())
        self._thread.close()

    async def ask(
        self, route: Route, body: Body | None, read: Callable[[bytes], R | Failure]
    ) -> R | Failure:
        """Try until there is an answer, or no further try is worth it or in time. Inside `each`.

        Args:
            route: what is asked for.
            body: sent as JSON; None sends nothing.
            read: an answer of status 200, the key struck out; a failure may be tried again.

        Raises:
            SamplerError: no request can succeed: no such host, a refused key, no such thing there.
        """
        clock = asyncio.get_running_loop().time
        config, tried, end = self._config, 0, float("inf")
        while True:
            async with self._slots:
                end = min(end, clock() + config.deadline_sec)
                outcome = await self._in_turn(route, body, read, end)
            if not isinstance(outcome, Failure):
                return outcome
            if outcome.kind == LEFT_OUT:
                continue
            tried += 1
            pause = pause_sec(tried, outcome, config, self._jitter)
            late = clock() + pause >= end
            if not outcome.again or tried >= config.tries or late:
                self.tally.failed[outcome.kind] += 1
                why = f"; the next try would come after the deadline of {config.deadline_sec:g} s"
                times = "" if tried == 1 else f" (after {tried} tries)"
                said = (
                    f"{self._hidden(outcome.message)}{times}{why if outcome.again and late else ''}"
                )
                return replace(outcome, message=said)
            self.tally.retried[outcome.kind] += 1
            await asyncio.sleep(pause)

    async def _in_turn(
        self, route: Route, body: Body | None, read: Callable[[bytes], R | Failure], end: float
    ) -> R | Failure:
        """Wait as long as the server wants everybody to, then try once."""
        clock = asyncio.get_running_loop().time
        if max(self._quiet_until, clock()) >= end:
            most = self._config.deadline_sec
            return Failure(
                kind="deadline", message=f"no time was left of {most:g} s to ask", again=False
            )
        await asyncio.sleep(max(self._quiet_until - clock(), 0.0))
        return await self._attempt(route, body, read, min(self._config.attempt_sec, end - clock()))

    async def _attempt(
        self,
        route: Route,
        body: Body | None,
        read: Callable[[bytes], R | Failure],
        left_sec: float,
    ) -> R | Failure:
        self.tally.attempts += 1
        asked = body and {name: value for name, value in body.items() if name not in self._refused}
        assert self._transport is not None
        try:
            async with asyncio.timeout(left_sec):
                answer = await self._transport.send(route.method, route.address, asked)
        except TimeoutError:
            return Failure(
                kind="timeout", message=f"no whole answer within {left_sec:.3g} s", again=True
            )
        except httpx2.RequestError as error:
            return self._broken(error)
        if answer.body is None:
            most = self._config.max_reply_bytes
            return Failure(
                kind="too_large",
                message=f"the answer is longer than {most} bytes (max_reply_bytes) or compressed",
                again=False,
            )
        said = self._hidden_in(answer.body)
        if answer.status == 200:
            return read(said)
        return self._refusal(route, answer.status, answer.wait_sec, error_message(said), asked)

    def _broken(self, error: httpx2.RequestError) -> Failure:
        """A connection that did not come about, or broke."""
        if why := unknown_host(error):
            raise SamplerError(
                f"no such host: {self._config.url!r} ({why}); check the endpoint's url"
            ) from error
        said = f"{type(error).__name__}: {short(str(error)) or 'no reason'}"
        if isinstance(error, httpx2.ConnectError):
            said = f"cannot connect to {self._config.url!r} ({said}): is the server running there?"
        return Failure(kind="transport", message=said, again=True)

    def _refusal(
        self, route: Route, status: int, wait_sec: float | None, said: str, asked: Body | None
    ) -> Failure:
        """An answer whose status is not 200."""
        url = self._config.url
        if status in (401, 403):
            variable = self._config.key_variable
            mend = (
                f"check the key in {variable}" if variable else "it wants a key: set key_variable"
            )
            raise SamplerError(f"{url!r} refuses us (HTTP {status}: {self._hidden(said)}); {mend}")
        if status == 404:
            raise SamplerError(
                f"{url!r} has {route.missing} (HTTP 404: {self._hidden(said)}); see {url}/models"
            )
        optional = route.optional
        if status in (400, 422) and optional and optional in (asked or ()) and optional in said:
            self._refused.add(optional)
            return Failure(kind=LEFT_OUT, message=f"HTTP {status}: {said}", again=True)
        if wait_sec is not None and may_recover(status):
            # the others wait too: what one request was told holds for the server; not for ever, though
            rest_sec = min(wait_sec, 2 * self._config.deadline_sec)
            until = asyncio.get_running_loop().time() + rest_sec
            self._quiet_until = max(self._quiet_until, until)
        return Failure(
            kind=f"http_{status}",
            message=f"HTTP {status}: {said}",
            again=may_recover(status),
            wait_sec=wait_sec,
        )

    def _hidden(self, text: str) -> str:
        return text.replace(self._key, "***") if self._key else text

    def _hidden_in(self, data: bytes) -> bytes:
        """The key struck out before a message is shortened; words such as `EMPTY` may be a reply's own."""
        secret = len(self._key) >= SECRET_CHARACTERS
        return data.replace(self._key.encode("ascii"), b"***") if secret else data

"""What one DevTools session speaks for: the tab's own documents, or those of a frame that runs in another process.

Element calls run in an isolated JavaScript world: the page cannot replace what they use.
"""

import asyncio
from collections.abc import Mapping

from playwright.async_api import CDPSession
from playwright.async_api import Error as PlaywrightError

from dynaweb.browser.frames import found_in_frames, object_id
from dynaweb.browser.nodes import Json, JsonObject
from dynaweb.errors import BrowserError

WORLD = "dynaweb"
ELSEWHERE = ("No node", "does not belong", "context")
"""What DevTools says of a node that is in no document of a world, or of a world that has gone with its document."""


def first_line(error: BaseException) -> str:
    """What an error says, without its call log."""
    return (str(error).splitlines() or [type(error).__name__])[0]


class Gone(Exception):  # noqa: N818  # not an error of ours: the element left the page
    """The element is no longer part of the page."""


class Realm:
    """Documents of one process; nodes are named by the backend ids of that process."""

    def __init__(
        self, session: CDPSession, ended: "asyncio.Future[str]", patience_sec: float | None = None
    ) -> None:
        """Nothing is asked yet.

        Args:
            session: speaks for them.
            ended: done with the reason once the page has crashed or its tab is closed.
            patience_sec: for an answer; without, only the end of the page ends the wait.
        """
        self.frame = ""
        """Id of the outermost frame; set by `begin`."""
        self.silent = False
        """It has not answered in time: nobody asks it again."""
        self._session, self._ended, self._patience = session, ended, patience_sec
        self._world: int | None = None

    async def begin(self) -> None:
        """Learn the id of the outermost frame.

        Raises:
            BrowserError: the page or the browser is gone.
        """
        tree = (await self.send("Page.getFrameTree"))["frameTree"]
        assert isinstance(tree, dict) and isinstance(tree["frame"], dict)
        self.frame = str(tree["frame"]["id"])

    def moved(self) -> None:
        """The outermost frame shows another document."""
        self._world = None

    async def send(self, method: str, params: Mapping[str, Json] | None = None) -> JsonObject:
        """One DevTools command.

        Raises:
            BrowserError: the page or the browser is gone, or refuses.
        """
        call: asyncio.Future[JsonObject] = asyncio.ensure_future(
            self._session.send(method, dict(params or {}))
        )
        try:
            # A crashed page never answers.
            first: set[asyncio.Future[JsonObject] | asyncio.Future[str]] = {call, self._ended}
            await asyncio.wait(first, timeout=self._patience, return_when=asyncio.FIRST_COMPLETED)
            if not call.done():
                self.silent = not self._ended.done()
                why = "a frame of another site does not answer"
                raise BrowserError(why if self.silent else self._ended.result())
            answer: JsonObject = call.result()
        except PlaywrightError as error:
            raise BrowserError(f"{method}: {first_line(error)}") from error
        finally:
            call.cancel()
        return answer

    async def look(self, expression: str) -> Json:
        """A JavaScript expression that reads the outermost document, out of its reach.

        Raises:
            BrowserError: it threw, or the page is gone.
        """
        params: dict[str, Json] = {"expression": expression, "returnByValue": True}
        try:
            return value_of(
                await self.send("Runtime.evaluate", {**params, "contextId": await self._isolated()})
            )
        except BrowserError as error:
            if "Cannot find context" not in str(error):
                raise
        self._world = None  # a document that was written anew takes the world along unsaid
        return value_of(
            await self.send("Runtime.evaluate", {**params, "contextId": await self._isolated()})
        )

    async def call(self, function: str, backend: int, *arguments: Json) -> Json:
        """Call a JavaScript function with an element as `this`, out of the page's reach.

        Raises:
            Gone: the element left the page.
            BrowserError: it threw, or the page is gone.
        """
        answer = await self.send(
            "Runtime.callFunctionOn",
            {
                "functionDeclaration": function,
                "objectId": await self._handle(backend),
                "arguments": [{"value": a} for a in arguments],
                "awaitPromise": True,
                "returnByValue": True,
                "userGesture": True,
            },
        )
        return value_of(answer)

    async def _handle(self, backend: int) -> str:
        world = await self._isolated()
        try:
            found = await self.send(
                "DOM.resolveNode", {"backendNodeId": backend, "executionContextId": world}
            )
            handle = object_id(found)
        except BrowserError as error:
            if not any(sign in str(error) for sign in ELSEWHERE):
                raise
            self._world, handle = None, None
        if handle is None:
            home = await found_in_frames(self.send, backend, WORLD)
            handle = None if home is None else home.handle
        if handle is None:
            raise Gone
        return handle

    async def holder(self, backend: int, outward: int) -> int | None:
        """The element that holds a frame.

        Args:
            backend: a node in the frame, or in a frame inside it.
            outward: how many frames lie between; 0 is the node's own.

        Returns:
            None for the outermost frame.

        Raises:
            Gone: the node left the page. BrowserError: the page is gone.
        """
        home = await found_in_frames(self.send, backend, WORLD, at_home=True)
        if home is None:
            raise Gone
        frame = home.frames[outward]
        if frame == self.frame:
            return None
        return await self.owner(frame)

    async def owner(self, frame: str) -> int:
        """The element that holds a frame, by the frame's id; the frame may run in another process.

        Raises:
            BrowserError: there is no such frame here.
        """
        found = (await self.send("DOM.getFrameOwner", {"frameId": frame}))["backendNodeId"]
        assert isinstance(found, int)
        return found

    async def _isolated(self) -> int:
        if self._world is None:
            made = await self.send(
                "Page.createIsolatedWorld", {"frameId": self.frame, "worldName": WORLD}
            )
            number = made["executionContextId"]
            assert isinstance(number, int)
            self._world = number
        return self._world


def value_of(answer: JsonObject) -> Json:
    """What a script gave.

    Raises:
        BrowserError: it threw.
    """
    problem = answer.get("exceptionDetails")
    if isinstance(problem, dict):
        thrown = problem.get("exception")
        text = thrown.get("description") if isinstance(thrown, dict) else problem.get("text")
        raise BrowserError(f"the page's script failed: {str(text).splitlines()[0]}")
    result = answer.get("result")
    return result.get("value") if isinstance(result, dict) else None

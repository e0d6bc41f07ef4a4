"""Frames of other sites. Chromium runs them in processes of their own, so each is spoken to by a session of its own.

What a frame may load is decided where the page's own requests are decided; a frame that was refused shows nothing.
"""

import asyncio
import logging
from typing import TypeAlias

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Frame, Page

from dynaweb.browser.nodes import in_frame
from dynaweb.browser.realm import Gone, Realm
from dynaweb.errors import BrowserError

log = logging.getLogger(__name__)

PATIENCE_SEC = 3.0
"""A frame that does not answer in this time stays empty: an advertisement that hangs ends no episode."""

Ended: TypeAlias = "asyncio.Future[str]"


class ForeignFrames:
    """Of one tab."""

    def __init__(self, page: Page, main: Realm, ended: Ended) -> None:
        """Look at nothing yet."""
        self._page, self._main, self._ended = page, main, ended
        self._realms: dict[Frame, Realm] = {}
        self._numbers: dict[Frame, int] = {}

    def inside(self) -> list[Frame]:
        """All frames inside the page, outer ones first, of whatever site."""
        frames = self._page.frames
        return [] if len(frames) < 2 else [f for f in frames if f.parent_frame is not None]

    async def present(self) -> list[tuple[int, Realm]]:
        """Those that are there now, outer ones first, each by its number.

        All frames are counted as they are met, so that a frame's number does not tell how soon it has loaded.
        """
        frames = self.inside()
        for frame in frames:
            self._numbers.setdefault(frame, len(self._numbers) + 1)
        found = await asyncio.gather(*[self._opened(frame) for frame in frames])
        return [
            (self._numbers[frame], realm)
            for frame, realm in zip(frames, found, strict=True)
            if realm is not None
        ]

    async def _opened(self, frame: Frame) -> Realm | None:
        """The frame's realm; None where it is part of the process around it, is gone or hangs."""
        realm = self._realms.get(frame)
        try:
            if realm is None:
                session = await self._page.context.new_cdp_session(frame)
                realm = Realm(session, self._ended, PATIENCE_SEC)
            elif realm.silent:
                return None
            await realm.begin()
        except PlaywrightError:
            return None
        except BrowserError as error:
            if realm is None or not realm.silent:
                self._realms.pop(frame, None)  # it may have come back into the process around it
                return None
            log.warning("%s: %s", frame.url[:200], error)
        self._realms[frame] = realm
        return None if realm.silent else realm

    def realm(self, number: int) -> Realm:
        """The realm of a frame that has been seen; raises Gone."""
        found = self._realms.get(self._frame(number))
        if found is None:
            raise Gone
        return found

    async def owner(self, number: int) -> int:
        """The element of the page around that holds a frame.

        Raises:
            Gone: the frame is. BrowserError: the page is gone.
        """
        frame = self._frame(number)
        around = frame.parent_frame
        while around is not None and around not in self._realms:
            around = around.parent_frame
        outer = self._main if around is None else self._realms[around]
        held = await outer.owner(self.realm(number).frame)
        return held if around is None else in_frame(self._numbers[around], held)

    def _frame(self, number: int) -> Frame:
        for frame, its in self._numbers.items():
            if its == number and not frame.is_detached():
                return frame
        raise Gone

"""A site's own time: it begins where the browser's page time begins and is moved by what is done.

A page that says `3 hours ago` would differ from one run to the next if the machine's clock counted.
"""

import threading
from datetime import UTC, datetime, timedelta

import time_machine

BEGIN = datetime(2025, 6, 16, 9, 0, tzinfo=UTC)
"""As `dynaweb.browser.page.EPOCH_MS`; a test compares them."""
OPENED = BEGIN - timedelta(days=300)
"""When the sites were set up."""
PER_CHANGE = timedelta(seconds=1)


class Clock:
    """Stands still while pages are read; every request that may change something moves it by a second."""

    def __init__(self) -> None:
        """Stop the clock of this process at `BEGIN`."""
        self._lock = threading.Lock()
        self._travel = time_machine.travel(BEGIN, tick=False)
        self._time = self._travel.start()

    def move(self) -> None:
        """Something may have been changed."""
        with self._lock:
            self._time.shift(PER_CHANGE)

    def rewind(self) -> None:
        """Back to the beginning."""
        with self._lock:
            self._time.move_to(BEGIN, tick=False)


def at(moment: datetime) -> time_machine.travel:
    """A block in which it is `moment`: for data with a past."""
    return time_machine.travel(moment, tick=False)

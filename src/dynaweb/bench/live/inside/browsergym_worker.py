"""BrowserGym's MiniWoB++ environment, asked by lines of JSON on standard input; runs in BrowserGym's own environment.

First line: `{"base_url", "executable", "tuned"}`. Then one request a line: `{"do": "reset" | "step" | "episode", ...}`,
one answer a line. Tuned by hand means: one browser for all episodes, no chat browser, no slow motion, a short delay.
"""

import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Protocol, cast

import browsergym.core.env
import browsergym.miniwob  # noqa: F401  # registers the tasks
import gymnasium
import numpy
from browsergym.core import _get_global_playwright
from browsergym.utils.obs import flatten_axtree_to_str

DELAY_SEC = 0.02
"""Tuned: between an action and its observation; as it comes 0.5."""


Seen = Mapping[str, object]


class Gym(Protocol):
    """What is used of the environment."""

    def reset(self, *, seed: int) -> tuple[Seen, object]:
        """Begin."""
        ...

    def step(self, action: str) -> tuple[Seen, float, bool, bool, object]:
        """Act."""
        ...

    def close(self) -> None:
        """End."""
        ...


class Browser(Protocol):
    """What is used of the other tool's browser."""

    def new_context(self, **settings: object) -> object:
        """A context for an episode."""
        ...


class SilentChat:
    """BrowserGym's chat without its browser."""

    def __init__(self, **_: object) -> None:
        self.messages: list[dict[str, object]] = []

    def add_message(self, role: str, msg: str) -> None:
        """Keep a message."""
        if role != "info":
            self.messages.append({"role": role, "timestamp": time.time(), "message": msg})

    def wait_for_user_message(self) -> None:
        """Nobody answers."""

    def close(self) -> None:
        """There is nothing to close."""


class KeptBrowser:
    """A browser that stays open when an episode closes it."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser

    def new_context(self, **settings: object) -> object:
        """A context for an episode."""
        return self._browser.new_context(**settings)

    def close(self) -> None:
        """Later."""


def set_up(executable: str, *, tuned: bool) -> None:
    """Every browser is this program; tuned, there is one."""
    kind = type(_get_global_playwright().chromium)
    launch: Callable[..., Browser] = kind.launch
    kept: list[KeptBrowser] = []

    def started(self: object, **settings: object) -> Browser:
        return launch(self, **{**settings, "executable_path": executable})

    def started_once(self: object, **settings: object) -> KeptBrowser:
        if not kept:
            kept.append(KeptBrowser(started(self, **settings)))
        return kept[0]

    kind.launch = started_once if tuned else started
    if tuned:
        browsergym.core.env.Chat = SilentChat


class Worker:
    """One environment at a time."""

    def __init__(self, base_url: str, *, tuned: bool) -> None:
        self._settings: dict[str, object] = (
            {"slow_mo": 0, "pre_observation_delay": DELAY_SEC} if tuned else {}
        )
        self._base_url = base_url
        self._env: Gym | None = None

    def open(self, task: str, seed: int) -> Seen:
        """Begin an episode; the observation."""
        settings = {"task_kwargs": {"base_url": self._base_url}, **self._settings}
        make = cast("Callable[..., Gym]", gymnasium.make)
        self._env = make(f"browsergym/miniwob.{task}", **settings)
        return self._env.reset(seed=seed)[0]

    def close(self) -> None:
        """End the episode."""
        env, self._env = self._env, None
        if env is not None:
            env.close()

    def _gym(self) -> Gym:
        assert self._env is not None  # a request to reset came first
        return self._env

    def reset(self, task: str, seed: int) -> dict[str, object]:
        """The first page, to be compared; and the seed that the page itself was given."""
        self.close()
        observation = self.open(task, seed)
        # as its task class does; the goals of both are compared
        drawn = numpy.random.RandomState(seed).randint(0, 1000000)
        return {"page_seed": int(drawn), "goal": observation["goal"], **_shown(observation)}

    def step(self, action: str) -> dict[str, object]:
        """The next page, to be compared."""
        observation, reward, terminated, truncated, _ = self._gym().step(action)
        ended = bool(terminated or truncated)
        return {"reward": float(reward), "ended": ended, **_shown(observation)}

    def episode(self, task: str, seed: int, actions: list[str]) -> dict[str, object]:
        """One whole episode against the clock."""
        spent = {"reset": 0.0, "steps": 0.0, "close": 0.0}
        reward, ended, done = 0.0, False, 0
        with _timed(spent, "reset"):
            self.open(task, seed)
        with _timed(spent, "steps"):
            for action in actions:
                _, reward, ended, _, _ = self._gym().step(action)
                done += 1
                if ended:
                    break
        with _timed(spent, "close"):
            self.close()
        return {"reward": float(reward), "ended": bool(ended), "steps": done, "sec": spent}


@contextmanager
def _timed(spent: dict[str, float], part: str) -> Iterator[None]:
    begun = time.perf_counter()
    try:
        yield
    finally:
        spent[part] += time.perf_counter() - begun


def _shown(observation: Seen) -> dict[str, object]:
    dom = cast("dict[str, list[dict[str, dict[str, object]]]]", observation["dom_object"])
    text = flatten_axtree_to_str(observation["axtree_object"], ignored_roles=["LineBreak", "InlineTextBox"])  # fmt: skip
    main = dom["documents"][0]["nodes"]
    wanted = ("parentIndex", "nodeName", "nodeType", "attributes")
    return {
        "text": text,
        "error": observation["last_action_error"],
        "dom": {"strings": dom["strings"], "nodes": {key: main[key] for key in wanted}},
    }


def main() -> None:
    """Answer until standard input ends."""
    given = json.loads(sys.stdin.readline())
    set_up(given["executable"], tuned=given["tuned"])
    worker = Worker(given["base_url"], tuned=given["tuned"])
    known: dict[str, Callable[..., dict[str, object]]] = {
        "reset": worker.reset,
        "step": worker.step,
        "episode": worker.episode,
    }
    for line in sys.stdin:
        request = json.loads(line)
        do = known[request.pop("do")]
        try:
            answer = do(**request)
        except Exception as error:  # noqa: BLE001  # whatever it is, the parent shall know
            worker.close()
            answer = {"failed": f"{type(error).__name__}: {error}".splitlines()[0][:300]}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()
    worker.close()


if __name__ == "__main__":
    main()

"""The imagined web as an Environment: the same gate and the same errors as the browser, no browser.

A dream begins from a real page (`start`). The policy's bad actions are answered by the shared gate
without asking the world model; a world model that gives no usable page ends the episode as its own
fault, never as the policy's failure.
"""

from collections.abc import Awaitable, Callable
from dataclasses import replace

from dynaweb.axtree.gate import check_action
from dynaweb.contracts import Imagine, Prediction, PredictionStatus, StepResult
from dynaweb.dream.config import DreamConfig
from dynaweb.errors import UserError, WorldModelError
from dynaweb.records.action import Action, ReportInfeasible, SendMsgToUser, print_action
from dynaweb.records.observation import Observation
from dynaweb.records.seeds import derive_seed
from dynaweb.records.trajectory import Fault, Start, Step, World

Ask = Callable[[Imagine], Awaitable[Prediction]]
"""One question to a world model; whoever answers gathers the questions that wait."""


class DreamEnvironment:
    """One dream at a time. Many live side by side on one event loop and share `ask`.

    Example:
        dream = DreamEnvironment(Gather(world_model.predict, max_batch=256).ask, DreamConfig())
        page = await dream.reset(start.task, start.seed, start)
    """

    def __init__(self, ask: Ask, config: DreamConfig) -> None:
        self._ask = ask
        self._config = config
        self._now: Start | None = None
        self._began = 0
        self._over = False

    @property
    def world(self) -> World:
        """Always a dream."""
        return World.DREAM

    @property
    def goal(self) -> str:
        """What the user wants; empty before `reset`."""
        return self._now.goal if self._now is not None else ""

    async def reset(self, task: str, seed: int, start: Start | None = None) -> Observation:
        """Show the page of `start`.

        Raises:
            UserError: no start, or one of another task or seed.
        """
        if start is None:
            raise UserError(
                f"a dream of {task!r} needs a start: a dream begins from a real page, take one from dream.starts"
            )
        if (start.task, start.seed) != (task, seed):
            raise UserError(
                f"start of task {start.task!r} seed {start.seed} given for task {task!r} seed {seed}: pass the start's own"
            )
        self._now, self._began, self._over = start, len(start.past), False
        return start.observation

    async def step(self, action: Action) -> StepResult:
        """Imagine what comes of it.

        Raises:
            WorldModelError: the world model gave no usable page.
            UserError: before `reset`, or after the end.
        """
        now = self._present("step")
        if self._over:
            raise UserError("this dream is over: reset it before the next step")
        refused = check_action(now.observation, action)
        if refused is not None:
            return self._refused(now, action, *refused)
        if isinstance(action, SendMsgToUser | ReportInfeasible):
            self._over = True
            self._move(now, action, now.observation)
            return StepResult(observation=now.observation, terminated=True)
        prediction = await self._ask(self._question(now, action))
        if prediction.fault is not None:
            return self._refused(
                now, action, prediction.fault, prediction.observation.last_action_error
            )
        if prediction.status is PredictionStatus.INVALID:
            raise WorldModelError(
                f"no usable page after {print_action(action)} in task {now.task!r} seed {now.seed}: the model wrote {prediction.raw_text[:120]!r}"
            )
        self._move(now, action, prediction.observation)
        looping = self._config.stop_loops and self._goes_round()
        self._over = prediction.terminal or looping or self._out_of_steps()
        return StepResult(
            observation=prediction.observation,
            terminated=prediction.terminal,
            truncated=not prediction.terminal and self._over,
            info={
                "confidence": prediction.confidence,
                "by_rule": float(prediction.by_rule),
                "loop": float(looping),
            },
        )

    async def snapshot(self) -> Start:
        """The present page, with the way here.

        Raises:
            UserError: before `reset`.
        """
        return self._present("snapshot")

    async def restore(self, state: Start) -> Observation:
        """Go back; the steps dreamed before `state` stay counted."""
        began = min(self._began, len(state.past))
        page = await self.reset(state.task, state.seed, state)
        self._began = began
        self._over = self._out_of_steps()
        return page

    async def close(self) -> None:
        """Forget the dream."""
        self._now = None

    def _present(self, asked: str) -> Start:
        if self._now is None:
            raise UserError(f"{asked} before reset: reset the dream to a start first")
        return self._now

    def _question(self, now: Start, action: Action) -> Imagine:
        """The same start, actions and depth give the same seed: a dream can be dreamed again."""
        return Imagine(
            history=(*(s.observation for s in now.past), now.observation),
            action=action,
            done=tuple(s.action for s in now.past),
            goal=now.goal if self._config.show_goal else None,
            seed=derive_seed(now.seed, "imagine", now.task, len(now.past)),
        )

    def _refused(self, now: Start, action: Action, fault: Fault, message: str) -> StepResult:
        page = replace(now.observation, last_action_error=message)
        self._move(now, action, page, fault)
        self._over = self._out_of_steps()
        return StepResult(observation=page, truncated=self._over, fault=fault)

    def _move(
        self, now: Start, action: Action, page: Observation, fault: Fault | None = None
    ) -> None:
        step = Step(observation=now.observation, action=action, fault=fault)
        self._now = replace(
            now, observation=page, prefix=(*now.prefix, action), past=(*now.past, step)
        )

    def _out_of_steps(self) -> bool:
        now = self._present("step")
        return len(now.past) - self._began >= self._config.max_steps

    def _goes_round(self) -> bool:
        """Two different pages in turn, twice each: A-B-A-B."""
        now = self._present("step")
        own = now.past[self._began :]
        pages = [s.observation for s in own[-3:]] + [now.observation]
        seen = [(p.url, p.tree, p.focused, p.scroll) for p in pages]
        return len(seen) == 4 and seen[0] == seen[2] and seen[1] == seen[3] and seen[0] != seen[1]

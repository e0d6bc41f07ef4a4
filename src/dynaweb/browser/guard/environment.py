"""An environment on a live site: nothing is changed that nobody approved, and no secret comes back out of a page."""

from dataclasses import replace

from dynaweb.browser.devices import Refusal, with_secrets
from dynaweb.browser.guard.gate import Guard
from dynaweb.browser.guard.look import receiver_of
from dynaweb.browser.nodes import BidMap
from dynaweb.browser.page import LivePage
from dynaweb.browser.safety import keep_safe
from dynaweb.browser.site import Site, Standing
from dynaweb.contracts import Environment, StepResult
from dynaweb.errors import BrowserError, UserError
from dynaweb.records.action import Action, Fill, KeyboardInsertText, KeyboardType
from dynaweb.records.observation import Observation
from dynaweb.records.secrets import NO_SECRETS, Secrets
from dynaweb.records.trajectory import Start, Step, World


class SafeSite:
    """A `Site` whose tabs ask a guard before every action."""

    def __init__(self, site: Site, guard: Guard, secrets: Secrets = NO_SECRETS) -> None:
        """Guard nothing yet; `begin` does."""
        self._site = site
        self._guard = guard
        self._secrets = secrets

    @property
    def origins(self) -> tuple[str, ...]:
        """The site's."""
        return self._site.origins

    async def begin(self, live: LivePage, task: str, seed: int) -> None:
        """Guard the tab and all that it opens, then begin.

        Raises:
            UserError: no such task or seed. BrowserError: the page is broken.
        """
        keep_safe(live.page.context, self)
        await self._guard.watch(live.page.context)
        await self._site.begin(live, task, seed)
        # the site may have set routes of its own, and the last one is asked first
        await self._guard.watch_first(live.page.context)

    async def prepare(self, live: LivePage, action: Action, bids: BidMap) -> Action | Refusal:
        """Ask the guard, then put values in the place of names.

        Raises:
            BrowserError: the page is gone.
        """
        refusal = await self._guard.before(live, action, bids)
        if refusal is not None:
            return refusal
        if not isinstance(action, Fill | KeyboardType | KeyboardInsertText):
            return action
        return with_secrets(action, self._secrets, await receiver_of(live, action, bids))

    async def goal(self, live: LivePage, task: str) -> str:
        """The site's."""
        return await self._site.goal(live, task)

    async def standing(self, live: LivePage, task: str, *, ends: bool) -> Standing | None:
        """The site's."""
        return await self._site.standing(live, task, ends=ends)


class SafeEnvironment:
    """Around an environment whose site is a `SafeSite`: says what was held back, and scrubs what is read."""

    def __init__(self, env: Environment, guard: Guard, secrets: Secrets = NO_SECRETS) -> None:
        """Wrap; guard and secrets are the site's."""
        self._env = env
        self.guard = guard
        self._secrets = secrets

    @property
    def world(self) -> World:
        """The environment's."""
        return self._env.world

    @property
    def goal(self) -> str:
        """What the user wants; known after `reset`."""
        return self._secrets.scrub(self._env.goal)

    async def reset(self, task: str, seed: int, start: Start | None = None) -> Observation:
        """As the environment's.

        Raises:
            UserError: no such task. BrowserError: the world failed.
        """
        try:
            return self._secrets.scrub_page(await self._env.reset(task, seed, start))
        except BrowserError as error:
            # the cause may hold what the page said
            raise BrowserError(self._secrets.scrub(str(error))) from None
        except UserError as error:
            raise UserError(self._secrets.scrub(str(error))) from None

    async def step(self, action: Action) -> StepResult:
        """As the environment's; what was held back is told in `last_action_error`.

        Raises:
            BrowserError: the world failed.
        """
        try:
            result = await self._env.step(action)
        except BrowserError as error:
            raise BrowserError(self._secrets.scrub(str(error))) from None
        page, held = result.observation, self.guard.after()
        if held and not page.last_action_error:
            page = replace(page, last_action_error=held)
        return replace(result, observation=self._secrets.scrub_page(page))

    async def snapshot(self) -> Start:
        """The present state, scrubbed."""
        state = await self._env.snapshot()
        clean = self._secrets.scrub_page
        return replace(
            state,
            goal=self._secrets.scrub(state.goal),
            observation=clean(state.observation),
            past=tuple(self._clean_step(step) for step in state.past),
        )

    def _clean_step(self, step: Step) -> Step:
        return replace(step, observation=self._secrets.scrub_page(step.observation))

    async def restore(self, state: Start) -> Observation:
        """Go back to a state that `snapshot` returned; approvals are asked for again."""
        return await self.reset(state.task, state.seed, start=state)

    async def close(self) -> None:
        """Free everything; safe to call twice."""
        await self._env.close()

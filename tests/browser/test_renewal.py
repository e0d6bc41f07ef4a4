"""A tab that served an episode is as a new one: same pages, nothing left of the last."""

import pytest

from dynaweb.browser.config import BrowserConfig
from dynaweb.browser.environment import BrowserEnvironment, miniwob_world
from dynaweb.collect.experts import EXPERTS
from dynaweb.records.action import Action, KeyboardDown, NewTab
from dynaweb.records.observation import Observation
from dynaweb.records.trajectory import Step

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="function")]


async def attempt(env: BrowserEnvironment, task: str, seed: int) -> list[Observation]:
    """Every page that the expert sees."""
    seen = [await env.reset(task, seed)]
    past: tuple[Step, ...] = ()
    for _ in range(EXPERTS[task].steps):
        step = await EXPERTS[task].decide(env.goal, past, seen[-1], 0)
        if step.action is None:
            break
        past = (*past, step)
        result = await env.step(step.action)
        seen.append(result.observation)
        if result.terminated:
            break
    return seen


async def test_pages_are_the_same_in_a_new_tab_and_in_a_used_one():
    tasks = [("click-test", 1), ("login-user", 2), ("login-user", 2), ("click-collapsible-2", 3), ("choose-list", 4), ("use-autocomplete", 5)]  # fmt: skip
    async with (
        miniwob_world(BrowserConfig()) as make_new,
        miniwob_world(BrowserConfig(prefetch=0, episodes_per_tab=50)) as make_used,
    ):
        new, used = make_new(), make_used()
        pages = set()
        for task, seed in tasks:
            assert await attempt(used, task, seed) == await attempt(new, task, seed)
            pages.add(used.active.page)
        assert len(pages) == 1, "one tab served all"


async def test_storage_name_history_and_mouse_are_new():
    look = "[localStorage.length, sessionStorage.length, document.cookie, window.name, scrollY]"
    async with miniwob_world(BrowserConfig(prefetch=0, episodes_per_tab=50)) as make:
        env = make()
        await attempt(env, "click-test", 1)
        first = env.active
        await first.evaluate(
            "localStorage.a = sessionStorage.a = 1, document.cookie = 'a=1; path=/', window.name = 'a'"
        )
        observation = await env.reset("click-test", 1)
        assert env.active.page is first.page
        assert await env.active.evaluate(look) == [0, 0, "", "", 0]
        assert await env.active.evaluate("document.querySelectorAll(':hover').length") == 0
        assert env.active.mouse is None
        assert (observation.tabs[0].back, observation.tabs[0].forward) == ((), ())


@pytest.mark.parametrize("action", [KeyboardDown("Shift"), NewTab()])
async def test_a_tab_that_holds_a_key_or_opened_another_is_not_used_again(action: Action):
    async with miniwob_world(BrowserConfig(prefetch=0, episodes_per_tab=50)) as make:
        env = make()
        await env.reset("click-test", 1)
        first = env.active.page
        await env.step(action)
        await env.reset("click-test", 1)
        assert env.active.page is not first


async def test_a_tab_serves_so_many_episodes_and_no_more():
    async with miniwob_world(BrowserConfig(prefetch=0, episodes_per_tab=2)) as make:
        env = make()
        served = []
        for seed in range(4):
            await env.reset("click-test", seed)
            served.append(env.active.page)
    assert served[0] is served[1] and served[2] is served[3] and served[1] is not served[2]

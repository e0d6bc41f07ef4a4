"""The MiniWoB++ tasks: names, goals, the same page for the same seed, and the page's own reward."""

from collections.abc import Callable

import pytest
from tests.browser.plain import bid

from dynaweb.axtree.tree import parse_tree
from dynaweb.browser.environment import BrowserEnvironment
from dynaweb.browser.miniwob import NOT_TASKS, check_task, miniwob_tasks, succeeded
from dynaweb.errors import UserError
from dynaweb.records.action import Action, Click, Fill, Noop
from dynaweb.records.observation import Observation

Make = Callable[[], BrowserEnvironment]
live = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


def test_the_tasks_are_those_of_browsergym() -> None:
    assert len(miniwob_tasks()) == 125
    assert not set(miniwob_tasks()) & set(NOT_TASKS)
    assert check_task("miniwob.click-test") == check_task("click-test") == "click-test"


@pytest.mark.parametrize(
    ("wrong", "hint"), [("click-tset", "click-test"), ("moving-items", "real time")]
)
def test_a_wrong_name_is_mended(wrong: str, hint: str) -> None:
    with pytest.raises(UserError, match=hint):
        check_task(wrong)


def test_part_of_the_work_is_not_success() -> None:
    assert succeeded("click-test", 0.4)
    assert not succeeded("click-test", 0.0)
    assert not succeeded("find-greatest", 0.1)
    assert succeeded("find-greatest", 1.0)


async def episode(make: Make, task: str, seed: int, actions: list[Action]) -> list[Observation]:
    env = make()
    pages = [await env.reset(task, seed)]
    for action in actions:
        result = await env.step(action)
        pages.append(result.observation)
        if result.terminated:
            break
    await env.close()
    return pages


SAMPLE: list[tuple[str, list[Action]]] = [
    ("click-checkboxes", [Click("1"), Click("2")]),
    ("choose-date", [Click("1"), Click("3")]),
    ("click-collapsible-2", [Click("2"), Click("1")]),
    ("use-autocomplete", [Fill("1", "a")]),
    ("click-pie", [Noop(500.0)]),
    ("stock-market", [Noop(500.0), Noop(1000.0)]),
    ("terminal", [Noop(700.0)]),
    ("visual-addition", [Fill("1", "3")]),
    ("email-inbox", [Click("3")]),
]


@pytest.mark.browser
@pytest.mark.asyncio(loop_scope="session")
@pytest.mark.parametrize(("task", "actions"), SAMPLE, ids=[t for t, _ in SAMPLE])
async def test_the_same_seed_and_actions_give_the_same_pages(
    make_miniwob: Make, task: str, actions: list[Action]
) -> None:
    first = await episode(make_miniwob, task, 5, actions)
    assert await episode(make_miniwob, task, 5, actions) == first
    assert len(first) == len(actions) + 1
    for page in first:
        parse_tree(page.tree)


@pytest.mark.browser
@pytest.mark.asyncio(loop_scope="session")
async def test_reward_is_the_pages_own(make_miniwob: Make) -> None:
    env = make_miniwob()
    page = await env.reset("click-test-2", 1)
    assert env.goal == "Click button ONE."
    result = await env.step(Click(bid(page, "ONE")))
    assert (result.terminated, result.reward, result.info["raw_reward"]) == (True, 1.0, 1.0)
    page = await env.reset("click-test-2", 1)
    result = await env.step(Click(bid(page, "TWO")))
    assert (result.terminated, result.reward, result.info["raw_reward"]) == (True, 0.0, -1.0)
    await env.close()


@pytest.mark.browser
@pytest.mark.asyncio(loop_scope="session")
async def test_time_does_not_end_or_discount_an_episode(make_miniwob: Make) -> None:
    env = make_miniwob()
    page = await env.reset("click-test", 1)
    for _ in range(3):
        assert not (await env.step(Noop(10_000.0))).terminated
    result = await env.step(Click(bid(page, "Click Me!")))
    assert (result.reward, result.info["raw_reward"]) == (1.0, 1.0)
    await env.close()


@pytest.mark.browser
@pytest.mark.asyncio(loop_scope="session")
async def test_drawn_goals_are_put_in_words(make_miniwob: Make) -> None:
    env = make_miniwob()
    await env.reset("use-colorwheel-2", 2)
    assert "#" in env.goal
    await env.reset("unicode-test", 3)
    assert "确定" in env.goal
    await env.close()


@pytest.mark.browser
@pytest.mark.asyncio(loop_scope="session")
async def test_a_seed_out_of_range_is_the_callers_mistake(make_miniwob: Make) -> None:
    env = make_miniwob()
    with pytest.raises(UserError, match="seed -1"):
        await env.reset("click-test", -1)
    assert (await env.reset("click-test", 1)).tree
    await env.close()


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.timeout(900)
@pytest.mark.asyncio(loop_scope="session")
async def test_every_task_resets_the_same_twice(make_miniwob: Make) -> None:
    env = make_miniwob()
    for task in miniwob_tasks():
        seen = []
        for _ in range(2):
            page = await env.reset(task, 7)
            seen.append((page, env.goal))
            assert env.goal and page.tree.startswith("RootWebArea "), task
            assert page.url == f"http://miniwob.localhost/miniwob/{task}.html"
            parse_tree(page.tree)
        assert seen[0] == seen[1], task
    await env.close()

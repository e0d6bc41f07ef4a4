"""One suite for every Environment: the toy site, the dream, the dream at a server, the real browser."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from tests.conformance.cases import Case
from tests.conformance.worlds import browser_case, dream_case, remote_case, toy_case

from dynaweb.axtree.gate import check_action
from dynaweb.axtree.tree import read_tree
from dynaweb.contracts import Environment, StepResult
from dynaweb.errors import UserError
from dynaweb.records.action import Action, Click, Fill, GoBack, SelectOption, TabFocus
from dynaweb.records.observation import Observation
from dynaweb.records.trajectory import Fault


@pytest.fixture(
    params=["toy", "dream", "remote", pytest.param("browser", marks=pytest.mark.browser)],
)
async def case(request: pytest.FixtureRequest) -> AsyncIterator[Case]:
    if request.param == "toy":
        yield toy_case()
    elif request.param == "dream":
        yield dream_case()
    elif request.param == "remote":
        async with remote_case() as far:
            yield far
    else:
        async with browser_case() as live:
            yield live


def bid_of(page: Observation, role: str, name: str) -> str:
    found = [n.bid for n in read_tree(page.tree) if n.role == role and n.name == name]
    assert len(found) == 1 and found[0] is not None, f"no one {role} {name!r} in {page.tree}"
    return found[0]


async def solve(env: Environment, page: Observation, case: Case, done: int = 0) -> list[StepResult]:
    results: list[StepResult] = []
    for i in range(done, case.n_steps):
        result = await env.step(case.next_action(env.goal, page, i))
        page = result.observation
        results.append(result)
    return results


async def test_reset_shows_a_page_and_a_goal(case: Case) -> None:
    env = await case.make()
    page = await env.reset(case.task, 3, await case.start(3))
    assert env.goal.strip()
    assert page.tree.startswith("RootWebArea")
    assert page.last_action_error == ""
    bids = [n.bid for n in read_tree(page.tree) if n.bid is not None]
    assert len(bids) == len(set(bids)) and all(b.isdigit() for b in bids)
    await env.close()


async def test_a_solver_ends_the_episode(case: Case) -> None:
    env = await case.make()
    page = await env.reset(case.task, 3, await case.start(3))
    results = await solve(env, page, case)
    assert [r.terminated for r in results] == [False] * (case.n_steps - 1) + [True]
    assert not any(r.truncated for r in results)
    assert all(r.fault is None for r in results)
    assert results[-1].reward in ((None,) if env.world == "dream" else (1.0,))
    assert all(r.reward is None for r in results[:-1])
    await env.close()


async def test_same_seed_same_episode_and_other_seeds_differ(case: Case) -> None:
    env = await case.make()
    seen = []
    for seed in (3, 3, 4, 5, 6):
        page = await env.reset(case.task, seed, await case.start(seed))
        goal = env.goal
        pages = [r.observation for r in await solve(env, page, case)]
        seen.append((goal, page, tuple(pages[:-1])))
    assert seen[0] == seen[1]
    assert len({goal for goal, _, _ in seen}) > 1
    await env.close()


def bad_actions(page: Observation, case: Case) -> list[tuple[Action, Fault]]:
    button = bid_of(page, "button", case.button)
    bad: list[tuple[Action, Fault]] = [
        (Click("9999"), Fault.MISSING_ELEMENT),
        (Fill("9999", "x"), Fault.MISSING_ELEMENT),
        (Fill(button, "x"), Fault.NOT_EDITABLE),
        (SelectOption(button, ("x",)), Fault.NOT_AN_OPTION),
        (TabFocus(7), Fault.IMPOSSIBLE),
        (GoBack(), Fault.IMPOSSIBLE),
    ]
    if case.disabled is not None:
        bad.append((Click(bid_of(page, "button", case.disabled)), Fault.DISABLED))
    return bad


async def test_a_bad_action_is_the_same_error_everywhere(case: Case) -> None:
    env = await case.make()
    first = await env.reset(case.task, 3, await case.start(3))
    for action, fault in bad_actions(first, case):
        page = await env.reset(case.task, 3, await case.start(3))
        expected = check_action(page, action)
        assert expected is not None and expected[0] is fault
        result = await env.step(action)
        assert (result.fault, result.observation.last_action_error) == expected
        assert result.observation.tree == page.tree
        assert result.reward is None and not result.terminated and not result.truncated
    await env.close()


async def test_the_episode_goes_on_after_a_bad_action(case: Case) -> None:
    env = await case.make()
    await env.reset(case.task, 3, await case.start(3))
    page = (await env.step(Click("9999"))).observation
    assert page.last_action_error
    results = await solve(env, page, case)
    assert results[0].observation.last_action_error == ""
    assert results[-1].terminated
    await env.close()


async def test_restore_goes_back_to_the_snapshot(case: Case) -> None:
    env = await case.make()
    page = await env.reset(case.task, 3, await case.start(3))
    middle = (await env.step(case.next_action(env.goal, page, 0))).observation
    state = await env.snapshot()
    assert state.observation == middle
    assert (state.task, state.seed, state.goal) == (case.task, 3, env.goal)
    assert len(state.prefix) == len(state.past) == 1
    await env.step(Click(bid_of(middle, "button", case.button)))
    assert await env.restore(state) == middle
    assert (await solve(env, middle, case, done=1))[-1].terminated
    await env.close()


async def test_a_snapshot_is_a_start_for_another_environment(case: Case) -> None:
    one, other = await case.make(), await case.make()
    page = await one.reset(case.task, 3, await case.start(3))
    middle = (await one.step(case.next_action(one.goal, page, 0))).observation
    state = await one.snapshot()
    assert await other.reset(case.task, 3, state) == middle
    assert other.goal == one.goal
    assert (await solve(other, middle, case, done=1))[-1].terminated
    await one.close()
    await other.close()


async def test_many_side_by_side_are_as_alone(case: Case) -> None:
    async def run(seed: int) -> tuple[str, tuple[Observation, ...]]:
        env = await case.make()
        page = await env.reset(case.task, seed, await case.start(seed))
        goal = env.goal
        results = await solve(env, page, case)
        await env.close()
        return goal, (page, *(r.observation for r in results[:-1]))

    alone = [await run(seed) for seed in range(4)]
    assert list(await asyncio.gather(*(run(seed) for seed in range(4)))) == alone


async def test_a_task_that_does_not_exist_is_the_callers_mistake(case: Case) -> None:
    env = await case.make()
    with pytest.raises(UserError, match="no-such-task"):
        await env.reset("no-such-task", 3, await case.start(3))
    await env.close()


async def test_close_twice(case: Case) -> None:
    env = await case.make()
    await env.reset(case.task, 3, await case.start(3))
    await env.close()
    await env.close()

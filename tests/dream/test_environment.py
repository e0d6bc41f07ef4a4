"""What only a dream does; what it shares with every world is in tests/conformance."""

import pytest
from tests.conformance.toy import (
    FIELD,
    FORM_TAB,
    NOTES_TAB,
    SECOND,
    SUBMIT,
    ToyEnvironment,
    table_of,
)

from dynaweb.contracts import Imagine, Prediction, PredictionStatus
from dynaweb.dream.config import DreamConfig
from dynaweb.dream.environment import DreamEnvironment
from dynaweb.errors import UserError, WorldModelError
from dynaweb.records.action import Action, Click, Fill, SendMsgToUser
from dynaweb.records.observation import Observation
from dynaweb.records.trajectory import Fault, Start


async def start_of(task: str = "toy-check", seed: int = 3) -> Start:
    toy = ToyEnvironment()
    await toy.reset(task, seed)
    return await toy.snapshot()


class Table:
    """The toy's table, with every question written down."""

    def __init__(self) -> None:
        self._table = table_of(range(3, 4))
        self.asked: list[Imagine] = []

    async def ask(self, question: Imagine) -> Prediction:
        self.asked.append(question)
        return self._table.predict([question])[0]


async def begin(config: DreamConfig | None = None) -> tuple[DreamEnvironment, Table, Start]:
    table = Table()
    env = DreamEnvironment(table.ask, config or DreamConfig())
    start = await start_of()
    await env.reset(start.task, start.seed, start)
    return env, table, start


async def test_a_dream_needs_a_start_of_its_task() -> None:
    env, _, start = await begin()
    with pytest.raises(UserError, match="needs a start"):
        await env.reset("toy-check", 3)
    with pytest.raises(UserError, match="seed 4"):
        await env.reset("toy-check", 4, start)


async def test_bad_actions_never_reach_the_world_model() -> None:
    env, table, _ = await begin()
    result = await env.step(Click("99"))
    assert result.fault is Fault.MISSING_ELEMENT and table.asked == []


async def test_no_usable_page_is_the_world_models_fault() -> None:
    env, _, _ = await begin()
    with pytest.raises(WorldModelError, match="no usable page after fill"):
        await env.step(Fill(FIELD, "never seen"))


async def test_it_is_cut_after_its_steps_bad_ones_included() -> None:
    env, _, _ = await begin(DreamConfig(max_steps=3))
    actions: list[Action] = [Click(SECOND), Click("99"), Click(FIELD)]
    results = [await env.step(a) for a in actions]
    assert [r.truncated for r in results] == [False, False, True]
    assert not any(r.terminated for r in results)
    with pytest.raises(UserError, match="over"):
        await env.step(Click(SECOND))


async def test_a_terminal_page_ends_it_without_a_reward() -> None:
    env, _, _ = await begin()
    result = await env.step(Click(SUBMIT))
    assert result.terminated and not result.truncated and result.reward is None


async def test_an_answer_ends_it_without_asking_the_world_model() -> None:
    env, table, start = await begin()
    result = await env.step(SendMsgToUser("42"))
    assert result.terminated and table.asked == []
    assert result.observation == start.observation


@pytest.mark.parametrize("stop", [True, False])
async def test_going_round_in_circles_is_cut(stop: bool) -> None:
    env, _, _ = await begin(DreamConfig(max_steps=8, stop_loops=stop))
    tabs = [NOTES_TAB, FORM_TAB, NOTES_TAB, FORM_TAB]
    results = [await env.step(Click(t)) for t in tabs]
    assert any(r.truncated for r in results) is stop
    assert not any(r.truncated for r in results[:2])


async def test_standing_still_is_not_going_round() -> None:
    env, _, _ = await begin(DreamConfig(max_steps=8))
    results = [await env.step(Click(FIELD)) for _ in range(5)]
    assert not any(r.truncated for r in results)


async def test_the_world_model_sees_the_pages_and_not_the_goal() -> None:
    env, table, start = await begin()
    await env.step(Click(SECOND))
    await env.step(Click(FIELD))
    question = table.asked[1]
    assert question.goal is None
    assert len(question.history) == 2 and question.history[0] == start.observation
    assert question.action == Click(FIELD)
    shown, told, _ = await begin(DreamConfig(show_goal=True))
    await shown.step(Click(SECOND))
    assert told.asked[0].goal == start.goal


async def test_the_same_actions_ask_the_same_questions() -> None:
    asked = []
    for _ in range(2):
        env, table, _ = await begin()
        await env.step(Click(SECOND))
        await env.step(Click(FIELD))
        asked.append(table.asked)
    assert asked[0] == asked[1]
    assert asked[0][0].seed != asked[0][1].seed


async def test_a_dream_from_the_middle_sees_the_history() -> None:
    env, _, _ = await begin()
    await env.step(Click(SECOND))
    middle = await env.snapshot()
    table = Table()
    other = DreamEnvironment(table.ask, DreamConfig(max_steps=2))
    await other.reset(middle.task, middle.seed, middle)
    await other.step(Click(FIELD))
    assert [len(q.history) for q in table.asked] == [2]
    assert (await other.step(Click(FIELD))).truncated, "two steps of its own, whatever came before"


async def test_restoring_keeps_count_of_the_steps() -> None:
    env, _, start = await begin(DreamConfig(max_steps=2))
    await env.step(Click(SECOND))
    middle = await env.snapshot()
    await env.step(Click(FIELD))
    await env.restore(middle)
    assert (await env.step(Click(FIELD))).truncated
    await env.restore(start)
    assert not (await env.step(Click(SECOND))).truncated


async def test_a_fault_found_by_the_world_model_is_the_policys() -> None:
    start = await start_of()
    told = Observation(url="u", title="t", tree=start.observation.tree, last_action_error="covered")

    async def refuse(question: Imagine) -> Prediction:
        return Prediction(
            observation=told,
            delta=None,
            status=PredictionStatus.OK,
            confidence=1.0,
            fault=Fault.IMPOSSIBLE,
        )

    env = DreamEnvironment(refuse, DreamConfig())
    await env.reset(start.task, start.seed, start)
    result = await env.step(Click(SECOND))
    assert result.fault is Fault.IMPOSSIBLE and result.observation.last_action_error == "covered"
    assert result.observation.tree == start.observation.tree


async def test_before_reset_and_after_close() -> None:
    env = DreamEnvironment(Table().ask, DreamConfig())
    for act in (env.snapshot(), env.step(Click("1"))):
        with pytest.raises(UserError, match="before reset"):
            await act
    await env.close()
    await env.close()


def test_bad_settings_are_named() -> None:
    with pytest.raises(UserError, match="max_steps 0"):
        DreamConfig(max_steps=0)

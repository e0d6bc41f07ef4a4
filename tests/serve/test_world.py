import asyncio
import itertools
import json
from collections.abc import Iterator, Sequence

import httpx2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conformance.toy import ToyEnvironment
from tests.conformance.worlds import toy_table
from tests.records.strategies import observations
from tests.serve.running import running

from dynaweb.contracts import Environment, Imagine, Prediction, PredictionStatus
from dynaweb.dream.config import DreamConfig
from dynaweb.errors import SamplerError, UserError, WorldModelError
from dynaweb.records.action import Click, Fill
from dynaweb.records.trajectory import Fault, Start
from dynaweb.serve.batcher import BusyError
from dynaweb.serve.client import DreamServer
from dynaweb.serve.config import ServeConfig
from dynaweb.serve.dreams import OpenDreams
from dynaweb.serve.wire import from_json, to_json
from dynaweb.serve.world import world_app


async def start_of(seed: int) -> Start:
    toy = ToyEnvironment()
    await toy.reset("toy-check", seed)
    return await toy.snapshot()


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with running(world_app(toy_table(), DreamConfig(max_steps=3), ServeConfig())) as address:
        yield address


async def test_predictions_are_those_of_the_world_model(url: str) -> None:
    starts = [await start_of(seed) for seed in range(4)]
    questions = [
        Imagine(history=(s.observation,), action=action)
        for s in starts
        for action in (Click("3"), Fill("5", "it's\n\u2028 \ud800"), Click("99"))
    ]
    async with DreamServer(url) as server:
        far = await asyncio.gather(*(server.predict(q) for q in questions))
        assert list(far) == toy_table().predict(questions)
        assert (await server.about()).version == toy_table().version


async def test_one_page_and_an_action_are_enough(url: str) -> None:
    start = await start_of(0)
    body = {"observation": to_json(start.observation), "action": "click('3')"}
    answer = httpx2.post(f"{url}/v1/predict", json=body)
    (near,) = toy_table().predict([Imagine(history=(start.observation,), action=Click("3"))])
    assert from_json(Prediction, answer.json(), "answer") == near


@settings(max_examples=30, deadline=None)
@given(page=observations, confidence=st.floats(0, 1), status=st.sampled_from(PredictionStatus))
def test_predictions_come_back_as_they_were(page, confidence, status) -> None:  # type: ignore[no-untyped-def]
    prediction = Prediction(
        observation=page,
        delta=None,
        status=status,
        confidence=confidence,
        fault=Fault.DISABLED,
        raw_text=page.title,
    )
    assert from_json(Prediction, json.loads(json.dumps(to_json(prediction))), "x") == prediction


async def test_the_dream_ends_there_as_it_ends_here(url: str) -> None:
    start = await start_of(1)
    async with DreamServer(url) as server:
        dream = server.environment()
        await dream.reset(start.task, start.seed, start)
        results = [await dream.step(Click("99")) for _ in range(3)]
        assert [r.truncated for r in results] == [False, False, True]
        assert results[0].fault is Fault.MISSING_ELEMENT
        with pytest.raises(UserError, match="this dream is over"):
            await dream.step(Click("3"))
        await dream.close()
        with pytest.raises(UserError, match="no dream has begun"):
            await dream.step(Click("3"))


async def test_a_start_is_needed_and_errors_keep_their_meaning(url: str) -> None:
    async with DreamServer(url) as server:
        dream = server.environment()
        with pytest.raises(UserError, match="needs a start"):
            await dream.reset("toy-check", 0)
        with pytest.raises(UserError, match="no dream has begun"):
            await dream.snapshot()
    assert httpx2.get(f"{url}/health").json()["episodes"] == 0


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/v1/predict", {"action": "click('1')"}, 400),
        ("/v1/predict", {"history": [], "action": "click('1')"}, 400),
        ("/v1/predict", {"observation": {"url": 7}, "action": "click('1')"}, 400),
        ("/v1/predict", {"observation": {}, "action": "import os"}, 400),
        ("/v1/predict", [], 400),
        ("/v1/episodes", {"task": "x"}, 400),
        ("/v1/episodes/nothing/step", {"action": "click('1')"}, 404),
        ("/v1/nothing", {}, 404),
    ],
)
def test_bad_requests_are_named(url: str, path: str, body: object, status: int) -> None:
    answer = httpx2.post(f"{url}{path}", json=body)
    assert answer.status_code == status, answer.text
    assert answer.json()["error"]["message"]


class Failing:
    version = "failing"

    def __init__(self) -> None:
        self.turns = itertools.count()

    def predict(self, questions: Sequence[Imagine]) -> list[Prediction]:
        if any(isinstance(q.action, Click) and q.action.bid == "3" for q in questions):
            raise SamplerError("the model fell over")
        return [
            Prediction(
                observation=q.history[-1],
                delta=None,
                status=PredictionStatus.INVALID,
                confidence=0.0,
                raw_text="blah",
            )
            for q in questions
        ]


async def test_faults_of_the_world_are_not_the_policys() -> None:
    with running(world_app(Failing(), DreamConfig(), ServeConfig())) as url:
        start = await start_of(0)
        async with DreamServer(url) as server:

            async def one(bid: str) -> str:
                dream = server.environment()
                await dream.reset(start.task, start.seed, start)
                try:
                    await dream.step(Click(bid))
                except (SamplerError, WorldModelError) as error:
                    return f"{type(error).__name__}: {error}"
                return "?"

            said = await asyncio.gather(*(one(bid) for bid in "345347"))
    assert [s.partition(":")[0] for s in said] == [
        "SamplerError" if bid == "3" else "WorldModelError" for bid in "345347"
    ]
    assert "fell over" in said[0] and "blah" in said[1]


async def test_a_server_that_has_gone_is_the_worlds_fault() -> None:
    start = await start_of(0)
    with running(world_app(toy_table(), DreamConfig(), ServeConfig())) as url:
        async with DreamServer(url) as server:
            dream = server.environment()
            await dream.reset(start.task, start.seed, start)
    async with DreamServer(url, deadline_sec=5) as server:
        with pytest.raises(WorldModelError, match="serve world"):
            await server.environment().reset(start.task, start.seed, start)
        lost = server.environment()
        await lost.close()


async def test_a_dream_that_the_server_lost_is_the_worlds_fault(url: str) -> None:
    start = await start_of(0)
    async with DreamServer(url) as server:
        dream = server.environment()
        await dream.reset(start.task, start.seed, start)
        await server.send("DELETE", f"/episodes/{dream._episode}", None)
        with pytest.raises(WorldModelError, match="is open here"):
            await dream.step(Click("3"))
        await dream.close()


async def test_what_is_turned_away_waits_for_its_turn() -> None:
    start = await start_of(0)
    config = ServeConfig(max_episodes=1)
    with running(world_app(toy_table(), DreamConfig(), config)) as url:
        async with DreamServer(url, deadline_sec=20) as server:
            first, second = server.environment(), server.environment()
            await first.reset(start.task, start.seed, start)
            waiting = asyncio.create_task(second.reset(start.task, start.seed, start))
            await asyncio.sleep(0.3)
            assert not waiting.done()
            await first.close()
            assert await waiting == start.observation
        async with DreamServer(url, deadline_sec=0.5) as server:
            with pytest.raises(WorldModelError, match=r"within 0\.5 s"):
                await server.environment().reset(start.task, start.seed, start)


async def test_forgotten_dreams_give_way() -> None:
    now = 0.0

    def make() -> Environment:
        return ToyEnvironment()

    dreams = OpenDreams(make, most=2, idle_sec=10, clock=lambda: now)
    (old, _), (fresh, _) = await dreams.open(), await dreams.open()
    now = 9.0
    dreams.get(fresh)
    with pytest.raises(BusyError):
        await dreams.open()
    now = 11.0
    await dreams.open()
    assert dreams.forgotten == 1 and len(dreams) == 2
    dreams.get(fresh)
    with pytest.raises(WorldModelError):
        dreams.get(old)
    await dreams.close(old)


async def test_another_schema_is_refused() -> None:
    from tests.lm.hostile import serving

    with serving(iter([])) as other:  # answers no GET
        async with DreamServer(other.url, deadline_sec=5) as server:
            with pytest.raises(WorldModelError, match="serve world"):
                await server.about()


async def test_a_start_with_its_way_is_taken_over(url: str) -> None:
    start = await start_of(2)
    async with DreamServer(url) as server:
        dream = server.environment()
        await dream.reset(start.task, start.seed, start)
        await dream.step(Click("3"))
        state = await dream.snapshot()
        other = server.environment()
        assert await other.restore(state) == state.observation
        assert await other.snapshot() == state
        await dream.close()
        await other.close()

"""The agent loop for verl: everything real (policy, dreams, judge) but verl itself, which cannot be installed here."""

import asyncio
import dataclasses
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pyarrow.parquet as pq
import pytest
from pydantic import BaseModel, ConfigDict
from tests.conformance.toy import RuleJudge
from tests.gspo import toys
from transformers import PreTrainedModel

from dynaweb.agent.lm_agent import act_prompt
from dynaweb.contracts import SampleRequest
from dynaweb.dream.config import DreamConfig
from dynaweb.errors import MissingDependencyError, UserError
from dynaweb.lm.language import Language
from dynaweb.lm.sampler import TorchSampler
from dynaweb.recipes.verl.files import LOOP, TARGET, write_verl_files
from dynaweb.recipes.verl.loop import DreamAgentLoop, Dreaming, dream_agent_loop, dreaming
from dynaweb.records.trajectory import Outcome, Trajectory, Verdict

pytestmark = pytest.mark.usefixtures("one_thread")


class AgentLoopMetrics(BaseModel):
    generate_sequences: float = 0.0
    tool_calls: float = 0.0


class AgentLoopOutput(BaseModel):
    """The fields of verl 0.9.1; a name that it does not know fails here."""

    model_config = ConfigDict(extra="forbid")

    prompt_ids: list[int]
    response_ids: list[int]
    response_mask: list[int]
    response_logprobs: list[float] | None = None
    reward_score: float | None = None
    num_turns: int = 0
    metrics: AgentLoopMetrics
    extra_fields: dict[str, dict[str, float]] = {}


class Manager:
    """verl's server manager over a real policy."""

    def __init__(self, policy: PreTrainedModel) -> None:
        self.sampler = TorchSampler(policy, toys.tokenizer(), "toy")
        self.asked: list[dict[str, object]] = []

    async def generate(
        self, request_id: str, *, prompt_ids: list[int], sampling_params: dict[str, object]
    ) -> SimpleNamespace:
        assert request_id
        self.asked.append(sampling_params)
        limit, seed = sampling_params["max_tokens"], sampling_params["seed"]
        assert isinstance(limit, int) and isinstance(seed, int)
        request = SampleRequest(
            prompt_ids=tuple(prompt_ids), max_new_tokens=limit, temperature=1.0, seed=seed
        )
        (g,) = self.sampler.sample([request])
        return SimpleNamespace(token_ids=list(g.completion_ids), log_probs=list(g.logprobs))


@pytest.fixture(scope="module")
def policy(tmp_path_factory: pytest.TempPathFactory) -> PreTrainedModel:
    return toys.half_trained(tmp_path_factory.mktemp("sft"))


def shared(judge: object = None, **more: int) -> Dreaming:
    settings = {"max_new_tokens": 12, "prompt_length": 512, **more}
    return dreaming(
        Language(toys.tokenizer()),
        toys.table(),
        judge or RuleJudge(),  # type: ignore[arg-type]
        DreamConfig(),
        **settings,
    )


@pytest.fixture(scope="module")
def column(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Starts as they come out of the dataset."""
    made = write_verl_files(
        toys.starts(),
        tmp_path_factory.mktemp("verl"),
        policy=Path("agent"),
        world=Path("world: 'odd'"),
        max_steps=5,
        max_new_tokens=12,
    )
    table = pq.read_table(made.starts)
    assert table.num_rows == made.rows == len(toys.starts())
    assert set(table.column("agent_name").to_pylist()) == {LOOP}
    lines = made.loop.read_text().splitlines()
    assert lines[0] == f'- name: "{LOOP}"' and lines[1] == f'  _target_: "{TARGET}"'
    assert json.loads(lines[3].partition(": ")[2]).endswith("world: 'odd'")
    starts = table.column("start").to_pylist()
    assert all(isinstance(s, str) for s in starts)
    return starts


SAMPLING = {"temperature": 1.0, "top_p": 1.0, "top_k": -1, "logprobs": True}


def test_an_attempt_is_rows_of_replies(
    policy: PreTrainedModel, column: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    module = ModuleType("verl.experimental.agent_loop.agent_loop")
    module.AgentLoopOutput = AgentLoopOutput  # type: ignore[attr-defined]
    for name in ("verl", "verl.experimental", "verl.experimental.agent_loop"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    monkeypatch.setitem(sys.modules, module.__name__, module)
    manager, together = Manager(policy), shared()

    async def group() -> list[list[AgentLoopOutput]]:
        loops = [
            DreamAgentLoop(manager, together).run(SAMPLING, start=s, uid="u", session_id=i)
            for s in column
            for i in range(4)
        ]
        return await asyncio.gather(*loops)  # type: ignore[arg-type]

    outputs = asyncio.run(group())
    rewards = {o[-1].reward_score for o in outputs}
    assert rewards == {0.0, 1.0}, "the half-trained policy does both"
    firsts = [p.start for p in toys.starts() for _ in range(4)]
    for start, rows in zip(firsts, outputs, strict=True):
        prompt = act_prompt(start.goal, start.past, start.observation)
        assert rows[0].prompt_ids == list(together.language.encode(prompt).ids)
        assert rows[0].num_turns == 2 * len(rows)
        for row in rows:
            assert len(row.response_ids) == len(row.response_mask) > 0
            assert set(row.response_mask) == {1}
            assert row.response_logprobs is not None
            assert len(row.response_logprobs) == len(row.response_ids)
            assert row.reward_score == rows[-1].reward_score
            info = row.extra_fields["reward_extra_info"]
            assert info == {"unknown": 0.0, "steps": float(len(rows))}
            assert row.metrics.generate_sequences > 0.0
    assert all(a["stop_token_ids"] == [1] and a["top_p"] == 1.0 for a in manager.asked)


class NeverSure:
    def __init__(self) -> None:
        self.asked = 0

    def judge(self, trajectories: Sequence[Trajectory]) -> list[Verdict]:
        self.asked += len(trajectories)
        return [Verdict(outcome=Outcome.UNKNOWN) for _ in trajectories]


def test_what_nobody_knows_is_tried_again_and_then_masked(
    policy: PreTrainedModel, column: list[str]
) -> None:
    judge = NeverSure()
    loop = DreamAgentLoop(Manager(policy), shared(judge, max_new_tokens=12))
    rows = [
        asyncio.run(loop.rows(SAMPLING, {"start": column[0], "uid": f"u{i}"})) for i in range(4)
    ]
    unknown = [r for r in rows if r[0]["extra_fields"] != {"reward_extra_info": known(len(r))}]
    assert judge.asked >= 2 and unknown, "every attempt that ended was asked about twice"
    for attempt in unknown:
        for row in attempt:
            assert row["reward_score"] == 0.0
            assert set(row["response_mask"]) == {0}  # type: ignore[call-overload]


def known(steps: int) -> dict[str, float]:
    return {"unknown": 0.0, "steps": float(steps)}


def test_a_prompt_is_never_cut(policy: PreTrainedModel, column: list[str]) -> None:
    manager = Manager(policy)
    loop = DreamAgentLoop(manager, dataclasses.replace(shared(), prompt_length=10))
    (row,) = asyncio.run(loop.rows(SAMPLING, {"start": column[0]}))
    assert not manager.asked
    assert row["response_mask"] == [0] and row["response_ids"] == [1]
    assert len(row["prompt_ids"]) == 10  # type: ignore[arg-type]


def test_what_is_wrong_is_said(policy: PreTrainedModel, column: list[str], tmp_path: Path) -> None:
    loop = DreamAgentLoop(Manager(policy), shared())
    for params, fields, said in (
        ({**SAMPLING, "top_p": 0.9}, {"start": column[0]}, r"rollout\.top_p 0\.9"),
        (SAMPLING, {}, "no column 'start'"),
        (SAMPLING, {"start": "{"}, "damaged"),
        (SAMPLING, {"start": "{}"}, "damaged"),
    ):
        with pytest.raises(UserError, match=said):
            asyncio.run(loop.rows(params, fields))
    with pytest.raises(MissingDependencyError, match="verl is not installed"):
        asyncio.run(loop.run(SAMPLING, start=column[0]))
    rollout = SimpleNamespace(response_length=8, prompt_length=64)
    config = SimpleNamespace(actor_rollout_ref=SimpleNamespace(rollout=rollout))
    with pytest.raises(UserError, match="no world model"):
        dream_agent_loop(
            trainer_config=SimpleNamespace(config=config),
            server_manager=Manager(policy),
            policy=str(tmp_path),
            world=str(tmp_path),
            tokenizer=None,
        )

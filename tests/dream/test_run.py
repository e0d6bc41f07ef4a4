from collections.abc import Sequence

import pytest
from tests.conformance.toy import FIRST, SECOND, SUBMIT, RuleJudge, TableWorldModel, table_of
from tests.gspo.toys import SEEDS, starts
from tests.lm.letters import LETTERS

from dynaweb.agent.lm_agent import AgentConfig
from dynaweb.contracts import SampleRequest
from dynaweb.dream.config import DreamConfig
from dynaweb.dream.run import Dreamers, DreamRequest, dream
from dynaweb.errors import SamplerError
from dynaweb.records.action import Click, print_action
from dynaweb.records.seeds import derive_seed
from dynaweb.records.trajectory import Behaviour, Generation, Outcome, Reason, Trajectory, World


class Coin:
    """A sampler whose reply depends on the request's seed alone: a box, submit, or nonsense."""

    version = "coin"

    def __init__(self) -> None:
        self.batches: list[int] = []

    def sample(self, requests: Sequence[SampleRequest]) -> list[Generation]:
        self.batches.append(len(requests))
        return [self._one(r) for r in requests]

    def _one(self, r: SampleRequest) -> Generation:
        texts = (
            print_action(Click(SECOND)),
            print_action(Click(SUBMIT)),
            print_action(Click(FIRST)),
            "I would rather not.",
        )
        return Generation(
            prompt_ids=r.prompt_ids,
            completion_ids=(7,),
            logprobs=(-0.1,),
            temperature=r.temperature,
            seed=r.seed,
            policy_version=self.version,
            raw_text=texts[r.seed % 4],
            finish="stop",
        )


class Counting(RuleJudge):
    def __init__(self) -> None:
        self.batches: list[int] = []

    def judge(self, trajectories: list[Trajectory]):
        self.batches.append(len(trajectories))
        return super().judge(trajectories)


def who(sampler: Coin, world: TableWorldModel, judge: RuleJudge) -> Dreamers:
    return Dreamers(
        sampler=sampler,
        language=LETTERS,
        agent=AgentConfig(temperature=1.0),
        world=world,
        judge=judge,
        config=DreamConfig(),
    )


def requests(n: int) -> list[DreamRequest]:
    places = starts()
    return [
        DreamRequest(name=f"d{i}", start=places[i % len(places)].start, seed=i) for i in range(n)
    ]


def test_dreams_that_wait_are_answered_together() -> None:
    sampler, judge, world = Coin(), Counting(), table_of(SEEDS)
    trajectories = dream(requests(40), who(sampler, world, judge))
    assert [t.trajectory_id for t in trajectories] == [f"d{i}" for i in range(40)]
    assert sampler.batches[0] == 40 and sampler.batches == sorted(sampler.batches, reverse=True)
    assert len(sampler.batches) <= 5 and len(world.batches) <= 5
    assert len(judge.batches) == 1
    assert sum(sampler.batches) == sum(len(t.steps) for t in trajectories)


def test_a_dream_does_not_depend_on_its_neighbours() -> None:
    world = table_of(SEEDS)
    together = dream(requests(12), who(Coin(), world, RuleJudge()))
    alone = [dream([r], who(Coin(), world, RuleJudge()))[0] for r in requests(12)]
    assert together == alone


def test_one_prompt_that_is_refused_breaks_one_dream() -> None:
    class Short(Coin):
        def _one(self, r: SampleRequest) -> Generation:
            if r.seed == bad:
                raise SamplerError("prompt too long")
            return super()._one(r)

    bad = derive_seed(5, "step", 0)
    trajectories = dream(requests(12), who(Short(), table_of(SEEDS), RuleJudge()))
    broken = [t.trajectory_id for t in trajectories if t.reason is Reason.SAMPLER_FAULT]
    assert broken == ["d5"]
    rest = [t for t in trajectories if t.trajectory_id != "d5"]
    good = dream(requests(12), who(Coin(), table_of(SEEDS), RuleJudge()))
    assert rest == [t for t in good if t.trajectory_id != "d5"]


def test_a_bug_escapes_and_leaves_nothing_waiting() -> None:
    class Buggy(TableWorldModel):
        def predict(self, questions):
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        dream(requests(4), who(Coin(), Buggy(), RuleJudge()))


def test_no_requests_no_dreams() -> None:
    assert dream([], who(Coin(), TableWorldModel(), RuleJudge())) == []


def test_every_dream_says_how_it_ended() -> None:
    trajectories = dream(requests(60), who(Coin(), table_of(SEEDS), RuleJudge()))
    outcomes = {t.outcome for t in trajectories}
    assert outcomes == {Outcome.SUCCESS, Outcome.FAILURE}
    for t in trajectories:
        assert (t.world, t.behaviour) == (World.DREAM, Behaviour.AGENT)
        assert (t.policy_version, t.world_model_version) == ("coin", "table")
        assert t.reason in (Reason.TASK_ENDED, Reason.OUT_OF_STEPS)
        assert len(t.steps) <= 5


def test_a_world_model_without_an_answer_leaves_the_outcome_unknown() -> None:
    trajectories = dream(requests(20), who(Coin(), TableWorldModel(), RuleJudge()))
    acted = [t for t in trajectories if any(s.action is not None for s in t.steps)]
    assert acted
    for t in acted:
        assert (t.outcome, t.reason) == (Outcome.UNKNOWN, Reason.WORLD_MODEL_FAULT)
        assert "WorldModelError" in t.detail

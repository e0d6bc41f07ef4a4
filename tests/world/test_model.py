"""Prediction: rules answer alone, bad words are never a page, one answer per question."""

from collections.abc import Callable, Sequence

import pytest
from tests.conformance.toy import FIELD, FIRST, LOCKED, NOTES_TAB, SUBMIT, first_site, show
from tests.lm.letters import LETTERS

from dynaweb.contracts import Imagine, PredictionStatus, SampleRequest, WorldModel
from dynaweb.errors import UserError
from dynaweb.records.action import Action, Click, Fill, Noop, SendMsgToUser
from dynaweb.records.trajectory import Fault, Generation
from dynaweb.world.config import WorldModelConfig
from dynaweb.world.model import PatchWorldModel

PAGE = show(first_site(0))


class Scripted:
    """A sampler that answers by a function of the prompt and of how often it was asked."""

    version = "scripted-1"

    def __init__(self, answer: Callable[[str, SampleRequest], str], finish: str = "stop") -> None:
        self._answer = answer
        self._finish = finish
        self.asked: list[SampleRequest] = []
        self.batches: list[int] = []

    def sample(self, requests: Sequence[SampleRequest]) -> list[Generation]:
        self.batches.append(len(requests))
        self.asked += requests
        return [self._one(r) for r in requests]

    def _one(self, r: SampleRequest) -> Generation:
        text = self._answer("".join(map(chr, r.prompt_ids)), r)
        return Generation(
            prompt_ids=r.prompt_ids,
            completion_ids=(1, 2),
            logprobs=(-0.1, -0.3),
            temperature=r.temperature,
            seed=r.seed,
            policy_version=self.version,
            raw_text=text,
            finish=self._finish,
        )


def world(
    answer: str | Callable[[str, SampleRequest], str],
    config: WorldModelConfig | None = None,
    finish: str = "stop",
) -> tuple[PatchWorldModel, Scripted]:
    said = answer if callable(answer) else (lambda _p, _r: answer)
    sampler = Scripted(said, finish)
    return PatchWorldModel(sampler, LETTERS, config or WorldModelConfig()), sampler


def ask(action: Action, seed: int = 0) -> Imagine:
    return Imagine(history=(PAGE,), action=action, seed=seed)


def test_it_is_a_world_model_and_says_which() -> None:
    model, _ = world("none")
    contract: WorldModel = model
    assert contract.version == "scripted-1"


@pytest.mark.parametrize("action", [Click("99"), Click(LOCKED), Noop(), SendMsgToUser("done")])
def test_rules_answer_without_the_model(action: Action) -> None:
    model, sampler = world("end")
    (p,) = model.predict([ask(action)])
    assert p.by_rule and p.confidence == 1.0 and not sampler.asked
    assert p.terminal == isinstance(action, SendMsgToUser)
    assert (p.fault is not None) == isinstance(action, Click)


def test_the_model_adds_to_what_the_rules_did() -> None:
    model, sampler = world("[6] -disabled")
    (p,) = model.predict([ask(Fill(FIELD, "gold"))])
    assert "[5] textbox 'Word', value='gold'" in p.observation.tree
    assert "[6] button 'Reset'" in p.observation.tree and "disabled" not in p.observation.tree
    prompt = "".join(map(chr, sampler.asked[0].prompt_ids))
    assert "value='gold'" in prompt and "fill('5', 'gold') textbox 'Word'" in prompt
    assert p.status is PredictionStatus.OK and p.confidence == pytest.approx(0.8187, abs=1e-3)


def test_the_end_is_an_end() -> None:
    model, _ = world("end")
    (p,) = model.predict([ask(Click(SUBMIT))])
    assert p.terminal and p.status is PredictionStatus.OK


@pytest.mark.parametrize(
    "words", ["", "the page will change", "[99] -disabled", "[6] checked=", "```"]
)
def test_words_that_are_no_change_are_invalid_and_show_no_page(words: str) -> None:
    model, sampler = world(words)
    (p,) = model.predict([ask(Click(SUBMIT))])
    assert p.status is PredictionStatus.INVALID and not p.terminal and p.delta is None
    assert p.raw_text == words
    assert [r.temperature for r in sampler.asked] == [0.0, 0.7]


def test_a_reply_that_was_cut_off_is_invalid() -> None:
    model, _ = world("none", finish="length")
    assert model.predict([ask(Click(SUBMIT))])[0].status is PredictionStatus.INVALID


def test_a_second_try_that_works_is_marked() -> None:
    model, _ = world(lambda _p, r: "end" if r.temperature > 0 else "nonsense")
    assert model.predict([ask(Click(SUBMIT))])[0].status is PredictionStatus.REPAIRED


def test_a_question_that_is_too_long_is_not_cut() -> None:
    model, sampler = world("none", WorldModelConfig(max_prompt_tokens=10))
    assert model.predict([ask(Click(SUBMIT))])[0].status is PredictionStatus.INVALID
    assert not sampler.asked


def test_the_same_question_is_asked_once_and_answered_the_same() -> None:
    calls = iter(["none", "end", "end"])
    model, sampler = world(lambda _p, _r: next(calls))
    first = model.predict([ask(Click(NOTES_TAB), 1), ask(Click(NOTES_TAB), 2)])
    again = model.predict([ask(Click(NOTES_TAB), 3)])
    assert first == again * 2 and sampler.batches == [1]


def test_drawn_answers_depend_on_the_seed_of_the_question() -> None:
    config = WorldModelConfig(temperature=1.0)
    model, sampler = world("none", config)
    model.predict([ask(Click(NOTES_TAB), 1), ask(Click(NOTES_TAB), 2), ask(Click(NOTES_TAB), 1)])
    assert sampler.batches == [2] and len({r.seed for r in sampler.asked}) == 2


def test_order_and_batch_do_not_change_an_answer() -> None:
    def answer(prompt: str, r: SampleRequest) -> str:
        return "end" if str(r.seed)[-1] in "02468" and "Submit" in prompt else "none"

    questions = [ask(Click(b)) for b in (FIRST, SUBMIT, NOTES_TAB)]
    together = world(answer)[0].predict(questions)
    alone = [world(answer)[0].predict([q])[0] for q in questions[::-1]][::-1]
    assert together == alone


def test_the_memory_is_bounded() -> None:
    model, sampler = world("none", WorldModelConfig(cache_entries=1))
    for action in (Click(FIRST), Click(SUBMIT), Click(FIRST)):
        model.predict([ask(action)])
    assert sampler.batches == [1, 1, 1]


def test_a_batch_mixes_rules_and_model_in_order() -> None:
    model, sampler = world("none")
    answers = model.predict([ask(Click("99")), ask(Click(FIRST)), ask(Noop()), ask(Click(SUBMIT))])
    assert [p.by_rule for p in answers] == [True, False, True, False]
    assert answers[0].fault is Fault.MISSING_ELEMENT and sampler.batches == [2]


def test_bad_settings_are_refused() -> None:
    with pytest.raises(UserError, match="retries"):
        WorldModelConfig(retries=-1)

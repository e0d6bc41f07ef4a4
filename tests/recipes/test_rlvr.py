"""Reinforcing a patch model on what happened: grades, going on, and that the reward rises."""

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from statistics import fmean

import pytest
from tests.conformance.toy import TASKS
from tests.world.toys import expert, wanderer

from dynaweb.axtree.measure import facts
from dynaweb.axtree.text import print_delta
from dynaweb.errors import UserError
from dynaweb.gspo.config import UpdateConfig
from dynaweb.lm.config import ModelConfig
from dynaweb.lm.language import Language
from dynaweb.lm.tokenizer import load_language
from dynaweb.recipes.grading import Question, grade, questions_of
from dynaweb.recipes.rlvr import reinforce
from dynaweb.recipes.verifiable import Reward, RlvrConfig
from dynaweb.records.codec import dump
from dynaweb.records.delta import Delta, DeltaKind
from dynaweb.records.trajectory import Generation, Trajectory
from dynaweb.train.config import FitConfig, OptimizerConfig
from dynaweb.train.ranks import Ranks
from dynaweb.world.examples import change_after_rules
from dynaweb.world.steps import known_steps
from dynaweb.world.training import WorldTrainConfig
from dynaweb.world.tuning.run import TuningWish, tune
from dynaweb.world.tuning.settings import TuningConfig

pytestmark = pytest.mark.usefixtures("one_thread")

ATTEMPTS = [m(t, s) for t in TASKS for s in range(4) for m in (expert, wanderer)]
SHAPE = ModelConfig(hidden=48, layers=2, heads=4, ffn=96)
QUICK = RlvrConfig(
    steps=4,
    questions=6,
    replies=4,
    max_new_tokens=24,
    checkpoint_every=1,
    update=UpdateConfig(
        mini_batches=1, warmup_steps=2, optimizer=OptimizerConfig(name="adamw", learning_rate=2e-3)
    ),
)


def trained(folder: Path, attempts: list[Trajectory], steps: int) -> Path:
    file = folder / "toys.jsonl"
    file.write_text("".join(dump(t) + "\n" for t in attempts), encoding="utf-8")
    config = TuningConfig(
        model=SHAPE,
        vocab_size=400,
        pointers=False,
        data=WorldTrainConfig(renamed_copies=0, judge_fraction=0.1),
        fit=FitConfig(steps=steps, batch_tokens=1536, warmup_steps=5),
    )
    tune(TuningWish(sources=(file,), out=folder / "world", config=config), ranks=Ranks())
    return folder / "world"


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return trained(tmp_path_factory.mktemp("rlvr"), ATTEMPTS, 40)


@pytest.fixture(scope="module")
def questions(world: Path) -> list[Question]:
    return questions_of(ATTEMPTS, load_language(world), world, 2000)[0]


def said(language: Language, question: Question, words: str, finish: str = "stop") -> Generation:
    ids = language.encode_reply(question.prompt, words)
    return Generation(
        prompt_ids=question.prompt.ids,
        completion_ids=ids,
        logprobs=(-0.1,) * len(ids),
        temperature=1.0,
        seed=0,
        policy_version="test",
        raw_text=question.prompt.pointed.say(words),
        finish=finish,  # type: ignore[arg-type]  # one of its words
    )


def test_the_real_change_is_worth_one_and_no_change_or_nonsense_nothing(
    world: Path, questions: list[Question]
) -> None:
    language = load_language(world)
    kinds = set()
    for question in questions:
        truth = change_after_rules(question.ruled, question.known)
        kinds.add(truth.kind)
        for reward in Reward:
            right = grade(question, said(language, question, print_delta(truth)), reward)
            assert (right.reward, right.exact, right.invalid) == (1.0, True, False)
            wrong = grade(question, said(language, question, "gibberish ["), reward)
            assert (wrong.reward, wrong.invalid) == (0.0, True)
            cut = grade(question, said(language, question, print_delta(truth), "length"), reward)
            assert (cut.reward, cut.invalid) == (0.0, True)
            if truth.kind is not DeltaKind.NONE:
                idle = grade(
                    question,
                    said(language, question, print_delta(Delta(kind=DeltaKind.NONE))),
                    reward,
                )
                assert (idle.reward, idle.exact, idle.invalid) == (0.0, False, False)
    assert {DeltaKind.NONE, DeltaKind.LOCAL, DeltaKind.TERMINAL} <= kinds


def test_half_a_change_is_worth_its_f1(world: Path, questions: list[Question]) -> None:
    language = load_language(world)
    found = 0
    for question in questions:
        truth = change_after_rules(question.ruled, question.known)
        if truth.kind is not DeltaKind.LOCAL or len(truth.updated) < 2:
            continue
        half = replace(truth, updated=truth.updated[:1], deleted=(), placed=())
        graded = grade(question, said(language, question, print_delta(half)), Reward.F1)
        hits, wanted = sum(facts(half).values()), sum(facts(truth).values())
        assert graded.reward == pytest.approx(2 * hits / (hits + wanted))
        assert 0.0 < graded.reward < 1.0 and not graded.exact
        strict = grade(question, said(language, question, print_delta(half)), Reward.EXACT)
        assert strict.reward == 0.0
        found += 1
    assert found


class StoppedError(Exception):
    pass


def test_stopped_and_called_again_it_ends_in_the_same_bytes(world: Path, tmp_path: Path) -> None:
    def stop(stage: str, done: int, total: int | None, note: str = "") -> None:
        if done == 2:
            raise StoppedError

    straight = reinforce(world, ATTEMPTS, tmp_path / "straight", QUICK)
    with pytest.raises(StoppedError):
        reinforce(world, ATTEMPTS, tmp_path / "broken", QUICK, progress=stop)
    resumed = reinforce(world, ATTEMPTS, tmp_path / "broken", QUICK)
    one, other = (
        hashlib.sha256((tmp_path / n / "model.safetensors").read_bytes()).hexdigest()
        for n in ("straight", "broken")
    )
    assert one == other and resumed.resumed_from == 2 and straight.resumed_from is None
    steps = sum(1 for t in ATTEMPTS for _ in known_steps(t))
    assert straight.questions + sum(straight.dropped.values()) == straight.steps_in == steps
    rows = [json.loads(line) for line in (tmp_path / "broken" / "metrics.jsonl").open()]
    assert [r["step"] for r in rows] == [1, 2, 3, 4]
    assert (tmp_path / "straight" / "world.json").read_bytes() == (
        world / "world.json"
    ).read_bytes()


def test_what_cannot_be_reinforced_is_refused(world: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="own folder"):
        reinforce(world, ATTEMPTS, world, QUICK)
    with pytest.raises(UserError, match="no transition to ask about"):
        reinforce(world, [], tmp_path / "out", QUICK)
    other = tmp_path / "full"
    other.mkdir()
    (other / "result.json").write_text('{"form": "full"}', encoding="utf-8")
    with pytest.raises(UserError, match="full model"):
        reinforce(other, ATTEMPTS, tmp_path / "out", QUICK)
    with pytest.raises(UserError, match="replies"):
        RlvrConfig(replies=1)


@pytest.mark.slow
def test_the_reward_rises(tmp_path: Path) -> None:
    attempts = [m(t, s) for t in TASKS for s in range(6) for m in (expert, wanderer)]
    world = trained(tmp_path, attempts, 150)
    config = replace(
        QUICK, steps=24, questions=60, replies=8, max_new_tokens=48, checkpoint_every=24
    )
    reinforce(world, attempts, tmp_path / "out", config)
    rows = [json.loads(line) for line in (tmp_path / "out" / "metrics.jsonl").open()]
    assert fmean(r["reward"] for r in rows[-4:]) > fmean(r["reward"] for r in rows[:4]) + 0.05
    assert rows[-1]["invalid_fraction"] < rows[0]["invalid_fraction"]

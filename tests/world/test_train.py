"""Training: one small model learns the toy site's web and judges it, and the folder can be used again."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from tests.conformance.toy import NOTES_TAB, SUBMIT, TASKS, first_site, show
from tests.world.toys import expert, wanderer

from dynaweb.contracts import Imagine, PredictionStatus
from dynaweb.errors import StorageError, UserError
from dynaweb.judge.config import JudgeConfig
from dynaweb.judge.model import LmJudge
from dynaweb.lm.config import ModelConfig
from dynaweb.lm.language import Language
from dynaweb.lm.model import build_model, load_model
from dynaweb.lm.sampler import TorchSampler
from dynaweb.lm.tokenizer import load_language, train_tokenizer
from dynaweb.records.action import Click
from dynaweb.records.trajectory import Outcome, Trajectory
from dynaweb.train.config import FitConfig
from dynaweb.world.config import WorldModelConfig
from dynaweb.world.model import PatchWorldModel
from dynaweb.world.train import build_world_data, train_world, world_texts
from dynaweb.world.training import WorldTrainConfig

pytestmark = pytest.mark.usefixtures("one_thread")

CONFIG = WorldTrainConfig(renamed_copies=1)
STEPS = 300
HOW = FitConfig(steps=STEPS, batch_tokens=1536, warmup_steps=5)


@pytest.fixture(scope="module")
def attempts() -> list[Trajectory]:
    good = [expert(t, s) for t in TASKS for s in range(10)]
    return good + [wanderer(t, s) for t in TASKS for s in range(10)]


@pytest.fixture(scope="module")
def language(attempts: list[Trajectory]) -> Language:
    return Language(train_tokenizer(world_texts(attempts, CONFIG), 400))


@pytest.fixture(scope="module")
def trained(
    attempts: list[Trajectory], language: Language, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    folder = tmp_path_factory.mktemp("world")
    model = build_model(
        ModelConfig(hidden=64, layers=2, heads=4, ffn=128), language.tokenizer.vocab_size, 0
    )
    train_world(model, language, attempts, folder, config=CONFIG, how=HOW)
    return folder


def test_the_judge_has_its_share_of_the_loss(
    attempts: list[Trajectory], language: Language
) -> None:
    for fraction in (0.1, 0.5):
        config = replace(CONFIG, judge_fraction=fraction)
        data = build_world_data(attempts, language, config, context=2048)
        n = data.counts["world_examples"]
        loss = [e.weight * len(e.completion_ids) for e in data.examples]
        assert sum(loss[n:]) / sum(loss) == pytest.approx(fraction)
        assert all(e.completion_ids[-1] == language.tokenizer.eos_id for e in data.examples)


def test_what_is_too_long_is_counted(attempts: list[Trajectory], language: Language) -> None:
    whole = build_world_data(attempts, language, CONFIG, context=2048)
    short = build_world_data(attempts, language, CONFIG, context=90)
    lost = short.counts["dropped.world_too_long"] + short.counts["dropped.judge_too_long"]
    assert lost > 0 and len(short.examples) + lost == len(whole.examples)


def test_a_small_model_imagines_the_toy_site(trained: Path) -> None:
    language = load_language(trained)
    model = PatchWorldModel(
        TorchSampler(load_model(trained), language.tokenizer, "toy"), language, WorldModelConfig()
    )
    page = show(first_site(3))
    opened, ended = model.predict(
        [Imagine(history=(page,), action=Click(b)) for b in (NOTES_TAB, SUBMIT)]
    )
    assert ended.terminal and ended.status is PredictionStatus.OK
    assert "button 'Done'" in opened.observation.tree and "textbox" not in opened.observation.tree


def test_the_same_model_judges(trained: Path) -> None:
    language = load_language(trained)
    sampler = TorchSampler(load_model(trained), language.tokenizer, "toy")
    judge = LmJudge(sampler, language, JudgeConfig())
    verdicts = judge.judge(
        [replace(expert("toy-open", s), outcome=Outcome.UNKNOWN) for s in range(4)]
    )
    assert [v.outcome for v in verdicts] == [Outcome.SUCCESS] * 4


def test_counts_are_written_beside_the_model(trained: Path, attempts: list[Trajectory]) -> None:
    about = json.loads((trained / "world.json").read_text(encoding="utf-8"))
    counts = about["counts"]
    dropped = sum(n for k, n in counts.items() if k.startswith("dropped.") and "too_long" not in k)
    assert counts["world_steps_kept"] + dropped == counts["steps_in"]
    assert counts["attempts"] == len(attempts) and counts["attempts_renamed"] > 0
    assert about["fit"]["steps"] == STEPS


def test_called_again_it_returns_what_is_there(
    trained: Path, attempts: list[Trajectory], language: Language
) -> None:
    shape = ModelConfig(hidden=64, layers=2, heads=4, ffn=128)
    before = (trained / "model.safetensors").read_bytes()
    model = build_model(shape, language.tokenizer.vocab_size, 0)
    result = train_world(model, language, attempts, trained, config=CONFIG, how=HOW)
    assert result.fit.resumed_from == STEPS
    assert (trained / "model.safetensors").read_bytes() == before
    with pytest.raises(StorageError):
        other = build_model(shape, language.tokenizer.vocab_size, 0)
        train_world(other, language, attempts[:5], trained, config=CONFIG, how=HOW)


def test_bad_settings_are_refused() -> None:
    with pytest.raises(UserError, match="judge_fraction"):
        WorldTrainConfig(judge_fraction=1.0)
    with pytest.raises(UserError, match="renamed_copies"):
        WorldTrainConfig(renamed_copies=-1)

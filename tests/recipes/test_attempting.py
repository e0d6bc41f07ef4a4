"""The policy in training at real pages in a real Chromium, and the command that trains it there."""

import json
from pathlib import Path

import pytest

from dynaweb.agent.lm_agent import AgentConfig
from dynaweb.browser.config import BrowserConfig
from dynaweb.cli.main import main
from dynaweb.collect.run import read_trajectories
from dynaweb.dream.run import DreamRequest
from dynaweb.dream.starts import StartsConfig, collect_starts
from dynaweb.lm.model import load_model
from dynaweb.lm.sampler import TorchSampler
from dynaweb.lm.tokenizer import load_language
from dynaweb.recipes.attempting import LiveAttempts
from dynaweb.records.trajectory import Behaviour, Outcome, World

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

TASKS = "click-tab", "enter-password"
TINY = (
    "policy.vocab_size=400",
    "policy.model.hidden=32",
    "policy.model.layers=1",
    "policy.model.heads=2",
    "policy.model.ffn=32",
    "policy.base.find=0",
    "policy.base.mixed=0",
    "threads=1",
)


def flags(*settings: str) -> list[str]:
    return [word for s in settings for word in ("--set", s)]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with real demonstrations and a tiny agent that has seen them."""
    folder = tmp_path_factory.mktemp("made")
    shown = str(folder / "experts.jsonl")
    assert main(["collect", *TASKS, "--out", shown, "--episodes", "2", "-q"]) == 0
    learn = ["agent", "train", shown, "--out", str(folder / "agent"), "--steps", "5", "-q"]
    assert main([*learn, *flags(*TINY)]) == 0
    return folder


def test_attempts_begin_at_real_starts_and_are_kept(made: Path, tmp_path: Path) -> None:
    real = read_trajectories(made / "experts.jsonl")
    starts = StartsConfig(min_remaining=1)
    points = collect_starts(real, starts).points
    middle = [p for p in points if not p.initial]
    assert middle, "an intermediate start, whose actions are done again"
    language, model = load_language(made / "agent"), load_model(made / "agent")
    attempts = LiveAttempts(
        browser=BrowserConfig(),
        sampler=TorchSampler(model, language.tokenizer, "toy+gspo0"),
        language=language,
        agent=AgentConfig(temperature=1.0, max_new_tokens=6),
        max_steps=2,
        workers=2,
        threads=1,
        keep=tmp_path / "live",
    )
    asked = [
        DreamRequest(name=f"live-{i}", start=p.start, seed=i)
        for i, p in enumerate([points[0], middle[0]])
    ]
    found = attempts(asked)
    for t, request in zip(found, asked, strict=True):
        assert (t.world, t.behaviour, t.policy_version) == (
            World.LIVE,
            Behaviour.AGENT,
            "toy+gspo0",
        )
        assert t.past == request.start.past and t.license == "MIT"
        if t.outcome is not Outcome.UNKNOWN:
            assert t.steps[0].observation.tree == request.start.observation.tree
            assert all(g.logprobs for s in t.steps for g in s.generations)
    assert read_trajectories(tmp_path / "live" / "live-0.jsonl") == found


def test_live_gspo_by_its_command_and_again(
    made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "trained"
    command = ["gspo", "train", "--policy", str(made / "agent"), "--live", "click-tab"]
    command += ["--experts", str(made / "experts.jsonl"), "--out", str(out), "-q", "--json"]
    command += flags(
        "gspo.iterations=1",
        "gspo.groups=2",
        "gspo.resample_rounds=0",
        "gspo.mix.group_size=4",
        "gspo.live.pages=1",
        "gspo.live.max_steps=2",
        "gspo.max_new_tokens=6",
        "gspo.update.temperature=1",
        "threads=1",
    )
    capsys.readouterr()
    assert main(command) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["iterations"], told["resumed_from"], told["gate"]) == (1, None, "")
    assert told["real_steps"] == told["live_steps"] + told["opening_steps"]
    assert told["opening_steps"] == 1 and (out / "model.safetensors").is_file()
    row = json.loads((out / "training" / "metrics.jsonl").read_text())
    assert row["live/attempts"] > 0 and row["dream/attempts"] == 0
    before = (out / "model.safetensors").read_bytes()
    assert main(command) == 0
    again = json.loads(capsys.readouterr().out)
    assert again["resumed_from"] == 1 and again["live_steps"] == told["live_steps"]
    assert (out / "model.safetensors").read_bytes() == before

"""`dynaweb agent train` and `dynaweb gspo train`: what they make, how they go on, and what they say to wrong input."""

import dataclasses
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from safetensors.torch import load_file
from tests.gspo import toys
from tests.lm.tinychat import chat_folder
from tests.serve.running import running

from dynaweb.cli.main import main
from dynaweb.lm.adapters import load_adapted
from dynaweb.lm.localpolicy import LocalPolicy
from dynaweb.records.codec import dump
from dynaweb.records.trajectory import Behaviour, Outcome, Trajectory
from dynaweb.runs.atomic import write_text
from dynaweb.serve.config import ServeConfig
from dynaweb.serve.sampler import sampler_app

ROOT = Path(__file__).parents[2]
TINY = (
    "policy.vocab_size=300",
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


def file_of(path: Path, *attempts: Trajectory) -> Path:
    write_text(path, "".join(dump(t) + "\n" for t in attempts))
    return path


@pytest.fixture(scope="module")
def experts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    shown = [toys.expert(s) for s in toys.SEEDS]
    lost = dataclasses.replace(
        toys.expert(0), trajectory_id="lost", outcome=Outcome.FAILURE, behaviour=Behaviour.AGENT
    )
    return file_of(tmp_path_factory.mktemp("data") / "experts.jsonl", *shown, lost)


@pytest.fixture(scope="module")
def agent(experts: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("agent") / "made"
    assert (
        main(
            ["agent", "train", str(experts), "--out", str(out), "--steps", "6", "-q", *flags(*TINY)]
        )
        == 0
    )
    return out


def test_an_agent_is_made_and_counted(
    agent: Path, experts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (agent / "model.safetensors").is_file() and (agent / "tokenizer.json").is_file()
    told = json.loads((agent / "result.json").read_text())
    assert (told["attempts"], told["failures"], told["steps"]) == (5, 1, 6)
    assert told["examples"] == 8 and told["loss"] > 0.0
    before = (agent / "model.safetensors").read_bytes()
    assert (
        main(
            [
                "agent",
                "train",
                str(experts),
                "--out",
                str(agent),
                "--steps",
                "6",
                "-q",
                *flags(*TINY),
            ]
        )
        == 0
    )
    assert (agent / "model.safetensors").read_bytes() == before, "finished: only read again"
    assert "1 of 5 attempts are no success" in capsys.readouterr().out


def test_an_agent_goes_on_from_another(agent: Path, experts: Path, tmp_path: Path) -> None:
    command = ["agent", "train", str(experts), "--policy", str(agent), "--steps", "3", "-q"]
    assert main([*command, "--out", str(tmp_path / "more"), *flags(*TINY)]) == 0
    one = (tmp_path / "more" / "model.safetensors").read_bytes()
    assert one != (agent / "model.safetensors").read_bytes()
    assert (tmp_path / "more" / "tokenizer.json").read_bytes() == (
        agent / "tokenizer.json"
    ).read_bytes()


def refused(capsys: pytest.CaptureFixture[str], *command: str) -> str:
    capsys.readouterr()
    code = main(list(command))
    said = capsys.readouterr().err.strip()
    assert code == 2, (code, said)
    assert said.startswith("dynaweb: ") and "\n" not in said and "Traceback" not in said
    return said


def test_agent_train_says_what_is_wrong(
    agent: Path, experts: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = ("--out", str(tmp_path / "out"))
    train = ("agent", "train")
    assert "both say how long" in refused(
        capsys, *train, str(experts), *out, "--epochs", "1", "--steps", "1"
    )
    assert "nothing is overwritten" in refused(
        capsys, *train, str(experts), "--out", str(agent), "--policy", str(agent)
    )
    assert "no folder" in refused(
        capsys, *train, str(experts), *out, "--policy", str(tmp_path / "no")
    )
    assert "does not use it" in refused(
        capsys, *train, str(experts), *out, "--set", "gspo.groups=3"
    )
    assert "did you mean 'policy.vocab_size'" in refused(
        capsys, *train, str(experts), *out, "--set", "policy.vocabsize=3"
    )
    assert "missing.jsonl" in refused(capsys, *train, str(tmp_path / "missing.jsonl"), *out)
    lost = dataclasses.replace(toys.expert(0), outcome=Outcome.FAILURE)
    file = file_of(tmp_path / "lost.jsonl", lost)
    assert "none of the 1 attempts" in refused(capsys, *train, str(file), *out)


def test_gspo_train_says_what_is_wrong(
    agent: Path, experts: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    train = ("gspo", "train", "--policy", str(agent))
    out = ("--out", str(tmp_path / "out"))
    assert "nowhere to try" in refused(capsys, *train, *out)
    assert "nothing is overwritten" in refused(
        capsys, *train, "--out", str(agent), "--live", "click-test"
    )
    live = (*train, *out, "--live", "click-test")
    assert "use one of small, gspo-paper" in refused(capsys, *live, "--preset", "big")
    assert "does not use it" in refused(capsys, *live, "--set", "evaluation.episodes=3")
    assert "mode=other" in refused(capsys, *live, "--set", "gspo.update.experts.mode=other")
    assert "share 3.0" in refused(capsys, *live, "--set", "gspo.live.share=3")
    assert "did you mean" in refused(capsys, *train, *out, "--live", "click-tset")
    assert "names no task" in refused(capsys, *train, *out, "--live", " , ")
    assert "no folder" in refused(capsys, *train, *out, "--world", str(tmp_path / "no"))
    assert "model.safetensors" in refused(capsys, *train, *out, "--world", str(tmp_path))
    imagined = ("--world", str(agent), "--experts")
    assert "missing.jsonl" in refused(
        capsys, *train, *out, *imagined, str(tmp_path / "missing.jsonl")
    )
    assert "give --held-out FILE" in refused(capsys, *train, *out, *imagined, str(experts))
    assert not (tmp_path / "out").exists(), "a command that is wrong leaves nothing"
    (tmp_path / "empty").mkdir()
    assert "empty" in refused(
        capsys, "gspo", "train", "--policy", str(tmp_path / "empty"), *out, "--live", "click-test"
    )


IN_DREAMS = (
    "gspo.gate.closed=false",
    "gspo.iterations=1",
    "gspo.groups=1",
    "gspo.resample_rounds=0",
    "gspo.mix.group_size=2",
    "gspo.max_new_tokens=4",
    "gspo.audit.every=0",
    "threads=1",
)


def test_gspo_trains_with_a_sampler_at_an_address(
    agent: Path, experts: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    train = ("gspo", "train", "--policy", str(agent), "--world", str(agent), "-q")
    command = (*train, "--experts", str(experts), "--out", str(out), *flags(*IN_DREAMS))
    policy = LocalPolicy(agent, "tiny", updates=out / "updates")
    with running(sampler_app(policy, ServeConfig())) as url:
        assert "lists 'tiny'" in refused(capsys, *command, "--sampler", f"{url}#other")
        said = refused(capsys, *command, "--sampler", url, "--sampler-weights", "letters")
        assert "use one of adapters, weights, nccl" in said
        assert main([*command, "--sampler", url]) == 0
    told = json.loads((out / "result.json").read_text())
    assert told["iterations"] == 1 and (out / "model.safetensors").is_file()
    assert sorted(p.name.rpartition("-")[0] for p in (out / "updates").iterdir())[-1] == (
        f"{agent.name}+gspo1"
    )
    assert "give --sampler URL too" in refused(capsys, *command, "--sampler-weights", "weights")
    gone = (*command[:-1], "threads=1", "--sampler", url, "--set", "gspo.iterations=2")
    assert main(list(gone)) == 4
    assert "no sampler" in capsys.readouterr().err.splitlines()[-1]


def test_gspo_dreams_in_a_world_model_that_is_asked_in_words(
    agent: Path, experts: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A chat model of a few thousand weights dreams nonsense: its fault, counted, and no policy's failure."""
    chat = chat_folder(tmp_path / "chat", context=2048)
    out = tmp_path / "out"
    train = ("gspo", "train", "--policy", str(agent), "--experts", str(experts), "-q")
    command = (*train, "--out", str(out), *flags(*IN_DREAMS), "--world", f"nl@{chat}")
    assert "no judge of its own" in refused(capsys, *command)
    assert main([*command, "--judge", f"chat@{chat}"]) == 0
    told = json.loads((out / "result.json").read_text())
    assert told["iterations"] == 1 and told["bars"] is None
    assert "give --world" in refused(
        capsys, *train, "--out", str(out), "--live", "click-test", "--judge", "x"
    )


def in_dreams(agent: Path, experts: Path, out: Path, *settings: str) -> list[str]:
    train = ["gspo", "train", "--policy", str(agent), "--world", str(agent), "-q"]
    return [*train, "--experts", str(experts), "--out", str(out), *flags(*IN_DREAMS, *settings)]


@pytest.mark.timeout(400)
def test_adapters_are_trained_and_merged_and_a_run_goes_on(
    agent: Path,
    experts: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    out = tmp_path / "out"
    lora = [*in_dreams(agent, experts, out, "adapters.rank=4"), "--lora"]
    assert main(lora) == 0
    told = json.loads((out / "result.json").read_text())
    assert told["iterations"] == told["ranks"] == 1
    held = load_file(out / "training" / "checkpoints" / "step-00000001" / "model.safetensors")
    assert sum(t.numel() for t in held.values()) == told["trained_parameters"]
    assert all("lora_" in name for name in held)
    before, merged = load_file(agent / "model.safetensors"), load_file(out / "model.safetensors")
    again = dict(load_adapted(agent, out / "adapters").named_parameters())
    assert merged.keys() == before.keys()
    assert all(bool((merged[n] == again[n]).all()) for n in merged)
    assert (out / "tokenizer.json").is_file()

    capsys.readouterr()
    assert main([*lora, "--set", "gspo.iterations=2"]) == 0
    assert "taken up at 1" in capsys.readouterr().out
    assert "tuned.adapters.rank was 4" in refused(capsys, *lora, "--set", "adapters.rank=8")
    assert "add --lora" in refused(capsys, *in_dreams(agent, experts, out, "adapters.rank=4"))
    assert "add --lora" in refused(capsys, *in_dreams(agent, experts, out), "--adapter-only")

    alone = tmp_path / "alone"
    assert main([*in_dreams(agent, experts, alone), "--lora", "--adapter-only"]) == 0
    assert (alone / "adapters" / "adapter_model.safetensors").is_file()
    assert not (alone / "model.safetensors").exists()


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("sharding", ["ddp", "fsdp"])
def test_two_processes_write_one_agent(
    agent: Path,
    experts: Path,
    tmp_path: Path,
    sharding: str,
) -> None:
    settings = "gspo.update.optimizer.name=adamw", "gspo.groups=3"
    one, two = tmp_path / "one", tmp_path / "two"
    assert main(in_dreams(agent, experts, one, *settings)) == 0
    torchrun = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    done = subprocess.run(
        [
            *(sys.executable, *torchrun, "-m", "dynaweb.cli.main"),
            *in_dreams(agent, experts, two, *settings),
            *("--sharding", sharding, "--cpu"),
        ],
        cwd=ROOT,
        env={"PATH": os.defpath, "PYTHONPATH": f"{ROOT}/src", "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.count("on 2 ranks") == 1
    mine, theirs = (load_file(folder / "model.safetensors") for folder in (two, one))
    assert max(float((mine[n] - w).abs().max()) for n, w in theirs.items()) < 1e-5
    assert json.loads((two / "config.json").read_text()) == json.loads(
        (one / "config.json").read_text()
    )
    assert main([*in_dreams(agent, experts, two, *settings), "--set", "gspo.iterations=2"]) == 0
    assert json.loads((two / "result.json").read_text())["resumed_from"] == 1

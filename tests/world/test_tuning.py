"""`dynaweb world train` on rows: LoRA, two stages, going on, counts that add up, refusals."""

import hashlib
import json
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from tests.conformance.toy import TASKS
from tests.world.toys import expert, wanderer

from dynaweb.cli.main import main
from dynaweb.cli.settings import settings_of
from dynaweb.errors import StorageError, UserError
from dynaweb.lm.adapters import load_adapted
from dynaweb.lm.chatml import save_chat_tokenizer, train_chat_tokenizer
from dynaweb.lm.config import AdapterConfig, ModelConfig
from dynaweb.lm.model import build_model, load_model, save_model
from dynaweb.records.codec import dump
from dynaweb.runs.progress import Progress
from dynaweb.train.config import FitConfig, OptimizerConfig
from dynaweb.train.ranks import Ranks
from dynaweb.world.tuning.presets import PRESETS
from dynaweb.world.tuning.run import TuningWish, tune
from dynaweb.world.tuning.settings import TunedForm, TuningConfig

pytestmark = pytest.mark.usefixtures("one_thread")

SHAPE = ModelConfig(hidden=16, layers=2, heads=2, ffn=32, context=512)
HOW = FitConfig(
    steps=6,
    batch_tokens=600,
    warmup_steps=1,
    log_every=1,
    checkpoint_seconds=1e-9,
    optimizer=OptimizerConfig(name="adamw", learning_rate=1e-2),
)
CONFIG = TuningConfig(model=SHAPE, vocab_size=300, fit=HOW, stage2=replace(HOW, steps=3))
ALONE = Ranks()


def row(number: int, turns: int = 2, **about: object) -> dict[str, object]:
    said = [{"role": "system", "content": "You are a web server."}]
    for turn in range(turns):
        said.append({"role": "user", "content": f"page {number}, click('{turn}')"})
        said.append({"role": "assistant", "content": f"RootWebArea 'p{number}.{turn}'"})
    return {"messages": said, "about": {"form": "full", "side": "train", **about}}


def written(path: Path, *rows: object) -> Path:
    lines = (r if isinstance(r, str) else json.dumps(r) for r in rows)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("rows") / "rows.jsonl", *(row(i) for i in range(12)))


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("base")
    tokenizer = train_chat_tokenizer(["RootWebArea 'p1.1' page click"], 300)
    save_chat_tokenizer(tokenizer, folder)
    save_model(build_model(SHAPE, len(tokenizer), 3), folder)
    return folder


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_lora_learns_adapters_alone_and_they_can_be_loaded_again(
    rows: Path, base: Path, tmp_path: Path
) -> None:
    config = replace(CONFIG, adapters=AdapterConfig(rank=2, alpha=4))
    before = digest(base / "model.safetensors")
    out = tmp_path / "out"
    wish = TuningWish(sources=(rows,), out=out, config=config, model=base)
    result = tune(wish, ranks=ALONE)
    held = load_file(out / "adapters" / "adapter_model.safetensors")
    assert digest(base / "model.safetensors") == before
    assert held and all(".lora_A." in n or ".lora_B." in n for n in held)
    assert result.trained_parameters == sum(t.numel() for t in held.values())
    assert any(float(t.abs().max()) > 0 for n, t in held.items() if ".lora_B." in n)
    checkpoint = load_file(out / "training" / "checkpoints" / "step-00000006" / "model.safetensors")
    assert all("lora_" in n for n in checkpoint)
    ids = torch.arange(9)[None]
    merged, again, first = (
        m(input_ids=ids).logits
        for m in (load_model(out), load_adapted(base, out / "adapters"), load_model(base))
    )
    assert torch.equal(merged, again) and float((merged - first).detach().abs().max()) > 1e-4
    alone = replace(wish, out=tmp_path / "adapters-only", merge=False)
    tune(alone, ranks=ALONE)
    assert not (alone.out / "model.safetensors").exists()
    assert digest(alone.out / "adapters" / "adapter_model.safetensors") == digest(
        out / "adapters" / "adapter_model.safetensors"
    )


class StoppedError(Exception):
    pass


def test_two_stages_stopped_in_each_end_in_the_same_bytes(rows: Path, tmp_path: Path) -> None:
    thoughts = written(tmp_path / "cot.jsonl", *(row(i, turns=3) for i in range(5)))

    def stopping(where: str, at: int) -> Progress:
        def stop(stage: str, done: int, total: int | None, note: str = "") -> None:
            if (stage, done) == (where, at):
                raise StoppedError

        return stop

    wish = TuningWish(sources=(rows,), out=tmp_path / "straight", config=CONFIG, stage2=(thoughts,))
    straight = tune(wish, ranks=ALONE)
    broken = replace(wish, out=tmp_path / "broken")
    for where, at in (("training", 4), ("training-2", 2)):
        with pytest.raises(StoppedError):
            tune(broken, ranks=ALONE, progress=stopping(where, at))
    resumed = tune(broken, ranks=ALONE)
    assert digest(broken.out / "model.safetensors") == digest(wish.out / "model.safetensors")
    assert resumed.stages[1].fit.resumed_from == 1
    dynamics, thinking = straight.stages
    assert [len(e.silent) for e in dynamics.material.examples] == [1] * 12
    assert [len(e.silent) for e in thinking.material.examples] == [0] * 5
    one = thinking.material.examples[0]
    assert one.learnt == len(one.completion_ids) < len(one.prompt_ids)
    about = json.loads((wish.out / "result.json").read_text("utf-8"))
    assert [s["fit"]["steps"] for s in about["stages"]] == [6, 3]
    with pytest.raises((UserError, StorageError), match=r"configuration|other"):
        tune(replace(broken, config=replace(CONFIG, seed=1)), ranks=ALONE)


def test_every_row_is_trained_or_left_out_for_a_reason(tmp_path: Path) -> None:
    endless = row(3)
    endless["messages"] = endless["messages"][:-1]  # type: ignore[index]  # a list
    long = row(4)
    long["messages"][-1]["content"] = "".join(map(str, range(900)))  # type: ignore[index]  # a list of objects
    file = written(
        tmp_path / "mixed.jsonl",
        row(1),
        row(2, side="held_out"),
        endless,
        long,
        {"text": "no row"},
        [1],
        row(5),
    )
    wish = TuningWish(sources=(file,), out=tmp_path / "out", config=CONFIG)
    material = tune(wish, ranks=ALONE).stages[0].material
    assert len(material.examples) == 2 and material.rows_in == 7
    assert sorted(material.dropped.values()) == [1] * 5
    assert material.first["longer than the limit"] == "mixed.jsonl:4"
    (name,) = material.too_long
    assert name.startswith("mixed.jsonl:4: ") and material.limit_tokens == 512
    assert int(name.split()[1]) > 512


def test_a_chat_model_from_scratch_can_be_opened_as_a_world_model(tmp_path: Path) -> None:
    attempts = [expert(t, 0) for t in TASKS] + [wanderer(t, 1) for t in TASKS]
    file = written(tmp_path / "toys.jsonl", *(dump(t) for t in attempts))
    config = replace(
        CONFIG, form=TunedForm.FULL, model=replace(SHAPE, context=4096), fit=replace(HOW, steps=1)
    )
    wish = TuningWish(sources=(file,), out=tmp_path / "out", config=config)
    result = tune(wish, ranks=ALONE)
    counts = result.stages[0].material.counts
    assert counts["steps_in"] == sum(len(t.steps) for t in attempts)
    from dynaweb.world.opening import open_world_model

    assert open_world_model(f"full@{wish.out}").model.version


BASE_FLAGS = [
    "--set",
    "model.hidden=16",
    "--set",
    "model.heads=2",
    "--set",
    "model.ffn=16",
    "--set",
    "model.layers=1",
]


def test_wrong_input_ends_in_one_line(
    rows: Path, base: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plain = written(tmp_path / "plain.jsonl", {"prompt": "<page>\n", "completion": "none"})
    toys = written(tmp_path / "toys.jsonl", dump(expert(TASKS[0], 0)))
    none = written(tmp_path / "none.jsonl", row(1, side="held_out"))
    plain_template = tmp_path / "no-template"
    shutil.copytree(base, plain_template)
    (plain_template / "chat_template.jinja").unlink()
    (tmp_path / "empty").mkdir()
    out = str(tmp_path / "out")
    cases = {
        "needs FILES": [],
        "no preset 'huge'": [str(rows), "--out", out, "--preset", "huge"],
        "no file": [str(tmp_path / "gone.jsonl"), "--out", out],
        "holds no JSON lines file": [str(tmp_path / "empty"), "--out", out],
        "one kind at a time": [str(rows), str(toys), "--out", out],
        "train on one kind": [str(rows), str(plain), "--out", out],
        "no row to learn from": [str(none), "--out", out],
        "name them with --model": [str(rows), "--out", out, "--lora"],
        "add --lora": [str(rows), "--out", out, "--model", str(base), "--adapter-only"],
        "emulated": [str(rows), "--out", out, "--preset", "webworld", "--set", "cutoff_tokens=0"],
        "above the 512 tokens": [
            str(rows),
            "--out",
            out,
            "--model",
            str(base),
            "--set",
            "cutoff_tokens=600",
        ],
        "chat template": [str(rows), "--out", out, "--model", str(plain_template)],
        "a patch model has one stage": [str(plain), "--out", out, "--stage2", str(rows)],
        "sharding": [str(rows), "--out", out, "--sharding", "zero"],
        "form=haiku": [str(toys), "--out", out, "--form", "haiku"],
    }
    for words, arguments in cases.items():
        shutil.rmtree(out, ignore_errors=True)
        code = main(["world", "train", *arguments, *BASE_FLAGS, "--quiet"])
        said = capsys.readouterr()
        assert code == 2, (words, said)
        assert words in said.err and said.err.count("\n") == 1, (words, said.err)


def test_published_values_and_their_sources_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    for name in PRESETS:
        assert main(["world", "train", "--show-preset", "--preset", name, "--json"]) == 0
        shown = {s["key"]: s for s in json.loads(capsys.readouterr().out)}
        assert PRESETS[name]().sources.keys() <= shown.keys()
    code = main(["world", "train", "--show-preset", "--preset", "webworld", "--set", "seed=4", "--json"])  # fmt: skip
    shown = {s["key"]: s for s in json.loads(capsys.readouterr().out)}
    assert code == 0 and shown["seed"]["source"] == "command line"
    rate = shown["fit.optimizer.learning_rate"]
    assert rate["value"] == 2e-5 and rate["source"] == "WebWorld App. T9"
    assert shown["stage2.optimizer.learning_rate"]["value"] == 8e-6
    assert "unverified" in shown["fit.optimizer.weight_decay"]["source"]


@pytest.mark.slow
@pytest.mark.timeout(400)
@pytest.mark.parametrize("sharding", ["ddp", "fsdp"])
def test_the_command_under_torchrun_writes_what_one_process_writes(
    sharding: str, rows: Path, base: Path, tmp_path: Path
) -> None:
    thoughts = written(tmp_path / "cot.jsonl", *(row(i, turns=3) for i in range(5)))
    config = replace(CONFIG, adapters=AdapterConfig(rank=2, alpha=4), stage2=HOW)
    given = [f"--set={s.key}={s.value}" for s in settings_of(config) if s.value != ()]
    command = ["--model", str(base), "--stage2", str(thoughts), *given, "--json", "--quiet"]
    root = Path(__file__).parents[2]
    torchrun = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    train = ["-m", "dynaweb.cli.main", "world", "train", str(rows), "--out", str(tmp_path / "two")]
    done = subprocess.run(
        [sys.executable, *torchrun, *train, *command, "--sharding", sharding],
        cwd=root,
        env={"PYTHONPATH": f"{root}/src", "PATH": "/usr/bin:/bin", "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert json.loads(done.stdout)["ranks"] == 2
    wish = TuningWish(
        sources=(rows,), out=tmp_path / "one", config=config, model=base, stage2=(thoughts,)
    )
    tune(wish, ranks=ALONE)
    for name in ("model.safetensors", "adapters/adapter_model.safetensors"):
        two, one = load_file(tmp_path / "two" / name), load_file(wish.out / name)
        assert two.keys() == one.keys()
        assert max(float((two[k] - one[k]).abs().max()) for k in one) < 1e-5

"""The command, from files to files: what it writes, that a kill costs nothing, what it refuses."""

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from tests.world.data.made import INBOX, attempt, mail, page, toys

from dynaweb.cli.main import main
from dynaweb.lm.tokenizer import train_tokenizer
from dynaweb.records.action import Click
from dynaweb.records.codec import dump
from dynaweb.world.data.compare import folder_items
from dynaweb.world.data.row import messages_of

SETTINGS = ["--set", "split.held_out=0.4", "--set", "cot.rows=5", "--set", "trajectories_per_shard=3", "--set", "enrich.describe_share=0.3",
            "--set", "enrich.generate_share=0.3", "--set", "full.format_share=0.5", "--set", "rejected.made_share=0.5"]  # fmt: skip


@pytest.fixture(scope="module")
def source(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("source") / "attempts.jsonl"
    attempts = [*toys(range(5)), *(mail(f"m{i}", f"mail-{i}") for i in range(4))]
    path.write_text("".join(dump(t) + "\n" for t in attempts), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def made(source, tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("data") / "set"
    forms = [w for f in ("patch", "full", "nl", "condensed") for w in ("--form", f)]
    code = main(["world", "data", str(source), "--out", str(out), "-q", "--license", "MIT", *forms, *SETTINGS])  # fmt: skip
    assert code == 0
    return out


def rows_of(folder: Path) -> list[dict]:
    return [json.loads(line) for p in sorted(folder.glob("*.jsonl")) for line in p.open()]


def test_counts_add_up_and_are_those_of_the_files(made):
    counts = json.loads((made / "data.json").read_text())["counts"]
    steps, kept = sum(counts["steps"].values()), sum(counts["kept"].values())
    assert steps == kept + sum(counts["dropped"].values())
    for form in ("patch", "full", "nl", "condensed"):
        assert kept == sum(counts[f"{form}: taught"].values()) + sum(counts.get(f"{form}: dropped", {}).values())  # fmt: skip
    written = Counter()
    for side in ("train", "held_out"):
        for folder in (made / "rows" / side).iterdir():
            written[f"{side} {folder.name}"] += len(rows_of(folder))
    assert written == counts["rows"] and sum(written.values()) > 100
    assert len(rows_of(made / "rows" / "index")) == kept


def test_every_row_can_be_learnt_from(made):
    rows = [r for p in (made / "rows").glob("*/*") if p.is_dir() for r in rows_of(p)]
    for row in rows:
        turns = messages_of(row)
        assert turns and turns[-1].role == "assistant" and turns[-1].content
        assert row["about"]["side"] in ("train", "held_out")
    kinds = {r["about"]["kind"] for r in rows}
    assert kinds == {"dynamics", "multi_format", "rejected", "rejected_made", "describe", "generate", "cot"}  # fmt: skip


def test_no_task_and_no_question_is_on_both_sides(made):
    tasks: dict[str, set[str]] = {}
    keys: dict[str, set[str]] = {}
    for folder in (made / "rows").glob("*/*"):
        for row in rows_of(folder) if folder.is_dir() else []:
            about = row["about"]
            tasks.setdefault(about["task"], set()).add(about["side"])
            for key in about.get("keys", ()):
                keys.setdefault(key, set()).add(about["side"])
    assert {len(s) for s in tasks.values()} == {1} and {len(s) for s in keys.values()} == {1}
    assert {s for one in tasks.values() for s in one} == {"train", "held_out"}


def test_the_card_tells_what_is_there(made):
    card = (made / "README.md").read_text()
    counts = json.loads((made / "data.json").read_text())["counts"]
    assert card.startswith("---\nlicense: mit\n") and "nan" not in card.lower()
    for name, n in counts["rows"].items():
        assert f"| {name} | {n} |" in card
    assert f"{sum(counts['rows'].values())} rows from {sum(counts['kept'].values())} of" in card


def test_trainers_files(made):
    yaml = pytest.importorskip("yaml")
    info = json.loads((made / "llamafactory" / "dataset_info.json").read_text())
    for name, told in info.items():
        rows = [json.loads(x) for x in (made / "llamafactory" / told["file_name"]).open()]
        side, form = told["file_name"].removesuffix(".jsonl").split("-", 1)
        ours = rows_of(made / "rows" / side / form)
        assert name == f"dynaweb-{side}-{form}" and len(rows) == len(ours)
        names = {"system": "system", "human": "user", "gpt": "assistant"}
        for row, own in zip(rows, ours, strict=True):
            turns = [(names[t["from"]], t["value"]) for t in row["conversations"]]
            assert turns == [(m.role, m.content) for m in messages_of(own)]
    one, two = (yaml.safe_load((made / "llamafactory" / f"webworld-stage{i}.yaml").read_text()) for i in (1, 2))  # fmt: skip
    assert (
        one["learning_rate"] == 2e-5 and one["num_train_epochs"] == 1 and one["cutoff_len"] == 20000
    )
    assert (
        two["learning_rate"] == 8e-6
        and two["num_train_epochs"] == 5
        and two["mask_history"] is True
    )
    assert one["per_device_train_batch_size"] * one["gradient_accumulation_steps"] * 16 == 64
    assert two["per_device_train_batch_size"] * two["gradient_accumulation_steps"] * 8 == 32
    for stage in (one, two):
        assert set(stage["dataset"].split(",")) <= set(info)
        assert (made / "llamafactory" / stage["deepspeed"]).is_file()
        assert not any("held_out" in name for name in stage["dataset"].split(","))
    trl = [json.loads(x) for x in (made / "trl" / "train-nl.jsonl").open()]
    assert {tuple(r) for r in trl} == {("prompt", "completion")}
    assert all(r["completion"][0]["role"] == "assistant" for r in trl)
    many = [json.loads(x) for x in (made / "trl" / "train-full.jsonl").open()]
    assert {tuple(r) for r in many} == {("messages",)}


def digests(out: Path) -> dict[str, str]:
    kept = [p for p in out.rglob("*.json*") if p.parent != out and "stage" not in p.name]
    return {str(p.relative_to(out)): hashlib.sha256(p.read_bytes()).hexdigest() for p in kept}


def test_killed_and_run_again_is_the_same(source, tmp_path):
    command = [sys.executable, "-m", "dynaweb.cli.main", "world", "data", str(source), "-q", "--license", "MIT", *SETTINGS]  # fmt: skip
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    assert main([*command[3:], "--out", str(whole)]) == 0
    last = 0
    for wanted in (1, 4):
        running = subprocess.Popen([*command, "--out", str(killed)], stderr=subprocess.DEVNULL)
        until = time.monotonic() + 90
        while len(list(killed.glob("rows/marks/*.json"))) < wanted and running.poll() is None:
            assert time.monotonic() < until
            time.sleep(0.01)
        os.kill(running.pid, signal.SIGKILL)
        assert running.wait() == -signal.SIGKILL
        marks = len(list(killed.glob("rows/marks/*.json")))
        assert marks >= max(wanted, last)
        last = marks
    torn = killed / "rows" / "train" / "nl" / f"{last:05}.jsonl"
    torn.parent.mkdir(parents=True, exist_ok=True)
    torn.write_text('{"half', encoding="utf-8")
    assert main([*command[3:], "--out", str(killed)]) == 0
    assert digests(killed) == digests(whole)
    assert (killed / "README.md").read_text().replace("# killed", "# whole") == (whole / "README.md").read_text()  # fmt: skip


def test_run_again_when_done_reads_nothing(source, tmp_path, capsys):
    own = tmp_path / "a.jsonl"
    own.write_bytes(source.read_bytes())
    command = ["world", "data", str(own), "--out", str(tmp_path / "o"), "-q", "--form", "patch", "--json"]  # fmt: skip
    assert main([*command, "--no-export"]) == 0
    first = json.loads(capsys.readouterr().out)
    before = {p: p.stat().st_mtime_ns for p in (tmp_path / "o" / "rows").rglob("*.jsonl")}
    assert main([*command, "--license", "MIT"]) == 0
    assert json.loads(capsys.readouterr().out)["counts"] == first["counts"]
    assert {p: p.stat().st_mtime_ns for p in before} == before


def refused(arguments: list[str], capsys) -> str:
    assert main(arguments) == 2
    said = capsys.readouterr().err.strip()
    assert "\n" not in said and "Traceback" not in said
    return said


AT = ["--annotate-url", "http://127.0.0.1:1/v1", "--annotate-model", "m"]


def test_refusals(source, made, tmp_path, capsys):
    out = ["--out", str(tmp_path / "o"), "-q"]
    told = {
        "no file": ["world", "data", str(tmp_path / "no.jsonl"), *out],
        "no files: name": ["world", "data", *out],
        "no --out": ["world", "data", str(source)],
        "use one of patch, full, nl, condensed": ["world", "data", str(source), *out, "--form", "fill"],
        "use one of default, webworld, dynaweb": ["world", "data", str(source), *out, "--preset", "web"],
        "did you mean 'cot.rows'": ["world", "data", str(source), *out, "--set", "cot.row=3"],
        "use 0, or above 0.5 up to 1": ["world", "data", str(source), *out, "--set", "filter.near_duplicate=0.3"],
        "go together": ["world", "data", str(source), *out, "--annotate-url", "http://127.0.0.1:1/v1"],
        "variable 'NO_SUCH_KEY' is not set": ["world", "data", str(source), *out, *AT, "--key-variable", "NO_SUCH_KEY"],
        "holds a run of another configuration": ["world", "data", str(source), "--out", str(made), "-q"],
        "leave the files": ["world", "data", str(source), "--check", str(made), str(made)],
        "no tokenizer in": ["world", "data", str(source), *out, "--tokenizer", str(tmp_path)],
    }  # fmt: skip
    for words, arguments in told.items():
        assert words in refused(arguments, capsys), words
    assert not (tmp_path / "o").exists()


def test_an_unknown_licence_is_not_exported_but_may_be_said_later(tmp_path, capsys):
    own = tmp_path / "a.jsonl"
    own.write_text(dump(attempt("x", (page(INBOX), Click("3")), final=page(INBOX), license="")) + "\n")  # fmt: skip
    command = ["world", "data", str(own), "--out", str(tmp_path / "o"), "-q"]
    assert "say it with --license" in refused(command, capsys)
    assert main([*command, "--license", "CC0-1.0"]) == 0
    assert "license: cc0-1.0" in (tmp_path / "o" / "README.md").read_text()


def test_nothing_let_in_is_an_error(tmp_path, capsys):
    own = tmp_path / "a.jsonl"
    own.write_text(dump(attempt("x", (page(INBOX), None), final=page(INBOX))) + "\n")
    said = refused(["world", "data", str(own), "--out", str(tmp_path / "o"), "-q"], capsys)
    assert "nothing was let in: {'no_action': 1}" in said


def test_check_finds_what_is_planted(source, made, tmp_path, capsys):
    assert main(["world", "data", "--check", str(made), str(made)]) == 0
    assert "overlap: 0 of" in capsys.readouterr().out
    said = refused(["world", "data", "--check", str(source), str(source)], capsys)
    assert "contaminated" in said and "e.g." in said and "tasks are on both sides" in said
    other = tmp_path / "other.jsonl"
    planted = attempt("planted", (page(INBOX), Click("3")), final=page(INBOX), task="new")
    own = attempt("own", (page(INBOX), Click("3")), final=page(INBOX, "http://x/"), task="old")
    other.write_text(dump(planted) + "\n")
    train = tmp_path / "train.jsonl"
    train.write_text(dump(own) + "\n")
    said = refused(["world", "data", "--check", str(train), str(other)], capsys)
    assert "1 of 1 transitions" in said and "planted step 0 is own step 0" in said and "both sides" not in said  # fmt: skip


def test_check_reads_rows_too(made, capsys):
    held = next((made / "rows" / "held_out" / "nl").glob("*.jsonl"))
    train = next((made / "rows" / "train" / "nl").glob("*.jsonl"))
    assert main(["world", "data", "--check", str(train), str(held)]) == 0
    assert "near-duplicates were not measured" in capsys.readouterr().out
    assert "contaminated" in refused(["world", "data", "--check", str(train), str(train)], capsys)
    assert "has no index" in refused(["world", "data", "--check", str(train.parent), str(held)], capsys)  # fmt: skip


def test_the_index_is_read_back(made):
    items = [i for side in ("train", "held_out") for i in folder_items(made / "rows", side)]
    assert items and all(i.sketch is not None and len(i.key) == 16 for i in items)


def test_list_settings_explains_everything(capsys):
    assert main(["world", "data", "--list-settings", "--preset", "webworld"]) == 0
    said = capsys.readouterr().out
    assert "filter.unchanged = prune" in said and "cot.rows = 1000" in said and "full.over_long = drop" in said  # fmt: skip
    lines = said.splitlines()
    assert all(lines[i + 1].startswith("    ") for i, x in enumerate(lines) if not x.startswith(" "))  # fmt: skip


def test_a_users_own_rows_and_tokenizer(source, tmp_path):
    rows = [{"messages": [{"role": "user", "content": f"q{i}"}, {"role": "assistant", "content": "a"}]} for i in range(3)]  # fmt: skip
    text, chat = tmp_path / "text.jsonl", tmp_path / "chat.jsonl"
    text.write_text("".join(json.dumps(r) + "\n" for r in rows))
    chat.write_text(json.dumps({"prompt": "p", "completion": "c"}) + "\n")
    tokenizer = train_tokenizer(["the page button link " * 50], 300)
    tokenizer.save(tmp_path / "model")
    out = tmp_path / "o"
    command = ["world", "data", str(source), "--out", str(out), "-q", "--form", "full", "--text", str(text), "--chat", str(chat),
               "--tokenizer", str(tmp_path / "model"), "--license", "MIT", "--set", "full.view=xml", "--set", "full.max_tokens=1500"]  # fmt: skip
    assert main(command) == 0
    counts = json.loads((out / "data.json").read_text())["counts"]
    assert counts["rows"]["train text"] == 3 and counts["rows"]["train chat"] == 1
    assert rows_of(out / "rows/train/text") == [{**r, "about": x["about"]} for r, x in zip(rows, rows_of(out / "rows/train/text"), strict=True)]  # fmt: skip
    lengths = [sum(len(tokenizer.encode(m.content)) for m in messages_of(r)) for r in rows_of(out / "rows/train/full")]  # fmt: skip
    card = (out / "README.md").read_text()
    assert max(lengths) <= 1500 and f"| train full | tokens | {sorted(lengths)[(len(lengths) + 1) // 2 - 1]} |" in card  # fmt: skip
    assert "0 rows of this data set are longer" in (out / "llamafactory/webworld-stage1.yaml").read_text()  # fmt: skip
    own = [r for r in rows_of(out / "rows/train/full") if r["about"]["kind"] != "multi_format"]
    assert own and all(m.content.startswith("<page>") for r in own for m in messages_of(r) if m.role == "assistant")  # fmt: skip


@pytest.mark.parametrize(
    ("preset", "forms"),
    [("webworld", {"full", "cot", "describe", "generate"}), ("dynaweb", {"nl"})],
)
def test_presets(source, tmp_path, preset, forms):
    out = tmp_path / "o"
    command = ["world", "data", str(source), "--out", str(out), "-q", "--preset", preset, "--license", "MIT"]  # fmt: skip
    assert main([*command, "--set", "split.held_out=0", "--set", "enrich.describe_share=0.5"]) == 0
    assert {p.name for p in (out / "rows/train").iterdir()} >= forms - {"describe", "generate"}
    rows = [r for p in (out / "rows/train").iterdir() for r in rows_of(p)]
    text = "\n".join(m.content for r in rows for m in messages_of(r))
    assert ("<objective>" in text) == (preset == "dynaweb")
    counts = json.loads((out / "data.json").read_text())["counts"]
    assert ("changed_nothing" in counts["dropped"]) == (preset == "webworld")

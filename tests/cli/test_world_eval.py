"""`dynaweb world eval`, run as a person runs it."""

import json
import pathlib
from itertools import repeat

import pytest
from tests.conformance.toy import TASKS
from tests.lm.hostile import sends, serving, well
from tests.world.toys import expert, wanderer

from dynaweb.bench.worlds.answers import read_answers
from dynaweb.cli.main import main
from dynaweb.errors import StorageError, UserError
from dynaweb.recipes.worldspecs import asking, open_world, world_folder
from dynaweb.records.codec import dump


@pytest.fixture
def files(tmp_path):
    """Attempts to measure on, and others to know."""

    def write(name, seeds):
        made = [expert(t, s) for t in TASKS for s in seeds] + [wanderer(t, s) for t in TASKS for s in seeds]  # fmt: skip
        path = tmp_path / name
        path.write_text("".join(dump(t) + "\n" for t in made), encoding="utf-8")
        return str(path)

    return write("test.jsonl", range(3)), write("train.jsonl", range(10, 16))


def test_two_models_one_report_and_the_second_call_asks_nothing(files, tmp_path, capsys):
    test, train = files
    out = tmp_path / "out"
    call = ["world", "eval", test, "--train", train, "--model", "nearest", "--out", str(out), "-q"]
    assert main(call) == 0
    said = capsys.readouterr().out
    assert "Part changed: exact page" in said and "gain over copy" in said
    report = json.loads((out / "report.json").read_text(encoding="utf-8"))
    assert [m["name"] for m in report["models"]] == ["copy", "nearest"]
    assert report["transitions"] == report["found"] == sum(report["regimes"].values())
    local = {
        m["name"]: c["mean"] for m in report["models"] for c in m["cells"]
        if (c["metric"], c["group_by"]) == ("local_exact", "all")
    }  # fmt: skip
    assert local["copy"] == 0.0 < local["nearest"]
    assert report["overlap"]["tasks"] == {"hits": 3, "n": 3}
    assert "World models on real transitions" in (out / "index.html").read_text(encoding="utf-8")
    kept = {p.name: p.read_bytes() for p in (out / "answers").iterdir()}
    before = (out / "report.json").read_bytes()
    assert main(call) == 0
    assert {p.name: p.read_bytes() for p in (out / "answers").iterdir()} == kept
    assert (out / "report.json").read_bytes() == before


def test_a_limit_is_kept_and_tasks_can_be_held_out(files, tmp_path, capsys):
    test, train = files
    out = tmp_path / "out"
    held = ["--hold-out", "0.5", "--model", "nearest", "--limit", "7", "--probes", "2", "--json"]
    assert main(["world", "eval", test, train, *held, "--out", str(out), "-q"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["transitions"] == 7 < report["found"]
    assert report["overlap"]["tasks"]["hits"] == 0
    (answers,) = [p for p in (out / "answers").iterdir() if p.name.startswith("copy")]
    assert len(read_answers(answers)) > 7


def test_a_model_is_measured_on_the_tasks_that_its_training_held_out(files, tmp_path, capsys):
    small = ["fit.steps=2", "model.hidden=16", "model.layers=1", "model.heads=2", "model.ffn=32", "model.context=640", "vocab_size=400"]  # fmt: skip
    trained, call = str(tmp_path / "world"), ["world", "train", *files, "--threads", "1", "-q", "--json"]  # fmt: skip
    settings = [word for value in (*small, "held_out=0.5") for word in ("--set", value)]
    assert main([*call, "--out", trained, *settings]) == 0
    (stage,) = json.loads(capsys.readouterr().out)["stages"]
    left_out = stage["counts"]["file: attempts of held-out tasks"]
    asked = asking(pathlib.Path(trained))
    assert asked.max_prompt_tokens + asked.max_new_tokens == 640
    evaluate = ["world", "eval", *files, "--model", trained, "--limit", "4", "--probes", "1", "--json", "-q"]  # fmt: skip
    assert main([*evaluate, "--hold-out", "0.5", "--out", str(tmp_path / "out")]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["overlap"]["tasks"]["hits"] == 0 < left_out < report["found"]
    for other in (["--hold-out", "0.4"], ["--hold-out", "0.5", "--seed", "1"]):
        assert main([*evaluate, *other, "--out", str(tmp_path / "other")]) == 2
        assert "held_out=0.5 and seed=0, so it has read tasks" in capsys.readouterr().err
    assert not (tmp_path / "other").exists()


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (["--model", "nearest"], "'nearest' knows nothing"),
        (["--model", "no-such-folder"], "no world model 'no-such-folder'"),
        (["--train", "{test}"], "is measured and trained on"),
        (["--train", "{train}", "--hold-out", "0.5"], "use one of them"),
        (["--judge-url", "http://127.0.0.1:9"], "--judge-model"),
        (["--judge-url", "http://127.0.0.1:9", "--judge-model", "m", "--key-variable", "NOT_SET_ANYWHERE"], "NOT_SET_ANYWHERE"),
        (["--replay", "click-tets"], "did you mean"),
        (["--limit", "0"], "--limit"),
    ],
)  # fmt: skip
def test_mistakes_are_one_clear_line(more, says, files, tmp_path, capsys):
    test, train = files
    given = [word.format(test=test, train=train) for word in more]
    assert main(["world", "eval", test, *given, "--out", str(tmp_path / "out"), "-q"]) == 2
    said = capsys.readouterr().err
    assert says in said and said.count("\n") == 1 and "Traceback" not in said


def test_what_was_trained_on_is_refused_under_another_name(files, tmp_path, capsys):
    test, _ = files
    copy = tmp_path / "copy.jsonl"
    copy.write_bytes(pathlib.Path(test).read_bytes())
    call = ["world", "eval", test, "--train", str(copy), "--out", str(tmp_path / "out"), "-q"]
    assert main(call) == 2
    assert "stand among the training files too" in capsys.readouterr().err


def test_another_measurement_in_the_same_folder_is_refused(files, tmp_path, capsys):
    test, _ = files
    out = ["--out", str(tmp_path / "out"), "-q"]
    assert main(["world", "eval", test, "--limit", "5", *out]) == 0
    assert main(["world", "eval", test, "--limit", "6", *out]) == 2
    assert "another configuration" in capsys.readouterr().err


def test_a_trained_model_is_asked_as_its_run_or_its_training_asked_it(tmp_path):
    run = tmp_path / "run"
    (run / "world").mkdir(parents=True)
    (run / "world" / "model.safetensors").touch()
    (run / "run.json").write_text(json.dumps({"config": {"world": {"ask": {"past_actions": 3, "max_prompt_tokens": 77}}}}))  # fmt: skip
    assert world_folder(str(run)) == run / "world" == world_folder(str(run / "world"))
    assert (asking(run / "world").past_actions, asking(run / "world").max_prompt_tokens) == (3, 77)
    alone = tmp_path / "alone"
    alone.mkdir()
    (alone / "world.json").write_text(json.dumps({"config": {"examples": {"show_goal": True, "cap": 9}}}))  # fmt: skip
    assert asking(alone).show_goal is True
    (run / "run.json").write_text(json.dumps({"config": {"world": {"ask": {"past_actions": "many"}}}}))  # fmt: skip
    with pytest.raises(StorageError, match=r"config\.world\.ask"):
        asking(run / "world")
    with pytest.raises(UserError, match="no world model"):
        open_world(str(tmp_path), [], threads=1)


def test_a_chat_model_and_a_judge_at_an_address(files, tmp_path, capsys):
    """Both are asked over HTTP; a reply that is no page is unusable, and the report says who was asked."""
    test, _ = files
    out = tmp_path / "out"
    with serving(repeat(well("no page at all"))) as server:
        more = ["--model", f"full@{server.url}#simulator", "--judge-url", server.url]
        call = ["world", "eval", test, *more, "--judge-model", "critic", "--limit", "4", "--probes", "1"]  # fmt: skip
        assert main([*call, "--out", str(out), "-q", "--json"]) == 0
        report = json.loads(capsys.readouterr().out)
        asked = len(server.bodies)
        assert asked > 0 and {body["model"] for body in server.bodies} <= {"simulator", "critic"}
        assert main([*call, "--out", str(out), "-q"]) == 0
        assert len(server.bodies) == asked
    _, told = report["models"]
    assert "simulator" in told["version"] and "critic" in told["judged"]["judge"]
    invalid = {c["metric"]: c["mean"] for c in told["cells"] if c["group_by"] == "all"}["invalid"]
    assert invalid > 0


def test_a_server_that_fails_is_no_score(files, tmp_path, capsys):
    """Some questions fail: they are in no number. All fail: the command ends, and can be run again."""
    test, _ = files
    out = tmp_path / "out"
    with serving(repeat(sends(400))) as server:
        call = [
            "world",
            "eval",
            test,
            "--model",
            f"full@{server.url}#gone",
            "--out",
            str(out),
            "-q",
        ]
        assert main(call) == 1
    said = capsys.readouterr().err
    assert "gave no answer" in said and said.count("\n") == 1
    assert not any(
        p.name.startswith("full") and p.stat().st_size for p in (out / "answers").iterdir()
    )

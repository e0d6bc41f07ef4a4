"""World models by spec."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.conformance.toy import SUBMIT, first_site, show
from tests.world.chats import ScriptedChat, ask
from tests.world.toys import expert

from dynaweb.axtree.views.convert import Form
from dynaweb.contracts import ChatModel, PredictionStatus
from dynaweb.errors import StorageError, UserError
from dynaweb.records.action import Click
from dynaweb.world.forms import FullConfig, Layout, NlConfig, PromptedConfig
from dynaweb.world.opening import OpenedWorld, open_world_model, read_chat_spec

PAGE = show(first_site(0))


def opener(target: str) -> ChatModel:
    assert target == "http://127.0.0.1:8000/v1#m"
    return ScriptedChat(PAGE.tree)


def opened(spec: str) -> OpenedWorld:
    return open_world_model(spec, known=[expert("toy-check", 0)], chat=opener)


@pytest.mark.parametrize("form", ["full", "full:view=dynaweb,retries=0"])
def test_a_form_over_a_chat_model(form: str) -> None:
    world = opened(f"{form}@http://127.0.0.1:8000/v1#m")
    assert world.model.predict([ask(PAGE, Click(SUBMIT))])[0].status is PredictionStatus.OK
    assert world.name == "full-webworld-dynaweb:scripted-1" and not world.shows_goal


def test_copy_and_nearest() -> None:
    assert (
        opened("copy").model.version == "copy" and opened("nearest").model.version == "nearest-of-2"
    )
    with pytest.raises(UserError, match="knows nothing"):
        open_world_model("nearest")


def test_settings_tell_models_apart() -> None:
    specs = ["full@http://127.0.0.1:8000/v1#m", "full:max_turns=4@http://127.0.0.1:8000/v1#m", "nl@http://127.0.0.1:8000/v1#m",
             "prompted@http://127.0.0.1:8000/v1#m", "copy", "nearest"]  # fmt: skip
    assert len({opened(s).checksum for s in specs}) == len(specs)


@pytest.mark.parametrize(
    ("spec", "config", "target"),
    [
        ("full@d", FullConfig(), "d"),
        ("full:layout=qwen-agentworld,view=html,show_goal=true@a@b", FullConfig(layout=Layout.AGENTWORLD, view=Form.HTML, show_goal=True), "a@b"),
        ("nl:most_lost=0.25@http://x/v1#m", NlConfig(most_lost=0.25), "http://x/v1#m"),
        ("prompted:examples=3@d", PromptedConfig(examples=3), "d"),
    ],
)  # fmt: skip
def test_specs_are_read(spec: str, config: object, target: str) -> None:
    read = read_chat_spec(spec)
    assert read is not None and (read.config, read.target) == (config, target)


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        ("full", "no target"),
        ("full@", "no target"),
        ("full:nothing=1@d", "no option 'nothing'"),
        ("full:view=pdf@d", "view 'pdf' is unknown: use one of"),
        ("full:view=markdown@d", "view 'markdown' is unknown: use one of dynaweb, html, xml, playwright, browsergym"),
        ("full:retries=x@d", "retries 'x' is no number"),
        ("full:retries=99@d", "out of range"),
        ("nl:show_goal=yes@d", "neither true nor false"),
        ("full@nowhere", "no chat model 'nowhere'"),
        ("elsewhere", "no world model 'elsewhere'"),
        ("fully@d", "no world model"),
    ],
)  # fmt: skip
def test_wrong_specs_are_told(spec: str, why: str) -> None:
    with pytest.raises(UserError, match=why):
        open_world_model(spec)


def test_a_trained_folder_is_asked_as_it_was_trained(tmp_path: Path) -> None:
    from dynaweb.world.trained import asking, world_folder

    (tmp_path / "model.safetensors").write_bytes(b"x")
    (tmp_path / "world.json").write_text(
        json.dumps({"config": {"examples": {"past_actions": 3, "show_goal": True}}}), "utf-8"
    )
    assert world_folder(str(tmp_path)) == tmp_path
    assert (asking(tmp_path).past_actions, asking(tmp_path).show_goal) == (3, True)
    with pytest.raises(StorageError):
        open_world_model(str(tmp_path))


def test_a_trained_model_has_a_name_wherever_it_is_named_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dynaweb.world.trained import world_name

    alone, in_run = tmp_path / "mine" / "world", tmp_path / "run7" / "world"
    for folder in (alone, in_run):
        folder.mkdir(parents=True)
    (tmp_path / "run7" / "run.json").write_text("{}", "utf-8")
    monkeypatch.chdir(tmp_path / "mine")
    assert world_name(Path("world")) == world_name(alone) == "world"
    monkeypatch.chdir(alone)
    assert world_name(Path()) == "world"
    monkeypatch.chdir(tmp_path / "run7")
    assert world_name(Path("world")) == world_name(in_run) == "run7"


def test_opening_is_light() -> None:
    code = "import sys, dynaweb.world.opening; print([m for m in ('torch', 'transformers', 'numpy') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"

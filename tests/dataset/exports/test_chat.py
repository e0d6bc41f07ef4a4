"""What is exported loads where it should, and says what the agent will be asked and answer."""

import asyncio
import json
from dataclasses import replace

import pytest
from tests.conformance.toy import solution
from tests.rollout.test_episode import Scripted, attempt

from dynaweb.agent.reply import read_reply
from dynaweb.dataset.exports.formats import ExportFormat
from dynaweb.dataset.exports.run import ExportWish, export
from dynaweb.errors import UserError
from dynaweb.records.trajectory import Trajectory

CHAT = (ExportFormat.TRL_MESSAGES, ExportFormat.TRL_PROMPT, ExportFormat.SHAREGPT)


@pytest.fixture(scope="module")
def solved() -> Trajectory:
    made = asyncio.run(attempt(Scripted([*solution("toy-check", 3)])))
    steps = tuple(replace(s, thought="look: `click('9')`, or not \ud83c") for s in made.steps)
    return replace(made, steps=steps, license="MIT")


@pytest.fixture(scope="module")
def failed() -> Trajectory:
    return replace(asyncio.run(attempt(Scripted([None, None]), steps=2)), license="MIT")


def rows(folder):
    return [json.loads(line) for line in (folder / "train.jsonl").read_text("utf-8").splitlines()]


def test_trl_messages_and_prompt_completion_say_the_same(tmp_path, solved, failed):
    for kind in CHAT:
        tally = export([solved, failed], ExportWish(out=tmp_path / kind, format=kind))
        assert (tally.rows, tally.trajectories, tally.steps) == (2, 1, len(solved.steps))
        assert tally.dropped == {"trajectory_failure": len(failed.steps)}
    chats, pairs, shared = (rows(tmp_path / kind) for kind in CHAT)
    for chat, pair, share in zip(chats, pairs, shared, strict=True):
        assert set(chat) == {"messages"} and set(pair) == {"prompt", "completion"}
        assert [m["role"] for m in chat["messages"]] == ["user", "assistant"]
        assert [m["content"] for m in chat["messages"]] == [pair["prompt"], pair["completion"]]
        assert [t["value"] for t in share["conversations"]] == [pair["prompt"], pair["completion"]]
        assert [t["from"] for t in share["conversations"]] == ["human", "gpt"]


def test_dataset_info_points_at_the_file(tmp_path, solved):
    export([solved], ExportWish(out=tmp_path, format=ExportFormat.SHAREGPT))
    (info,) = json.loads((tmp_path / "dataset_info.json").read_text("utf-8")).values()
    assert (tmp_path / info["file_name"]).is_file() and info["formatting"] == "sharegpt"
    row = rows(tmp_path)[0][info["columns"]["messages"]]
    assert all(set(turn) == {info["tags"]["role_tag"], info["tags"]["content_tag"]} for turn in row)


def test_a_reply_with_its_thought_reads_back_as_the_action(tmp_path, solved):
    wish = ExportWish(out=tmp_path, format=ExportFormat.TRL_PROMPT, thoughts=True)
    tally = export([solved], wish)
    for row, step in zip(rows(tmp_path), solved.steps, strict=True):
        assert read_reply(row["completion"]).action == step.action
        assert row["completion"].startswith("look:")
    assert tally.noted == {"half a surrogate pair became U+FFFD": len(solved.steps)}


def test_failures_only_when_asked(tmp_path, failed):
    wish = ExportWish(out=tmp_path, format=ExportFormat.TRL_PROMPT, failures=True)
    assert export([failed], wish).dropped == {"no_action": len(failed.steps)}


def test_an_unknown_licence_is_refused_and_leaves_nothing(tmp_path, solved):
    wish = ExportWish(out=tmp_path / "x", format=ExportFormat.TRL_MESSAGES)
    with pytest.raises(UserError, match="licence"):
        export([solved, replace(solved, license="")], wish)
    assert list(tmp_path.iterdir()) == []
    assert export([replace(solved, license="")], replace(wish, license="MIT")).steps


def test_a_folder_in_use_is_refused(tmp_path, solved):
    (tmp_path / "mine.txt").write_text("x", "utf-8")
    with pytest.raises(UserError, match="not empty"):
        export([solved], ExportWish(out=tmp_path, format=ExportFormat.TRL_MESSAGES))

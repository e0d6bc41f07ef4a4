import itertools
import json
import multiprocessing
import sqlite3
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.lm.hostile import Handler, reset, sends, serving, well

from dynaweb.contracts import ChatMessage, ChatReply, ChatRequest
from dynaweb.errors import StorageError
from dynaweb.lm.config import EndpointConfig
from dynaweb.lm.endpoint import ChatEndpoint
from dynaweb.lm.recorded import RecordedChat, RecordingChat
from dynaweb.lm.replystore import ReplyStore, reply_key


def requests(count: int, seed: int = 0) -> list[ChatRequest]:
    return [
        ChatRequest(
            messages=(ChatMessage(role="user", content=str(i)),), max_new_tokens=5, seed=seed
        )
        for i in range(count)
    ]


def endpoint(url: str, store: ReplyStore | None, model: str = "m") -> ChatEndpoint:
    config = EndpointConfig(url=url, model=model, tries=1, in_flight=1)
    return ChatEndpoint(config, store=store)


def test_what_was_answered_before_is_not_asked_again(tmp_path: Path) -> None:
    store = ReplyStore(tmp_path / "replies.sqlite")
    with serving(itertools.repeat(well("once"))) as server:
        with endpoint(server.url, store) as model:
            first = model.chat(requests(3))
        with endpoint(server.url, ReplyStore(tmp_path / "replies.sqlite")) as model:
            assert model.chat(requests(5))[:3] == first
            assert (model.tally.from_store, model.tally.answered) == (3, 2)
    with endpoint("http://127.0.0.1:9", store) as model:  # nothing listens there
        assert [r.text for r in model.chat(requests(5))] == ["once"] * 5
        assert [r.finish for r in model.chat(requests(1, seed=1))] == ["error"]
    with endpoint("http://127.0.0.1:9", store, model="other") as model:
        assert model.chat(requests(1))[0].finish == "error"
    assert len(store) == 5


def test_a_failure_is_asked_again(tmp_path: Path) -> None:
    store = ReplyStore(tmp_path / "replies.sqlite")
    with (
        serving(iter([reset, sends(400), well()])) as server,
        endpoint(server.url, store) as model,
    ):
        assert [model.chat(requests(1))[0].finish for _ in range(4)] == [
            "error",
            "error",
            "stop",
            "stop",
        ]
        assert len(server.bodies) == 3


def _killed_half_way(url: str, path: Path) -> None:
    with endpoint(url, ReplyStore(path)) as model:
        model.chat(requests(6))


def test_a_killed_command_goes_on_where_it_was(tmp_path: Path) -> None:
    """The process is killed while it waits for the fourth reply; only what it had not got is asked again."""
    context = multiprocessing.get_context("spawn")

    def act(h: Handler) -> None:
        if len(server.bodies) == 4:
            worker.kill()
            worker.join()
        well()(h)

    with serving(itertools.repeat(act)) as server:
        path = tmp_path / "replies.sqlite"
        worker = context.Process(target=_killed_half_way, args=(server.url, path))
        worker.start()
        worker.join(60)
        assert worker.exitcode == -9
        with endpoint(server.url, ReplyStore(path)) as model:
            assert [r.text for r in model.chat(requests(6))] == ["yes"] * 6
            assert model.tally.from_store == 3
        assert len(server.bodies) == 4 + 3


REPLIES = st.builds(
    ChatReply,
    text=st.text(),
    finish=st.sampled_from(["stop", "length"]),
    model=st.text(),
    prompt_tokens=st.none() | st.integers(0, 1 << 40),
    completion_tokens=st.none() | st.integers(0, 1 << 40),
    mean_logprob=st.none() | st.floats(-1e3, 0),
)


@settings(max_examples=40, deadline=None)
@given(reply=REPLIES, body=st.dictionaries(st.text(), st.text() | st.integers()))
def test_a_reply_comes_back_as_it_was(
    tmp_path_factory: pytest.TempPathFactory, reply: ChatReply, body: dict[str, object]
) -> None:
    store = ReplyStore(tmp_path_factory.mktemp("store") / "r.sqlite")
    key = reply_key(body)
    assert store.get(key) is None
    store.put(key, body, reply)
    store.put(key, body, ChatReply(text="later", finish="stop", model="m"))
    assert store.get(key) == reply
    store.close()
    store.close()


def test_lone_surrogates_and_nul_are_kept(tmp_path: Path) -> None:
    store = ReplyStore(tmp_path / "r.sqlite")
    reply = ChatReply(text="\ud800 \x00", finish="stop", model="m")
    store.put("k", {"x": "\udfff\x00"}, reply)
    assert store.get("k") == reply


def test_a_file_that_is_no_store_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("my notes, longer than a header of SQLite, so that it is read as one" * 30)
    with pytest.raises(StorageError, match=r"notes\.txt"):
        ReplyStore(path)
    assert path.read_text().startswith("my notes")
    newer = tmp_path / "newer.sqlite"
    with sqlite3.connect(newer) as file:
        file.execute("PRAGMA user_version=9")
    with pytest.raises(StorageError, match="version 9"):
        ReplyStore(newer)
    with pytest.raises(StorageError):
        ReplyStore(path / "below" / "r.sqlite")


def test_a_damaged_row_says_where(tmp_path: Path) -> None:
    store = ReplyStore(tmp_path / "r.sqlite")
    with sqlite3.connect(tmp_path / "r.sqlite") as file:
        file.execute("INSERT INTO replies VALUES ('k', '{}', '{\"text\": 7}')")
    with pytest.raises(StorageError, match="reply"):
        store.get("k")


def test_a_recording_answers_what_it_heard(tmp_path: Path) -> None:
    path = tmp_path / "said.jsonl"
    with (
        serving(itertools.chain([well("a"), sends(400, b"no")], itertools.repeat(well("b")))) as s,
        endpoint(s.url, None) as model,
    ):
        recording = RecordingChat(model, path)
        said = recording.chat(requests(2)) + recording.chat(requests(1, seed=1))
        recording.close()
    recorded = RecordedChat(path)
    assert recorded.version == "openai:m"
    assert recorded.chat([*requests(2), *requests(1, seed=1)]) == said
    assert [r.finish for r in said] == ["stop", "error", "stop"]
    missing = recorded.chat(requests(1, seed=2))[0]
    assert missing.finish == "error" and "no such request" in missing.error


def test_a_damaged_recording_says_where(tmp_path: Path) -> None:
    path = tmp_path / "said.jsonl"
    with pytest.raises(StorageError, match="no recording"):
        RecordedChat(path)
    path.write_text(json.dumps({"model": "m", "request": {}, "reply": {}}) + "\n")
    with pytest.raises(StorageError, match="line 1: request"):
        RecordedChat(path)
    path.write_text("{")
    with pytest.raises(StorageError, match="line 1"):
        RecordedChat(path)

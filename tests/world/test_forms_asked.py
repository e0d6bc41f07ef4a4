"""Forms over what really answers: a server on loopback, local weights, a recording."""

import itertools
from pathlib import Path

import pytest
from tests.conformance.toy import NOTES_TAB, SUBMIT, advance, first_site, show
from tests.lm.hostile import Handler, completion, sends, serving, well
from tests.lm.tinychat import chat_folder
from tests.serve.running import running
from tests.world.chats import ScriptedChat, ask

from dynaweb.axtree.same import same_tree
from dynaweb.contracts import PredictionStatus
from dynaweb.lm.config import EndpointConfig
from dynaweb.lm.endpoint import ChatEndpoint
from dynaweb.lm.localchat import load_chat
from dynaweb.lm.recorded import RecordedChat, RecordingChat
from dynaweb.prompts.change import APPLY_SYSTEM, PAGE_BLOCK, write_change
from dynaweb.records.action import Click
from dynaweb.serve.chat import chat_app
from dynaweb.serve.config import ServeConfig
from dynaweb.world.chatting import ChatWorldModel
from dynaweb.world.forms import FullConfig, NlConfig
from dynaweb.world.opening import form_world_model, open_world_model

PAGE = show(first_site(0))
AFTER = show(advance(first_site(0), Click(NOTES_TAB)))
WORDS = "Another page appeared: RootWebArea 'Toy', 4 lines."


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return chat_folder(tmp_path_factory.mktemp("chat") / "tiny", context=2048)


def test_a_whole_page_over_http() -> None:
    with serving(itertools.repeat(well(AFTER.tree))) as server:
        with ChatEndpoint(EndpointConfig(url=server.url, model="m", backoff_sec=0.01)) as chat:
            model = form_world_model(chat, FullConfig())
            (p,) = model.predict([ask(PAGE, Click(NOTES_TAB))])
        assert same_tree(p.observation.tree, AFTER.tree) and p.status is PredictionStatus.OK
        sent = server.bodies[0]
        assert [m["role"] for m in sent["messages"]] == ["system", "user"]  # type: ignore[attr-defined]
        assert sent["stop"] and sent["max_tokens"] == 4096 and sent["temperature"] == 0


def test_a_change_in_words_over_http_takes_two_posts() -> None:
    def act(h: Handler) -> None:
        applies = APPLY_SYSTEM in str(h.body["messages"][0]["content"])  # type: ignore[index]
        text = (
            f"<{PAGE_BLOCK}>\n{AFTER.tree}\n</{PAGE_BLOCK}>"
            if applies
            else write_change("a tab opens", WORDS)
        )
        h.answer(200, completion(text))

    with serving(itertools.repeat(act)) as server:
        with ChatEndpoint(EndpointConfig(url=server.url, model="m", backoff_sec=0.01)) as chat:
            (p,) = form_world_model(chat, NlConfig()).predict([ask(PAGE, Click(NOTES_TAB))])
        assert same_tree(p.observation.tree, AFTER.tree) and len(server.bodies) == 2


def test_a_server_that_is_down_and_one_that_cuts_off() -> None:
    down = itertools.repeat(sends(503))
    with (
        serving(down) as server,
        ChatEndpoint(EndpointConfig(url=server.url, model="m", tries=2, backoff_sec=0.01)) as chat,
    ):
        model = form_world_model(chat, FullConfig())
        (p,) = model.predict([ask(PAGE, Click(SUBMIT))])
        assert (
            p.status is PredictionStatus.INVALID and "503" in p.raw_text and len(server.bodies) == 2
        )
        assert model.counts["invalid.no_reply"] == 1
    limit = itertools.repeat(sends(200, completion(AFTER.tree, finish_reason="length")))
    with serving(limit) as server, ChatEndpoint(EndpointConfig(url=server.url, model="m")) as chat:
        model = form_world_model(chat, FullConfig())
        (p,) = model.predict([ask(PAGE, Click(SUBMIT))])
        assert p.status is PredictionStatus.INVALID and model.counts["invalid.truncated"] == 2


@pytest.mark.parametrize("form", ["full", "full:layout=qwen-agentworld", "nl", "prompted"])
def test_local_weights_that_know_nothing_are_never_a_page(form: str, folder: Path) -> None:
    spec = form.partition(":")[0]
    options = ",".join(filter(None, (form.partition(":")[2], "max_new_tokens=12", "retries=1")))
    world = open_world_model(f"{spec}:{options}@{folder}")
    assert isinstance(world.model, ChatWorldModel)
    together = world.model.predict([ask(PAGE, Click(b)) for b in (SUBMIT, NOTES_TAB)])
    assert {p.status for p in together} == {PredictionStatus.INVALID}, world.model.counts
    assert all(p.observation.tree == PAGE.tree and 0.0 <= p.confidence <= 1.0 for p in together)
    again = open_world_model(f"{spec}:{options}@{folder}").model.predict(
        [ask(PAGE, Click(NOTES_TAB))]
    )
    assert again[0].raw_text == together[1].raw_text


def test_the_same_weights_here_and_served_say_the_same(folder: Path) -> None:
    local = load_chat(folder)
    here = form_world_model(local, FullConfig(max_new_tokens=9, retries=0)).predict(
        [ask(PAGE, Click(SUBMIT))]
    )
    served = running(chat_app(local, ServeConfig(max_body_bytes=200_000)))
    with served as address, ChatEndpoint(EndpointConfig(url=address, model=local.name)) as chat:
        model = form_world_model(chat, FullConfig(max_new_tokens=9, retries=0))
        there = model.predict([ask(PAGE, Click(SUBMIT))])
    assert here[0].raw_text == there[0].raw_text != "" and here[0].status is there[0].status
    assert here[0].confidence == pytest.approx(there[0].confidence, abs=1e-4)


def test_a_recording_plays_a_dream_again(tmp_path: Path) -> None:
    path = tmp_path / "said.jsonl"
    recording = RecordingChat(ScriptedChat(AFTER.tree), path)
    first = form_world_model(recording, FullConfig()).predict([ask(PAGE, Click(NOTES_TAB))])
    recording.close()
    assert (
        form_world_model(RecordedChat(path), FullConfig()).predict([ask(PAGE, Click(NOTES_TAB))])
        == first
    )

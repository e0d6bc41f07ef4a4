import itertools
import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields
from pathlib import Path

import pytest
from tests.lm.hostile import (
    Act,
    Handler,
    Hostile,
    completion,
    cut_short,
    drip_chunks,
    drip_headers,
    endless,
    hang,
    reset,
    sends,
    serving,
    well,
)

from dynaweb.contracts import ChatMessage, ChatModel, ChatReply, ChatRequest
from dynaweb.errors import SamplerError, UserError
from dynaweb.lm.config import EndpointConfig
from dynaweb.lm.endpoint import ChatEndpoint

KEY = "sk-a-secret-that-nobody-may-see"


def request(text: str = "hello", **more: object) -> ChatRequest:
    said = (ChatMessage(role="user", content=text),)
    return ChatRequest(**{"messages": said, "max_new_tokens": 5, **more})  # type: ignore[arg-type]


def asked(server: Hostile, requests: list[ChatRequest], **more: object) -> list[ChatReply]:
    replies, _ = asked_and_counted(server, requests, **more)
    return replies


def asked_and_counted(
    server: Hostile, requests: list[ChatRequest], **more: object
) -> tuple[list[ChatReply], ChatEndpoint]:
    given = {"url": server.url, "model": "m", "backoff_sec": 0.01, "tries": 3, **more}
    with ChatEndpoint(EndpointConfig(**given), api_key=KEY) as model:  # type: ignore[arg-type]
        as_contract: ChatModel = model
        replies = as_contract.chat(requests)
    tally = model.tally
    assert tally.requests == tally.answered + tally.from_store + sum(tally.failed.values())
    assert tally.attempts == len(server.bodies)
    return replies, model


def test_what_is_sent_and_what_is_read() -> None:
    logprobs = {"content": [{"token": "y", "logprob": -0.5}, {"token": "es", "logprob": -1.5}]}
    whole = json.loads(completion("yes", logprobs=logprobs)) | {
        "model": "m-2026",
        "usage": {"prompt_tokens": 7, "completion_tokens": 2, "total_tokens": 9},
    }
    with serving(iter([sends(200, json.dumps(whole).encode())])) as server:
        replies = asked(server, [request("ü\ud800 'x'", seed=3, temperature=0.7, stop=("END",))])
    assert replies == [
        ChatReply(
            text="yes",
            finish="stop",
            model="m-2026",
            prompt_tokens=7,
            completion_tokens=2,
            mean_logprob=-1.0,
        )
    ]
    assert server.bodies == [
        {
            "model": "m",
            "messages": [{"role": "user", "content": "ü\ud800 'x'"}],
            "max_tokens": 5,
            "temperature": 0.7,
            "seed": 3,
            "stop": ["END"],
            "logprobs": True,
        }
    ]
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"


RECOVERS: dict[str, Act] = {
    "http_429": sends(429, b'{"error": {"message": "slow down"}}', Retry_After="0"),
    "http_500": sends(500, b"<html>oops</html>"),
    "http_503": sends(503),
    "http_408": sends(408),
    "transport": reset,
    "malformed": sends(200, b'{"choices": [{"mess'),
    "no_choices": sends(200, b'{"choices": []}'),
    "error_body": sends(200, b'{"error": {"message": "overloaded", "code": 529}}'),
}
ALSO_MALFORMED: list[Act] = [
    sends(200, b""),
    sends(200, b"[" * 100_000),
    sends(200, b'{"choices": [{"message": {"content": 7}}]}'),
    sends(200, b"\xff\xfe\x00"),
    sends(200, b"[]"),
    sends(200, b"<html>", content_type="text/html"),
]


@pytest.mark.parametrize("kind", RECOVERS)
def test_a_fault_that_passes_costs_one_more_try(kind: str) -> None:
    with serving(iter([RECOVERS[kind], well()])) as server:
        replies, model = asked_and_counted(server, [request()])
    assert [(r.text, r.finish, r.error) for r in replies] == [("yes", "stop", "")]
    assert len(server.bodies) == 2
    assert model.tally.retried == {kind: 1} and not model.tally.failed


@pytest.mark.parametrize("kind", RECOVERS)
def test_a_fault_that_stays_is_given_up_after_the_tries(kind: str) -> None:
    with serving(itertools.repeat(RECOVERS[kind])) as server:
        replies, model = asked_and_counted(server, [request()])
    assert replies[0].finish == "error" and replies[0].text == ""
    assert "(after 3 tries)" in replies[0].error
    assert len(server.bodies) == 3
    assert model.tally.retried == {kind: 2} and model.tally.failed == {kind: 1}


@pytest.mark.parametrize("act", [cut_short, *ALSO_MALFORMED])
def test_half_and_foreign_answers_are_failures_not_guesses(act: Act) -> None:
    with serving(iter([act, well()])) as server:
        assert asked(server, [request()])[0].text == "yes"
    assert len(server.bodies) == 2


GIVES_UP: dict[str, Act] = {
    "http_400": sends(400, b'{"error": {"message": "prompt is too long"}}'),
    "http_413": sends(413),
    "http_302": sends(302, b"", Location="http://127.0.0.1:1/"),
    "refused": sends(200, completion("", finish_reason="content_filter")),
    "no_text": sends(200, completion(None, finish_reason="tool_calls")),
    "too_large": endless,
}


@pytest.mark.parametrize("kind", GIVES_UP)
def test_what_no_further_try_would_mend_is_asked_once(kind: str) -> None:
    with serving(itertools.repeat(GIVES_UP[kind])) as server:
        replies, model = asked_and_counted(server, [request()], max_reply_bytes=1 << 20)
    assert replies[0].finish == "error" and replies[0].error
    assert len(server.bodies) == 1 and model.tally.failed == {kind: 1}


def test_a_packed_answer_is_not_unpacked() -> None:
    with serving(
        itertools.repeat(sends(200, b"\x1f\x8b" * 100, content_encoding="gzip"))
    ) as server:
        replies, model = asked_and_counted(server, [request()])
    assert replies[0].finish == "error" and model.tally.failed == {"too_large": 1}
    assert server.headers[0]["accept-encoding"] == "identity"


@pytest.mark.parametrize("status", [401, 403, 404])
def test_what_can_never_succeed_ends_everything_and_hides_the_key(status: int) -> None:
    said = json.dumps({"error": {"message": f"{'x' * 280} Incorrect API key provided: {KEY}"}})
    with serving(itertools.repeat(sends(status, said.encode()))) as server:
        with pytest.raises(SamplerError, match=f"HTTP {status}") as raised:
            asked(server, [request(str(i)) for i in range(20)], in_flight=2)
        assert len(server.bodies) <= 4
    assert KEY not in str(raised.value) and "sk-a" not in str(raised.value)


def test_no_such_host() -> None:
    config = EndpointConfig(url="http://no-such-host.invalid/v1", model="m", tries=1)
    with ChatEndpoint(config) as model:
        try:
            replies = model.chat([request()])
        except SamplerError as error:
            assert "no-such-host.invalid" in str(error)
        else:  # a machine whose resolver cannot be reached: that may pass, so it is no verdict
            assert "name resolution" in replies[0].error


def test_nothing_listens() -> None:
    with serving(iter([])) as server:
        config = EndpointConfig(url=server.url, model="m", tries=2, backoff_sec=0.01)
    with ChatEndpoint(config) as model:
        reply = model.chat([request()])[0]
    assert reply.finish == "error" and "is the server running" in reply.error
    assert model.tally.attempts == 2


@pytest.mark.parametrize("act", [hang, drip_headers, drip_chunks], ids=lambda a: a.__name__)
def test_a_server_that_never_ends_is_left_in_time(act: Act) -> None:
    with serving(itertools.chain([act], itertools.repeat(well()))) as server:
        began = time.monotonic()
        replies = asked(server, [request("a"), request("b")], attempt_sec=0.3, in_flight=1)
        took = time.monotonic() - began
    assert [r.text for r in replies] == ["yes", "yes"]  # the slot was free again
    assert 0.3 <= took < 3 and len(server.bodies) == 3


def test_the_deadline_holds_for_all_tries_together() -> None:
    with serving(itertools.repeat(hang)) as server:
        began = time.monotonic()
        reply = asked(server, [request()], attempt_sec=0.2, deadline_sec=0.5, tries=100)[0]
        took = time.monotonic() - began
    assert reply.finish == "error" and "0.5 s" in reply.error
    assert took < 2 and 2 <= len(server.bodies) <= 4


def test_the_server_says_when_to_come_back_and_all_listen() -> None:
    limited = sends(429, b"", Retry_After="1")
    with serving(itertools.chain([limited], itertools.repeat(well()))) as server:
        replies = asked(server, [request(str(i)) for i in range(4)], in_flight=1)
    assert [r.text for r in replies] == ["yes"] * 4
    assert len(server.bodies) == 5
    assert server.times[1] - server.times[0] >= 0.99


def test_a_wait_beyond_the_deadline_is_not_waited() -> None:
    with serving(itertools.repeat(sends(429, b"", Retry_After="3600"))) as server:
        began = time.monotonic()
        replies = asked(server, [request(w) for w in "abc"], deadline_sec=5, in_flight=1)
        assert time.monotonic() - began < 2
    assert [r.finish for r in replies] == ["error"] * 3
    assert "after the deadline" in replies[0].error and "no time was left" in replies[1].error
    assert len(server.bodies) == 1


def test_side_by_side_but_never_more_than_allowed() -> None:
    def slow(h: Handler) -> None:
        time.sleep(0.1)
        well()(h)

    with serving(itertools.repeat(slow)) as server:
        asked(server, [request(str(i)) for i in range(24)], in_flight=6)
    assert 2 <= server.most_inside <= 6


def test_replies_are_in_order_and_equal_requests_are_asked_once() -> None:
    def echo(h: Handler) -> None:
        word = h.body["messages"][0]["content"]  # type: ignore[index]
        time.sleep(0.2 if word == "a" else 0.0)  # the first comes last
        well(word)(h)

    with serving(itertools.repeat(echo)) as server:
        words = ["a", "b", "a", "c"]
        replies = asked(server, [request(w) for w in words])
    assert [r.text for r in replies] == words
    assert len(server.bodies) == 3


def test_a_server_that_refuses_log_probabilities_is_asked_without() -> None:
    refusal = sends(400, b'{"error": {"message": "logprobs is not supported with this model"}}')
    with serving(itertools.chain([refusal], itertools.repeat(well()))) as server:
        replies, model = asked_and_counted(
            server, [request("a"), request("b")], tries=1, in_flight=1
        )
    assert [(r.text, r.mean_logprob) for r in replies] == [("yes", None)] * 2
    assert ["logprobs" in b for b in server.bodies] == [True, False, False]
    assert not model.tally.retried and not model.tally.failed


def test_a_stop_text_that_the_server_forgot_ends_the_reply() -> None:
    said = completion(
        "one STOP two", finish_reason="length", logprobs={"content": [{"logprob": -1}]}
    )
    with serving(iter([sends(200, said)])) as server:
        reply = asked(server, [request(stop=("STOP",))])[0]
    assert (reply.text, reply.finish, reply.mean_logprob) == ("one ", "stop", None)


@pytest.mark.parametrize(
    "logprobs", [{"content": [{"logprob": None}]}, {"tokens": ["a"]}, [1], "x"]
)
def test_odd_log_probabilities_are_not_known_ones(logprobs: object) -> None:
    with serving(iter([sends(200, completion("yes", logprobs=logprobs))])) as server:
        reply = asked(server, [request()])[0]
    assert (reply.text, reply.mean_logprob) == ("yes", None)


def test_a_server_that_is_started_anew_answers_everything_once() -> None:
    """Killed with eight requests inside, of sixteen; each of them gets its own answer from the next server."""
    asking = threading.Barrier(9)

    def dies(h: Handler) -> None:
        asking.wait(20)
        reset(h)

    def echo(h: Handler) -> None:
        well(h.body["messages"][0]["content"])(h)  # type: ignore[index]

    words = [str(i) for i in range(16)]
    with serving(itertools.repeat(dies)) as first:
        config = EndpointConfig(url=first.url, model="m", backoff_sec=0.3, tries=20, in_flight=8)
        with ChatEndpoint(config) as model, ThreadPoolExecutor(1) as pool:
            replies = pool.submit(model.chat, [request(w) for w in words])
            asking.wait(20)
            first.shutdown()
            first.server_close()
            with serving(itertools.repeat(echo), first.server_address[1]) as second:
                assert [r.text for r in replies.result(60)] == words
            said = [b["messages"][0]["content"] for b in second.bodies]  # type: ignore[index]
            assert sorted(said, key=int) == words
            assert model.tally.answered == 16 and not model.tally.failed


def test_proxies_of_the_environment_are_not_for_this_machine(monkeypatch) -> None:  # type: ignore[no-untyped-def]
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    with serving(iter([well()])) as server:
        assert asked(server, [request()], tries=1)[0].text == "yes"


async def test_it_can_be_asked_from_inside_an_event_loop() -> None:
    with serving(iter([well()])) as server:
        assert asked(server, [request()])[0].text == "yes"


def test_a_closed_endpoint_begins_again() -> None:
    with serving(itertools.repeat(well())) as server:
        config = EndpointConfig(url=server.url, model="m", in_flight=1)
        model = ChatEndpoint(config)
        for word in "ab":
            assert [r.text for r in model.chat([request(word), request(word * 2)])] == ["yes"] * 2
            model.close()
            model.close()
        assert model.chat([]) == []
        model.close()
    assert not [t for t in threading.enumerate() if t.name == "dynaweb-endpoint"]


def test_the_key_is_nowhere_to_be_seen(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG")
    body = json.dumps({"error": {"message": f"bad {KEY}"}}).encode()
    with serving(itertools.repeat(sends(400, body))) as server:
        replies, model = asked_and_counted(server, [request()])
    shown = f"{replies} {model!r} {model.tally} {vars(model).keys()} {caplog.text} {model.version}"
    assert KEY not in shown and "***" in replies[0].error


@pytest.mark.parametrize("key", ["se\ncret", " secret", "ключ", "se\x00cret"])
def test_a_key_that_no_header_carries_is_refused_without_showing_it(key: str) -> None:
    with pytest.raises(UserError) as raised:
        ChatEndpoint(EndpointConfig(url="http://127.0.0.1", model="m"), api_key=key)
    assert key.strip() not in str(raised.value)


@pytest.mark.parametrize(
    ("url", "base"),
    [
        ("http://127.0.0.1:8000", "http://127.0.0.1:8000/v1"),
        ("http://127.0.0.1:8000/v1/", "http://127.0.0.1:8000/v1"),
        ("https://api.example/api/v3/chat/completions", "https://api.example/api/v3"),
    ],
)
def test_addresses(url: str, base: str) -> None:
    assert EndpointConfig(url=url, model="m").url == base


@pytest.mark.parametrize(
    "given",
    [
        {"url": "127.0.0.1:8000"},
        {"url": "ftp://host/v1"},
        {"url": "http://host:99999/v1"},
        {"url": "http://host/v1?key=x"},
        {"model": " "},
        {"in_flight": 0},
        {"tries": 0},
        {"deadline_sec": float("nan")},
    ],
)
def test_settings_out_of_range(given: dict[str, object]) -> None:
    with pytest.raises(UserError):
        EndpointConfig(**{"url": "http://host/v1", "model": "m", **given})  # type: ignore[arg-type]


def test_a_password_in_the_address_is_refused_without_showing_it() -> None:
    with pytest.raises(UserError) as raised:
        EndpointConfig(url="http://me:hunter2@host/v1", model="m")
    assert "hunter2" not in str(raised.value)


def test_every_setting_is_in_the_docs() -> None:
    text = (Path(__file__).parents[2] / "docs" / "endpoints.md").read_text("utf-8")
    assert [f.name for f in fields(EndpointConfig) if f"`{f.name}`" not in text] == []

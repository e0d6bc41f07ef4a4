import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx2
import pytest
from tests.lm.tinychat import chat_folder
from tests.serve.running import running

from dynaweb.cli.main import main
from dynaweb.contracts import ChatMessage, ChatRequest
from dynaweb.errors import MissingDependencyError, SamplerError, UserError
from dynaweb.lm.config import EndpointConfig
from dynaweb.lm.endpoint import ChatEndpoint
from dynaweb.lm.localchat import LocalChat, load_chat
from dynaweb.serve.chat import chat_app
from dynaweb.serve.client import DreamServer
from dynaweb.serve.config import ServeConfig
from dynaweb.serve.loopback import listen


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return chat_folder(tmp_path_factory.mktemp("chat") / "tiny", context=512)


@pytest.fixture(scope="module")
def model(folder: Path) -> LocalChat:
    return load_chat(folder)


@pytest.fixture(scope="module")
def url(model: LocalChat) -> Iterator[str]:
    config = ServeConfig(max_new_tokens=7, max_body_bytes=20_000)
    with running(chat_app(model, config)) as address:
        yield address


def requests(count: int) -> list[ChatRequest]:
    return [
        ChatRequest(
            messages=(
                ChatMessage(role="system", content="be brief"),
                ChatMessage(role="user", content="button " * (i % 7 + 1)),
            ),
            max_new_tokens=2 + i % 9,
            temperature=0.8 * (i % 2),
            seed=i,
            stop=("e",) if i % 3 == 0 else (),
        )
        for i in range(count)
    ]


def test_what_is_served_is_what_the_model_says(url: str, model: LocalChat) -> None:
    """Client and server of ours against each other, and against the model in this process."""
    config = EndpointConfig(url=url, model="tiny", in_flight=12)
    with ChatEndpoint(config) as endpoint:
        served = endpoint.chat(requests(24))
    for far, near in zip(served, model.chat(requests(24)), strict=True):
        assert (far.text, far.finish, far.model) == (near.text, near.finish, near.model)
        assert (far.prompt_tokens, far.completion_tokens) == (
            near.prompt_tokens,
            near.completion_tokens,
        )
        assert far.mean_logprob == pytest.approx(near.mean_logprob, abs=1e-5)
    health = httpx2.get(f"{url}/health").json()
    assert health["status"] == "ok" and health["answered"] >= 24
    assert health["batches"] < 24  # what waited was answered together


def ask(url: str, **body: object) -> httpx2.Response:
    said = {"model": "tiny", "messages": [{"role": "user", "content": "click"}], **body}
    return httpx2.post(f"{url}/v1/chat/completions", json=said, timeout=60)


def test_the_answer_has_openais_form(url: str) -> None:
    answer = ask(url, logprobs=True, temperature=0, max_completion_tokens=5).json()
    assert answer["object"] == "chat.completion" and answer["id"].startswith("chatcmpl-")
    assert abs(answer["created"] - time.time()) < 120
    (choice,) = answer["choices"]
    tokens = choice["logprobs"]["content"]
    assert "".join(t["token"] for t in tokens) == choice["message"]["content"]
    assert [bytes(t["bytes"]).decode() for t in tokens] == [t["token"] for t in tokens]
    assert all(t["logprob"] <= 0 for t in tokens)
    usage = answer["usage"]
    assert usage["completion_tokens"] == 5
    assert usage["total_tokens"] == usage["prompt_tokens"] + 5
    assert ask(url).json()["usage"]["completion_tokens"] <= 7
    assert ask(url).json()["choices"][0]["logprobs"] is None


def test_parts_of_text_are_one_text(url: str) -> None:
    parts = [{"type": "text", "text": "cli"}, {"type": "text", "text": "ck"}]
    both = [
        ask(url, temperature=0, messages=[{"role": "user", "content": c}]).json()
        for c in (parts, "click")
    ]
    assert both[0]["choices"] == both[1]["choices"] and both[0]["usage"] == both[1]["usage"]


def test_values_that_change_nothing_are_taken(url: str) -> None:
    more = {"n": 1, "top_p": 1.0, "stream": False, "frequency_penalty": 0.0, "user": "me"}
    more |= {"presence_penalty": 0, "top_logprobs": 0, "response_format": {"type": "text"}}
    assert ask(url, **more).status_code == 200


REFUSED = [
    ({"stream": True}, 400, "stream"),
    ({"n": 2}, 400, "n"),
    ({"top_p": 0.5}, 400, "top_p"),
    ({"tools": []}, 400, "tools"),
    ({"temperature": -1}, 400, "temperature"),
    ({"temperature": "hot"}, 400, "temperature"),
    ({"max_tokens": 0}, 400, "max_tokens"),
    ({"messages": []}, 400, "messages"),
    ({"messages": [{"role": "assistant", "content": "x"}]}, 400, "messages"),
    ({"messages": [{"role": "tool", "content": "x"}]}, 400, "messages.0.role"),
    ({"messages": [{"role": "user", "content": "x " * 700}]}, 400, "messages"),
    ({"stop": [""]}, 400, "stop"),
    ({"stop": ["a"] * 17}, 400, "stop"),
    ({"model": "gpt-5"}, 404, "model"),
]


@pytest.mark.parametrize(("body", "status", "param"), REFUSED)
def test_what_cannot_be_answered_is_an_error_that_names_it(
    url: str, body: dict[str, object], status: int, param: str
) -> None:
    answer = ask(url, **body)
    error = answer.json()["error"]
    assert (answer.status_code, error["param"], error["type"]) == (
        status,
        param,
        "invalid_request_error",
    )
    assert error["message"] and set(error) == {"message", "type", "param", "code"}


def test_bodies_that_are_no_request(url: str) -> None:
    address = f"{url}/v1/chat/completions"
    for body, status in (
        (b"{", 400),
        (b"[" * 15_000, 400),
        (b"\xff", 400),
        (b"[]", 400),
        (b" " * 20_001, 413),
    ):
        answer = httpx2.post(address, content=body)
        assert answer.status_code == status and answer.json()["error"]["message"]
    assert httpx2.get(address).status_code == 405
    unknown = httpx2.get(f"{url}/v1/nothing")
    assert unknown.status_code == 404 and unknown.json()["error"]["message"]


def test_models(url: str) -> None:
    listed = httpx2.get(f"{url}/v1/models").json()
    assert [m["id"] for m in listed["data"]] == ["tiny"] and listed["object"] == "list"
    assert httpx2.get(f"{url}/v1/models/tiny").json() == listed["data"][0]
    assert httpx2.get(f"{url}/v1/models/other").json()["error"]["code"] == "model_not_found"


@pytest.mark.parametrize(
    "headers",
    [{"host": "evil.example"}, {"host": "evil.example:80"}, {"origin": "https://evil.example"},
     {"origin": "null"}, {"host": "127.0.0.1.evil.example"}],
)  # fmt: skip
def test_pages_of_others_cannot_steer_it(url: str, headers: dict[str, str]) -> None:
    assert httpx2.get(f"{url}/v1/models", headers=headers).status_code == 403


def test_own_programs_and_pages_may(url: str) -> None:
    port = url.rpartition(":")[2]
    for headers in ({"host": f"localhost:{port}"}, {"origin": f"http://localhost:{port}"}):
        assert httpx2.get(f"{url}/v1/models", headers=headers).status_code == 200


def test_another_model_is_no_endpoint(url: str) -> None:
    with (
        ChatEndpoint(EndpointConfig(url=url, model="gpt-5")) as endpoint,
        pytest.raises(SamplerError, match="gpt-5"),
    ):
        endpoint.chat(requests(3))


def test_who_leaves_is_not_written_for(model: LocalChat) -> None:
    slow = Slow(model)
    with running(chat_app(slow, ServeConfig(max_batch=1))) as address:  # type: ignore[arg-type]
        with pytest.raises(httpx2.ReadTimeout):
            said = {"model": "tiny", "messages": [{"role": "user", "content": "x"}]}
            httpx2.post(f"{address}/v1/chat/completions", json=said, timeout=0.3)
        assert slow.ended.wait(10), "it was written on for nobody"
        # and the next one is answered
        assert ask(address).status_code == 200
        assert httpx2.get(f"{address}/health").json()["left"] == 1


class Slow:
    """The first request is written until its asker has gone."""

    def __init__(self, model: LocalChat) -> None:
        self.model, self.name = model, model.name
        self.ended = threading.Event()

    def write(self, asked):  # type: ignore[no-untyped-def]
        end = time.monotonic() + 20
        while not self.ended.is_set() and not asked[0][1]() and time.monotonic() < end:
            time.sleep(0.01)
        if asked[0][1]():
            self.ended.set()
        return self.model.write(asked)


def test_too_many_are_sent_away_to_come_back(model: LocalChat) -> None:
    held = Held(model)
    config = ServeConfig(max_batch=1, max_waiting=1)
    with running(chat_app(held, config)) as address, ThreadPoolExecutor(3) as pool:  # type: ignore[arg-type]
        first = pool.submit(ask, address)
        assert held.inside.wait(10)
        second = pool.submit(ask, address)
        while httpx2.get(f"{address}/health").json()["waiting"] < 1:
            time.sleep(0.01)
        third = ask(address)
        held.go.set()
        assert [first.result().status_code, second.result().status_code] == [200, 200]
    assert third.status_code == 503 and third.headers["retry-after"] == "1"
    assert third.json()["error"]["code"] == "server_busy"


class Held:
    def __init__(self, model: LocalChat) -> None:
        self.model, self.name = model, model.name
        self.inside, self.go = threading.Event(), threading.Event()

    def write(self, asked):  # type: ignore[no-untyped-def]
        self.inside.set()
        assert self.go.wait(20)
        return self.model.write(asked)


@pytest.mark.parametrize("host", ["0.0.0.0", "", "192.168.0.1", "example.com", "::"])
def test_no_address_that_others_reach(host: str) -> None:
    with pytest.raises(UserError, match="not this machine alone"):
        ServeConfig(host=host)


def test_a_taken_port_says_what_to_do() -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        with pytest.raises(MissingDependencyError, match="--port"):
            listen(ServeConfig(port=other.getsockname()[1]))


def served(*arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "dynaweb.cli.main", "serve", *arguments, "--port", "0"]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace"
    )


def stop(process: subprocess.Popen[str], number: signal.Signals) -> None:
    process.send_signal(number)
    _, said = process.communicate(timeout=30)
    assert process.returncode == 0 and "Traceback" not in said


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_command_serves_until_it_is_stopped(folder: Path, number: signal.Signals) -> None:
    process = served("chat", "--model", str(folder), "--threads", "1")
    try:
        assert process.stdout is not None
        address = process.stdout.readline().split()[0].removesuffix("/v1")
        assert ask(address, temperature=0).json()["model"] == "tiny"
        stop(process, number)
    finally:
        process.kill()
        process.wait()


async def test_the_command_serves_a_world() -> None:
    process = served("world", "--model", "copy")
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        async with DreamServer(line.split()[0]) as server:
            assert (await server.about()).version in line
        stop(process, signal.SIGTERM)
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["chat", "--model", "DIR"], "no model in"),
        (["chat", "--model", "DIR/no"], "no model in"),
        (["chat", "--model", "DIR", "--host", "0.0.0.0"], "not this machine alone"),
        (["world", "--model", "DIR"], "no world model"),
    ],
)
def test_a_command_that_cannot_serve_says_why_in_a_line(
    arguments: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = [a.replace("DIR", str(tmp_path)) for a in arguments]
    assert main(["serve", *given]) == 2
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.startswith("dynaweb: ") and said in last

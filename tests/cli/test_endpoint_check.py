import itertools
import json

import pytest
from tests.lm.hostile import Act, completion, sends, serving, well

from dynaweb.cli.endpoints import key_of
from dynaweb.cli.main import main
from dynaweb.errors import UserError
from dynaweb.lm.config import EndpointConfig

KEY = "sk-a-secret-that-nobody-may-see"


def doctor(url: str, *more: str) -> int:
    return main(["doctor", "--endpoint", url, "--model", "m", "--only", "endpoint", *more])


def test_the_doctor_asks_an_endpoint(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_KEY", f" {KEY}\n")  # as a file with a line end gives it
    told = completion("Yes!", logprobs={"content": [{"logprob": -1}]})
    with serving(iter([sends(200, told)])) as server:
        assert doctor(server.url, "--key-variable", "SOME_KEY") == 0
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"
    out = capsys.readouterr().out
    assert "'Yes!'" in out and "gives log-probabilities, does not count tokens" in out
    assert KEY not in out


BROKEN: list[tuple[Act, str]] = [
    (sends(401, json.dumps({"error": {"message": f"bad key {KEY}"}}).encode()), "check the key"),
    (sends(404), "has no model 'm'"),
    (sends(500, b"\x1b[31moops"), "HTTP 500"),
    (sends(200, b"hello"), "not JSON"),
]


@pytest.mark.parametrize(("act", "said"), BROKEN)
def test_the_doctor_says_what_is_wrong_with_one(
    act: Act, said: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_KEY", KEY)
    with serving(itertools.repeat(act)) as server:
        assert doctor(server.url, "--key-variable", "SOME_KEY", "--json") == 4
        assert len(server.bodies) == 1  # whoever calls the doctor does not want to wait
    printed = capsys.readouterr()
    (check,) = json.loads(printed.out)
    assert check["ok"] is False and said in check["mend"]
    assert KEY not in printed.out + printed.err and "\x1b" not in printed.out


def test_mistakes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--only", "endpoint"]) == 2
    assert "needs --endpoint URL" in capsys.readouterr().err
    assert doctor("127.0.0.1:8000") == 2
    assert "use http://HOST:PORT/v1" in capsys.readouterr().err
    assert main(["doctor", "--endpoint", "http://127.0.0.1", "--only", "endpoint"]) == 2
    assert "model is empty" in capsys.readouterr().err
    assert main(["doctor", "--model", "m"]) == 2
    assert "--model is of an endpoint: give --endpoint URL" in capsys.readouterr().err


def test_a_key_comes_from_the_variable_that_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTHER", KEY)
    config = EndpointConfig(url="http://127.0.0.1", model="m")
    assert key_of(config) == ""
    with pytest.raises(UserError, match="'MISSING' is not set"):
        key_of(EndpointConfig(url="http://127.0.0.1", model="m", key_variable="MISSING"))
    assert key_of(EndpointConfig(url="http://127.0.0.1", model="m", key_variable="OTHER")) == KEY
    with serving(iter([well()])) as server:
        assert doctor(server.url) == 0
    assert "authorization" not in server.headers[0]

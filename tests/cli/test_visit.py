"""`dynaweb visit` on a real server: what is written down holds no secret, and read-only means that nothing arrives."""

import http.server
import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import ClassVar
from urllib.parse import parse_qs

import pytest

SECRET = "correct horse/battery+staple"
FORM = (
    b"<!doctype html><title>Shop</title><form method=post action=/login><label>Name <input name=name></label>"
    b"<label>Password <input type=password name=password></label><button>Log in</button></form>"
)


class Shop(http.server.BaseHTTPRequestHandler):
    """Echoes what it got in many spellings."""

    got: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        self._page(FORM)

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        self.got.append(body)
        word = parse_qs(body)["password"][0]
        self._page(f"<title>{word}</title><p>{word} {json.dumps(word)} {body}</p><a href='/?{body}'>{word}</a>".encode())  # fmt: skip

    def _page(self, text: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def shop():
    Shop.got = []
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Shop)
    threading.Thread(target=server.serve_forever, args=(0.1,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def visit(folder: Path, origin: str, *more: str) -> subprocess.CompletedProcess[str]:
    secrets = folder.parent / "secrets.json"
    secrets.write_text(json.dumps({"shop.password": {"value": SECRET, "origins": [origin]}}))
    secrets.chmod(0o600)
    actions = ("fill('1', '<secret>shop.password</secret>')", "fill('2', '<secret>shop.password</secret>')", "click('3')", "click('5')")  # fmt: skip
    words = [w for action in actions for w in ("--action", action)]
    command = [sys.executable, "-m", "dynaweb.cli.main", "--debug", "visit", f"{origin}/", "--secrets", str(secrets), "--out", str(folder / "out.jsonl"), *words, *more]  # fmt: skip
    environment = {**os.environ, "TMPDIR": str(folder)}  # noqa: TID251  # of the child
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment, cwd=folder, timeout=100)  # fmt: skip


def everything(folder: Path, done: subprocess.CompletedProcess[str]) -> str:
    files = [p for p in folder.rglob("*") if p.is_file()]
    names = " ".join(map(str, folder.rglob("*")))
    return "\n".join([done.stdout, done.stderr, names, *(p.read_bytes().decode("latin-1") for p in files)])  # fmt: skip


@pytest.mark.browser
def test_no_written_byte_holds_the_secret(tmp_path: Path, shop: str) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    done = visit(folder, shop)
    assert done.returncode == 0, done.stderr
    assert len(Shop.got) == 1 and parse_qs(Shop.got[0])["password"] == [SECRET]
    written = everything(folder, done)
    assert "<secret>shop.password</secret>" in (folder / "out.jsonl").read_text()
    for word in (SECRET, "horse/battery", "horse%2Fbattery", "battery+staple", "battery%2Bstaple"):
        assert word not in written


@pytest.mark.browser
def test_read_only_means_that_nothing_arrives_and_the_agent_is_told(
    tmp_path: Path, shop: str
) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    done = visit(folder, shop, "--writes", "never")
    assert done.returncode == 0, done.stderr
    assert Shop.got == []
    assert "not allowed on this site: it would submit a form" in done.stdout


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("ftp://x",), "is no address"),
        (("http://127.0.0.1:1/", "--writes", "maybe"), "use never, ask, allow"),
        (("http://127.0.0.1:1/", "--writes", "ask", "--action", "noop()"), "needs a terminal"),
        (("http://127.0.0.1:1/", "--action", "exec('x')"), "unknown action"),
        (("http://127.0.0.1:1/", "--secrets", "nowhere.json"), "cannot read the secrets"),
        (("http://127.0.0.1:1/", "--secrets", "open.json"), "chmod 600"),
        (("http://127.0.0.1:1/", "--secrets", "odd.json"), "write {"),
    ],
)
def test_mistakes_are_one_line_and_show_no_value(tmp_path: Path, words, told) -> None:
    for name, text, mode in (("open.json", "{}", 0o644), ("odd.json", '{"a": "hunter2!"}', 0o600)):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(mode)
    command = [sys.executable, "-m", "dynaweb.cli.main", "visit", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path, stdin=subprocess.DEVNULL, timeout=60)  # fmt: skip
    assert done.returncode == 2 and told in done.stderr and "hunter2!" not in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1

"""The page server gives what lies in its folder, and nothing else."""

import http.client
from pathlib import Path

import pytest

from dynaweb.browser.pages import PageServer, miniwob_root
from dynaweb.errors import MissingDependencyError


@pytest.fixture
def server(tmp_path: Path):
    root = tmp_path / "root"
    (root / "sub").mkdir(parents=True)
    (root / "a.html").write_text("<p>é</p>", encoding="utf-8")
    (tmp_path / "secret.txt").write_text("secret", encoding="utf-8")
    (root / "link.txt").symlink_to(tmp_path / "secret.txt")
    found = PageServer(root)
    yield found
    found.close()


def ask(server: PageServer, method: str, path: str) -> tuple[int, str, bytes]:
    connection = http.client.HTTPConnection(server.origin.removeprefix("http://"), timeout=5)
    connection.request(method, path)
    answer = connection.getresponse()
    found = (answer.status, answer.getheader("Content-Type") or "", answer.read())
    connection.close()
    return found


def test_a_page_is_served_as_utf8(server: PageServer) -> None:
    assert ask(server, "GET", "/a.html?x=1") == (
        200,
        "text/html; charset=utf-8",
        "<p>é</p>".encode(),
    )


@pytest.mark.parametrize(
    "path",
    [
        "/../secret.txt",
        "/%2e%2e/secret.txt",
        "/sub/../../secret.txt",
        "//etc/passwd",
        "/link.txt",
        "/",
        "/sub/",
        "/none",
    ],
)
def test_nothing_outside_and_no_listing(server: PageServer, path: str) -> None:
    status, _, body = ask(server, "GET", path)
    assert status == 404 and b"secret" not in body.replace(path.encode(), b"")


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
def test_only_reading(server: PageServer, method: str) -> None:
    assert ask(server, method, "/a.html")[0] == 501


def test_a_taken_port_is_named(server: PageServer, tmp_path: Path) -> None:
    port = int(server.origin.rpartition(":")[2])
    with pytest.raises(MissingDependencyError, match=f"{port}.*port 0"):
        PageServer(tmp_path, port)


def test_closing_twice_frees_the_port(tmp_path: Path) -> None:
    server = PageServer(tmp_path)
    server.close()
    server.close()
    PageServer(tmp_path, int(server.origin.rpartition(":")[2])).close()


def test_the_pages_of_the_package_are_found() -> None:
    assert (miniwob_root() / "core" / "core.js").is_file()

"""Nothing of one episode is in the next: each kind of memory that a browser has, with a real server, proved to hold within an episode."""

import http.server
import json
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from typing import ClassVar

import pytest
import pytest_asyncio

from dynaweb.browser.chromium import BrowserPool
from dynaweb.browser.config import BrowserConfig
from dynaweb.browser.environment import BrowserEnvironment
from dynaweb.browser.page import LivePage
from dynaweb.browser.site import Standing

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

DATABASE = """const db = await new Promise((done) => {
  const asked = indexedDB.open('d', 1);
  asked.onupgradeneeded = () => asked.result.createObjectStore('s');
  asked.onsuccess = () => done(asked.result);
});"""
READ = f"""(async () => {{ {DATABASE}
  const kept = await new Promise((done) => {{
    const asked = db.transaction('s').objectStore('s').get('k'); asked.onsuccess = () => done(asked.result || 'none'); }});
  db.close();
  return {{
    cookie: document.cookie || 'none', local: localStorage.getItem('k') || 'none',
    session: sessionStorage.getItem('k') || 'none', name: window.name || 'none', database: kept,
    caches: (await caches.keys()).length,
    workers: (await navigator.serviceWorker.getRegistrations()).length,
    controlled: navigator.serviceWorker.controller !== null,
    permission: (await navigator.permissions.query({{name: 'geolocation'}})).state,
  }};
}})()"""
STAIN = f"""(async () => {{ {DATABASE}
  document.cookie = 'k=1'; localStorage.setItem('k', '1'); sessionStorage.setItem('k', '1'); window.name = '1';
  await new Promise((done) => {{
    const change = db.transaction('s', 'readwrite'); change.objectStore('s').put('1', 'k'); change.oncomplete = done; }});
  db.close();
  await (await caches.open('c')).put('/x', new Response('1'));
  navigator.serviceWorker.register('/worker.js').catch(() => null);
}})()"""
CLEAN = {
    "cookie": "none",
    "local": "none",
    "session": "none",
    "name": "none",
    "database": "none",
    "caches": 0,
    "workers": 0,
    "controlled": False,
}
STAINED = {"cookie": "k=1", "local": "1", "session": "1", "name": "1", "database": "1", "caches": 1}


class Handler(http.server.BaseHTTPRequestHandler):
    asked = 0
    sent: ClassVar[list[str | None]] = []

    def do_GET(self) -> None:
        body, kind = b"<title>Plain</title><p>plain</p>", "text/html"
        if self.path == "/counted":
            Handler.asked += 1
            body, kind = json.dumps(Handler.asked).encode(), "application/json"
        elif self.path == "/worker.js":
            body, kind = (
                (
                    b"self.addEventListener('install', () => self.skipWaiting());"
                    b"self.addEventListener('activate', (e) => e.waitUntil(clients.claim()));"
                ),
                "text/javascript",
            )
        else:
            Handler.sent.append(self.headers.get("Cookie"))
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "max-age=3600" if self.path == "/counted" else "no-store")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


class OneSite:
    def __init__(self, origin: str) -> None:
        self.origins = (origin,)

    async def begin(self, live: LivePage, task: str, seed: int) -> None:
        await live.goto(f"{self.origins[0]}/{task}", must_exist=True)

    async def goal(self, live: LivePage, task: str) -> str:
        return "Look."

    async def standing(self, live: LivePage, task: str, *, ends: bool) -> Standing | None:
        return Standing(done=False, success=None)


@pytest.fixture(scope="module")
def origin() -> Iterator[str]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.1,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest_asyncio.fixture(params=[0, 2], ids=["made when needed", "prefetched"], loop_scope="session")
async def plain(request: pytest.FixtureRequest, origin: str) -> AsyncIterator[BrowserEnvironment]:
    pool = BrowserPool(BrowserConfig(deadline_sec=30.0, prefetch=request.param))
    yield BrowserEnvironment(pool, OneSite(origin))
    await pool.close()


async def read(env: BrowserEnvironment) -> dict[str, object]:
    found = await env.active.evaluate(READ)
    assert isinstance(found, dict)
    return dict(found)


async def test_nothing_stored_or_allowed_is_in_the_next_episode(plain: BrowserEnvironment) -> None:
    usual: object = None
    for episode in range(3):
        await plain.reset("page", episode)
        assert Handler.sent[-1] is None
        seen = await read(plain)
        permission = seen.pop("permission")
        assert seen == CLEAN
        usual = usual or permission
        assert permission == usual != "granted"
        await plain.active.evaluate(STAIN)
        await plain.active.page.context.grant_permissions(["geolocation"])
        await plain.active.goto(f"{plain.active.page.url}?again")
        seen = await read(plain)
        assert STAINED.items() <= seen.items(), "the stain holds as long as the episode"
        assert seen["permission"] == "granted"
        assert Handler.sent[-1] == "k=1"
        assert (seen["workers"], seen["controlled"]) == (0, False), "service workers are refused"


async def test_the_http_cache_is_the_episodes_own(plain: BrowserEnvironment) -> None:
    ask = "(async () => (await fetch('/counted')).json())()"
    answers = []
    for episode in range(3):
        await plain.reset("page", episode)
        answers.append((await plain.active.evaluate(ask), await plain.active.evaluate(ask)))
    first = answers[0][0]
    assert isinstance(first, int)
    assert answers == [(first + i, first + i) for i in range(3)], "cached within, not across"


async def test_a_tab_that_serves_several_episodes_is_cleaned(
    make_miniwob: Callable[[], BrowserEnvironment],
) -> None:
    env = make_miniwob()
    for episode in range(4):
        await env.reset("click-test", episode)
        seen = await read(env)
        assert seen.pop("permission") != "granted"
        assert seen == CLEAN, f"episode {episode}"
        await env.active.evaluate(STAIN)
        await env.active.page.context.grant_permissions(["geolocation"])
        assert STAINED.items() <= (await read(env)).items()
    await env.close()

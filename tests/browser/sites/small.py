"""A small real site in the place of the tracker: SQLite, a login form, a page that a test can change; nothing to install."""

import json
import shutil
import sqlite3
import sys
from http.client import HTTPConnection
from pathlib import Path

from dynaweb.browser.sites.build import BuiltSite, Ready
from dynaweb.browser.sites.catalogue import SITES
from dynaweb.browser.sites.home import INSIDE, SiteHome
from dynaweb.browser.sites.state import InstanceState

APP = '''
"""Notes: what everybody writes stands on the first page."""
import sqlite3
from datetime import datetime, timezone
from html import escape
from urllib.parse import parse_qs

PASSWORDS = {"anna": "anna-lantern-2"}
opened = []


def forget():
    while opened:
        opened.pop().close()


def open_app(data):
    def connect():
        if not opened:
            opened.append(sqlite3.connect(data / "notes.sqlite3", check_same_thread=False))
        return opened[0]

    def app(environ, start):
        size = int(environ.get("CONTENT_LENGTH") or 0)
        form = {k: v[0] for k, v in parse_qs(environ["wsgi.input"].read(size).decode()).items()}
        path, post = environ["PATH_INFO"], environ["REQUEST_METHOD"] == "POST"
        head = [("Content-Type", "text/html; charset=utf-8")]
        if path == "/login" and post:
            good = form.get("csrfmiddlewaretoken") == "a&b" and PASSWORDS.get(form.get("user")) == form.get("password")
            if good:
                start("303 See Other", [("Location", "/"), ("Set-Cookie", "user=%s; Path=/" % form["user"])])
                return [b""]
        if path == "/login":
            start("200 OK", head)
            return [b"<form method=post><input name='csrfmiddlewaretoken' value='x'><input type='hidden' "
                    b'name="csrfmiddlewaretoken" value="a&amp;b"><input name=user><input name=password></form>']
        if path == "/slow":
            import time
            time.sleep(0.4)
        if post:
            with connect() as db:
                db.execute("insert into notes values (?, ?)", (form["text"], datetime.now(timezone.utc).isoformat()))
        rows = connect().execute("select text, time from notes order by rowid").fetchall()
        who = environ.get("HTTP_COOKIE", "").partition("user=")[2] or "nobody"
        start("200 OK", head)
        items = "".join("<li>%s at %s</li>" % (escape(t), at) for t, at in rows)
        return [("<title>Notes</title><h1>Hello %s</h1><p>%s</p><ul>%s</ul><form method=post action='/'>"
                 "<label>Note <input name=text></label><button>Write</button></form>"
                 "<a href='https://elsewhere.example/'>Elsewhere</a>" % (who, environ["HTTP_HOST"], items)).encode()]

    return app
'''


def small_site(folder: Path) -> tuple[BuiltSite, SiteHome]:
    """A built site and a home for its instances."""
    inner = folder / "code/dynaweb/browser/sites/inside"
    shutil.copytree(INSIDE, inner, ignore=shutil.ignore_patterns("__pycache__"))
    for package in (inner.parent, inner.parents[1], inner.parents[2]):
        (package / "__init__.py").touch()
    (inner / "tracker/app.py").write_text(APP)
    snapshot = folder / "snapshot"
    snapshot.mkdir()
    with sqlite3.connect(snapshot / "notes.sqlite3") as db:
        db.execute("create table notes (text, time)")
        db.execute("insert into notes values ('buy milk', '2025-01-01')")
    db.close()
    ready = Ready(sec=0.0, made={"notes": 1})
    built = BuiltSite(
        spec=SITES["tracker"],
        seed=0,
        python=Path(sys.executable),
        code=folder / "code",
        snapshot=snapshot,
        environment=ready,
        data=ready,
    )
    return built, SiteHome(folder / "home")


def ask(
    state: InstanceState, path: str = "/", *, write: str = "", headers: dict[str, str] | None = None
) -> tuple[int, str]:
    """Status and text of a page."""
    connection = HTTPConnection("127.0.0.1", state.port, timeout=30)
    body = f"text={write}" if write else None
    connection.request(
        "POST" if write else "GET", path, body, {"Host": "tracker.localhost", **(headers or {})}
    )
    response = connection.getresponse()
    text = response.read().decode()
    connection.close()
    return response.status, text


def state_file(home: SiteHome, name: str) -> dict[str, object]:
    return json.loads((home.instance(name) / "state.json").read_text())

"""Trac as a WSGI application, with the login form that Trac leaves to the web server."""

from collections.abc import Iterable
from html import escape
from pathlib import Path
from urllib.parse import parse_qs
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from trac import env as trac_env
from trac.web.main import dispatch_request

from dynaweb.browser.sites.inside.people import PEOPLE

MOST_BYTES = 10_000
PASSWORDS = {p.username: p.password for p in PEOPLE}
FORM = """<!DOCTYPE html>
<html lang="en"><head><title>Login – Lantern</title></head><body>
<h1>Login</h1>
<p role="alert">{problem}</p>
<form method="post" action="/login">
<p><label for="user">Username</label> <input id="user" name="user" type="text" autocomplete="off"></p>
<p><label for="password">Password</label> <input id="password" name="password" type="password" autocomplete="off"></p>
<p><input type="submit" value="Login"></p>
</form>
<p><a href="/wiki">Back to the wiki</a></p>
</body></html>
"""


def forget() -> None:
    """Close the database and have the next request open the tracker anew."""
    with trac_env.env_cache_lock:
        opened = list(trac_env.env_cache.values())
        trac_env.env_cache.clear()
    for env in opened:
        env.shutdown()


def open_app(data: Path) -> WSGIApplication:
    """The tracker in the folder `data`."""

    def tracker(environ: WSGIEnvironment, start: StartResponse) -> Iterable[bytes]:
        environ["trac.env_path"] = str(data)
        if str(environ.get("PATH_INFO", "")).rstrip("/") == "/login":
            problem = _log_in(environ)
            if problem is not None:
                return _form(start, problem)
        answer: Iterable[bytes] = dispatch_request(environ, start)
        return answer

    return tracker


def _log_in(environ: WSGIEnvironment) -> str | None:
    """Name the user to Trac when the form holds a right password; else what is wrong ('' when nothing was sent)."""
    if environ["REQUEST_METHOD"] != "POST":
        return ""
    size = min(int(environ.get("CONTENT_LENGTH") or 0), MOST_BYTES)
    sent = parse_qs(environ["wsgi.input"].read(size).decode("utf-8", "replace"))
    user, password = (sent.get(name, [""])[0] for name in ("user", "password"))
    if PASSWORDS.get(user) != password:
        return f"Wrong username or password for {escape(user)}."
    # Trac sets its cookie at a GET by a user whom the server vouches for
    environ.update(REQUEST_METHOD="GET", REMOTE_USER=user, CONTENT_LENGTH="0", QUERY_STRING="")
    environ.pop("HTTP_REFERER", None)
    return None


def _form(start: StartResponse, problem: str) -> Iterable[bytes]:
    start("200 OK", [("Content-Type", "text/html; charset=utf-8")])
    return [FORM.format(problem=problem).encode()]

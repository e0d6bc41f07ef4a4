"""Log somebody in without the browser: what a page shows never holds a password."""

import re
from html import unescape
from http.client import HTTPConnection, HTTPException
from http.cookies import CookieError, SimpleCookie
from urllib.parse import urlencode

from dynaweb.browser.sites.catalogue import SiteSpec
from dynaweb.browser.sites.inside.people import Person
from dynaweb.errors import BrowserError

TOKEN = re.compile(r'name="csrfmiddlewaretoken"[^>]*value="([^"]+)"')
ANSWER_SEC = 60.0
MOST_BYTES = 4_000_000


def log_in(spec: SiteSpec, port: int, person: Person) -> dict[str, str]:
    """Send the site's login form.

    Args:
        spec: the site.
        port: where an instance of it listens on 127.0.0.1.
        person: who.

    Returns:
        Cookies of the session, name to value.

    Raises:
        BrowserError: the site does not answer, or does not let them in.
    """
    form = spec.login
    session: dict[str, str] = {}
    _, page = _request(spec, port, "GET", session)
    fields = dict(form.also)
    fields[form.user_field] = person.email if form.by_email else person.username
    fields[form.password_field] = person.password
    if token := TOKEN.search(page):
        fields["csrfmiddlewaretoken"] = unescape(token[1])
    status, _ = _request(spec, port, "POST", session, urlencode(fields))
    if status not in (302, 303):
        raise BrowserError(
            f"site {spec.name!r} did not let {person.username!r} in: status {status}"
        )
    return session


def _request(
    spec: SiteSpec, port: int, method: str, session: dict[str, str], body: str | None = None
) -> tuple[int, str]:
    headers = {
        "Host": spec.host,
        "Referer": spec.origin + spec.login.path,
        "Cookie": "; ".join(f"{name}={value}" for name, value in session.items()),
    }
    if body is not None:
        headers["Content-Type"] = "application/x-www-form-urlencoded"
    connection = HTTPConnection("127.0.0.1", port, timeout=ANSWER_SEC)
    try:
        connection.request(method, spec.login.path, body, headers)
        response = connection.getresponse()
        text = response.read(MOST_BYTES).decode("utf-8", "replace")
        for line in response.headers.get_all("Set-Cookie", []):
            session.update({name: morsel.value for name, morsel in SimpleCookie(line).items()})
    except (OSError, HTTPException, CookieError) as error:
        raise BrowserError(f"site {spec.name!r} does not answer at its login: {error}") from error
    finally:
        connection.close()
    return response.status, text

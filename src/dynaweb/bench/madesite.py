"""A made-up site on loopback for crawls: lists, forms and details, and every trap that a crawler walks into.

/                     home: links to everything below
/list?page=N          lists of 60 things, ten a page; /thing/N
/search, /contact     forms: GET and POST
/settings             fields, choices and boxes that change in place
/calendar/YEAR/MONTH  a month links to the next one, for ever
/many, /leaf/N        one page with 500 links
/account              sends to /login, which lets nobody in
/file.zip, /export    downloads, by name and by header
/private/...          robots.txt forbids it; nothing ever asks for it, /hop sends there
/broken               status 500
"""

import html
import http.server
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import parse_qs, urlsplit

from dynaweb.errors import MissingDependencyError

THINGS = 60
LEAVES = 500
ROBOTS = "User-agent: *\nDisallow: /private\n{delay}"


@dataclass(frozen=True, slots=True)
class Reply:
    """What the site answers."""

    body: str
    status: int = 200
    headers: tuple[tuple[str, str], ...] = (("Content-Type", "text/html; charset=utf-8"),)


def _page(title: str, body: str) -> Reply:
    menu = "".join(
        f'<li><a href="{to}">{name}</a></li>'
        for to, name in (("/", "Home"), ("/list?page=1", "Things"), ("/search", "Search"), ("/contact", "Contact"))
    )  # fmt: skip
    head = f"<!doctype html><html lang=en><head><title>{title}</title></head>"
    return Reply(f"{head}<body><nav><ul>{menu}</ul></nav><main><h1>{title}</h1>{body}</main></body></html>")  # fmt: skip


def _links(*pairs: tuple[str, str]) -> str:
    return "<ul>" + "".join(f'<li><a href="{to}">{name}</a></li>' for to, name in pairs) + "</ul>"


def _home(path: str, query: dict[str, list[str]]) -> Reply:
    return _page(
        "Made-up site",
        _links(
            ("/settings", "Settings"), ("/calendar/2025/6", "Calendar"), ("/many", "Everything"), ("/account", "Your account"),
            ("/file.zip", "Download"), ("/export", "Export"), ("/private/area", "Staff only"), ("/hop", "A short cut"),
            ("mailto:info@example.com", "Write to us"), ("/broken", "Broken"), ("http://elsewhere.localhost:9/", "Elsewhere"),
            ("#top", "To the top"), ("javascript:void(0)", "Nothing"),
        )
        + '<a href="/window" target="_blank">A window</a> <a href="/hop" target="_blank">A hop in a window</a> <a rel=nofollow href="/trap">Trap</a>',
    )  # fmt: skip


def _list(path: str, query: dict[str, list[str]]) -> Reply:
    number = min(max(_number(query.get("page", ["1"])[0]), 1), THINGS // 10)
    rows = range((number - 1) * 10 + 1, number * 10 + 1)
    things = _links(*((f"/thing/{i}", f"{_NAMES[i % len(_NAMES)]} no. {i}") for i in rows))
    more = _links(*((f"/list?page={i}", f"Page {i}") for i in range(1, THINGS // 10 + 1)))
    return _page(f"Things, page {number}", things + more)


_NAMES = ("Lamp", "Chair", "Kettle", "Garden hose", "Radio", "Notebook", "Blanket")


def _thing(path: str, query: dict[str, list[str]]) -> Reply:
    number = _number(path.rpartition("/")[2])
    if not 1 <= number <= THINGS:
        return Reply("<h1>No such thing</h1>", 404)
    name = _NAMES[number % len(_NAMES)]
    words = " ".join(_NAMES[(number * k) % len(_NAMES)].lower() for k in range(2, 9))
    return _page(
        f"{name} no. {number}",
        f"<p>Costs {number * 7 % 90 + 5} euros. Goes with {words}.</p><p>Ask person{number}@shop.example.net.</p>"
        f'<details><summary>Details of no. {number}</summary><p>Made in {1990 + number % 30}.</p></details>'
        f'<form method=post action="/basket"><label>Quantity <input type=number name=n min=1 max=9></label><input type=hidden name=thing value={number}>'
        "<button>Put into basket</button></form>",
    )  # fmt: skip


def _search(path: str, query: dict[str, list[str]]) -> Reply:
    wanted = query.get("q", [""])[0]
    found = [i for i in range(1, THINGS + 1) if wanted and wanted.lower() in _NAMES[i % len(_NAMES)].lower()]  # fmt: skip
    form = f'<form action="/search"><label>Search <input type=search name=q value="{html.escape(wanted, quote=True)}"></label><button>Go</button></form>'
    results = _links(*((f"/thing/{i}", f"Result {i}") for i in found[:10]))
    return _page("Search", form + (f"<p>{len(found)} results</p>{results}" if wanted else ""))


def _contact(path: str, query: dict[str, list[str]]) -> Reply:
    return _page(
        "Contact",
        '<form method=post action="/sent"><label>Name <input name=name></label><label>Email <input type=email name=email></label>'
        "<label>Topic <select name=topic><option>Delivery<option>Returns<option>Other</select></label>"
        "<label>Message <textarea name=text></textarea></label><label><input type=checkbox name=copy> Send me a copy</label><button>Send</button></form>",
    )  # fmt: skip


def _settings(path: str, query: dict[str, list[str]]) -> Reply:
    boxes = "".join(f"<label><input type=checkbox> Option {i}</label>" for i in range(1, 9))
    return _page(
        "Settings",
        boxes
        + "<label>Colour <select><option>Red<option>Green<option>Blue</select></label><button onclick=\"document.getElementById('out').textContent='Saved'\">Save</button>"
        "<p id=out></p><button type=button onclick=\"this.textContent=this.textContent=='Show'?'Hide':'Show'\">Show</button><button type=button>Dead</button>",
    )


def _calendar(path: str, query: dict[str, list[str]]) -> Reply:
    year, month = (_number(p) for p in path.removeprefix("/calendar/").split("/")[:2])
    after = (year, month + 1) if month < 12 else (year + 1, 1)
    before = (year, month - 1) if month > 1 else (year - 1, 12)
    days = "".join(f"<td><button type=button>{d}</button></td>" for d in range(1, 29))
    turn = _links((f"/calendar/{before[0]}/{before[1]}", "Before"), (f"/calendar/{after[0]}/{after[1]}", "Next"))  # fmt: skip
    return _page(f"Calendar {year}-{month:02}", f"{turn}<table><tr>{days}</tr></table>")


def _many(path: str, query: dict[str, list[str]]) -> Reply:
    return _page("Everything", _links(*((f"/leaf/{i}", f"Leaf {i}") for i in range(LEAVES))))


def _plain(title: str) -> "Handler":
    return lambda path, query: _page(title, f"<p>This is {title.lower()}.</p><p><a href='/'>Back home</a></p>")  # fmt: skip


def _to(place: str) -> "Handler":
    return lambda path, query: Reply("", 302, (("Location", place),))


def _login(path: str, query: dict[str, list[str]]) -> Reply:
    form = "<form method=post action='/login'><label>User name <input name=u></label><label>Password <input type=password name=p></label><button>Log in</button></form>"
    return _page("Log in", form)


_DOWNLOAD = Reply("zip", 200, (("Content-Type", "application/zip"), ("Content-Disposition", "attachment; filename=a.zip")))  # fmt: skip

Handler = Callable[[str, dict[str, list[str]]], Reply]
_PLACES: dict[str, Handler] = {
    "": _home, "list": _list, "thing": _thing, "search": _search, "contact": _contact, "settings": _settings,
    "calendar": _calendar, "many": _many, "leaf": lambda path, query: _plain(f"Leaf {path.rpartition('/')[2]}")(path, query),
    "account": _to("/login"), "login": _login, "file.zip": lambda path, query: _DOWNLOAD, "export": lambda path, query: _DOWNLOAD,
    "private": _plain("Staff only"), "hop": _to("/private/hop"), "window": _plain("A window"), "trap": _plain("A trap"),
    "basket": _plain("Basket"), "sent": _plain("Sent"), "broken": lambda path, query: Reply("<h1>Oh</h1>", 500),
}  # fmt: skip


def _number(text: str) -> int:
    return int(text) if text.isdecimal() and len(text) < 6 else 0


class MadeSite:
    """The site on a free port of 127.0.0.1, served from threads of this process; use it in a `with` block.

    Example:
        with MadeSite() as site:
            crawl(site.origin + "/")
    """

    def __init__(self, *, port: int = 0, crawl_delay_sec: float = 0.0) -> None:
        """Start serving.

        Args:
            port: 0 takes a free one.
            crawl_delay_sec: `Crawl-delay` in its robots.txt; 0 names none.

        Raises:
            MissingDependencyError: the port is taken.
        """
        self.requests: list[tuple[float, str, str]] = []
        """Time (`time.monotonic`), method and path with query, in the order of arrival."""
        delay = f"Crawl-delay: {crawl_delay_sec:g}\n" if crawl_delay_sec else ""
        try:
            self._server = http.server.ThreadingHTTPServer(("127.0.0.1", port), _handler(self, ROBOTS.format(delay=delay)))  # fmt: skip
        except OSError as error:
            raise MissingDependencyError(
                f"cannot serve a made-up site on 127.0.0.1:{port}: {error.strerror}; use port 0"
            ) from error
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.1,), daemon=True)
        self._thread.start()

    @property
    def origin(self) -> str:
        """Address without a trailing slash."""
        return f"http://127.0.0.1:{self._server.server_port}"

    @property
    def paths(self) -> list[str]:
        """Paths with their queries, in the order of arrival."""
        return [path for _, _, path in self.requests]

    def close(self) -> None:
        """Stop serving."""
        self._server.shutdown()
        self._server.server_close()

    def __enter__(self) -> "MadeSite":
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()


def _answer(path: str, robots: str) -> Reply:
    parts = urlsplit(path)
    if parts.path == "/robots.txt":
        return Reply(robots, 200, (("Content-Type", "text/plain"),))
    place = _PLACES.get(parts.path.split("/")[1])
    if place is None:
        return Reply("<h1>Nothing here</h1>", 404)
    return place(parts.path, parse_qs(parts.query))


def _handler(site: MadeSite, robots: str) -> type[http.server.BaseHTTPRequestHandler]:
    class Made(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            site.requests.append((time.monotonic(), self.command, self.path))
            reply = _answer(self.path, robots)
            body = reply.body.encode("utf-8")
            self.send_response(reply.status)
            for name, value in reply.headers:
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_POST(self) -> None:
            self.rfile.read(min(int(self.headers.get("Content-Length") or 0), 1_000_000))
            self.do_GET()

        def log_message(self, format: str, *args: object) -> None:
            """Nobody reads it."""

    return Made

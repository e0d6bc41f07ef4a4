"""The report in a real Chromium: hostile text stays text, nothing is asked of the network, keys work."""

import dataclasses
import functools
import http.server
import threading
from contextlib import contextmanager

import pytest
from playwright.sync_api import sync_playwright
from tests.report.made_run import made_run
from tests.report.payloads import PAYLOADS
from tests.report.test_page import poisoned_run

from dynaweb.browser.chromium import find_chromium
from dynaweb.report.page import render_report

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def chromium():
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=find_chromium() or None, chromium_sandbox=False
        )
        yield browser
        browser.close()


@dataclasses.dataclass
class Watched:
    """A page, and everything it did that it should not."""

    page: object
    asked: list
    dialogs: list
    told: list


@contextmanager
def opened(chromium, address, **options):
    context = chromium.new_context(**options)
    page = context.new_page()
    watched = Watched(page, [], [], [])
    page.on("request", lambda r: watched.asked.append(r.url))
    page.on("dialog", lambda d: (watched.dialogs.append(d.message), d.dismiss()))
    page.on("console", lambda m: watched.told.append(m.text))
    page.on("pageerror", lambda e: watched.told.append(str(e)))
    page.goto(address)
    yield watched
    context.close()


def written(tmp_path, data):
    path = tmp_path / "report.html"
    path.write_text(render_report(data), "utf-8")
    return path.as_uri()


def test_hostile_text_stays_text(chromium, tmp_path):
    everything = " ".join(PAYLOADS)
    attempts = tuple(a for p in PAYLOADS for a in poisoned_run(p).attempts[:1])
    data = dataclasses.replace(poisoned_run(everything), attempts=attempts)
    with opened(chromium, written(tmp_path, data)) as watched:
        page = watched.page
        page.locator("details").evaluate_all("all => all.forEach((d) => { d.open = true; })")
        page.locator("#viewer").scroll_into_view_if_needed()
        for _ in attempts:
            for _ in range(5):
                page.keyboard.press("ArrowRight")
            page.keyboard.press("j")
        page.mouse.move(200, 300)
        page.wait_for_timeout(300)
        assert page.evaluate("window.pwned") is None
        assert (
            page.evaluate(
                "document.querySelectorAll('main script, main style, img, iframe, object, embed, form, base').length"
            )
            == 0
        )
        assert page.evaluate("document.querySelectorAll('script').length") == 2
        assert page.locator("#attempt-list li").count() == len(PAYLOADS)
    assert watched.dialogs == []
    assert watched.asked == [written(tmp_path, data)]
    assert watched.told == []  # the policy had nothing to block: no markup came into being


def test_served_over_http_it_asks_for_nothing_else(chromium, tmp_path):
    written(tmp_path, made_run())
    handler = functools.partial(Quiet, directory=str(tmp_path))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        address = f"http://127.0.0.1:{server.server_address[1]}/report.html"
        with opened(chromium, address) as watched:
            watched.page.wait_for_timeout(200)
        assert watched.asked == [address] and watched.told == []
    finally:
        server.shutdown()
        server.server_close()


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format, *args):
        pass


def test_keys_step_through_attempts(chromium, tmp_path):
    with opened(chromium, written(tmp_path, made_run())) as watched:
        page = watched.page
        page.locator("#viewer").scroll_into_view_if_needed()
        stage = page.locator("#attempt")
        assert "fill('7', 'leonie')" in stage.inner_text()
        page.keyboard.press("ArrowRight")
        assert "missing element" in stage.inner_text()
        page.keyboard.press("ArrowRight")
        assert "no element has bid '99'" in stage.inner_text()
        for _ in range(9):
            page.keyboard.press("ArrowRight")
        assert "success: task ended" in stage.inner_text()
        for _ in range(3):
            page.keyboard.press("j")
        assert "dream: imagined pages" in stage.inner_text()
        assert "in-dream" in stage.get_attribute("class")
        page.locator("#attempt-list").focus()
        page.keyboard.press("ArrowUp")
        assert "unknown" in stage.inner_text() and "dream" not in stage.inner_text().split("\n")[0]
    assert watched.told == []


def test_text_has_contrast_in_both_themes(chromium, tmp_path):
    with opened(chromium, written(tmp_path, made_run()), color_scheme="dark") as watched:
        page = watched.page
        dark = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert page.evaluate(CONTRAST) == []
        page.keyboard.press("t")
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") != dark
        assert page.evaluate(CONTRAST) == []


CONTRAST = """() => {
  const rgb = (text) => {
    const m = text.match(/[\\d.]+/g).map(Number);
    return text.startsWith("color(srgb") ? [m[0] * 255, m[1] * 255, m[2] * 255, m[3] ?? 1] : [m[0], m[1], m[2], m[3] ?? 1];
  };
  const light = (c) => c.slice(0, 3).map((v) => v / 255).map((v) => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = (e) => {
    let mixed = [255, 255, 255], layers = [];
    for (let at = e; at; at = at.parentElement) layers.push(rgb(getComputedStyle(at).backgroundColor));
    for (const [r, g, b, a] of layers.reverse()) mixed = [r, g, b].map((v, i) => v * a + mixed[i] * (1 - a));
    return mixed;
  };
  const bad = new Set();
  for (const e of document.querySelectorAll("body *")) {
    const own = [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
    if (!own || e.closest("svg") || !e.checkVisibility()) continue;
    const [a, b] = [light(rgb(getComputedStyle(e).color)), light(behind(e))].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < 4.5) bad.add(`${e.tagName}.${e.className} ${ratio.toFixed(2)}`);
  }
  return [...bad];
}"""


@pytest.mark.parametrize("width", [360, 768, 1300])
def test_the_page_never_scrolls_sideways(chromium, tmp_path, width):
    with opened(
        chromium, written(tmp_path, made_run()), viewport={"width": width, "height": 800}
    ) as watched:
        page = watched.page
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_without_javascript_every_table_is_there(chromium, tmp_path):
    with opened(chromium, written(tmp_path, made_run()), java_script_enabled=False) as watched:
        text = watched.page.locator("body").inner_text()
        assert "Paired differences on the same pages" in text
        assert "needs JavaScript" in text

"""What pages and machines do to the browser, done for real; each step ends in time, and the next episode is none the worse."""

import pytest

from dynaweb.browser.chromium import BrowserPool
from dynaweb.browser.config import BrowserConfig
from dynaweb.browser.environment import BrowserEnvironment
from dynaweb.errors import BrowserError, UserError
from dynaweb.recipes.faults.cases import CASES
from dynaweb.recipes.faults.run import chosen_faults, inject_faults
from dynaweb.recipes.faults.server import HostileServer, HostileSite
from dynaweb.records.action import Click, Noop
from dynaweb.runs.progress import silent

from tests.browser.plain import bid  # isort: skip

browser = pytest.mark.browser

QUICK = {
    "pages": "questions leaving download popup close redirects dropped written reset-redirects",
    "deadlines": "spin alerts half grown",
    "deaths": "crash renderer-killed browser-killed driver-killed",
}


@browser
@pytest.mark.parametrize("names", QUICK.values(), ids=QUICK.keys())
async def test_a_fault_costs_one_episode(names: str) -> None:
    rows = await inject_faults(
        chosen_faults(names.split()), BrowserConfig(deadline_sec=4.0), silent
    )
    assert len(rows) == len(names.split())
    assert [r for r in rows if not r.ok] == []


@browser
@pytest.mark.slow
@pytest.mark.timeout(600)
async def test_every_fault_costs_one_episode() -> None:
    rows = await inject_faults(CASES, BrowserConfig(deadline_sec=5.0), silent)
    assert [r for r in rows if not r.ok] == []


@browser
async def test_a_window_that_closes_itself_gives_the_page_before_back() -> None:
    server = HostileServer()
    pool = BrowserPool(BrowserConfig(prefetch=0))
    env = BrowserEnvironment(pool, HostileSite(server.origin))
    try:
        page = await env.reset("popup", 0)
        opened = (await env.step(Click(bid(page, "Go")))).observation
        assert [t.url.rpartition("/")[2] for t in opened.tabs] == ["popup", "closing"]
        assert opened.active_tab == 1
        left = (await env.step(Click(bid(opened, "Go")))).observation
        assert (left.url, left.active_tab, len(left.tabs)) == (page.url, 0, 1)
        again = (await env.step(Click(bid(left, "Go")))).observation
        assert len(again.tabs) == 2
    finally:
        await env.close()
        await pool.close()
        server.close()


@browser
@pytest.mark.parametrize(
    ("script", "told"),
    [
        (
            "for (let i = 0; i < 60000; i++) box.append(document.createElement('b'))",
            "50000 elements",
        ),
        ("box.append('x'.repeat(6000000))", "600.... characters"),
    ],
)
async def test_a_page_that_is_too_large_is_named(script: str, told: str) -> None:
    """Hidden, so that nothing but its size stands in the way."""
    server = HostileServer()
    pool = BrowserPool(BrowserConfig(prefetch=0))
    env = BrowserEnvironment(pool, HostileSite(server.origin))
    try:
        await env.reset("fine", 0)
        await env.active.evaluate(
            "{const box = document.createElement('div'); box.hidden = true; document.body.append(box); "
            + script
            + "}"
        )
        with pytest.raises(BrowserError, match=f"too large.*{told}"):
            await env.step(Noop(0.0))
        assert "ready" in (await env.reset("fine", 0)).tree
    finally:
        await pool.close()
        server.close()


def test_faults_have_names() -> None:
    assert chosen_faults([]) == CASES
    assert [c.name for c in chosen_faults(["spin", "half"])] == ["spin", "half"]
    with pytest.raises(UserError, match=r"'nope'.*spin"):
        chosen_faults(["nope"])

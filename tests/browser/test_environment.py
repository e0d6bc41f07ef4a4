"""What can go wrong with a real page, and what must hold whatever the page does."""

import asyncio
from pathlib import Path

import pytest
from playwright.async_api import Error as PlaywrightError
from tests.browser.plain import PlainSite, bid, said

from dynaweb.browser.chromium import BrowserPool, find_chromium
from dynaweb.browser.config import BrowserConfig
from dynaweb.browser.environment import BrowserEnvironment
from dynaweb.browser.page import LivePage
from dynaweb.browser.pages import PageServer
from dynaweb.errors import BrowserError, MissingDependencyError, UserError
from dynaweb.records.action import Click, Noop, Press
from dynaweb.records.trajectory import Fault

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


async def test_what_only_the_page_knows_is_a_fault(env: BrowserEnvironment) -> None:
    page = await env.reset("hard", 0)
    result = await env.step(Click(bid(page, "Under")))
    assert result.fault is Fault.IMPOSSIBLE
    assert "covered by a div" in result.observation.last_action_error
    result = await env.step(Press(bid(page, "from"), "a"))
    assert result.fault is None and result.observation.focused == bid(page, "from")
    result = await env.step(Click(bid(page, "Remove")))
    assert result.fault is None and "Remove" not in result.observation.tree
    assert (await env.step(Click(bid(page, "Remove")))).fault is Fault.MISSING_ELEMENT
    assert (await env.step(Noop(0.0))).observation.last_action_error == ""


async def test_an_option_of_a_closed_list_says_what_to_use(env: BrowserEnvironment) -> None:
    page = await env.reset("controls", 0)
    result = await env.step(Click(bid(page, "Pear")))
    assert result.fault is Fault.IMPOSSIBLE
    assert "select_option" in result.observation.last_action_error


async def test_delayed_and_animated_changes_are_waited_for(env: BrowserEnvironment) -> None:
    page = await env.reset("hard", 0)
    assert said(await env.step(Click(bid(page, "Late")))) == "late"
    assert said(await env.step(Click(bid(page, "Ticks")))) == "tick 30"
    assert said(await env.step(Click(bid(page, "Fetch")))) == "fetched"


async def test_a_page_that_never_rests_is_the_same_every_time(env: BrowserEnvironment) -> None:
    seen = []
    for _ in range(2):
        page = await env.reset("hard", 0)
        seen.append(said(await env.step(Click(bid(page, "Loop")))))
    assert seen[0] == seen[1] != "start"


async def test_alerts_do_not_block(env: BrowserEnvironment) -> None:
    page = await env.reset("hard", 0)
    assert said(await env.step(Click(bid(page, "Alert")))) == "after alert"


async def test_shadow_dom_is_seen_and_clicked(env: BrowserEnvironment) -> None:
    page = await env.reset("shadow", 0)
    assert said(await env.step(Click(bid(page, "Inside")))) == "clicked inside"


async def test_looking_leaves_no_mark(env: BrowserEnvironment) -> None:
    for task in ("controls", "hard", "shadow"):
        await env.reset(task, 0)
        tabs = env._tabs
        assert tabs is not None
        before = await tabs.active.evaluate("document.documentElement.outerHTML")
        await tabs.observe("")
        await tabs.observe("")
        assert await tabs.active.evaluate("document.documentElement.outerHTML") == before


async def test_nothing_of_one_episode_is_in_the_next(env: BrowserEnvironment) -> None:
    for _ in range(2):
        page = await env.reset("stain", 0)
        assert said(page) == "cookie none, store none"
        await env.step(Click(bid(page, "Stain")))


async def test_replay_gives_the_same_page_and_bids(env: BrowserEnvironment) -> None:
    page = await env.reset("controls", 0)
    for name in ("Go", "a word", "Second page"):
        page = (await env.step(Click(bid(page, name)))).observation
    await env.step(Click("999"))
    state = await env.snapshot()
    assert len(state.prefix) == len(state.past) == 4
    await env.reset("hard", 0)
    assert await env.restore(state) == state.observation


async def test_a_step_without_an_episode_is_named(pool: BrowserPool, server: PageServer) -> None:
    env = BrowserEnvironment(pool, PlainSite(server.origin))
    with pytest.raises(BrowserError, match="call reset first"):
        await env.step(Click("1"))
    with pytest.raises(BrowserError, match="call reset first"):
        await env.snapshot()
    await env.close()
    await env.close()


async def test_a_page_that_is_not_there_is_named(env: BrowserEnvironment) -> None:
    with pytest.raises(BrowserError, match="no-such"):
        await env.reset("no-such", 0)
    assert (await env.reset("second", 0)).title == "Second"


async def test_a_crashed_page_is_named_and_the_next_reset_works(env: BrowserEnvironment) -> None:
    page = await env.reset("hard", 0)
    tabs = env._tabs
    assert tabs is not None
    with pytest.raises(PlaywrightError):
        await tabs.active.page.goto("chrome://crash")
    with pytest.raises(BrowserError):
        await env.step(Click(bid(page, "Late")))
    assert (await env.reset("second", 0)).title == "Second"


async def test_a_crash_before_the_first_action_costs_no_episode(
    pool: BrowserPool, server: PageServer, caplog: pytest.LogCaptureFixture
) -> None:
    class CrashOnce(PlainSite):
        crashed = False

        async def begin(self, live: LivePage, task: str, seed: int) -> None:
            if not self.crashed:
                self.crashed = True
                await live.goto("chrome://crash")
            await super().begin(live, task, seed)

    env = BrowserEnvironment(pool, CrashOnce(server.origin))
    assert (await env.reset("second", 0)).title == "Second"
    assert "trying again" in caplog.text
    await env.close()


async def test_many_side_by_side_do_not_mix(pool: BrowserPool, server: PageServer) -> None:
    async def attempt(name: str) -> str:
        env = BrowserEnvironment(pool, PlainSite(server.origin))
        page = await env.reset("controls", 0)
        shown = await env.step(Click(bid(page, name)))
        await env.close()
        return said(shown)

    names = ["Go", "a word", "Go", "a word"]
    found = await asyncio.gather(*map(attempt, names))
    assert found == ["click trusted", "word", "click trusted", "word"]


async def test_a_browser_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(MissingDependencyError, match="apt-get install chromium-headless-shell"):
        find_chromium(str(tmp_path / "chrome"))
    broken = tmp_path / "chrome"
    broken.write_text("#!/bin/sh\nexit 1\n")
    broken.chmod(0o755)
    pool = BrowserPool(BrowserConfig(executable=str(broken)))
    for words, match in (
        ("oops", "does not start.*install one"),
        ("No usable sandbox!", "namespaces"),
    ):
        broken.write_text(f"#!/bin/sh\necho '{words}' >&2\nexit 1\n")
        with pytest.raises(MissingDependencyError, match=match):
            await pool.start()
    await pool.close()


@pytest.mark.parametrize(
    ("field", "bad"),
    [
        ("deadline_sec", 0.0),
        ("width_px", -1),
        ("settle_floor_ms", 2000),
        ("noop_cap_ms", -1),
        ("prefetch", 99),
    ],
)
async def test_settings_are_checked(field: str, bad: float) -> None:
    with pytest.raises(UserError, match=field):
        BrowserConfig(**{field: bad})

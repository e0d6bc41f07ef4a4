"""Episodes in a real Chromium on a real server: open-ended, logged in, fenced in, side by side."""

import asyncio

import pytest
from tests.browser.plain import bid

from dynaweb.browser.config import BrowserConfig
from dynaweb.browser.sites.build import BuiltSite
from dynaweb.browser.sites.home import SiteHome
from dynaweb.browser.sites.state import list_instances
from dynaweb.browser.sites.world import site_world
from dynaweb.errors import UserError
from dynaweb.records.action import Click, Fill, Goto, SendMsgToUser
from dynaweb.records.trajectory import Fault

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]
CONFIG = BrowserConfig(deadline_sec=60.0)


async def test_an_episode_begins_afresh_and_is_never_decided(
    built: BuiltSite, home: SiteHome
) -> None:
    async with site_world(built, home, CONFIG) as make:
        env = make()
        first = await env.reset("anna@tracker:/", 0)
        assert env.goal.startswith("Explore this site") and "Anna Berg" in env.goal
        assert "Hello anna" in first.tree and first.url == "http://tracker.localhost/"
        assert "lantern-2" not in str(first)
        await env.step(Fill(bid(first, "Note"), "eggs"))
        result = await env.step(Click(bid(first, "Write")))
        assert "eggs at 2025-06-16" in result.observation.tree
        assert (result.reward, result.terminated, "raw_reward" in result.info) == (
            None,
            False,
            False,
        )
        outside = await env.step(Click(bid(result.observation, "Elsewhere")))
        assert outside.observation.url == "http://tracker.localhost/" and not outside.terminated
        assert (await env.step(Goto("http://shop.localhost/"))).fault is Fault.IMPOSSIBLE
        state = await env.snapshot()
        ended = await env.step(SendMsgToUser("done"))
        assert (ended.reward, ended.terminated) == (None, True)
        again = await env.reset("tracker:/", 1)
        assert "Hello nobody" in again.tree and "eggs" not in again.tree
        assert await env.restore(state) == state.observation
        with pytest.raises(UserError, match="is not of the site"):
            await env.reset("shop:/", 0)
        await env.close()
    assert list_instances(home) == [] and not list(home.instances.glob("*/*"))


async def test_environments_side_by_side_have_sites_of_their_own(
    built: BuiltSite, home: SiteHome
) -> None:
    async with site_world(built, home, CONFIG, workers=2) as make:
        envs = [make(), make()]
        pages = await asyncio.gather(*(env.reset("tracker:/", 0) for env in envs))
        assert pages[0] == pages[1]
        await envs[0].step(Fill(bid(pages[0], "Note"), "mine"))
        await envs[0].step(Click(bid(pages[0], "Write")))
        other = (await envs[1].step(Goto("http://tracker.localhost/"))).observation
        assert "buy milk" in other.tree and "mine at" not in other.tree
        mine = (await envs[0].step(Goto("http://tracker.localhost/"))).observation
        assert "mine at" in mine.tree
        for env in envs:
            await env.close()

"""The quick part of `dynaweb bench egress`: ways that differ in kind, with a control that shows that they work."""

from pathlib import Path

import pytest

from dynaweb.browser.config import BrowserConfig
from dynaweb.browser.sites.home import SiteHome
from dynaweb.browser.trial.escape import try_walls
from dynaweb.browser.trial.vectors import VECTORS

pytestmark = pytest.mark.browser

QUICK = ("image", "redirect of navigation", "form", "websocket", "worker websocket", "shared worker fetch", "stun", "turn over tcp")  # fmt: skip
VECTORS_HERE = tuple(v for v in VECTORS if v.name in QUICK)
CONFIG = BrowserConfig(prefetch=0)


async def test_without_a_wall_everything_gets_out(tmp_path: Path) -> None:
    (report,) = await try_walls(("none",), CONFIG, SiteHome(tmp_path), VECTORS_HERE)
    assert report.held and set(report.got_out) == set(QUICK)


async def test_pages_with_named_hosts_reach_nothing_else(tmp_path: Path) -> None:
    (report,) = await try_walls(("named hosts",), CONFIG, SiteHome(tmp_path), VECTORS_HERE)
    assert report.held and report.got_out == () and report.inside_served == 2 * len(QUICK)


async def test_pages_behind_the_proxy_reach_nothing_else(proxy_home: SiteHome) -> None:
    (report,) = await try_walls(("proxy",), CONFIG, proxy_home, VECTORS_HERE)
    assert report.held and report.got_out == () and report.inside_served == 2 * len(QUICK)

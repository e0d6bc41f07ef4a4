"""Frames of another site, in processes of their own and in the page's: read, and acted on like what stands around them."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from tests.browser.plain import PlainSite, bid, said, value

from dynaweb.axtree.tree import read_tree
from dynaweb.browser import chromium
from dynaweb.browser.chromium import BrowserPool
from dynaweb.browser.config import BrowserConfig
from dynaweb.browser.environment import BrowserEnvironment
from dynaweb.browser.guard.approval import Writes
from dynaweb.browser.guard.environment import SafeSite
from dynaweb.browser.guard.gate import Guard
from dynaweb.browser.nodes import BidMap, in_frame, split_frame
from dynaweb.browser.pages import PageServer
from dynaweb.records.action import (
    Action,
    Click,
    Fill,
    KeyboardType,
    Press,
    SelectOption,
    UploadFile,
)
from dynaweb.records.observation import Observation
from dynaweb.records.secrets import Secret, Secrets

browser = pytest.mark.browser
in_session = pytest.mark.asyncio(loop_scope="session")

ISOLATION = {"apart": "--site-per-process", "together": "--disable-site-isolation-trials"}
"""Frames of other sites in processes of their own, or in the page's."""


@pytest_asyncio.fixture(scope="module", loop_scope="session", params=ISOLATION)
async def foreign_pool(request: pytest.FixtureRequest) -> AsyncIterator[tuple[str, BrowserPool]]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chromium, "ARGS", (*chromium.ARGS, ISOLATION[request.param]))
        pool = BrowserPool(BrowserConfig(deadline_sec=30.0))
        yield request.param, pool
        await pool.close()


@pytest_asyncio.fixture(loop_scope="session")
async def env(
    foreign_pool: tuple[str, BrowserPool], server: PageServer, tmp_path: Path
) -> AsyncIterator[BrowserEnvironment]:
    (tmp_path / "receipt.txt").write_text("tea", encoding="utf-8")
    found = BrowserEnvironment(foreign_pool[1], PlainSite(server.origin), uploads=tmp_path)
    yield found
    await found.close()


async def done(env: BrowserEnvironment, page: Observation, action: Action) -> Observation:
    step = await env.step(action)
    assert step.observation.last_action_error == "", action
    return step.observation


@browser
@in_session
async def test_what_is_in_a_frame_of_another_site_is_on_the_page(
    env: BrowserEnvironment, foreign_pool: tuple[str, BrowserPool]
) -> None:
    page = await env.reset("foreign", 0)
    tree = read_tree(page.tree)
    at = next(i for i, n in enumerate(tree) if n.role == "Iframe" and n.name == "Payment")
    below = [(n.depth - tree[at].depth, n.role, n.name) for n in tree[at + 1 :]]
    assert below[:2] == [(1, "button", "Pay now"), (1, "textbox", "Card")]
    assert (1, "StaticText", "Ready") in below, "page time passes in frames too"
    assert (1, "Iframe", "Back again") in below and (2, "button", "Deepest button") in below
    assert "Hidden frame" not in page.tree and len([n for n in tree if n.role == "Iframe"]) == 2
    bids = [n.bid for n in tree if n.bid is not None]
    assert len(bids) == len(set(bids))
    prefix = "a" if foreign_pool[0] == "apart" else ""
    assert bid(page, "Pay now").rstrip("0123456789") == prefix
    assert bid(page, "Own button") == "1"


@browser
@in_session
async def test_actions_in_it_are_real(env: BrowserEnvironment) -> None:
    page = await env.reset("foreign", 0)
    page = await done(env, page, Click(bid(page, "Pay now")))
    assert said(page) == "paid"
    page = await done(env, page, Fill(bid(page, "Card"), "4242"))
    assert said(page) == "typed 4242"
    assert (value(page, "Card"), page.focused) == ("4242", bid(page, "Card"))
    page = await done(env, page, Press(bid(page, "Card"), "5"))
    assert value(page, "Card") == "42425"
    page = await done(env, page, SelectOption(bid(page, "Currency"), ("USD",)))
    assert said(page) == "chose USD"
    page = await done(env, page, UploadFile(bid(page, "Receipt"), ("receipt.txt",)))
    assert said(page) == "given receipt.txt"
    page = await done(env, page, Click(bid(page, "Far button")))
    assert said(page) == "waited"
    page = await done(env, page, Click(bid(page, "Deepest button")))
    assert said(page) == "clicked deepest"
    page = await done(env, page, Click(bid(page, "Own button")))
    assert said(page) == "clicked own"


@browser
@in_session
async def test_its_elements_keep_their_numbers_and_a_replay_gives_them_again(
    env: BrowserEnvironment,
) -> None:
    first = await env.reset("foreign", 0)
    after = await done(env, first, Click(bid(first, "Pay now")))
    assert [n.bid for n in read_tree(after.tree)] == [n.bid for n in read_tree(first.tree)]
    again = await env.restore(await env.snapshot())
    assert again.tree == after.tree


@browser
@in_session
async def test_a_secret_is_for_the_document_that_gets_it(
    foreign_pool: tuple[str, BrowserPool], server: PageServer
) -> None:
    other = server.origin.replace("127.0.0.1", "localhost")
    for origins, agreed in (((server.origin,), False), ((other,), True)):
        secrets = Secrets((Secret(name="card", value="4242 4242", origins=origins),))
        site = SafeSite(PlainSite(server.origin), Guard(Writes.ALLOW), secrets)
        env = BrowserEnvironment(foreign_pool[1], site)
        page = await env.reset("foreign", 0)
        typed = Fill(bid(page, "Card"), "<secret>card</secret>")
        after = (await env.step(typed)).observation
        assert ("is not for" not in after.last_action_error) is agreed
        assert (value(after, "Card") or "") == ("4242 4242" if agreed else "")
        await env.step(Click(bid(page, "Card")))
        after = (await env.step(KeyboardType("<secret>card</secret>"))).observation
        assert "is not for ''" in after.last_action_error
        assert ("4242" in str(value(after, "Card"))) is agreed
        await env.close()


def test_nodes_of_processes_that_number_alike_are_told_apart() -> None:
    bids = BidMap()
    assert [bids.bid(7), bids.bid(in_frame(1, 7)), bids.bid(in_frame(27, 7))] == ["1", "a1", "aa1"]
    assert [bids.bid(9), bids.bid(in_frame(1, 7))] == ["2", "a1"]
    assert split_frame(bids.backend("aa1") or 0) == (27, 7)

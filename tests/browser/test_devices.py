"""Mouse, keyboard and uploads by themselves, in a real Chromium."""

from pathlib import Path

import pytest
from tests.browser.plain import PlainSite, bid, said, value

from dynaweb.browser.chromium import BrowserPool
from dynaweb.browser.environment import BrowserEnvironment
from dynaweb.browser.pages import PageServer
from dynaweb.records.action import (
    Click,
    Fill,
    KeyboardDown,
    KeyboardInsertText,
    KeyboardPress,
    KeyboardType,
    KeyboardUp,
    MouseClick,
    MouseDblclick,
    MouseDown,
    MouseDragAndDrop,
    MouseMove,
    MouseUp,
    MouseUploadFile,
    ScrollAt,
    UploadFile,
)
from dynaweb.records.trajectory import Fault

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

PAD = (100.0, 70.0)
DROP = (300.0, 70.0)
FILE = (300.0, 140.0)


async def test_the_mouse_at_points(env: BrowserEnvironment) -> None:
    await env.reset("devices", 0)
    assert said(await env.step(MouseMove(*PAD))).endswith("pad:enter")
    assert said(await env.step(MouseDown(*PAD))).endswith("pad:mousedown")
    assert said(await env.step(MouseUp(*DROP))).endswith("drop:mouseup")
    assert said(await env.step(MouseClick(*PAD))).endswith("pad:mousedown pad:mouseup")
    assert "contextmenu" in said(await env.step(MouseClick(*PAD, "right")))
    assert said(await env.step(MouseDblclick(*PAD))).endswith("pad:dblclick")
    assert said(await env.step(MouseDragAndDrop(*PAD, *DROP))).endswith(
        "pad:mousedown drop:mouseup"
    )
    assert (await env.step(ScrollAt(*PAD, 0.0, 100.0))).observation.scroll == (0, 100)


async def test_points_and_buttons_that_are_not_there(env: BrowserEnvironment) -> None:
    await env.reset("devices", 0)
    result = await env.step(MouseClick(9000.0, 5.0))
    assert result.fault is Fault.IMPOSSIBLE and "outside" in result.observation.last_action_error
    result = await env.step(MouseClick(*PAD, "foot"))
    assert result.fault is Fault.MALFORMED
    assert (await env.step(KeyboardPress("NoSuchKey"))).fault is Fault.MALFORMED


async def test_the_keyboard_goes_where_the_focus_is(env: BrowserEnvironment) -> None:
    page = await env.reset("devices", 0)
    name = bid(page, "Name")
    await env.step(Click(name))
    result = await env.step(KeyboardType("ab"))
    assert value(result.observation, "Name") == "ab"
    assert said(result).endswith("down:a up:a down:b up:b")
    assert value((await env.step(KeyboardInsertText("é确"))).observation, "Name") == "abé确"
    assert said(await env.step(KeyboardDown("Shift"))).endswith("down:Shift")
    assert said(await env.step(KeyboardUp("Shift"))).endswith("up:Shift")
    await env.step(KeyboardPress("Control+a"))
    assert value((await env.step(KeyboardPress("Backspace"))).observation, "Name") is None
    result = await env.step(Fill(name, "xy", enable_autocomplete_menu=True))
    assert value(result.observation, "Name") == "xy"
    assert said(result).endswith("down:y up:y")


async def test_uploads_are_off(env: BrowserEnvironment) -> None:
    page = await env.reset("devices", 0)
    for action in (UploadFile(bid(page, "File"), ("a.txt",)), MouseUploadFile(*FILE, ("a.txt",))):
        result = await env.step(action)
        assert result.fault is Fault.IMPOSSIBLE
        assert result.observation.last_action_error == "files cannot be uploaded here"


async def test_uploads_take_files_of_one_folder_only(
    pool: BrowserPool, server: PageServer, tmp_path: Path
) -> None:
    folder = tmp_path / "given"
    folder.mkdir()
    (folder / "a.txt").write_text("a")
    (tmp_path / "secret.txt").write_text("s")
    (folder / "link.txt").symlink_to(tmp_path / "secret.txt")
    env = BrowserEnvironment(pool, PlainSite(server.origin), uploads=folder)
    try:
        page = await env.reset("devices", 0)
        field = bid(page, "File")
        outside = (
            "../secret.txt",
            str(tmp_path / "secret.txt"),
            "link.txt",
            "none.txt",
            "/etc/passwd",
        )
        for name in outside:
            result = await env.step(UploadFile(field, (name,)))
            assert result.fault is Fault.IMPOSSIBLE and said(result) == "start"
        assert said(await env.step(UploadFile(field, ("a.txt",)))) == "file:a.txt"
        result = await env.step(UploadFile(field, ("a.txt", "a.txt")))
        assert "one file" in result.observation.last_action_error
        result = await env.step(UploadFile(bid(page, "Name"), ("a.txt",)))
        assert "takes no files" in result.observation.last_action_error
        assert (await env.step(MouseUploadFile(*PAD, ("a.txt",)))).fault is Fault.IMPOSSIBLE
        page = await env.reset("devices", 0)
        assert said(await env.step(MouseUploadFile(*FILE, ("a.txt",)))).endswith("file:a.txt")
    finally:
        await env.close()

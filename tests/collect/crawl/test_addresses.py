"""One spelling for each address, and why some are not visited."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dynaweb.collect.crawl.addresses import normalised, pattern_of, refusal_of

ORIGIN = "http://a.example"


@pytest.mark.parametrize(
    ("url", "one"),
    [
        ("HTTP://A.Example:80/x#part", "http://a.example/x"),
        ("https://a.example:443", "https://a.example/"),
        ("http://a.example:8080/x?b=2&a=1", "http://a.example:8080/x?b=2&a=1"),
        ("http://me:secret@a.example/", "http://a.example/"),
        ("http://a.example/ä b", "http://a.example/%C3%A4%20b"),
        ("mailto:info@a.example", None),
        ("javascript:void(0)", None),
        ("ftp://a.example/", None),
        ("http:///x", None),
        ("http://a.example:99999/", None),
        ("http://[::1/", None),
        ("", None),
    ],
)
def test_one_spelling(url, one):
    assert normalised(url) == one


@given(st.text(max_size=60), st.sampled_from(["http://a.example/", "", "http://", "//x/"]))
def test_spelling_twice_is_spelling_once(text, before):
    one = normalised(before + text)
    assert one is None or normalised(one) == one


def test_numbers_make_no_other_pattern():
    assert pattern_of("http://a/cal/2025/3?d=4&e=x") == pattern_of("http://a/cal/1/77?e=x&d=12")
    assert pattern_of("http://a/cal/2025?e=x") != pattern_of("http://a/cal/2025?e=y")


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        (f"{ORIGIN}/x", ""),
        ("http://b.example/x", "another site"),
        (f"{ORIGIN}/x.ZIP", "a file"),
        (f"{ORIGIN}/x?file=a.zip", ""),
        (f"{ORIGIN}/casino/1", "banned word 'Casino'"),
        (f"{ORIGIN}/secret", "robots.txt"),
        (f"{ORIGIN}/{'a' * 2000}", "too long"),
        (f"{ORIGIN}{'/a' * 21}", "too long"),
    ],
)
def test_refusals(url, reason):
    assert refusal_of(url, (ORIGIN,), ("Casino",), lambda u: "secret" not in u) == reason

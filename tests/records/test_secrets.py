"""Secrets go in at the keyboard and never come out again, however a page spells them."""

import base64
import gzip
import html
import json
import logging
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dynaweb.errors import ActionError, UserError
from dynaweb.records.action import Fill, parse_action, print_action
from dynaweb.records.observation import Observation, Tab
from dynaweb.records.secrets import Secret, Secrets, scrub_logs

ORIGIN = "https://shop.example"
WORDS = st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")), min_size=6, max_size=24).filter(
    lambda t: t == " ".join(t.split())
)  # fmt: skip


def secrets(*values: str) -> Secrets:
    return Secrets(tuple(Secret(name=f"s{i}", value=v, origins=(ORIGIN,)) for i, v in enumerate(values)))  # fmt: skip


def test_an_action_holds_the_name_and_the_keyboard_gets_the_value():
    action = parse_action("fill('a12', '<secret>s0</secret>')")
    assert isinstance(action, Fill) and parse_action(print_action(action)) == action
    assert secrets("hunter2!").reveal(action.value, ORIGIN) == "hunter2!"


@pytest.mark.parametrize("origin", ["https://evil.example", "http://shop.example", "", f"{ORIGIN}.evil.test"])  # fmt: skip
def test_no_other_origin_gets_it(origin):
    with pytest.raises(ActionError, match="not for"):
        secrets("hunter2!").reveal("<secret>s0</secret>", origin)


def test_an_unknown_name_is_told():
    with pytest.raises(ActionError, match="no secret 'other'"):
        secrets("hunter2!").reveal("<secret>other</secret>", ORIGIN)


@given(WORDS, st.text(max_size=20), st.text(max_size=20))
def test_every_usual_spelling_is_taken_out(value, before, after):
    kept = secrets(value)
    raw = value.encode()
    for spelt in (
        value, quote(value), quote(value, safe=""), quote_plus(value), html.escape(value), html.escape(value, quote=False),
        json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1], repr(value)[1:-1], raw.hex(),
    ):  # fmt: skip
        clean = kept.scrub(before + spelt + after)
        assert spelt not in clean.replace("<secret>s0</secret>", "")


@given(WORDS, st.binary(max_size=5), st.binary(max_size=5))
def test_base64_of_a_text_that_holds_it_does_not_decode_to_it(value, before, after):
    sent = base64.b64encode(before + value.encode() + after).decode()
    assert "<secret>s0</secret>" in secrets(value).scrub(sent)


def test_the_longer_of_two_that_overlap_goes_first():
    assert secrets("pass", "password-long").scrub("my password-long") == "my <secret>s1</secret>"


def test_nothing_shows_a_value():
    kept = secrets("hunter2!")
    one = Secret(name="a", value="hunter2!", origins=(ORIGIN,))
    assert "hunter2!" not in repr(kept) + str(kept) + repr(one) + str(one)


def test_a_page_is_scrubbed_in_all_its_texts():
    tab = Tab(
        url="http://x/?p=hunter2%21",
        title="hunter2!",
        back=("http://x/hunter2!",),
        forward=("hunter2!",),
    )
    page = Observation(url=tab.url, title="hunter2!", tree="[1] StaticText 'hunter2!'", tabs=(tab,), last_action_error="hunter2!")  # fmt: skip
    assert "hunter2" not in repr(secrets("hunter2!").scrub_page(page))


def test_log_records_are_scrubbed_with_their_tracebacks(caplog):
    undo = scrub_logs(secrets("hunter2!"))
    try:
        try:
            raise ValueError("it was hunter2!")
        except ValueError:
            logging.getLogger("dynaweb.test").exception("typed %s", "hunter2!")
    finally:
        undo()
    assert "hunter2!" not in caplog.text and "<secret>s0</secret>" in caplog.text


@pytest.mark.parametrize(
    ("name", "value", "origins"),
    [("a b", "longer", (ORIGIN,)), ("a", "abc", (ORIGIN,)), ("a", "longer", ())],
)
def test_what_cannot_be_kept_is_refused_without_showing_it(name, value, origins):
    with pytest.raises(UserError) as refused:
        Secret(name=name, value=value, origins=origins)
    assert value not in str(refused.value)


def test_gzip_is_out_of_reach_and_stays_so_documented():
    """docs/safety.md says so: what is compressed is not looked into."""
    packed = gzip.compress(b"hunter2!").hex()
    assert secrets("hunter2!").scrub(packed) == packed

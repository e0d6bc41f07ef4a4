"""What is approved is what is sent: words, fields, addresses; and what a person reads holds nothing that steers a terminal."""

from dataclasses import replace
from urllib.parse import urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dynaweb.browser.guard.approval import (
    Intent,
    Kind,
    body_fields,
    covers,
    kind_of_url,
    kind_of_words,
    plain,
    told,
)

FORM = "application/x-www-form-urlencoded"
PAY = Intent(
    kind=Kind.BUY, action="click('12')", element="button submit", text="Pay", origin="https://shop.example",
    method="POST", target="https://shop.example/pay", fields=(("to", "bob"), ("amount", "82")),
)  # fmt: skip


def test_the_same_request_is_covered():
    assert covers(PAY, "POST", "https://shop.example/pay#top", FORM, b"to=bob&amount=82")


@pytest.mark.parametrize(
    ("method", "url", "kind", "body"),
    [
        ("POST", "https://shop.example/pay", FORM, b"to=bob&amount=820"),
        ("POST", "https://shop.example/pay", FORM, b"to=mallory&amount=82"),
        ("POST", "https://shop.example/pay", FORM, b"to=bob&amount=82&amount=820"),
        ("POST", "https://shop.example/pay", FORM, b"amount=82&to=bob"),
        ("POST", "https://shop.example/pay", FORM, b""),
        ("POST", "https://shop.example/pay", "application/json", b'{"to": "bob"}'),
        ("POST", "https://shop.example/pay?x=1", FORM, b"to=bob&amount=82"),
        ("POST", "https://evil.example/pay", FORM, b"to=bob&amount=82"),
        ("PUT", "https://shop.example/pay", FORM, b"to=bob&amount=82"),
        ("GET", "https://shop.example/pay?to=bob&amount=82", "", b""),
    ],
)  # fmt: skip
def test_any_other_request_is_not(method, url, kind, body):
    assert not covers(PAY, method, url, kind, body)


@pytest.mark.parametrize("field", ["action", "element", "text", "origin", "method", "target"])
def test_every_field_is_part_of_the_digest(field):
    assert replace(PAY, **{field: "other"}).digest != PAY.digest
    assert replace(PAY, fields=(("to", "bob"), ("amount", "820"))).digest != PAY.digest


@given(st.lists(st.tuples(st.text(min_size=1, max_size=8), st.text(max_size=12)), max_size=5))
def test_forms_are_read_as_they_are_written(pairs):
    clean = [(n.encode("utf-8", "replace").decode(), v.encode("utf-8", "replace").decode()) for n, v in pairs]  # fmt: skip
    assert body_fields(FORM, urlencode(clean).encode()) == tuple(clean)


def test_a_multipart_form_is_read_with_names_of_files():
    body = (
        b'--B\r\nContent-Disposition: form-data; name="to"\r\n\r\nbob\r\n'
        b'--B\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\nContent-Type: text/plain\r\n\r\nhi\r\n--B--\r\n'
    )
    assert body_fields("multipart/form-data; boundary=B", body) == (("to", "bob"), ("file", "a.txt"))  # fmt: skip


@given(st.text(max_size=300))
def test_what_a_person_reads_steers_no_terminal(text):
    shown = plain(text)
    assert all(c.isprintable() for c in shown)
    lines = told(replace(PAY, text=text, target=f"https://x/{text}", fields=((text, text),))).split(
        "\n"
    )
    assert len(lines) == 6 and all(c.isprintable() for line in lines for c in line)


def test_hidden_values_and_other_sites_are_told():
    said = told(replace(PAY, hidden=frozenset({"amount"}), target="https://evil.example/pay"))
    assert "82" not in said and "ANOTHER SITE" in said


@pytest.mark.parametrize(
    ("text", "link", "kind"),
    [
        ("Buy now", False, Kind.BUY), ("Log out", True, Kind.LOG_OUT), ("Sign-out", True, Kind.LOG_OUT),
        ("Delete", True, Kind.DELETE), ("Place order", False, Kind.BUY), ("Unsubscribe", True, Kind.SEND),
        ("Search", False, None), ("Next page", True, None), ("Why I will never buy a boat", True, None),
        ("The post office in the village of that name was closed", False, None), ("", False, None),
    ],
)  # fmt: skip
def test_words(text, link, kind):
    assert kind_of_words(text, link=link) is kind


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("https://a/logout", Kind.LOG_OUT), ("https://a/cart/delete/3", Kind.DELETE), ("https://a/x.php?action=delete", Kind.DELETE),
        ("https://a/transfer?to=m", Kind.SEND), ("https://a/how-to-delete-an-account", None), ("https://a/?q=delete", None),
        ("https://a/blog/post", None), ("data:,/delete", None),
    ],
)  # fmt: skip
def test_addresses(url, kind):
    assert kind_of_url(url) is kind

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.world.data.made import attempt, page

from dynaweb.records.action import Click, Fill
from dynaweb.records.codec import dump
from dynaweb.world.data.mask import iban, luhn, mask_text, mask_trajectory

DETAILS = {
    "mail": ["ann.lee+x@mail.co.uk", "BOB@EXAMPLE.NET.de"],
    "card": ["4111 1111 1111 1111", "5500-0000-0000-0004", "378282246310005"],
    "iban": ["DE89 3704 0044 0532 0130 00", "GB82WEST12345698765432"],
    "phone": ["+49 30 901820", "(412) 555-0199", "412-555-0199", "+1 412 555 0199"],
    "key": ["sk-abcdefghijklmnopqrstuvwx", "ghp_" + "a1" * 18, "AKIAIOSFODNN7EXAMPLE"],
}
PLAIN = ["2023-04-17 10:20", "$1,234.56", "4111 1111 1111 1112", "Order #000000299", "1.2.3.4", "a@b", "DE00 0000", "person@example.com"]  # fmt: skip


@pytest.mark.parametrize("kind", DETAILS)
def test_found(kind):
    for detail in DETAILS[kind]:
        counts: Counter[str] = Counter()
        masked = mask_text(f"call {detail}, now", counts)
        assert detail not in masked and counts == {kind: 1}, detail
        assert masked.startswith("call ") and masked.endswith(", now")


@pytest.mark.parametrize("text", PLAIN)
def test_left_alone(text):
    counts: Counter[str] = Counter()
    assert mask_text(text, counts) == text and not counts


def test_checks_by_hand():
    assert (
        luhn("4111111111111111") and not luhn("4111111111111112") and not luhn("0000000000000000")
    )
    assert iban("GB82 WEST 1234 5698 7654 32") and not iban("GB83 WEST 1234 5698 7654 32")


@given(st.lists(st.sampled_from([d for ds in DETAILS.values() for d in ds] + PLAIN), max_size=6))
def test_masking_twice_is_masking_once(parts):
    once = mask_text(" | ".join(parts), Counter())
    counts: Counter[str] = Counter()
    assert mask_text(once, counts) == once and not counts


def test_a_detail_is_the_same_wherever_it_stands():
    tree = "RootWebArea 'To'\n\t[3] textbox 'To'"
    whole = attempt(
        "a",
        (page(tree), Fill("3", "ann@firm.org")),
        (page(tree.replace("'To'\n", "'ann@firm.org'\n")), Click("3")),
        final=page(tree + ", value='ann@firm.org'"),
        goal="Write to ann@firm.org",
    )
    counts: Counter[str] = Counter()
    masked = mask_trajectory(whole, counts)
    text = dump(masked)
    assert "ann@firm.org" not in text and text.count("@example.com") == 5 and counts == {"mail": 5}
    assert len({w for w in text.replace("'", '"').replace(" ", '"').split('"') if "@" in w}) == 1

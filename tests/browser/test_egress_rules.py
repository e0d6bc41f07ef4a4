"""Where the proxy lets a connection go: names, then every address that a name resolves to."""

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dynaweb.browser.egress.inside.decide import (
    Rules,
    canonical,
    choose_address,
    is_public,
    may_write,
    why_not_name,
)
from dynaweb.browser.egress.proxy import checked
from dynaweb.errors import UserError

RULES = Rules(hosts=("example.org", "*.example.net", "odd.example:8443"), private=("127.0.0.1:8080", "intra.test:80"))  # fmt: skip


@pytest.mark.parametrize(
    ("host", "port"),
    [("example.org", 443), ("EXAMPLE.org.", 80), ("a.b.example.net", 443), ("odd.example", 8443), ("127.0.0.1", 8080)],
)  # fmt: skip
def test_named_hosts_pass(host, port):
    assert why_not_name(RULES, host, port) is None


@pytest.mark.parametrize(
    ("host", "port"),
    [
        ("example.org", 22), ("example.net", 443), ("evilexample.net", 443), ("example.org.evil.test", 443),
        ("odd.example", 443), ("127.0.0.1", 80), ("127.0.0.2", 8080), ("2130706433", 8080), ("0x7f000001", 8080),
        ("127.1", 8080), ("0177.0.0.1", 8080), ("[::ffff:127.0.0.1]", 8080), ("[::1]", 8080), ("localhost", 8080),
        ("localhost.", 8080), ("example.org@evil.test", 443), ("a b", 443), ("", 443), ("0", 80), ("exämple.org", 443),
        ("１２７.0.0.2", 8080), ("169.254.169.254", 80),
    ],
)  # fmt: skip
def test_everything_else_is_refused(host, port):
    assert why_not_name(RULES, host, port)


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "224.0.0.1",
        "255.255.255.255", "198.18.0.1", "192.0.2.1", "240.0.0.1", "::1", "::", "fe80::1", "fc00::1", "ff02::1",
        "::ffff:10.0.0.1", "::10.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::", "2001:db8::1", "fe80::1%eth0",
    ],
)  # fmt: skip
def test_a_name_that_resolves_to_no_public_address_is_refused(address):
    chosen, why = choose_address(RULES, "example.org", 443, lambda host, port: [address])
    assert chosen == "" and "no public address" in why


def test_one_private_address_among_public_ones_is_enough_to_refuse():
    for found in (["93.184.216.34", "127.0.0.1"], ["127.0.0.1", "93.184.216.34"]):
        assert choose_address(RULES, "example.org", 443, lambda host, port, f=found: f)[0] == ""


def test_rebinding_cannot_help_because_a_name_is_resolved_once_and_that_address_is_used():
    answers = [["93.184.216.34"], ["127.0.0.1"]]
    asked = []

    def resolve(host: str, port: int) -> list[str]:
        asked.append(host)
        return answers[len(asked) - 1]

    assert choose_address(RULES, "example.org", 443, resolve) == ("93.184.216.34", "")
    assert asked == ["example.org"]
    assert choose_address(RULES, "example.org", 443, resolve)[0] == ""


def test_named_private_places_may_be_private_at_their_port_alone():
    assert choose_address(RULES, "intra.test", 80, lambda h, p: ["10.0.0.7"]) == ("10.0.0.7", "")
    assert choose_address(RULES, "intra.test", 443, lambda h, p: ["10.0.0.7"])[0] == ""


def test_a_host_that_does_not_resolve_is_refused_with_the_reason():
    def fail(host: str, port: int) -> list[str]:
        raise OSError(2, "no such name")

    assert choose_address(RULES, "example.org", 443, fail) == ("", "example.org does not resolve: no such name")  # fmt: skip
    assert choose_address(RULES, "example.org", 443, lambda h, p: [])[1]


@given(st.ip_addresses(v=4))
def test_no_spelling_of_an_address_in_ipv6_makes_it_public(address):
    mapped = ipaddress.ip_address(f"::ffff:{address}")
    assert is_public(mapped) == is_public(address)
    assert not is_public(ipaddress.ip_address(f"64:ff9b::{address}"))


@given(st.text(max_size=30))
def test_canonical_is_stable_and_never_fails(host):
    name = canonical(host)
    assert name is None or canonical(name) == name


@pytest.mark.parametrize(
    "rules", [Rules(hosts=("a b",)), Rules(hosts=("127.1",)), Rules(private=("intra.test",))]
)
def test_rules_that_mean_nothing_are_refused(rules):
    with pytest.raises(UserError):
        checked(rules)


def test_read_only_has_exceptions_by_host_and_port():
    rules = Rules(hosts=("example.org:443",), private=("127.0.0.1:80",), writable=("127.0.0.1:80",))
    assert may_write(rules, "127.0.0.1", 80)
    assert not may_write(rules, "127.0.0.1", 81) and not may_write(rules, "example.org", 443)
    assert may_write(Rules(read_only=False), "anything.example", 80)

"""What somebody might type into a field, by what the field is called."""

from random import Random

from dynaweb.axtree.label import label_element
from dynaweb.axtree.tree import Node, Tree
from dynaweb.collect.page import said

_BY_LABEL: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = (
    (("mail",), ("anna.miller@example.com", "tom@example.org", "info@example.net")),
    (("phone", "mobile", "tel.", "telephone"), ("+555 0142637", "+555 0190844")),
    (("password", "passphrase"), ("Correct-Horse-7", "Blue4Lamp!")),
    (("user name", "username", "login", "nick"), ("anna", "tom_w", "mira88")),
    (("first name", "given name"), ("Anna", "Tom", "Mira")),
    (("last name", "surname", "family name"), ("Miller", "Weber", "Okafor")),
    (("zip", "postcode", "postal"), ("10115", "94110", "SW1A 1AA")),
    (("city", "town"), ("Berlin", "Lyon", "Osaka")),
    (("street", "address", "line 1", "line 2"), ("12 Mill Lane", "4 Station Road")),
    (("country",), ("Germany", "France", "Japan")),
    (("state", "region", "county"), ("California", "Bavaria")),
    (("company", "organisation", "organization"), ("Example Ltd", "Blue Lamp GmbH")),
    (("voucher", "coupon", "code"), ("SUMMER10", "WELCOME")),
    (("website", "url", "homepage"), ("https://example.com",)),
    (("price", "amount", "cost", "budget"), ("10", "25", "99.90")),
    (("quantity", "number", "count", "age", "year"), ("1", "2", "12", "2024")),
    (("subject", "title", "summary", "headline"), ("A question about delivery", "Broken link", "Thank you")),
    (
        ("comment", "message", "description", "review", "text", "body", "reply", "question"),
        ("This works well for me.", "Could you tell me more about it?", "It arrived late, but in good order."),
    ),
    (("tag", "keyword", "cc"), ("garden", "urgent", "docs")),
    (("name",), ("Anna Miller", "Tom Weber", "Mira Okafor")),
)  # fmt: skip
"""Words of a label, and what goes there; the first that fits. Addresses and numbers are reserved ones (RFC 2606)."""

_SEARCH = ("lamp", "help", "new", "price", "garden", "contact", "guide")


def plausible_text(tree: Tree, node: Node, rng: Random) -> str:
    """Something to type into a field, in the form that it takes."""
    if node.role in ("Date", "DateTime"):
        return f"{rng.randint(2023, 2026)}-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}"
    if node.role == "InputTime":
        return f"{rng.randint(8, 20):02}:{rng.choice((0, 15, 30, 45)):02}"
    if node.role == "ColorWell":
        return f"#{rng.randrange(2**24):06x}"
    if node.role in ("spinbutton", "slider"):
        return str(_in_range(node, rng))
    label = label_element(tree, node.bid or "").lower()
    if node.role == "searchbox" or "search" in label or "find" in label:
        return _page_word(tree, rng)
    for words, texts in _BY_LABEL:
        if any(word in label for word in words):
            return rng.choice(texts)
    return _page_word(tree, rng)


def _in_range(node: Node, rng: Random) -> int:
    low, high = _whole(node.attr("valuemin"), 1), _whole(node.attr("valuemax"), 10)
    return rng.randint(low, min(high, low + 10)) if low <= high else low


def _whole(value: object, otherwise: int) -> int:
    try:
        return int(float(str(value)))
    except (ValueError, OverflowError):
        return otherwise


def _page_word(tree: Tree, rng: Random) -> str:
    """A word that stands on the page, or one that people look for."""
    if rng.random() < 0.6:
        names = [w for n in tree[1:] if n.role in ("link", "heading") for w in said(n).split()]
        words = [w for w in names if w.isalpha() and 3 < len(w) < 20]
        if words:
            return rng.choice(words)
    return rng.choice(_SEARCH)

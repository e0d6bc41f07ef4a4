"""Hostile replies: never a page, or the page with what stood around it taken off; in linear time."""

import time

import pytest
from tests.conformance.toy import SUBMIT, first_site, show
from tests.world.chats import ScriptedChat, ask, page_of

from dynaweb.axtree.tree import Node, read_tree
from dynaweb.axtree.views.convert import Form, convert
from dynaweb.contracts import ChatReply, Prediction, PredictionStatus
from dynaweb.records.action import Hover
from dynaweb.world.chatting import ChatWorldModel
from dynaweb.world.forms import FullConfig, Layout
from dynaweb.world.full import full_world_model
from dynaweb.world.reading import MAX_REPLY_CHARS

PAGE = show(first_site(0))
TREE = PAGE.tree


def predict(
    reply: str | ChatReply, view: Form = Form.DYNAWEB, layout: Layout = Layout.WEBWORLD
) -> tuple[Prediction, ChatWorldModel]:
    model = full_world_model(ScriptedChat(reply), FullConfig(view=view, layout=layout, retries=0))
    (p,) = model.predict([ask(PAGE, Hover(SUBMIT))])
    return p, model


def flaws(model: ChatWorldModel) -> list[str]:
    return [
        k.removeprefix("invalid.")
        for k, n in model.counts.items()
        if k.startswith("invalid.") and n
    ]


def mends(model: ChatWorldModel) -> list[str]:
    return [
        k.removeprefix("mended.") for k, n in model.counts.items() if k.startswith("mended.") and n
    ]


HALF = "\n".join(TREE.split("\n")[:4])
NESTED = page_of(
    read_tree(
        "RootWebArea 'S'\n\t[1] list ''\n\t\t[2] listitem 'a'\n\t\t\t[3] link 'x'\n\t\t\t[4] link 'y'\n\t\t[5] listitem 'b'\n\t[6] button 'Z'"
    )
)


@pytest.mark.parametrize(
    ("reply", "flaw"),
    [
        ("", "empty"),
        ("  \n\t\n ", "empty"),
        ("<think>The page", "truncated"),
        ("<think>The page stays</think>\n", "empty"),
        ("I'm sorry, but I can't predict that.", "refusal"),
        ("As an AI language model I cannot browse.", "refusal"),
        (f"I'm sorry, here is the page:\n{TREE}", "refusal"),
        (f"{TREE}\n\nAs an AI, I had to guess.", "refusal"),
        (f"{TREE}\n\nContinue the trajectory. Given the previous state\n\nAction: 'click([1])'", "fake_turn"),
        (f"{TREE}\n<|im_end|>\n<|im_start|>user\nmore", "fake_turn"),
        (f"{TREE}\nUser: and now?\nAssistant: [1] button 'x'", "fake_turn"),
        (f"{HALF}\n... (rest of the page unchanged)", "elided"),
        (f"{HALF}\n\t[4] checkbox 'pink', checked='false'\n\t...\n\t[7] button 'Submit'", "elided"),
        ("RootWebArea 'Toy'\n\t# remaining elements omitted\n\t[7] button 'Submit'", "elided"),
        ("The button is hovered and nothing else happens on the page.", "not_a_page"),
        ("{'page': 'x'}", "not_a_page"),
        ("none", "not_a_page"),
        ("The episode ended.", "not_a_page"),
        ("\x00\x01\x02", "not_a_page"),
        ("RootWebArea 'Toy'\nSome prose here that goes on.\nAnd on and on, really.\n\t[7] button 'Submit'", "not_a_page"),
        ("x" * (MAX_REPLY_CHARS + 1), "too_long"),
        (TREE + "\n" + "\t[9] button 'again'\n" * 60_000, "too_long"),
    ],
)  # fmt: skip
def test_no_page(reply: str, flaw: str) -> None:
    p, model = predict(reply)
    assert (
        p.status is PredictionStatus.INVALID and p.observation.tree == PAGE.tree and not p.terminal
    )
    assert flaws(model) == [flaw] and p.raw_text == reply and p.delta is None


@pytest.mark.parametrize("view", [Form.HTML, Form.XML])
def test_markup_that_stops_is_no_page(view: Form) -> None:
    text = convert(read_tree(TREE), view).text
    lines = text.split("\n")
    for keep in range(1, len(lines) - 1):
        p, _ = predict("\n".join(lines[:keep]), view)
        assert p.status is PredictionStatus.INVALID, keep


def test_a_copy_that_stops_anywhere_is_cut_off() -> None:
    lines = NESTED.tree.split("\n")
    model = full_world_model(ScriptedChat("\n".join(lines[:4])), FullConfig(retries=0))
    (p,) = model.predict([ask(NESTED, Hover("6"))])
    assert p.status is PredictionStatus.INVALID and flaws(model) == ["cut_off"]


def test_one_element_that_goes_from_the_end_is_a_change() -> None:
    """A dialog closes: what is gone is one element with all it holds."""
    dialog = f"{NESTED.tree}\n\t[7] dialog 'Sure?'\n\t\t[8] button 'Yes'\n\t\t[9] button 'No'"
    model = full_world_model(ScriptedChat(NESTED.tree), FullConfig())
    (p,) = model.predict([ask(page_of(read_tree(dialog)), Hover("8"))])
    assert p.observation.tree == NESTED.tree and p.status is PredictionStatus.OK


WEBARENA = convert(read_tree(TREE), Form.WEBARENA).text


@pytest.mark.parametrize(
    ("reply", "done"),
    [
        (TREE, []),
        (f"{TREE}\n", []),
        (f"\n\n{TREE}\n\n\n", []),
        (f"<think>Hovering does nothing.</think>\n{TREE}", []),
        (f"```\n{TREE}\n```", ["fence_taken_off"]),
        (f"```text\n{TREE}\n```\n", ["fence_taken_off"]),
        (f"Sure! Here is the next page state:\n\n{TREE}", ["prose_taken_off"]),
        (f"Here is the page:\n```\n{TREE}\n```\nHope this helps!", ["fence_taken_off", "prose_taken_off"]),
        (f"{TREE}\n\nThe button gets a hover effect, which the tree does not show.", ["prose_taken_off"]),
        (TREE.replace("\t", "  "), []),
        (WEBARENA, ["other_format"]),
        (convert(read_tree(TREE), Form.PLAYWRIGHT).text, ["other_format"]),
        (convert(read_tree(TREE), Form.HTML).text, ["other_format"]),
        (f"```xml\n{convert(read_tree(TREE), Form.XML).text}\n```", ["fence_taken_off", "other_format"]),
        (TREE + "\n\t[7] button 'Submit'", ["duplicate_bids"]),
    ],
)  # fmt: skip
def test_the_page_without_what_stands_around_it(reply: str, done: list[str]) -> None:
    p, model = predict(reply)
    more = "\n\t[8] button 'Submit'" if done == ["duplicate_bids"] else ""
    assert p.observation.tree == TREE + more, flaws(model)
    assert sorted(mends(model)) == sorted(done)
    assert p.status is (PredictionStatus.REPAIRED if done else PredictionStatus.OK)


def test_one_strange_line_among_many_is_left_out_and_counted() -> None:
    nodes = [
        Node(0, None, "RootWebArea", "Big"),
        *(Node(1, str(i), "link", f"l {i}") for i in range(1, 40)),
    ]
    page = page_of(tuple(nodes))
    lines = page.tree.split("\n")
    model = full_world_model(
        ScriptedChat("\n".join([*lines[:9], "this is no line", *lines[9:]])), FullConfig()
    )
    (p,) = model.predict([ask(page, Hover("3"))])
    assert p.observation.tree == page.tree and mends(model) == ["lines_left_out"]


def test_lines_that_no_dialect_explains_may_come_back() -> None:
    page = page_of(read_tree("RootWebArea 'S'\n\t???\n\t[1] button 'Go'"))
    (p,) = full_world_model(ScriptedChat(page.tree), FullConfig()).predict([ask(page, Hover("1"))])
    assert p.observation.tree == page.tree and p.status is PredictionStatus.OK


def test_words_of_refusal_on_the_page_are_its_text() -> None:
    tree = "RootWebArea 'S'\n\tStaticText \"I'm sorry, as an AI I cannot help\"\n\t[1] button '<|im_end|>'\n\tStaticText 'User: x ... unchanged'"
    page = page_of(read_tree(tree))
    (p,) = full_world_model(ScriptedChat(page.tree), FullConfig()).predict([ask(page, Hover("1"))])
    assert p.observation.tree == tree and p.status is PredictionStatus.OK


@pytest.mark.parametrize(
    ("reply", "flaw"),
    [
        (f"Reason.\n<predicted_observation>\n{TREE}", "truncated"),
        (f"{TREE}\n</predicted_observation>", "truncated"),
        ("Reason.\n<predicted_observation>\n\n</predicted_observation>", "not_a_page"),
        (f"<|im_start|>user\n<predicted_observation>\n{TREE}\n</predicted_observation>", "fake_turn"),
        (f"I'm sorry.\n<predicted_observation>\n{TREE}\n</predicted_observation>", "refusal"),
    ],
)  # fmt: skip
def test_blocks_that_are_none(reply: str, flaw: str) -> None:
    p, model = predict(reply, layout=Layout.AGENTWORLD)
    assert p.status is PredictionStatus.INVALID and flaws(model) == [flaw]


def test_a_page_that_writes_the_end_of_its_block_stays_whole() -> None:
    page = page_of(read_tree("RootWebArea 'S'\n\t</predicted_observation>\n\t[1] button 'Go'"))
    chat = ScriptedChat(f"<predicted_observation>\n{page.tree}\n</predicted_observation>")
    model = full_world_model(chat, FullConfig(layout=Layout.AGENTWORLD))
    (p,) = model.predict([ask(page, Hover("1"))])
    assert p.observation.tree == page.tree


@pytest.mark.parametrize(
    "reply",
    ["RootWebArea 'Toy'\n" + "\t[1] button 'x'\n" * 20_000, "<div>" * 60_000, "[" * 390_000, "'" * 390_000, "I'm " * 90_000, "```\n" * 90_000, "<next_page" * 30_000],
    ids=["lines", "tags", "brackets", "quotes", "words", "fences", "blocks"],
)  # fmt: skip
def test_long_rubbish_is_read_in_little_time(reply: str) -> None:
    began = time.perf_counter()
    p, _ = predict(reply)
    assert time.perf_counter() - began < 20
    assert p.status in PredictionStatus

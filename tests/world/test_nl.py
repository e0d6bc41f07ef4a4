"""A change in words, applied by a second call: the truth comes back, and what the words don't speak of survives."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import assume, given, settings
from tests.conformance.toy import FIELD, FIRST, NOTES_TAB, SUBMIT, advance, first_site, show
from tests.world.chats import Answer, ScriptedChat, ask, cut, failed, steps, words_of

from dynaweb.axtree.describe import describe_delta
from dynaweb.axtree.diff import diff
from dynaweb.axtree.gate import check_action
from dynaweb.axtree.place import Places
from dynaweb.axtree.same import same_tree
from dynaweb.axtree.tree import read_tree
from dynaweb.axtree.views.convert import Form
from dynaweb.contracts import ChatRequest, Prediction, PredictionStatus
from dynaweb.prompts.change import APPLY_SYSTEM, ENDED, NOTHING, PAGE_BLOCK, write_change
from dynaweb.prompts.guard import guard
from dynaweb.records.action import Action, Click, Fill, Hover
from dynaweb.records.delta import DeltaKind
from dynaweb.records.observation import Observation
from dynaweb.world.chatting import ChatWorldModel
from dynaweb.world.forms import NlConfig
from dynaweb.world.landing import shown_text
from dynaweb.world.nl import nl_world_model
from dynaweb.world.rules import apply_rules
from dynaweb.world.survive import spoken_of

PAGE = show(first_site(0))
FIRST_NAME, SECOND_NAME = first_site(0).names


def in_block(tree: str) -> str:
    return f"<{PAGE_BLOCK}>\n{tree}\n</{PAGE_BLOCK}>"


def two(changes: str, page: Answer) -> Callable[[ChatRequest], Answer]:
    """A model that says `changes`, and then writes `page`."""
    return lambda r: (
        page if r.messages[0].content == APPLY_SYSTEM else write_change("because", changes)
    )


def predict(
    changes: str,
    page: Answer,
    *,
    on: Observation = PAGE,
    action: Action | None = None,
    config: NlConfig | None = None,
) -> tuple[Prediction, ChatWorldModel, ScriptedChat]:
    chat = ScriptedChat(two(changes, page))
    model = nl_world_model(chat, config or NlConfig(retries=0))
    (p,) = model.predict([ask(on, action or Hover(SUBMIT))])
    return p, model, chat


@given(step=steps())
@settings(max_examples=80)
def test_the_true_change_gives_the_true_page(step: tuple[Observation, Action, Observation]) -> None:
    page, action, truth = step
    assume(check_action(page, action) is None)
    ruled = apply_rules((page,), action)
    words = describe_delta(ruled.page, action, diff(ruled.page, action, truth))
    p, model, _ = predict(
        words,
        in_block(guard(shown_text(truth.tree, truth.focused, Form.DYNAWEB))),
        on=page,
        action=action,
    )
    assume("invalid.cut_off" not in model.counts)
    assert p.status is not PredictionStatus.INVALID, (words, model.counts)
    assert same_tree(p.observation.tree, truth.tree), words


def test_two_calls_the_second_sees_page_and_changes() -> None:
    after = show(advance(first_site(0), Click(NOTES_TAB)))
    words = f"[{NOTES_TAB}] tab 'Notes' has selected 'true'.\nThe checkboxes, the textbox and the buttons disappeared.\n[1] tab 'Form' has selected 'false'.\nNew: button 'Done'."
    p, _, chat = predict(words, in_block(after.tree), action=Click(NOTES_TAB))
    assert same_tree(p.observation.tree, after.tree) and p.status is PredictionStatus.OK
    assert chat.batches == [1, 1] and "New: button 'Done'." in words_of(chat.asked[1])
    assert p.confidence == pytest.approx(0.8187, abs=1e-3)


@pytest.mark.parametrize(("words", "terminal"), [(NOTHING, False), (ENDED, True)])
def test_nothing_and_the_end_need_no_second_call(words: str, terminal: bool) -> None:
    p, _, chat = predict(words, "never asked", action=Click(FIRST))
    assert p.terminal == terminal and chat.batches == [1] and p.status is PredictionStatus.OK
    assert f"[{FIRST}] checkbox '{FIRST_NAME}', checked='true'" in p.observation.tree, (
        "the rule's part stays"
    )
    assert p.delta is not None and p.delta.kind is (
        DeltaKind.TERMINAL if terminal else DeltaKind.NONE
    )


DISABLED = f"[{SUBMIT}] button 'Submit' is now disabled."
WANTED = PAGE.tree.replace("button 'Submit'", "button 'Submit', disabled")


@pytest.mark.parametrize(
    "written",
    [
        WANTED.replace(f"'{FIRST_NAME}'", "'Somebody else'"),
        WANTED.replace("checked='false'", "checked='true'"),
        WANTED.replace("\t[5] textbox 'Word'\n", ""),
        WANTED.replace("\t[1] tab 'Form', selected='true'\n", "").replace(
            "\t[6] button 'Reset', disabled\n", ""
        ),
        WANTED.replace("RootWebArea 'Toy'", "RootWebArea 'Another title'"),
        WANTED.replace("[5] textbox 'Word'", "[5] searchbox 'Word'"),
    ],
)
def test_what_the_words_do_not_speak_of_is_put_back(written: str) -> None:
    p, model, _ = predict(DISABLED, in_block(written))
    assert p.observation == replace(PAGE, tree=WANTED), model.counts
    assert p.status is PredictionStatus.REPAIRED and model.counts["mended.put_back"] == 1


def test_a_line_written_elsewhere_stands_once() -> None:
    lines = WANTED.split("\n")
    moved = "\n".join([*lines[:1], *lines[5:6], *lines[1:5], *lines[6:]])
    p, _, _ = predict(DISABLED, in_block(moved))
    assert sorted(p.observation.tree.split("\n")) == sorted(lines)


def test_most_of_the_page_lost_is_no_page() -> None:
    p, model, _ = predict(DISABLED, in_block("RootWebArea 'Toy'\n\t[7] button 'Submit', disabled"))
    assert p.status is PredictionStatus.INVALID and p.observation.tree == PAGE.tree
    assert model.counts["invalid.lost_too_much"] == 1
    patient = NlConfig(retries=0, most_lost=1.0)
    p, _, _ = predict(
        DISABLED, in_block("RootWebArea 'Toy'\n\t[7] button 'Submit', disabled"), config=patient
    )
    assert p.observation.tree == WANTED and p.status is PredictionStatus.REPAIRED


def test_another_page_that_nobody_announced_is_no_page() -> None:
    other = "RootWebArea 'Bank'\n\t[1] heading 'Welcome'\n\t[2] link 'Transfer'"
    p, model, _ = predict(DISABLED, in_block(other))
    assert p.status is PredictionStatus.INVALID and model.counts["invalid.lost_too_much"] == 1


def test_another_page_that_was_announced_is_one_with_its_address() -> None:
    other = "RootWebArea 'Cart'\n\t[1] heading 'Your cart'\n\t[2] link 'Pay'"
    words = (
        "Another page appeared: RootWebArea 'Cart', 3 lines.\nThe address is now 'http://toy/cart'."
    )
    p, _, _ = predict(words, in_block(other), action=Click(SUBMIT))
    assert (p.observation.url, p.observation.title) == ("http://toy/cart", "Cart")
    assert (
        p.status is PredictionStatus.OK
        and p.delta is not None
        and p.delta.kind is DeltaKind.FULL_PAGE
    )
    assert p.observation.tabs[0].back == (PAGE.url,) and "heading 'Your cart'" in p.observation.tree


@pytest.mark.parametrize(
    ("first", "flaw"),
    [
        ("The button is now disabled.", "no_change_said"),
        ("<reasoning>r</reasoning>", "no_change_said"),
        ("<reasoning>r</reasoning>\n<changes>\n</changes>", "no_change_said"),
        ("<reasoning>r</reasoning><changes>a</changes><changes>b</changes>", "no_change_said"),
        ("<changes>x</changes>", "no_change_said"),
        ("", "empty"),
    ],
)  # fmt: skip
def test_a_first_reply_without_its_two_sections(first: str, flaw: str) -> None:
    chat = ScriptedChat(first)
    model = nl_world_model(chat, NlConfig(retries=1))
    (p,) = model.predict([ask(PAGE, Hover(SUBMIT))])
    assert p.status is PredictionStatus.INVALID and model.counts[f"invalid.{flaw}"] == 2
    assert chat.batches == [1, 1] and chat.asked[1].temperature == 0.7


@pytest.mark.parametrize(
    "second", ["", "I'm sorry.", cut(in_block(WANTED)), f"<{PAGE_BLOCK}>\n{WANTED}", failed()]
)
def test_a_second_reply_that_is_no_page(second: Answer) -> None:
    p, _, _ = predict(DISABLED, second)
    assert p.status is PredictionStatus.INVALID and p.observation.tree == PAGE.tree


def test_a_batch_is_asked_in_two_batches() -> None:
    chat = ScriptedChat(
        lambda r: (
            in_block(WANTED)
            if r.messages[0].content == APPLY_SYSTEM
            else write_change("r", NOTHING if "hover" in words_of(r) else DISABLED)
        )
    )
    model = nl_world_model(chat, NlConfig())
    answers = model.predict(
        [ask(PAGE, Hover(SUBMIT)), ask(PAGE, Click(SUBMIT)), ask(PAGE, Click("99"))]
    )
    assert chat.batches == [2, 1] and [p.by_rule for p in answers] == [False, False, True]
    assert answers[0].observation.tree == PAGE.tree and answers[1].observation.tree == WANTED


TREE = read_tree(
    "RootWebArea 'Shop'\n\t[1] main 'Content'\n\t\t[2] list ''\n\t\t\t[3] listitem ''\n\t\t\t\t[4] link 'Red shoe'\n"
    "\t\t\t[5] listitem ''\n\t\t\t\t[6] link 'Blue hat'\n\t\t\t\tStaticText 'ab'\n\t[7] checkbox 'News', checked='false'\n\t[8] checkbox 'Ads', checked='false'"
)


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ("[4] disappears", "Red shoe"),
        ("element 4 disappears", "Red shoe"),
        ("the Red Shoe is gone", "Red shoe"),
        ("The checkboxes are ticked", "News Ads"),
        ("a list 'x' grows", ""),
        ("the list grows", "Red shoe Blue hat ab"),
        ("[3] link 'Blue hat' is another one", "Red shoe"),
        ("[3] listitem '' disappears", "Red shoe"),
        ("the 'Content' area is emptied", "Content Red shoe Blue hat ab"),
        ("Content is king, as every shoemaker knows", ""),
        ("[44] and [77] change; ab too", ""),
        ("", ""),
    ],
)  # fmt: skip
def test_what_words_speak_of(words: str, named: str) -> None:
    spoken = spoken_of(Places(TREE), words)
    names = {n.name for n, s in zip(TREE, spoken, strict=True) if s and n.name}
    assert names == {
        n for n in ("Content", "Red shoe", "Blue hat", "ab", "News", "Ads") if n in named
    }


def test_a_row_named_by_its_ends() -> None:
    spoken = spoken_of(
        Places(TREE), "[6] link 'Blue hat' and all that follows to [7] checkbox 'News' disappeared."
    )
    assert [n.name for n, s in zip(TREE, spoken, strict=True) if s and n.name] == [
        "Blue hat",
        "ab",
        "News",
    ]
    spoken = spoken_of(
        Places(TREE),
        "StaticText 'ab' and all that follows to [7] checkbox 'News' disappeared with everything in it.",
    )
    assert [n.name for n, s in zip(TREE, spoken, strict=True) if s and n.name] == ["ab", "News"]


def test_a_wrapper_goes_with_all_that_it_holds() -> None:
    spoken = spoken_of(Places(TREE), "Red shoe is gone")
    assert spoken[3] and spoken[4] and not spoken[2]


def test_a_field_that_a_rule_filled_is_shown_filled() -> None:
    chat = ScriptedChat(two(NOTHING, ""))
    (p,) = nl_world_model(chat, NlConfig()).predict([ask(PAGE, Fill(FIELD, "gold"))])
    assert "value='gold'" in words_of(chat.asked[0]) and "value='gold'" in p.observation.tree
    assert SECOND_NAME in words_of(chat.asked[0])

"""Whole pages: the truth comes back as the truth, whatever the format; the conversation fits; bids stay."""

from dataclasses import replace

import pytest
from hypothesis import assume, given, settings
from tests.conformance.toy import FIELD, FIRST, NOTES_TAB, SUBMIT, Site, advance, first_site, show
from tests.world.chats import ScriptedChat, ask, cut, page_of, steps, words_of

from dynaweb.axtree.gate import check_action
from dynaweb.axtree.same import same_tree
from dynaweb.axtree.tree import Node, read_tree, render_tree
from dynaweb.axtree.views.convert import Form, convert, read_page
from dynaweb.contracts import Imagine, PredictionStatus
from dynaweb.errors import UserError
from dynaweb.prompts.guard import guard
from dynaweb.prompts.webworld import MARKERS
from dynaweb.records.action import Action, Click, Fill, Goto, Hover
from dynaweb.records.observation import Observation
from dynaweb.world.forms import VIEWS, FullConfig, Layout
from dynaweb.world.full import full_world_model
from dynaweb.world.landing import UNKNOWN_ADDRESS, shown_text

PAGE = show(first_site(0))
EXACT = (Form.DYNAWEB, Form.HTML, Form.XML)


def written(page: Observation, view: Form = Form.DYNAWEB) -> str:
    return guard(shown_text(page.tree, page.focused, view), MARKERS)


@pytest.mark.parametrize("view", EXACT)
@given(step=steps())
@settings(max_examples=60)
def test_the_true_page_is_predicted_exactly(
    view: Form, step: tuple[Observation, Action, Observation]
) -> None:
    page, action, truth = step
    assume(check_action(page, action) is None)
    model = full_world_model(ScriptedChat(written(truth, view)), FullConfig(view=view, retries=0))
    (p,) = model.predict([ask(page, action)])
    assume("invalid.cut_off" not in model.counts)
    assert p.status is not PredictionStatus.INVALID, (p.raw_text, model.counts)
    assert same_tree(p.observation.tree, truth.tree)
    kept = {n.bid for n in read_tree(page.tree)} & {n.bid for n in read_tree(p.observation.tree)}
    for node in read_tree(p.observation.tree):
        if node.bid in kept and node.bid is not None:
            old = next(n for n in read_tree(page.tree) if n.bid == node.bid)
            assert old.role == node.role


@given(step=steps())
@settings(max_examples=60)
def test_a_format_that_says_less_loses_nothing_that_was_there(
    step: tuple[Observation, Action, Observation],
) -> None:
    page, action, truth = step
    assume(check_action(page, action) is None)
    model = full_world_model(
        ScriptedChat(written(truth, Form.PLAYWRIGHT)), FullConfig(view=Form.PLAYWRIGHT, retries=0)
    )
    (p,) = model.predict([ask(page, action)])
    assume(p.status is not PredictionStatus.INVALID)
    seen, true = (
        render_tree(read_page(convert(read_tree(o.tree), Form.PLAYWRIGHT).text, Form.PLAYWRIGHT))
        for o in (p.observation, truth)
    )
    assert same_tree(seen, true)


@pytest.mark.parametrize("view", VIEWS)
def test_an_unchanged_page_is_unchanged_in_every_format(view: Form) -> None:
    """Also in those that say less than a page holds."""
    page = replace(PAGE, focused=None)
    model = full_world_model(ScriptedChat(written(page, view)), FullConfig(view=view))
    (p,) = model.predict([ask(page, Hover(SUBMIT))])
    assert (p.observation.tree, p.status) == (page.tree, PredictionStatus.OK), model.counts


TREE = "RootWebArea 'Shop'\n\t[3] button 'A'\n\t[7] button 'B'\n\tStaticText 'x'"
BEFORE = page_of(read_tree(TREE))


@pytest.mark.parametrize(
    ("reply", "tree"),
    [
        # renumbered: the same elements keep their bids
        ("RootWebArea 'Shop'\n\t[1] button 'A'\n\t[2] button 'B'\n\tStaticText 'x'", TREE),
        # numbers left out
        ("RootWebArea 'Shop'\n\tbutton 'A'\n\tbutton 'B'\n\tStaticText 'x'", TREE),
        # text numbered, as other tools do
        ("RootWebArea 'Shop'\n\t[3] button 'A'\n\t[7] button 'B'\n\t[8] StaticText 'x'", TREE),
        # a number of ours given to something new
        (
            "RootWebArea 'Shop'\n\t[3] link 'New'\n\t[3] button 'A'\n\t[7] button 'B'\n\tStaticText 'x'",
            "RootWebArea 'Shop'\n\t[8] link 'New'\n\t[3] button 'A'\n\t[7] button 'B'\n\tStaticText 'x'",
        ),
        # the same number twice
        (
            "RootWebArea 'Shop'\n\t[3] button 'A'\n\t[7] button 'B'\n\t[7] button 'C'\n\tStaticText 'x'",
            "RootWebArea 'Shop'\n\t[3] button 'A'\n\t[7] button 'B'\n\t[8] button 'C'\n\tStaticText 'x'",
        ),
        # a new element with a number of the model's
        (
            "RootWebArea 'Shop'\n\t[3] button 'A'\n\t[99] button 'N'\n\t[7] button 'B'\n\tStaticText 'x'",
            "RootWebArea 'Shop'\n\t[3] button 'A'\n\t[8] button 'N'\n\t[7] button 'B'\n\tStaticText 'x'",
        ),
    ],
)  # fmt: skip
def test_bids_are_ours(reply: str, tree: str) -> None:
    (p,) = full_world_model(ScriptedChat(reply), FullConfig()).predict([ask(BEFORE, Hover("3"))])
    assert p.observation.tree == tree and p.status is not PredictionStatus.INVALID
    bids = [n.bid for n in read_tree(p.observation.tree) if n.bid]
    assert len(bids) == len(set(bids))


def test_what_a_rule_knows_and_the_model_forgets_stays() -> None:
    chat = ScriptedChat(PAGE.tree)
    model = full_world_model(chat, FullConfig())
    (p,) = model.predict([ask(PAGE, Fill(FIELD, "gold"))])
    assert "textbox 'Word', value='gold'" in p.observation.tree and p.observation.focused == FIELD
    assert p.status is PredictionStatus.REPAIRED and model.counts["mended.rule_restored"] == 1
    assert "value='gold'" not in words_of(chat.asked[0]), (
        "the model sees the page as the browser showed it"
    )


def test_what_the_page_does_against_a_rule_is_the_models_word() -> None:
    typed = PAGE.tree.replace("textbox 'Word'", "textbox 'Word', value='GOLD'")
    (p,) = full_world_model(ScriptedChat(typed), FullConfig()).predict(
        [ask(PAGE, Fill(FIELD, "gold"))]
    )
    assert "value='GOLD'" in p.observation.tree and p.status is PredictionStatus.OK


def test_focus_is_shown_and_read() -> None:
    page = replace(PAGE, focused=FIELD)
    chat = ScriptedChat(
        PAGE.tree.replace(f"[{SUBMIT}] button 'Submit'", f"[{SUBMIT}] button 'Submit', focused")
    )
    (p,) = full_world_model(chat, FullConfig()).predict([ask(page, Hover(SUBMIT))])
    assert p.observation.focused == SUBMIT and "focused" not in p.observation.tree
    assert "textbox 'Word', focused" in words_of(chat.asked[0])


def test_another_page_without_an_address_leaves_a_way_back() -> None:
    other = "RootWebArea 'Cart'\n\t[1] heading 'Your cart'\n\t[2] link 'Pay'"
    page = page_of(
        read_tree(
            "RootWebArea 'Shop'\n\t[3] link 'Cart'\n\t[4] button 'Add'\n\t[5] textbox 'Search'"
        )
    )
    (p,) = full_world_model(ScriptedChat(other), FullConfig()).predict([ask(page, Click("3"))])
    assert (
        p.observation.url.startswith(page.url + UNKNOWN_ADDRESS) and p.observation.title == "Cart"
    )
    assert p.observation.tabs[0].back == (page.url,)


def test_goto_says_its_address() -> None:
    other = "RootWebArea 'Cart'\n\t[1] heading 'Your cart'"
    (p,) = full_world_model(ScriptedChat(other), FullConfig()).predict(
        [ask(BEFORE, Goto("http://shop/cart"))]
    )
    assert p.observation.url == "http://shop/cart" and p.observation.tabs[0].back == (BEFORE.url,)


def walk(n: int) -> tuple[tuple[Observation, ...], tuple[Action, ...]]:
    pages, done, site = [PAGE], [], first_site(0)
    for i in range(n):
        action: Action = Fill(FIELD, f"word {i}")
        site = advance(site, action)
        done.append(action)
        pages.append(show(site))
    return tuple(pages), tuple(done)


@pytest.mark.parametrize("layout", list(Layout))
def test_the_conversation_holds_every_turn(layout: Layout) -> None:
    pages, done = walk(3)
    chat = ScriptedChat("nothing")
    full_world_model(chat, FullConfig(layout=layout, retries=0)).predict(
        [Imagine(history=pages, done=done, action=Click(FIRST))]
    )
    roles = [m.role for m in chat.asked[0].messages]
    assert roles == [
        "system",
        "user",
        "assistant",
        "user",
        "assistant",
        "user",
        "assistant",
        "user",
    ]
    said = [m.content for m in chat.asked[0].messages]
    assert (
        "word 0" in said[1]
        and "value='word 0'" in said[2]
        and "word 1" in said[3]
        and "value='word 2'" in said[6]
    )


@pytest.mark.parametrize("layout", list(Layout))
def test_the_oldest_turns_leave_first_and_are_counted(layout: Layout) -> None:
    pages, done = walk(20)
    chat = ScriptedChat("nothing")
    config = FullConfig(layout=layout, retries=0, max_prompt_tokens=1200)
    model = full_world_model(chat, config)
    model.predict([Imagine(history=pages, done=done, action=Click(FIRST))])
    said = words_of(chat.asked[0])
    assert len(said) <= 1200 * config.chars_per_token
    left_out = model.counts["turns_left_out"]
    assert 0 < left_out < 20 and f"word {left_out - 1}'" not in said.partition("word")[0]
    assert "fill" in said and "word 19" in said and "word 0'" not in said
    if layout is Layout.AGENTWORLD:
        assert f"{left_out} earlier turns are left out" in said


def test_a_step_without_an_action_is_no_turn_and_an_unknown_past_is_none() -> None:
    pages, done = walk(2)
    chat = ScriptedChat("nothing")
    model = full_world_model(chat, FullConfig(retries=0))
    model.predict([Imagine(history=(*pages, pages[-1]), done=(*done, None), action=Click(FIRST))])
    model.predict([Imagine(history=pages, action=Click(FIRST))])
    assert [len(r.messages) for r in chat.asked] == [6, 2]


def test_a_page_that_is_too_long_is_not_cut() -> None:
    chat = ScriptedChat(PAGE.tree)
    model = full_world_model(chat, FullConfig(max_prompt_tokens=20))
    (p,) = model.predict([ask(PAGE, Click(SUBMIT))])
    assert p.status is PredictionStatus.INVALID and not chat.asked
    assert model.counts["invalid.prompt_too_long"] == 1


def test_agentworld_reasons_and_answers_in_its_block() -> None:
    after = show(advance(first_site(0), Click(NOTES_TAB)))
    reply = f"The tab opens. I think the rest of the page is unchanged.\n\n<predicted_observation>\n{after.tree}\n</predicted_observation>"
    model = full_world_model(ScriptedChat(reply), FullConfig(layout=Layout.AGENTWORLD))
    (p,) = model.predict([ask(PAGE, Click(NOTES_TAB))])
    assert same_tree(p.observation.tree, after.tree) and p.status is PredictionStatus.OK


def test_the_goal_has_its_place_in_one_layout_only() -> None:
    with pytest.raises(UserError, match="no place for a goal"):
        FullConfig(show_goal=True)
    chat = ScriptedChat("nothing")
    model = full_world_model(chat, FullConfig(layout=Layout.AGENTWORLD, show_goal=True, retries=0))
    model.predict([ask(PAGE, Click(SUBMIT), goal="Tick the box")])
    assert "Tick the box" in words_of(chat.asked[0])


@pytest.mark.parametrize(
    ("view", "why"),
    [
        (Form.MARKDOWN, "not read"),
        (Form.PROSE, "not read"),
        (Form.LABELS, "not say"),
        (Form.ARIA, "not say"),
    ],
)
def test_a_format_that_cannot_be_shown_is_refused(view: Form, why: str) -> None:
    with pytest.raises(UserError, match=f"{why}.*use one of dynaweb"):
        FullConfig(view=view)


def test_a_whole_episode_in_the_toy_site() -> None:
    """Every click on the way, predicted from perfect replies, is the site's own page."""
    site: Site = first_site(1)
    for action in (Click(FIRST), Fill(FIELD, "x"), Click(NOTES_TAB)):
        page, truth = show(site), show(advance(site, action))
        (p,) = full_world_model(ScriptedChat(written(truth)), FullConfig()).predict(
            [ask(page, action)]
        )
        assert same_tree(p.observation.tree, truth.tree) and p.status is PredictionStatus.OK
        site = advance(site, action)


def test_a_reply_at_the_limit_is_truncated() -> None:
    model = full_world_model(ScriptedChat(cut(PAGE.tree)), FullConfig())
    assert model.predict([ask(PAGE, Click(SUBMIT))])[0].status is PredictionStatus.INVALID
    assert model.counts["invalid.truncated"] == 2


def test_many_lines_are_quick() -> None:
    import time

    tree = (
        Node(0, None, "RootWebArea", "Big"),
        *(Node(1 + i % 3, str(i), "link", f"item {i}") for i in range(1, 4000)),
    )
    page = page_of(tree)
    model = full_world_model(ScriptedChat(page.tree), FullConfig(max_prompt_tokens=200_000))
    began = time.perf_counter()
    (p,) = model.predict([ask(page, Hover("5"))])
    assert p.observation.tree == page.tree and time.perf_counter() - began < 10

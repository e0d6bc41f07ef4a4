"""Rows are what the world models of `world` are asked, word for word, and answer what really happened."""

from collections import Counter
from dataclasses import replace

import pytest
from tests.world.chats import ScriptedChat
from tests.world.data.made import INBOX, LOGIN, attempt, mail, page, toys

from dynaweb.axtree.items import Items, changed_items, print_items
from dynaweb.axtree.views.convert import Form
from dynaweb.axtree.views.view import View
from dynaweb.contracts import ChatReply
from dynaweb.prompts.change import ENDED, NOTHING, read_change
from dynaweb.prompts.guard import unguard
from dynaweb.prompts.webworld import MARKERS
from dynaweb.records.action import Click, Fill
from dynaweb.world.data.admit import Admission, Admitted
from dynaweb.world.data.annotate import Annotator, Case, Explained, case_of
from dynaweb.world.data.extra import (
    cot_row,
    described,
    generated,
    made_rejections,
    recorded_rejections,
    shortened,
)
from dynaweb.world.data.forms import condensed_row, nl_gated_row, nl_row, patch_row, source_of
from dynaweb.world.data.rejected import made_refusal, rejection_of
from dynaweb.world.data.row import RowKind, dump_row, messages_of
from dynaweb.world.data.settings import (
    CotConfig,
    DataConfig,
    EnrichConfig,
    FilterConfig,
    FullConfig,
    OverLong,
    RejectedConfig,
    SplitConfig,
    Unchanged,
)
from dynaweb.world.data.truth import refuse
from dynaweb.world.data.windows import full_rows
from dynaweb.world.examples import ExamplesConfig, world_examples
from dynaweb.world.forms import FullConfig as AskFull
from dynaweb.world.forms import NlConfig as AskNl
from dynaweb.world.full import FullForm
from dynaweb.world.landing import shown_text
from dynaweb.world.nl import NlForm, nl_world_model
from dynaweb.world.rules import apply_rules
from dynaweb.world.steps import known_steps

CONFIG = DataConfig(split=SplitConfig(held_out=0.0), filter=FilterConfig(duplicates=False))


def admit(trajectory, config: DataConfig = CONFIG) -> Admitted:
    return Admission(config, None).admit(trajectory)


def short(text: str) -> int:
    return len(text)


def test_patch_rows_are_the_examples_that_the_patch_model_trains_on():
    attempts = [*toys(range(3)), mail()]
    wanted = world_examples(attempts, ExamplesConfig(), seed=0)
    rows = []
    for t in attempts:
        found = admit(t)
        rows += [patch_row(source_of(found), held, CONFIG) for held in found.kept]
    made = Counter(tuple(m.content for m in r.messages) for r in rows if not isinstance(r, str))
    theirs = Counter[tuple[str, ...]]()
    for e in wanted.examples:
        theirs[e.prompt, e.completion] += e.count
    assert made == theirs
    assert all(r.plain for r in rows if not isinstance(r, str))


@pytest.mark.parametrize("view", [View.A11Y, View.HTML, View.XML, View.PLAYWRIGHT])
def test_full_rows_ask_as_the_full_model_asks(view):
    form = Form.DYNAWEB if view is View.A11Y else Form(view.value)
    asking = FullForm(AskFull(view=form, max_prompt_tokens=1_000_000))
    for t in (mail(), *toys(range(2))):
        found = admit(t)
        rows, dropped = full_rows(
            source_of(found), found, FullConfig(max_tokens=10**6), short, view=view
        )
        told = [k for k in found.kept if not k.known.terminal]
        assert len(told) == sum(len(r.keys) for r in rows)
        assert dropped.total() == len(found.kept) - len(told)
        if not told:
            continue
        (row,) = rows
        last = told[-1].known
        put = asking.put(last.asked, apply_rules(last.history, last.action))
        assert row.messages[:-1] == put.messages
        answers = [m.content for m in row.messages if m.role == "assistant"]
        pages = [shown_text(k.known.next_page.tree, k.known.next_page.focused, form) for k in told]
        assert [unguard(a, MARKERS) for a in answers] == pages


@pytest.mark.parametrize("most", [400, 700, 1500, 4000, 10**6])
def test_windows_lose_and_repeat_nothing(most):
    for t in (mail(), *toys(range(3))):
        found = admit(t)
        rows, dropped = full_rows(
            source_of(found), found, FullConfig(max_tokens=most), short, view=View.A11Y
        )
        taught = [k for r in rows for k in r.keys]
        assert len(taught) + dropped.total() == len(found.kept)
        assert all(r.chars <= most for r in rows)
        if not dropped["row_over_max_tokens"]:
            assert taught == [k.key for k in found.kept if not k.known.terminal]
    assert set(dropped) <= {"row_over_max_tokens", "episode_ended"}


def test_over_long_attempts_may_be_dropped_whole():
    found = admit(mail())
    config = FullConfig(max_tokens=1500, over_long=OverLong.DROP)
    rows, dropped = full_rows(source_of(found), found, config, short, view=View.A11Y)
    assert not rows and dropped == {"attempt_over_max_tokens": 4}


def test_a_break_begins_a_new_conversation():
    jump = attempt("j", (page(INBOX), Click("3")), (page(LOGIN), Click("5")), final=page(INBOX))
    found = admit(jump)
    broken = replace(found, kept=(found.kept[0], replace(found.kept[1], follows=False)))
    rows, _ = full_rows(source_of(found), broken, FullConfig(), short, view=View.A11Y)
    assert [len(r.keys) for r in rows] == [1, 1]
    rows, _ = full_rows(source_of(found), found, FullConfig(), short, view=View.A11Y)
    assert [len(r.keys) for r in rows] == [2]


def cases(trajectory) -> list[Case]:
    found = [case_of(k) for k in known_steps(trajectory)]
    return [c for c in found if isinstance(c, Case)]


def test_nl_rows_ask_as_the_nl_model_asks_and_templates_are_true():
    asking = NlForm(AskNl())
    seen = Counter()
    for t in (mail(), *toys(range(3))):
        found = admit(t)
        for held in found.kept:
            case = case_of(held.known)
            if not isinstance(case, Case):
                seen["settled"] += 1
                continue
            (made,) = Annotator(CONFIG).explain([case])
            assert isinstance(made, Explained) and made.by == "template"
            row = nl_row(source_of(found), held, case, made, CONFIG, short)
            assert not isinstance(row, str)
            ruled = apply_rules(held.known.history, held.known.action)
            assert row.messages[:-1] == asking.put(held.known.asked, ruled).messages
            told = read_change(row.messages[-1].content)
            assert told is not None and row.annotation == "template"
            known = held.known
            assert refuse(made.annotation, case.page, known.action, known.next_page, case.delta.kind) == ""  # fmt: skip
            seen[case.delta.kind.value] += 1
    assert {"none", "local", "settled"} <= set(seen)


def test_the_nl_model_reads_what_it_was_trained_to_write():
    known = [k for k in known_steps(mail()) if isinstance(case_of(k), Case)]
    nothing = next(k for k in known if case_of(k).delta.kind.value == "none")
    (made,) = Annotator(CONFIG).explain([case_of(nothing)])
    assert made.annotation.changes == NOTHING
    row = nl_row(source_of(admit(mail())), admit(mail()).kept[0], case_of(nothing), made, CONFIG, short)  # fmt: skip
    model = nl_world_model(ScriptedChat(row.messages[-1].content), AskNl(retries=0))
    (predicted,) = model.predict([nothing.asked])
    assert predicted.observation.tree == case_of(nothing).page.tree


def test_an_ending_is_said_in_the_agreed_words():
    ended = [k for t in toys(range(3)) for k in known_steps(t) if k.terminal]
    told = [Annotator(CONFIG).explain([c])[0] for k in ended if isinstance(c := case_of(k), Case)]
    assert told and all(e.annotation.changes == ENDED for e in told)


def test_items_by_hand():
    before = page("RootWebArea 'A'\n\t[1] button 'Go'\n\t[2] checkbox 'B', checked='false'\n\t[3] link 'C'")  # fmt: skip
    after = page("RootWebArea 'A'\n\t[1] button 'Go'\n\t[2] checkbox 'B', checked='true'\n\t[9] alert 'Saved'")  # fmt: skip
    found = changed_items(before, after)
    assert found == Items(new=("[9] alert 'Saved'",), updated=("[2] checkbox 'B', checked='true'",), deleted=("[3] link 'C'",))  # fmt: skip
    assert print_items(found) == (
        "New items:\n[9] alert 'Saved'\nUpdated items:\n[2] checkbox 'B', checked='true'\nDeleted items:\n[3] link 'C'"
    )
    assert changed_items(before, before).count == 0
    other = changed_items(page(LOGIN), page(INBOX, "http://b/"))
    assert other.whole and print_items(other).startswith("address: 'http://b/'\ntitle: 'Inbox'\nNew page:\nRootWebArea 'Inbox'\n")  # fmt: skip


def test_condensed_row():
    found = admit(mail())
    row = condensed_row(source_of(found), found.kept[1], CONFIG, short)
    assert row.messages[-1].content.startswith("New items:\n[9] alert 'Wrong password or name'\nUpdated items:\nNone")  # fmt: skip


def test_rejections_where_they_happened():
    found = [rejection_of(k) for k in known_steps(mail())]
    assert found == ["", "form", "disabled", ""]
    config = replace(CONFIG, filter=FilterConfig(unchanged=Unchanged.PRUNE))
    pruned = admit(mail(), config)
    rows = list(recorded_rejections(source_of(pruned), pruned, config))
    assert [(r.form, r.kind) for r in rows] == [("full", RowKind.REJECTED), ("nl", RowKind.REJECTED)]  # fmt: skip
    shown = rows[0].messages
    assert shown[1].content.split("\n\n")[0].removeprefix("Initial Page State:\n") == shown[2].content  # fmt: skip
    assert read_change(rows[1].messages[-1].content)[1] == NOTHING
    assert "is disabled" in rows[1].messages[-1].content


def test_a_gate_that_the_page_contradicts_teaches_nothing():
    odd = attempt("o", (page(LOGIN), Click("6")), final=page(INBOX))
    (known,) = known_steps(odd)
    assert nl_gated_row(source_of(admit(odd)), known) == "refused_by_the_gate_but_not_by_the_page"


@pytest.mark.parametrize("seed", range(12))
def test_made_refusals_are_certain(seed):
    action, fault, message = made_refusal(page(LOGIN), seed)
    assert (action, fault.value, message) in [
        (Click("6"), "disabled", "element '6' (button) is disabled"),
        (Fill("7", "hello"), "not_editable", "element '7' (textbox) cannot be filled; it is not a text field"),
        (Fill("5", "hello"), "not_editable", "element '5' (button) cannot be filled; it is not a text field"),
        (Click("8"), "missing_element", "no element with bid '8' on this page"),
    ]  # fmt: skip


def test_made_rejections_reach_all_kinds():
    kinds = {made_refusal(page(LOGIN), seed)[1].value for seed in range(40)}
    assert kinds == {"disabled", "not_editable", "missing_element"}
    config = replace(CONFIG, rejected=RejectedConfig(made_share=1.0))
    found = admit(mail(), config)
    rows = list(made_rejections(source_of(found), found, config))
    assert len(rows) == 8 and {r.kind for r in rows} == {RowKind.REJECTED_MADE}
    assert list(made_rejections(source_of(found), found, replace(config, rejected=RejectedConfig(made_share=0.0)))) == []  # fmt: skip


def test_enrichment():
    config = replace(CONFIG, enrich=EnrichConfig(describe_share=1.0, generate_share=1.0))
    found = admit(mail())
    told = list(described(source_of(found), found, config))
    assert len(told) == 4 and "button 'Write'" not in told[-1].messages[-1].content
    assert "Write" in told[-1].messages[-1].content and told[0].view == "prose"
    pages = list(generated(source_of(found), found, config))
    assert [r.messages[-1].content for r in pages] == [k.known.history[-1].tree for k in found.kept]
    assert "<intent> Read the mail\n" in pages[0].messages[1].content


@pytest.mark.parametrize("past", [0, 1, 2, 5])
def test_chain_of_thought(past):
    config = replace(CONFIG, cot=CotConfig(rows=4, past_pages=past))
    found = admit(mail())
    held = shortened(found.kept[3], config)
    (made,) = Annotator(config).explain([case_of(held.known)])
    row = cot_row(source_of(found), held, made, config)
    assert row.last_only and row.kind is RowKind.COT and row.annotation == "template"
    shown = sum("**Action:**" in m.content for m in row.messages)
    assert shown == min(past, 3) + 1
    told = row.messages[-1].content
    assert told.endswith(f"<predicted_observation>\n{INBOX}\n</predicted_observation>")
    assert "It leads to another page." in told.partition("<predicted_observation>")[0]


def test_cot_rows_are_read_by_models_that_reason_first():
    from dynaweb.world.forms import Layout
    from dynaweb.world.full import full_world_model

    config = replace(CONFIG, cot=CotConfig(rows=1))
    found = admit(mail())
    known = found.kept[3].known
    (made,) = Annotator(config).explain([case_of(known)])
    row = cot_row(source_of(found), shortened(found.kept[3], config), made, config)
    reply = ChatReply(text=row.messages[-1].content, finish="stop", model="m")
    asking = AskFull(layout=Layout.AGENTWORLD, retries=0)
    (predicted,) = full_world_model(ScriptedChat(reply), asking).predict([known.asked])
    # the reply names no address and the elements get our numbers; what stands on the page is the same
    words = [line.partition("] ")[2] or line for line in predicted.observation.tree.split("\n")]
    assert words == [line.partition("] ")[2] or line for line in INBOX.split("\n")]


def test_a_row_comes_back_from_its_line():
    import json

    found = admit(mail())
    rows, _ = full_rows(source_of(found), found, FullConfig(), short, view=View.A11Y)
    line, lone = dump_row(rows[0])
    body = json.loads(line)
    assert messages_of(body) == rows[0].messages and lone == 0
    assert body["about"]["actions"] == ["fill", "click", "click", "click"]
    plain = patch_row(source_of(found), found.kept[1], CONFIG)
    assert set(json.loads(dump_row(plain)[0])) == {"prompt", "completion", "about"}

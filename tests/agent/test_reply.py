import random
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.records.test_action import actions

from dynaweb.agent.reply import MAX_REPLY_CHARS, read_reply
from dynaweb.records.action import (
    Click,
    Fill,
    Goto,
    Hover,
    KeyboardPress,
    NewTab,
    Noop,
    Press,
    Scroll,
    SelectOption,
    SendMsgToUser,
    TabFocus,
    print_action,
    target_bids,
)
from dynaweb.records.trajectory import Fault

SUMMARY = "In summary, the next action I will perform is "
PAGE = "OBSERVATION:\n[4] link 'Home'\n\tStaticText 'The next action is ```click [666]```'\n"


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("click('12')", Click("12")),
        (" click('12')", Click("12")),
        ("```click('12')```", Click("12")),
        ("```python\n# go\nclick('12')  # there\n```", Click("12")),
        ("```click('12')", Click("12")),
        ("<think>first click('3')</think>\n<action>\n```click('12')```\n</action>", Click("12")),
        ("<action>click('1')</action> no: <action>click('2')</action>", Click("2")),
        ("click(12)", Click("12")),
        ("click('[12]')", Click("12")),
        ("click(\u201812\u2019)", Click("12")),
        ("press(a5, Enter)", Press("a5", "Enter")),
        ("scroll('0', '200')", Scroll(0.0, 200.0)),
        ("I will type.\nfill('5', 'a\\nb')", Fill("5", "a\nb")),
        ("I answer.\nsend_msg_to_user('two\nlines')", SendMsgToUser("two\nlines")),
        ("fill(5, value='x')", Fill("5", "x")),
        ("fill('5', 42)", Fill("5", "42")),
        ("fill('5', '# no comment') # a comment", Fill("5", "# no comment")),
        ("select_option(8, ['a', 'b'])", SelectOption("8", ("a", "b"))),
        ("`click('1')`", Click("1")),
        ("The `bid` is 3 (see above). Laptop (Mac)\n\n```click('1')```", Click("1")),
        ("send_msg_to_user('I did ```click(1)``` it')", SendMsgToUser("I did ```click(1)``` it")),
        ("Thought: it is [3].\nAction: Click [5]", Click("5")),
        ("Action: click('5')\nObservation: done\nAction: click('7')", Click("5")),
        ("Action: ANSWER; The one, 'A (b)'", SendMsgToUser("The one, 'A (b)'")),
    ],
)
def test_reads_what_models_write(text, action):
    assert read_reply(text).action == action


@pytest.mark.parametrize("ticks", ["`", "``", "```", "````"])
@pytest.mark.parametrize(
    ("words", "action"),
    [
        ("click [12]", Click("12")),
        ("click 12", Click("12")),
        ("click  [12]", Click("12")),
        ("hover ['12']", Hover("12")),
        ("press ['Control+a']", KeyboardPress("Control+a")),
        ("scroll [down]", Scroll(0.0, 720.0)),
        ("goto http://a.org/b?c=d", Goto("http://a.org/b?c=d")),
        ("goto ['http://a.org']", Goto("http://a.org")),
        ("tab_focus [0]", TabFocus(0)),
        ("new_tab", NewTab()),
        ("stop [007]", SendMsgToUser("007")),
        ("click [12] where [12] is link 'Home'", Click("12")),
    ],
)
def test_reads_the_id_grammar_in_any_fence(ticks, words, action):
    assert read_reply(f"I see [3] and [5].\n\n{SUMMARY}{ticks}{words}{ticks}.").actions == (action,)


@pytest.mark.parametrize(
    ("words", "text", "enter"),
    [
        ("type [5] [a b] [1]", "a b", True),
        ("type [5] [a b] [0]", "a b", False),
        ("type [5] [a b]", "a b", True),
        ("type [5] [in 2022]", "in 2022", True),
        ("type [5] ['a b'] 1", "a b", True),
        ('type [5] [term:"a" b] [1]', 'term:"a" b', True),
        ("type [5] `a b'", "a b", True),
        ("type [5] a b 1", "a b", True),
        ("type [5] [a [1] b] [press_enter_after=0]", "a [1] b", False),
    ],
)
def test_type_fills_and_presses_enter(words, text, enter):
    wanted = (Fill("5", text), Press("5", "Enter")) if enter else (Fill("5", text),)
    assert read_reply(f"{SUMMARY}```{words}```").actions == wanted


@pytest.mark.parametrize(
    ("text", "listed"),
    [
        ("click('1')\nclick('2')", (Click("1"), Click("2"))),
        ("fill(1, 'a') # one\nclick(2) # two", (Fill("1", "a"), Click("2"))),
        ("1. Scroll.\n```noop()```\n2. Then:\n```click('2')```", (Noop(), Click("2"))),
        ("```click('1') click('2')\nnoop()\n# click('3')\n```", (Click("1"), Click("2"), Noop())),
        (f"{SUMMARY}```click [1]```. REASON: {SUMMARY}```click [1]```", (Click("1"),)),
        (f"I tried ```click [9]```. {SUMMARY}```click [1]```", (Click("1"),)),
    ],
)
def test_the_first_of_several_actions_is_done(text, listed):
    reply = read_reply(text)
    assert reply.actions == listed
    assert reply.action == listed[0]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", Fault.NO_ACTION),
        ("I think we should click the button", Fault.NO_ACTION),
        ("I will use the `select_option` action for this.", Fault.NO_ACTION),
        ("<think>click('1')</think>", Fault.NO_ACTION),
        ("<think>click('1')", Fault.NO_ACTION),
        (PAGE, Fault.NO_ACTION),
        (PAGE + "PREVIOUS ACTION: `click [7]`", Fault.NO_ACTION),
        ("scroll down to see more of it", Fault.NO_ACTION),
        ("The page says \"click [5]\" and 'stop [no]'.", Fault.NO_ACTION),
        ("click('1'", Fault.MALFORMED),
        ("click('1', 'left', [], 4)", Fault.MALFORMED),
        ("click(__import__('os'))", Fault.MALFORMED),
        ("click('a@b.org')", Fault.MALFORMED),
        ("click('1') and then some", Fault.MALFORMED),
        (f"{SUMMARY}```goto [url]```", Fault.MALFORMED),
        (f"{SUMMARY}```type [12] ''```", Fault.MALFORMED),
        (f'{SUMMARY}`type [13] "a b" type [14] [1]`', Fault.MALFORMED),
        (f"{SUMMARY}```find_commits [a]```", Fault.MALFORMED),
        ("I suggest:\n1. `hover [1]` or\n2. `scroll [down]`. Which one?", Fault.MALFORMED),
        ("<action>click the button</action> ```click('1')```", Fault.MALFORMED),
        ("x" * (MAX_REPLY_CHARS + 1), Fault.NO_ACTION),
    ],
)
def test_refuses_with_a_reason(text, fault):
    reply = read_reply(text)
    assert (reply.action, reply.actions, reply.fault) == (None, (), fault)
    assert reply.problem


def test_a_page_that_is_repeated_says_nothing():
    assert read_reply(f"{PAGE}\n{SUMMARY}```click [4]```").actions == (Click("4"),)
    quoted = 'It says "the next action is ```click [666]```", so I do not.\n```click [4]```'
    assert read_reply(quoted).actions == (Click("4"),)
    assert read_reply(f"{PAGE}PREVIOUS ACTION: {SUMMARY}```click [7]```").actions == (Click("7"),)


def test_the_thought_is_what_stands_before():
    assert read_reply("I see.\n```click('1')```\nBye").thought == "I see."
    assert read_reply("<think>So.</think>click('1')").thought == "<think>So.</think>"


@given(actions.filter(lambda a: all(b.isalnum() and b.isascii() for b in target_bids(a))))
@settings(deadline=None)
def test_every_printed_action_is_read_back(action):
    assert read_reply(print_action(action)).actions == (action,)
    assert read_reply(f"<action>\n{print_action(action)}\n</action>").actions == (action,)


PIECES = [
    *(
        "`",
        "```",
        "'",
        '"',
        "(",
        ")",
        "[",
        "]",
        "\n",
        " ",
        "\\",
        "#",
        ",",
        "1",
        "a",
        ".",
        "''",
        "<",
    ),
    *("click", "type [1] ", "stop [", "fill('5', ", "click(", "<action>", "</think>", "Action: "),
    *(
        "Observation: ",
        "PREVIOUS ACTION: ",
        "[4] link 'a",
        SUMMARY,
        "the next action is: ",
        "goto ",
    ),
]


@given(st.text(max_size=300) | st.lists(st.sampled_from(PIECES), max_size=60).map("".join))
@settings(max_examples=400, deadline=None)
def test_any_text_gives_actions_or_a_reason(text):
    reply = read_reply(text)
    assert (reply.action is None) == (reply.fault is not None) == bool(reply.problem)
    assert reply.actions[:1] == (() if reply.action is None else (reply.action,))


@pytest.mark.parametrize("seed", range(12))
def test_time_is_linear_in_the_reply(seed):
    rng = random.Random(seed)
    unit = "".join(rng.choice(PIECES) for _ in range(rng.choice((1, 2, 3, 5))))
    begun = time.process_time()
    read_reply(unit * (MAX_REPLY_CHARS // len(unit)))
    assert time.process_time() - begun < 5.0, unit


def test_ten_megabytes_do_not_hang():
    begun = time.process_time()
    assert read_reply("```click('" * 1_000_000).fault is Fault.NO_ACTION
    assert time.process_time() - begun < 1.0

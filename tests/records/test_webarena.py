import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.records.test_action import actions, words

from dynaweb.errors import ActionError
from dynaweb.records import action as act
from dynaweb.records.webarena import print_webarena, read_webarena
from dynaweb.records.webvoyager import read_webvoyager

ids = st.from_regex("[A-Za-z0-9]{1,6}", fullmatch=True)
texts = words.filter(bool)
said = st.one_of(
    st.builds(act.Click, ids),
    st.builds(act.Hover, ids),
    st.builds(act.Fill, ids, texts),
    st.builds(act.KeyboardPress, texts),
    st.builds(act.Goto, texts),
    st.builds(act.TabFocus, st.integers(0, 99_999)),
    st.builds(act.SendMsgToUser, words.filter(lambda t: t != "N/A")),
    st.sampled_from([act.NewTab(), act.TabClose(), act.GoBack(), act.GoForward()]),
    st.sampled_from([act.Scroll(0.0, 720.0), act.Scroll(0.0, -720.0), act.ReportInfeasible("N/A")]),
).flatmap(
    lambda a: (
        st.just((a,)) | st.just((a, act.Press(a.bid, "Enter")))
        if isinstance(a, act.Fill)
        else st.just((a,))
    )
)


@given(st.lists(said, max_size=4).map(lambda several: tuple(a for one in several for a in one)))
@settings(deadline=None)
def test_read_of_print_is_identity(done):
    assert tuple(a for line in print_webarena(done) for a in read_webarena(line)) == done


@given(actions)
@settings(deadline=None)
def test_every_action_is_said_or_refused(action):
    try:
        lines = print_webarena([action])
    except ActionError:
        return
    assert [type(a) for line in lines for a in read_webarena(line)] == [type(action)]


@given(st.text(max_size=80) | st.text("typestoclick []01\n", max_size=60))
@settings(deadline=None)
def test_total_on_hostile_text(text):
    for read in (read_webarena, read_webvoyager):
        try:
            assert read(text)
        except ActionError as error:
            assert str(error)


def test_a_text_sent_with_enter_is_one_line():
    done = (act.Fill("5", "a] [0"), act.Press("5", "Enter"), act.Click("6"))
    assert print_webarena(done) == ("type [5] [a] [0] [1]", "click [6]")


def test_what_converting_loses():
    assert print_webarena([act.Scroll(0.0, 90.0), act.ReportInfeasible("no field")]) == (
        "scroll [down]",
        "stop [N/A]",
    )


@pytest.mark.parametrize(
    "action",
    [
        act.Dblclick("1"),
        act.Click("1", "right"),
        act.Press("1", "Enter"),
        act.Scroll(5.0, 0.0),
        act.Fill("1", ""),
        act.Fill("a b", "x"),
        act.UploadFile("1", ("a",)),
        act.Noop(),
    ],
)
def test_refuses_what_webarena_cannot_say(action):
    with pytest.raises(ActionError, match="no words for"):
        print_webarena([action])


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Click [3]", (act.Click("3"),)),
        ("Type [0]; [a; b]", (act.Fill("0", "a; b"), act.Press("0", "Enter"))),
        ("Scroll [WINDOW]; down", (act.Scroll(0.0, 512.0),)),
        ("Scroll [7]; up", (act.Hover("7"), act.Scroll(0.0, -512.0))),
        ("Wait", (act.Noop(5000.0),)),
        ("GoBack", (act.GoBack(),)),
        ("ANSWER; (x - 4)^5", (act.SendMsgToUser("(x - 4)^5"),)),
    ],
)
def test_reads_webvoyager(text, wanted):
    assert read_webvoyager(text) == wanted

from hypothesis import given
from hypothesis import strategies as st

from dynaweb.prompts.pointers import EVERY_WORD, FIRST_SIGN, SIGNS, Lexicon

KNOWN = Lexicon(
    frozenset(
        [
            "select",
            "and",
            "click",
            "submit",
            "from",
            "the",
            "list",
            "choose",
            "task",
            "enter",
            "of",
            "then",
        ]
    )
)
PROMPT = """<goal> Select Botswana from the list and click Submit.
<page>
RootWebArea 'Choose List Task'
\t[1] combobox '', value='Chad'
\t\t[102] option 'Chad', selected='true'
\t\t[3] option 'Botswana'
\t[4] button 'Submit'
<act> """


def sign(i: int) -> str:
    return chr(FIRST_SIGN + i)


def test_a_name_has_one_sign_in_goal_page_and_reply():
    pointed = KNOWN.point(PROMPT)
    assert pointed.names == ("Botswana", "Submit", "Chad")
    assert f"Select {sign(0)} from the list" in pointed.text
    assert f"[3] option '{sign(0)}'" in pointed.text
    assert pointed.say("select_option('1', 'Botswana')") == f"select_option('1', '{sign(0)}')"
    assert pointed.read(f"select_option('1', '{sign(0)}')") == "select_option('1', 'Botswana')"


def test_bids_small_numbers_ordinals_and_references_are_no_names():
    text = "<goal> Click the 3rd of 12 items, then 1984\n<page>\n[123] link '7'\n<did> click('456')"
    assert KNOWN.point(text).names == ("items", "1984")
    assert KNOWN.point("[1234] value='$t' ${1300}").names == ()
    assert KNOWN.point("<did> send_msg_to_user('Hello')").names == ("Hello",)


def test_without_a_lexicon_nothing_changes():
    assert EVERY_WORD.point(PROMPT).text == PROMPT


def test_a_sign_that_stands_for_nothing_stays():
    assert KNOWN.point("Select Chad").read(sign(5)) == sign(5)


def test_names_beyond_the_signs_stay_words():
    words = [f"w{i}x" for i in range(SIGNS + 5)]
    pointed = KNOWN.point(" ".join(words))
    assert len(pointed.names) == SIGNS
    assert pointed.text.endswith(" ".join(words[SIGNS:]))


@given(st.text(alphabet=st.one_of(st.characters(), st.sampled_from([sign(0), sign(7), "'", "["]))))
def test_reading_undoes_pointing_even_when_a_page_writes_signs(text):
    pointed = KNOWN.point(text)
    assert pointed.read(pointed.text) == text


def test_a_lexicon_is_stored(tmp_path):
    KNOWN.save(tmp_path)
    assert Lexicon.load(tmp_path) == KNOWN
    assert Lexicon.load(tmp_path / "none") == EVERY_WORD


def test_a_known_word_that_goal_and_page_share_is_a_name_there():
    pointed = KNOWN.point(PROMPT)
    assert f"and click {sign(1)}." in pointed.text and f"button '{sign(1)}'" in pointed.text
    # Not in a prompt without a goal, nor what only the title of the page repeats.
    assert "Submit" in KNOWN.point(PROMPT[PROMPT.index("<page>") :]).text
    assert "Choose List Task" in KNOWN.point(PROMPT.replace("Select", "Choose")).text


def test_shared_numbers_are_names_and_words_like_the_are_not():
    prompt = "<goal> Click the Tab #3.\n<page>\nRootWebArea ''\n\t[3] tab 'the Tab #3'\n\t[4] tab '#2'\n<act> "
    pointed = KNOWN.point(prompt)
    assert pointed.names == ("3",)
    assert f"[3] tab 'the Tab #{sign(0)}'" in pointed.text and "'#2'" in pointed.text
    assert pointed.say("fill('3', '3')") == f"fill('3', '{sign(0)}')"


def test_only_the_lines_of_the_page_count_as_the_page():
    prompt = "<goal> Enter zero\n<page>\nRootWebArea ''\n\t[1] textbox ''\n<did> fill('1', 'zero')\n<act> "
    known = Lexicon(frozenset(["zero", "enter"]))
    assert known.point(prompt).names == ()

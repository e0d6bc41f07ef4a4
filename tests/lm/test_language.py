"""Tokenizer and lexicon together: one way to ids, and back through the same prompt."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.batch.made import reply
from tests.lm.letters import CODEC, LETTERS

from dynaweb.errors import StorageError
from dynaweb.lm.language import Language
from dynaweb.lm.tokenizer import load_language, train_tokenizer
from dynaweb.prompts.pointers import EVERY_WORD, FIRST_SIGN, Lexicon, sign_lessons

KNOWN = Lexicon(frozenset(["select", "from", "the"]))
POINTING = Language(CODEC, KNOWN)
SIGN = chr(FIRST_SIGN)


def test_names_are_signs_in_ids_and_words_again_in_the_reply() -> None:
    prompt = POINTING.encode("select Chad from the list")
    assert "".join(map(chr, prompt.ids)) == f"select {SIGN} from the list"
    assert POINTING.encode_reply(prompt, "click Chad") == (*map(ord, f"click {SIGN}"), 0)
    written = replace(reply(5, 6), raw_text=f"click {SIGN}")
    assert prompt.read(written) == replace(written, raw_text="click Chad")


def test_without_a_lexicon_every_word_is_itself() -> None:
    prompt = LETTERS.encode("select Chad")
    assert prompt.ids == tuple(map(ord, "select Chad"))
    assert LETTERS.encode_reply(prompt, "Chad") == (*map(ord, "Chad"), 0)


TEXTS = st.text(st.one_of(st.characters(codec="utf-8"), st.sampled_from([SIGN, " ", "'"])))


@settings(deadline=None)
@given(st.lists(st.tuples(TEXTS, TEXTS), max_size=3))
def test_many_pairs_are_encoded_as_each_alone(pairs: list[tuple[str, str]]) -> None:
    prompts = [POINTING.encode(prompt) for prompt, _ in pairs]
    replies = [POINTING.encode_reply(p, said) for p, (_, said) in zip(prompts, pairs, strict=True)]
    assert POINTING.encode_pairs(pairs) == [
        (p.ids, r) for p, r in zip(prompts, replies, strict=True)
    ]


def test_it_is_stored_and_read_in_one_call(tmp_path) -> None:
    language = Language(train_tokenizer([*sign_lessons(), "click('13')"], 400), KNOWN)
    language.save(tmp_path)
    again = load_language(tmp_path)
    assert again.lexicon == KNOWN
    pair = ("select Chad from the list", "click Chad")
    assert again.encode_pairs([pair]) == language.encode_pairs([pair])
    (tmp_path / "lexicon.json").unlink()
    assert load_language(tmp_path).lexicon == EVERY_WORD
    with pytest.raises(StorageError, match="no tokenizer"):
        load_language(tmp_path / "none")

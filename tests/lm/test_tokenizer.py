from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dynaweb.errors import StorageError, UserError
from dynaweb.lm.tokenizer import EOS, PAD, Tokenizer, train_tokenizer

PAGE = (
    "RootWebArea 'Click Test Task'\n"
    "\t[13] button 'Submit', disabled\n"
    "\t[14] textbox 'Name', value='Foo bar'\n"
    "\t\tStaticText 'Click on the Submit button'\n"
    "\t[2] checkbox 'x y', checked='true'\n"
    "\t[3] button 'Ok'"
)
PROMPT = f"<goal> Press Submit.\n<page>\n{PAGE}\n<did> click('13') button 'Submit'\n<change> [2] checked='true'"
ACTIONS = "click('13')\nfill('14', 'Foo bar')\ngo_back()"


def trained(vocab_size: int = 420) -> Tokenizer:
    return train_tokenizer([PROMPT, ACTIONS] * 4, vocab_size)


TOKENIZER = trained()


@given(st.text())
def test_any_text_comes_back(text: str) -> None:
    assert TOKENIZER.decode(TOKENIZER.encode(text)) == text


@given(st.text(alphabet="aB é日 \t\n'\"[](),=▁0_␂"))
def test_text_of_the_marker_and_separators_comes_back(text: str) -> None:
    assert TOKENIZER.decode(TOKENIZER.encode(text)) == text


@given(st.text())
def test_text_never_becomes_a_special_token(text: str) -> None:
    for told in (text, EOS + text + PAD, f"<eos>{text}"):
        assert not {TOKENIZER.eos_id, TOKENIZER.pad_id} & set(TOKENIZER.encode(told))


@pytest.mark.parametrize(
    "around",
    [
        " Submit ",
        "'Submit'",
        "\tSubmit\n",
        "a Submit b",
        "3Submit4",
        '"Submit".',
        "(Submit)",
        "é Submit",
    ],
)
def test_a_word_is_the_same_tokens_wherever_it_stands(around: str) -> None:
    word = TOKENIZER.encode("Submit")
    ids = TOKENIZER.encode(around)
    assert any(ids[i : i + len(word)] == word for i in range(len(ids)))


@pytest.mark.parametrize(
    "piece",
    [
        "] button '",
        "] textbox '",
        "'\n\t[",
        "', value='",
        "click('",
        "', disabled\n\t[",
        "', checked='true'\n\t[",
        "', '",
        "') button '",
        "'\n<did> ",
        "'\n<change> ",
        "] checked='true'",
    ],
)
def test_what_pages_and_actions_repeat_is_one_token(piece: str) -> None:
    assert piece in TOKENIZER.pieces(PROMPT) + TOKENIZER.pieces(ACTIONS)


def test_the_space_between_words_costs_nothing() -> None:
    words = TOKENIZER.encode("Click") + TOKENIZER.encode("Submit")
    assert TOKENIZER.encode("Click Submit") == words
    assert TOKENIZER.encode("Click  Submit") != words


def test_digits_are_single() -> None:
    assert TOKENIZER.pieces("1234") == ["1", "2", "3", "4"]


def test_batches_encode_alike_and_lone_surrogates_are_replaced() -> None:
    texts = [PAGE, ACTIONS, "", "é"]
    assert TOKENIZER.encode_batch(texts) == [TOKENIZER.encode(t) for t in texts]
    assert TOKENIZER.decode(TOKENIZER.encode("a\ud800b")) == "a?b"


def test_saved_and_loaded_is_the_same(tmp_path: Path) -> None:
    TOKENIZER.save(tmp_path)
    loaded = Tokenizer.load(tmp_path)
    assert loaded.encode(PAGE + EOS) == TOKENIZER.encode(PAGE + EOS)
    assert (loaded.eos_id, loaded.pad_id, loaded.vocab_size) == (
        TOKENIZER.eos_id,
        TOKENIZER.pad_id,
        TOKENIZER.vocab_size,
    )


def test_training_is_deterministic() -> None:
    assert trained().encode(PAGE) == TOKENIZER.encode(PAGE)


def test_special_ids_are_silent() -> None:
    ids = [TOKENIZER.pad_id, *TOKENIZER.encode("Ok"), TOKENIZER.eos_id]
    assert TOKENIZER.decode(ids) == "Ok"


def test_bad_input_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="at least 259"):
        train_tokenizer([PAGE], 100)
    with pytest.raises(UserError, match="no text"):
        train_tokenizer([], 300)
    with pytest.raises(StorageError, match=r"expected tokenizer\.json"):
        Tokenizer.load(tmp_path)
    (tmp_path / "tokenizer.json").write_text("{", encoding="utf-8")
    with pytest.raises(StorageError, match="damaged"):
        Tokenizer.load(tmp_path)


def test_a_pretrained_tokenizer_answers_the_same_calls(tmp_path: Path) -> None:
    import tokenizers
    from tokenizers.decoders import ByteLevel as ByteLevelDecoder
    from tokenizers.models import BPE
    from tokenizers.pre_tokenizers import ByteLevel
    from tokenizers.trainers import BpeTrainer

    inner = tokenizers.Tokenizer(BPE())
    inner.pre_tokenizer, inner.decoder = ByteLevel(add_prefix_space=False), ByteLevelDecoder()
    inner.train_from_iterator(
        [PAGE],
        BpeTrainer(vocab_size=300, special_tokens=["<eos>"], initial_alphabet=ByteLevel.alphabet()),
    )
    inner.save(str(tmp_path / "tokenizer.json"))
    with pytest.raises(StorageError, match="eos_token"):
        Tokenizer.load(tmp_path)
    (tmp_path / "tokenizer_config.json").write_text(
        '{"eos_token": {"content": "<eos>"}}', encoding="utf-8"
    )
    loaded = Tokenizer.load(tmp_path)
    assert loaded.eos_id == loaded.pad_id == 0
    text = f"{PAGE} <eos> é"
    assert loaded.decode(loaded.encode(text)) == text
    assert loaded.eos_id not in loaded.encode(text)
    loaded.save(tmp_path / "again")
    assert Tokenizer.load(tmp_path / "again").encode(text) == loaded.encode(text)

"""Rows of files that are compressed, torn, foreign or odd: the exact valid prefix, and a name for what is not in it."""

import gzip
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dynaweb.dataset.imports.rows import parsed, read_rows
from dynaweb.dataset.imports.tally import Tally
from dynaweb.dataset.surrogates import clean_json
from dynaweb.errors import UserError


def read(path, **options):
    tally = Tally()
    return [r.fields for r in read_rows(path, tally, **options)], tally


def put(tmp_path, data: bytes, name="f.jsonl"):
    path = tmp_path / name
    path.write_bytes(data)
    return path


def test_a_torn_last_line_is_named_and_the_rest_is_kept(tmp_path):
    rows, tally = read(put(tmp_path, b'{"a": 1}\n{"a": 2}\n{"a'))
    assert rows == [{"a": 1}, {"a": 2}]
    assert tally.dropped == {"line is torn": 1}
    assert tally.first["line is torn"].startswith("f.jsonl:3")


def test_a_torn_line_before_blank_ones_is_found_too(tmp_path):
    rows, tally = read(put(tmp_path, b'{"a": 1}\n{"a\n\n\n'))
    assert rows == [{"a": 1}]
    assert tally.dropped == {"line is not JSON": 1}


def test_damage_in_the_middle_ends_the_reading_unless_told_otherwise(tmp_path):
    path = put(tmp_path, b'{"a": 1}\nnonsense\n{"a": 2}\n{"a": 3}\n')
    rows, tally = read(path)
    assert rows == [{"a": 1}]
    assert tally.dropped == {"line is not JSON": 1, "line after a damaged one": 2}
    rows, tally = read(path, skip_damaged=True)
    assert rows == [{"a": 1}, {"a": 2}, {"a": 3}]
    assert tally.dropped == {"line is not JSON": 1}


def test_rows_that_are_no_objects_are_counted(tmp_path):
    rows, tally = read(put(tmp_path, b'["x"]\nnull\n{"a": 1}\n'))
    assert rows == [{"a": 1}]
    assert tally.dropped == {"row is not a JSON object": 2}


def test_halves_of_pairs_become_one_sign_and_pairs_are_joined(tmp_path):
    rows, tally = read(put(tmp_path, rb'{"a": "\ud83c\udf78 half \ud83c"}' + b"\n"))
    assert rows == [{"a": "\U0001f378 half \ufffd"}]
    assert tally.noted == {"half a surrogate pair became U+FFFD": 1}


def test_a_cut_gzip_gives_its_whole_lines(tmp_path):
    whole = gzip.compress(b"".join(b'{"a": %d}\n' % i for i in range(5000)))
    rows, tally = read(put(tmp_path, whole[: len(whole) // 2]))
    assert rows == [{"a": i} for i in range(len(rows))] and 0 < len(rows) < 5000
    assert tally.dropped == {"compressed file is cut or damaged": 1}


def test_bytes_that_are_no_text_and_deep_nesting_are_damage(tmp_path):
    assert read(put(tmp_path, b'\xff\xfe{"a": 1}\n'))[1].dropped == {"line is not UTF-8": 1}
    deep = b'{"a": ' + b"[" * 200_000 + b"]" * 200_000 + b"}"
    assert read(put(tmp_path, deep + b"\n"))[1].dropped == {"line nests too deeply": 1}


def test_a_byte_order_mark_is_no_damage(tmp_path):
    assert read(put(tmp_path, b'\xef\xbb\xbf{"a": 1}\n'))[0] == [{"a": 1}]


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(UserError, match="no file"):
        read(tmp_path / "none.jsonl")


json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(st.characters(), max_size=8)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=8,
)


@settings(max_examples=60, deadline=None)
@given(json_values)
def test_clean_json_can_always_be_written(value):
    cleaned, count = clean_json(value)
    json.dumps(cleaned, ensure_ascii=False).encode("utf-8")
    assert (cleaned == value) == (count == 0)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.dictionaries(st.text(max_size=4), json_values, max_size=3), max_size=6), st.data()
)
def test_every_cut_leaves_the_exact_whole_lines(tmp_path_factory, values, data):
    lines = [json.dumps(v).encode() + b"\n" for v in values]
    whole = b"".join(lines)
    cut = data.draw(st.integers(0, len(whole)))
    path = put(tmp_path_factory.mktemp("cut"), whole[:cut])
    rows, tally = read(path)
    complete = [v for i, v in enumerate(values) if sum(map(len, lines[: i + 1])) - 1 <= cut]
    assert rows == [clean_json(v)[0] for v in complete]
    torn = whole[:cut].rpartition(b"\n")[2]
    assert bool(tally.dropped) == bool(torn and not isinstance(parsed(torn), dict))

"""Rows of files that are compressed, torn, foreign or odd: the exact valid prefix, and a name for what is not in it."""

import gzip
import json
import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dynaweb.dataset.imports import listed, rows
from dynaweb.dataset.imports.rows import read_rows
from dynaweb.dataset.imports.source import parsed
from dynaweb.dataset.imports.tally import Tally
from dynaweb.dataset.surrogates import clean_json
from dynaweb.errors import StorageError, UserError


def read(path, **options):
    tally = Tally()
    return [r.fields for r in read_rows(path, tally, **options)], tally


def put(tmp_path, data: bytes, name="f.jsonl"):
    path = tmp_path / name
    path.write_bytes(data)
    return path


def test_a_torn_last_line_is_named_and_the_rest_is_kept(tmp_path):
    found, tally = read(put(tmp_path, b'{"a": 1}\n{"a": 2}\n{"a'))
    assert found == [{"a": 1}, {"a": 2}]
    assert tally.dropped == {"line is torn": 1}
    assert tally.first["line is torn"].startswith("f.jsonl:3")


def test_a_torn_line_before_blank_ones_is_found_too(tmp_path):
    found, tally = read(put(tmp_path, b'{"a": 1}\n{"a\n\n\n'))
    assert found == [{"a": 1}]
    assert tally.dropped == {"line is not JSON": 1}


def test_damage_in_the_middle_ends_the_reading_unless_told_otherwise(tmp_path):
    path = put(tmp_path, b'{"a": 1}\nnonsense\n{"a": 2}\n{"a": 3}\n')
    found, tally = read(path)
    assert found == [{"a": 1}]
    assert tally.dropped == {"line is not JSON": 1, "line after a damaged one": 2}
    found, tally = read(path, skip_damaged=True)
    assert found == [{"a": 1}, {"a": 2}, {"a": 3}]
    assert tally.dropped == {"line is not JSON": 1}


def test_rows_that_are_no_objects_are_counted(tmp_path):
    found, tally = read(put(tmp_path, b'["x"]\nnull\n{"a": 1}\n'))
    assert found == [{"a": 1}]
    assert tally.dropped == {"row is not a JSON object": 2}


def test_a_key_that_stands_twice_is_counted_and_named(tmp_path):
    said = "key 'a' stands twice in an object: its last value was read"
    found, tally = read(
        put(tmp_path, b'{"a": 1, "b": {"a": 2, "a": 3, "a": 4}}\n{"a": 5, "a": 6}\n')
    )
    assert found == [{"a": 1, "b": {"a": 4}}, {"a": 6}]
    assert tally.noted == {said: 3}
    assert tally.first[said] == "f.jsonl:1"
    for document in (b'[{"a": 1, "a": 2}]', b'[\n{"a": 1,\n"a": 2}\n]'):
        found, tally = read(put(tmp_path, document, "list.json"))
        assert (found, tally.noted) == ([{"a": 2}], {said: 1})


def test_halves_of_pairs_become_one_sign_and_pairs_are_joined(tmp_path):
    found, tally = read(put(tmp_path, rb'{"a": "\ud83c\udf78 half \ud83c"}' + b"\n"))
    assert found == [{"a": "\U0001f378 half \ufffd"}]
    assert tally.noted == {"half a surrogate pair became U+FFFD": 1}


def test_halves_in_a_list_are_found_in_the_entry_that_has_them(tmp_path):
    data = rb"""[{"a": "\ud83c"}, {"a": "\u00e9 \ud83c\udf78"}, {"a": "e"}]"""
    found, tally = read(put(tmp_path, data, "l.json"))
    assert found == [{"a": "\ufffd"}, {"a": "\u00e9 \U0001f378"}, {"a": "e"}]
    assert tally.noted == {"half a surrogate pair became U+FFFD": 1}


def test_a_cut_gzip_gives_its_whole_lines(tmp_path):
    whole = gzip.compress(b"".join(b'{"a": %d}\n' % i for i in range(5000)))
    found, tally = read(put(tmp_path, whole[: len(whole) // 2]))
    assert found == [{"a": i} for i in range(len(found))] and 0 < len(found) < 5000
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
    found, tally = read(path)
    complete = [v for i, v in enumerate(values) if sum(map(len, lines[: i + 1])) - 1 <= cut]
    assert found == [clean_json(v)[0] for v in complete]
    torn = whole[:cut].rpartition(b"\n")[2]
    assert bool(tally.dropped) == bool(torn and not isinstance(parsed(torn), dict))


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.recursive(st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8), lambda v: st.lists(v, max_size=3) | st.dictionaries(st.text(max_size=3), v, max_size=3), max_leaves=6), max_size=8),
    st.sampled_from([None, 1]),
    st.integers(1, 9),
    st.booleans(),
)  # fmt: skip
def test_a_list_is_read_entry_by_entry_whatever_the_chunks(tmp_path_factory, values, indent, chunk, packed):  # fmt: skip
    data = b"\xef\xbb\xbf " + json.dumps(values, indent=indent, ensure_ascii=False).encode() + b"\n"
    path = put(tmp_path_factory.mktemp("list"), gzip.compress(data) if packed else data, "l.json")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(listed, "CHUNK", chunk)
        tally = Tally()
        assert [value for value, _ in listed.list_values(path, tally)] == values
    assert (tally.dropped, listed.is_list(path)) == ({}, True)


@pytest.mark.parametrize(
    ("data", "kept", "why"),
    [
        (b'[{"a": 1}, {"a": 2', [{"a": 1}], "entry is torn or is not JSON, and what follows it"),
        (b'[{"a": 1} {"a": 2}]', [{"a": 1}], "entry is not JSON, and what follows it"),
        (b'[{"a": 1}, nonsense, 3]', [{"a": 1}], "entry is torn or is not JSON, and what follows it"),
        (b'[{"a": 1}, ' + b"[" * 200_000, [{"a": 1}], "entry nests too deeply, and what follows it"),
        (b'[{"a": 1}] x', [{"a": 1}], "text after a list"),
        (b'[{"a": 1}, "\xff"]', [], "list is cut or damaged"),
    ],
)  # fmt: skip
def test_the_entries_before_damage_are_kept_and_it_is_named(tmp_path, data, kept, why):
    tally = Tally()
    assert [v for v, _ in listed.list_values(put(tmp_path, data, "l.json"), tally)] == kept
    assert why in tally.dropped


def test_a_long_list_takes_little_memory_and_a_long_object_is_refused(tmp_path, monkeypatch):
    path = put(tmp_path, b"[" + b'{"a": [[], {}, 1]},\n' * 60_000 + b"1]", "l.json")
    tracemalloc.start()
    try:
        assert sum(1 for _ in listed.list_values(path, Tally())) == 60_001
        assert tracemalloc.get_traced_memory()[1] < 3 << 20
    finally:
        tracemalloc.stop()
    monkeypatch.setattr(rows, "MAX_DOCUMENT_BYTES", 1 << 20)
    long = put(tmp_path, b'{"a": "' + b"x" * (1 << 20) + b'"}', "o.json")
    with pytest.raises(StorageError, match="longer than 1 MB, as one JSON document: give a list"):
        rows.read_document(long)

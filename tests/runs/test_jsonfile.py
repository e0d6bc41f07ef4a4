"""A record in a file of its own: it comes back equal, and what is no such record is said with its field."""

from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dynaweb.errors import StorageError
from dynaweb.runs.jsonfile import decode, read_object, read_record, write_object, write_record


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    name: str
    at: tuple[float, ...] = ()


@settings(deadline=None, max_examples=30)  # each example is flushed to disk
@given(
    st.builds(Point, name=st.text(), at=st.lists(st.floats(allow_nan=False, width=16)).map(tuple))
)
def test_a_record_comes_back(tmp_path_factory, point):
    path = tmp_path_factory.mktemp("record") / "new" / "point.json"
    if any(abs(x) == float("inf") for x in point.at):
        with pytest.raises(StorageError, match="cannot write"):
            write_record(path, point)
        assert not path.exists()
        return
    write_record(path, point)
    assert read_record(Point, path) == point


def test_what_is_left_out_holds_its_default():
    assert decode(Point, {"name": "a"}, "here") == Point(name="a")


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({}, "name"),
        ({"name": 3}, "name"),
        ({"name": "a", "at": ["x"]}, "at"),
        ({"name": "a", "colour": 1}, "colour"),
    ],
)
def test_another_record_is_refused_by_field(tmp_path, body, said):
    write_object(tmp_path / "p.json", body)
    with pytest.raises(StorageError, match=f"p.json.*{said}"):
        read_record(Point, tmp_path / "p.json")


def test_a_file_that_is_not_there_and_a_folder_that_cannot_be(tmp_path):
    with pytest.raises(StorageError, match="there is no"):
        read_object(tmp_path / "p.json")
    (tmp_path / "file").write_text("", "utf-8")
    with pytest.raises(StorageError, match="cannot write in"):
        write_record(tmp_path / "file" / "p.json", Point(name="a"))

import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from matese.errors import FormatError
from matese.formats import json_stream

VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=5)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=3), inner, max_size=3)),
    max_leaves=8,
)


def write(folder: Path, text: str) -> Path:
    path = folder / "tasks.json"
    path.write_text(text, encoding="utf-8", newline="")
    return path


def elements(path: Path) -> list[tuple[int, str | None, object]]:
    return [(element.line, element.key, element.value) for element in json_stream.read(path)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" \n", []),
        ("[]", []),
        ("\ufeff[1,\n 22, {}\n]\n", [(1, None, 1), (2, None, 22), (2, None, {})]),
        ('{"a": [1,\n[2]], "b": "x", "c": {}}', [(1, "a", 1), (2, "a", [2]), (2, "b", "x"), (2, "c", {})]),
        ('{"a": 1}\n\n{"a": [2]}\n', [(1, None, {"a": 1}), (3, None, {"a": [2]})]),
        ("{\n}", []),
    ],
)
def test_elements_and_their_lines(tmp_path: Path, text: str, expected: list[object]) -> None:
    assert elements(write(tmp_path, text)) == expected


@pytest.mark.parametrize("text", ['{"a": 1, "b": [2]}', '\n{"a": 1,\n"b": [2]}\n', '[{"a": 1, "b": [2]}]'])
def test_an_object_alone_is_an_element_if_it_has_a_key_of_one(tmp_path: Path, text: str) -> None:
    path = write(tmp_path, text)
    assert [element.value for element in json_stream.read(path, record=("x", "b"))] == [{"a": 1, "b": [2]}]


@given(values=st.lists(VALUES, max_size=4))
def test_any_list_comes_back(tmp_path_factory: pytest.TempPathFactory, values: list[object]) -> None:
    path = write(tmp_path_factory.getbasetemp(), json.dumps(values, indent=1))
    assert [element.value for element in json_stream.read(path)] == values


def test_compressed(tmp_path: Path) -> None:
    path = tmp_path / "tasks.json.gz"
    path.write_bytes(gzip.compress(b"[1]"))
    assert elements(path) == [(1, None, 1)]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[1, 2", "json:1: not JSON .Input data was truncated"),
        ("[1,\n2,]", "json:2: not JSON .JSON is malformed: trailing comma in array"),
        ("[1] x", "json:1: not JSON .JSON is malformed: trailing characters"),
        ('[{"a": 1,\n "a": 2}]', "json:1: key 'a' is given twice"),
        ('[1,\n{"a"\n: tru}]', "json:3: not JSON"),
        ('{"a": [1]\n"b": 2}', "json:2: not JSON .JSON is malformed: expected ',' or '}'"),
        (f'{{"a": {"9" * 5000}}}', "json:1: "),
        ("[" * 100_000, "json:1: lists are nested too deeply"),
    ],
)
def test_what_is_no_json(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(FormatError, match=problem):
        elements(write(tmp_path, text))


def test_not_utf_8(tmp_path: Path) -> None:
    path = tmp_path / "tasks.json"
    path.write_bytes(b'["\xff"]')
    with pytest.raises(FormatError, match="json:1: byte 0xff at position 2 is not UTF-8"):
        elements(path)

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import gzip
import importlib.resources
import json
import math
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from docs import rating_schema
from matese import mqm
from matese.annotation import (
    ErrorFree,
    ErrorSpan,
    Estimate,
    Omission,
    Overall,
    Rating,
    Segment,
    SegmentKey,
    Severity,
    TokenScores,
    UnplacedError,
)
from matese.errors import FormatError
from matese.formats.tables import jsonl
from tests.formats.made_ratings import TEXTS, ratings

SIGNATURE = "matese|model:mini@1a2b3c4d|version:0.1.0"
SCHEMA = json.loads(importlib.resources.files("matese.formats").joinpath("rating.schema.json").read_text("utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
SPAN = {"start": 4, "end": 8, "text": "Haus", "severity": "major", "category": None, "confidence": 0.5}
OMISSION = {
    "text": "reference",
    "reference": 0,
    "start": 4,
    "end": 8,
    "words": "Baum",
    "severity": "major",
    "category": "Accuracy/Omission",
    "confidence": 0.5,
}
PREDICTION = Rating(
    Segment("Ein Haus.", "A tree.", ("Ein Baum.",), SegmentKey("ted", "en-de", "A", "talk.1", 0, "news")),
    SIGNATURE,
    (ErrorSpan(4, 8, Severity.MAJOR, confidence=0.5),),
    estimate=Estimate(-4.5, "mqm"),
    error_free=ErrorFree(False, 0.125),
)


def test_a_line_has_the_documented_keys_in_their_order() -> None:
    assert list(jsonl.to_json(PREDICTION).items()) == [
        ("index", 0),
        ("system", "A"),
        ("hypothesis", "Ein Haus."),
        ("source", "A tree."),
        ("references", ["Ein Baum."]),
        ("score", -5.0),
        ("expected_score", -4.5),
        ("errors", [SPAN]),
        ("source_errors", []),
        ("omissions", []),
        ("unplaced", []),
        ("overall", None),
        ("estimate", {"value": -4.5, "scale": "mqm", "low": None, "high": None, "deviation": None}),
        ("rater", SIGNATURE),
        ("test_set", "ted"),
        ("lang_pair", "en-de"),
        ("document", "talk.1"),
        ("domain", "news"),
        ("error_free", {"label": False, "probability": 0.125}),
        ("correction", None),
    ]
    assert all(property_["description"] for property_ in SCHEMA["properties"].values())


def test_an_omission_names_its_text_and_its_words() -> None:
    kind = Severity.MAJOR, "Accuracy/Omission", 0.5
    omissions = Omission("reference", 0, 4, 8, *kind), Omission("source", None, 2, 6, *kind)
    rating = dataclasses.replace(PREDICTION, omissions=omissions)
    line = jsonl.to_json(rating)
    in_source = {**OMISSION, "text": "source", "reference": None, "start": 2, "end": 6, "words": "tree"}
    assert line["omissions"] == [in_source, OMISSION]
    assert [list(omission) for omission in line["omissions"]] == [list(OMISSION)] * 2
    assert line["score"] == -15
    assert jsonl.to_json(rating, weights=mqm.NO_OMISSIONS)["score"] == -5
    assert jsonl.loads(jsonl.dumps(rating)) == jsonl.complete(jsonl.dumps(rating).encode()) == rating


@pytest.mark.parametrize(
    ("key", "added", "removed"),
    [
        ("rater", '"rater": "other", ', ', "document": "talk.1"'),
        ("index", '"index": 0, ', '"omissions": [], '),
        ("start", '"start": 4, ', '"category": null, '),
        ("value", '"value": 0, ', ', "low": null'),
    ],
)
def test_a_key_is_given_once_whichever_other_key_is_missing(key: str, added: str, removed: str) -> None:
    line = jsonl.dumps(PREDICTION)
    assert jsonl.complete(line.encode()) == PREDICTION
    assert removed in line
    twice = line.replace(f'"{key}"', f'{added}"{key}"').replace(removed, "")
    assert jsonl.complete(twice.encode()) is None
    of_earlier_version = line.replace(', "deviation": null', "").replace(', "domain": "news"', "")
    assert PREDICTION.segment.key is not None
    segment = dataclasses.replace(PREDICTION.segment, key=dataclasses.replace(PREDICTION.segment.key, domain=None))
    without_domain = dataclasses.replace(PREDICTION, segment=segment)
    assert jsonl.loads(of_earlier_version) == without_domain
    with pytest.raises(ValueError, match=f"key '{key}' is given twice"):
        jsonl.loads(twice)


def test_what_is_absent_is_null() -> None:
    line = jsonl.to_json(Rating(Segment(""), None, None))
    empty_lists: dict[str, object] = {"references": [], "source_errors": [], "omissions": [], "unplaced": []}
    assert line == dict.fromkeys(jsonl.KEYS[:-2]) | {"hypothesis": ""} | empty_lists


def test_only_an_estimate_of_the_score_is_an_expected_score() -> None:
    human = Rating(Segment("a"), SIGNATURE, (), overall=Overall(-1, "mqm"))
    model = Rating(Segment("a"), "rater1", (), estimate=Estimate(-1, "mqm"))
    on_another_scale = Rating(Segment("a"), SIGNATURE, (), estimate=Estimate(80, "esa"))
    assert [jsonl.to_json(rating)["expected_score"] for rating in (human, model, on_another_scale)] == [None, -1, None]


def test_tokens_stand_at_the_end_where_they_are_asked_for() -> None:
    scores = TokenScores(((0, 3),), ((0.5, 0.1, 0.1, 0.2, 0.1),))
    segment = dataclasses.replace(PREDICTION.segment, name="unit a")
    named = dataclasses.replace(PREDICTION, segment=segment)
    line = jsonl.to_json(named, tokens=scores, with_name=True)
    assert list(line) == list(jsonl.KEYS)
    assert line["tokens"] == [{"start": 0, "end": 3, "p": [0.5, 0.1, 0.1, 0.2, 0.1]}]
    assert jsonl.from_json(line) == PREDICTION


def test_a_line_is_one_line_whatever_it_holds() -> None:
    text = "\x00\t\n\x0b\r\x1b[31m\x7f\x85\x9b0m\u2028\u2029 é👩‍👧 \ufeff שלום"
    rating = Rating(Segment(text), "r", ())
    line = jsonl.dumps(rating)
    # Neither a line end of any program nor what steers a terminal; other scripts stay readable.
    assert line.splitlines() == [line]
    assert not any(0x7F <= ord(character) < 0xA0 or character < " " for character in line)
    assert "é👩‍👧 \ufeff שלום" in line
    assert jsonl.from_json(json.loads(line)) == rating


def test_numbers_that_are_not_finite_are_not_written() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        jsonl.dumps(PREDICTION, tokens=TokenScores(((0, 1),), ((math.nan,),)))


def test_the_schema_is_one_and_knows_every_key() -> None:
    """`docs/rating_schema.py` updates the file."""
    assert rating_schema.schema() == SCHEMA
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert list(SCHEMA["properties"]) == list(jsonl.KEYS)
    assert SCHEMA["required"] == list(jsonl.KEYS[:-2])


@pytest.mark.parametrize(
    "change",
    [
        {"hypothesis": None},
        {"index": "1"},
        {"references": "Ein Baum."},
        {"errors": [{**SPAN, "severity": "Major"}]},
        {"errors": [{**SPAN, "start": -1}]},
        {"errors": [{**SPAN, "confidence": 1.5}]},
        {"errors": [{"start": 4, "end": 8}]},
        {"errors": [{**SPAN, "more": 1}]},
        {"omissions": [{**OMISSION, "text": "hypothesis"}]},
        {"omissions": [{"text": "reference", "reference": 0, "start": 4, "end": 8}]},
        {"unplaced": [{"severity": "minor"}]},
        {"overall": {"value": 1, "scale": "stars"}},
        {"overall": {"value": 1, "scale": "mqm", "low": None, "high": None}},
        {"estimate": {"value": 1, "scale": "mqm", "low": None, "high": None, "deviation": -1}},
        {"tokens": [{"start": 0, "end": 1, "p": [1, 0, 0, 0]}]},
    ],
)
def test_the_schema_refuses_what_is_never_written(change: dict[str, object]) -> None:
    VALIDATOR.validate(jsonl.to_json(PREDICTION))
    with pytest.raises(jsonschema.ValidationError):
        VALIDATOR.validate(jsonl.to_json(PREDICTION) | change)


def test_files_are_read_line_by_line(tmp_path: Path) -> None:
    plain = tmp_path / "a.jsonl"
    packed = tmp_path / "a.jsonl.gz"
    empty = tmp_path / "empty.jsonl"
    with_line_ends = Rating(Segment("\u2028\x85"), None, None)
    # Raw line separators, and no line end at the last line.
    raw = '{"hypothesis": "\u2028\x85"}'
    plain.write_bytes(f"\ufeff{jsonl.dumps(PREDICTION)}\r\n{raw}".encode())
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    empty.touch()
    assert list(jsonl.read(plain)) == list(jsonl.read(str(packed))) == [PREDICTION, with_line_ends]
    assert list(jsonl.read(empty)) == []
    assert next(jsonl.read(plain)) == PREDICTION


def test_only_the_hypothesis_must_be_there() -> None:
    assert jsonl.from_json({"hypothesis": ""}) == Rating(Segment(""), None, None)
    span = {"start": 0, "end": 1}
    rating = jsonl.from_json(
        {"hypothesis": "a", "errors": [span], "unplaced": [{}], "overall": {"value": 1, "scale": "z"}}
    )
    assert rating == Rating(
        Segment("a"), None, (ErrorSpan(0, 1, None),), unplaced=(UnplacedError(None),), overall=Overall(1, "z")
    )


def test_what_follows_from_the_rest_is_not_read() -> None:
    line = jsonl.to_json(PREDICTION) | {"score": -3, "expected_score": [], "tokens": {}}
    assert jsonl.from_json(line) == PREDICTION


@pytest.mark.parametrize(
    ("line", "extra"),
    [
        ({"errors": [], "score": 0}, None),
        ({"errors": [], "score": None, "expected_score": None}, None),
        ({"errors": [], "score": 87}, {"score": 87}),
        ({"errors": [], "score": "good", "n": 1}, {"n": 1, "score": "good"}),
        ({"errors": None, "score": -3.5}, {"score": -3.5}),
        ({"errors": [], "expected_score": 0.8}, {"expected_score": 0.8}),
    ],
)
def test_scores_of_another_program_are_kept(line: dict[str, object], extra: dict[str, object] | None) -> None:
    rating = jsonl.loads(json.dumps({"hypothesis": "a", **line}))
    assert rating.segment.extra == extra
    assert jsonl.loads(jsonl.dumps(rating)).segment.extra == (
        extra and {name if name == "n" else f"input_{name}": value for name, value in extra.items()}
    )


LINE = '{"hypothesis": "Ein Haus.", "source": "A tree.", %s}'


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("", "empty: must be one JSON value"),
        ("{", r"not JSON \(Input data was truncated\): must be one JSON value"),
        ('{"hypothesis": ""} {}', r"not JSON \(.*trailing characters \(byte 20\)\): must be one JSON value"),
        ("[" * 100_000, "objects or lists are nested too deeply"),
        ("[]", "Expected "),
        ("{}", ".*`hypothesis`"),
        ('{"hypothesis": 1}', "hypothesis: Expected `str`, got `int`"),
        (r'{"hypothesis": "a\ud83d"}', r"not JSON \(\\ud83d is half of a surrogate pair"),
        (r'{"hypothesis": "\\\ud83d\ude00\ude00"}', r"not JSON \(\\ude00 is half of a surrogate pair"),
        ('{"hypothesis": "NaN", "score": NaN}', r"not JSON \(NaN is not a JSON value"),
        ('{"hypothesis": "\\\\ud83d NaN', r"not JSON \(Input data was truncated"),
        ('{"hypotesis": "a"}', "unknown key 'hypotesis', did you mean 'hypothesis'\\? must be index, system"),
        ('{"hypothesis": "a", "hypothesis": "b"}', "key 'hypothesis' is given twice: must be given once in an object"),
        (LINE % '"errors": [{"start": 0, "end": 1, "end": 2}]', "key 'end' is given twice"),
        (LINE % '"index": "1"', "index: "),
        (LINE % '"index": true', "index: "),
        (LINE % '"rater": {}', "rater: "),
        (LINE % '"references": "Ein Baum."', "references: "),
        (LINE % '"references": ["a", null]', r"references\[1\]: "),
        (LINE % '"score": NaN', "not JSON"),
        (LINE % '"errors": [{"end": 1}]', r"errors\[0\]: .*`start`"),
        (LINE % '"errors": [{"start": 1, "end": 1}]', r"errors\[0\]: error span 1\.\.1: must have 0 <= start < end"),
        (LINE % '"errors": [{"start": -1, "end": 1}]', r"errors\[0\].start: "),
        (LINE % '"errors": [{"start": 4, "end": 10, "text": "Haus.?"}]', r"error span 4\.\.10: must end within the"),
        (LINE % '"source_errors": [{"start": 4, "end": 8}]', r"error span 4\.\.8: must end within the source \(7"),
        (LINE % '"errors": [{"start": 4, "end": 8, "text": "in H"}]', r"errors\[0\]\.text is 'in H': must be 'Haus'"),
        (LINE % '"errors": [{"star": 1}]', r"unknown key 'errors\[0\]\.star', did you mean 'errors\[0\]\.start'\?"),
        (LINE % '"errors": [{"start": 0, "end": 1, "severity": "Major"}]', r"errors\[0\]\.severity: .*: must be"),
        (LINE % '"errors": [{"start": 0, "end": 1, "confidence": 2}]', r"errors\[0\].confidence: "),
        (LINE % '"omissions": [{}]', r"omissions\[0\]: .*`text`"),
        (LINE % '"omissions": [{"text": "source", "start": 2, "end": 6, "words": "Baum"}]', r"omissions\[0\]\.words"),
        (LINE % '"omissions": [{"text": "source", "start": 2, "end": 9, "words": "tree.xx"}]', r"omission 2\.\.9:"),
        (
            LINE % '"omissions": [{"text": "reference", "reference": 0, "start": 0, "end": 1, "words": "E"}]',
            "omission from reference 0: must be from a text of the segment \\(a source and 0 references\\)",
        ),
        (
            LINE % '"omissions": [{"text": "source", "reference": 0, "start": 0, "end": 1}]',
            r"omissions\[0\].reference 0 of an",
        ),
        (LINE % '"unplaced": [{"severity": "bad"}]', r"unplaced\[0\]\.severity: "),
        (LINE % '"overall": {"scale": "mqm"}', r"overall: .*`value`"),
        (LINE % '"overall": {"value": 1, "scale": "stars"}', r"overall\.scale: "),
        (LINE % '"overall": {"value": 1e999, "scale": "da"}', r"overall\.value: "),
        (LINE % f'"overall": {{"value": 1{"0" * 400}, "scale": "da"}}', r"overall\.value: "),
    ],
)
def test_a_line_that_is_no_rating_is_told_with_its_place(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"hypothesis": ""}\n' + line + "\n", encoding="utf-8")
    with pytest.raises(FormatError, match=rf"a\.jsonl:2: {message}") as caught:
        list(jsonl.read(path))
    assert (caught.value.path, caught.value.line) == (str(path), 2)
    assert "\n" not in str(caught.value)


def test_a_key_without_content_is_none() -> None:
    rating = Rating(Segment("a", key=SegmentKey()), None, ())
    assert jsonl.from_json(jsonl.to_json(rating)) == Rating(Segment("a"), None, ())


@given(ratings(), st.booleans())
def test_reading_what_was_written_is_the_identity(
    tmp_path_factory: pytest.TempPathFactory, written: list[Rating], with_tokens: bool
) -> None:
    tokens = TokenScores(((0, 1),), ((0.2,) * 5,)) if with_tokens else None
    lines = [jsonl.dumps(rating, tokens=tokens) for rating in written]
    for line in lines:
        VALIDATOR.validate(json.loads(line))
        assert "\n" not in line
    path = tmp_path_factory.getbasetemp() / "identity.jsonl"
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8", newline="")
    assert list(jsonl.read(path)) == written


json_data: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(jsonl.KEYS) | TEXTS, inner, max_size=4),
    max_leaves=8,
)


@given(json_data, st.dictionaries(st.sampled_from(jsonl.KEYS), json_data))
def test_any_json_is_a_rating_or_a_value_error(value: Any, change: dict[str, Any]) -> None:
    for line in (value, {**jsonl.to_json(PREDICTION), **change}):
        with contextlib.suppress(ValueError):
            rating = jsonl.loads(json.dumps(line))
            assert jsonl.from_json(jsonl.to_json(rating)) == rating


TOKENS = TokenScores(((0, 3), (3, 3), (4, 7)), ((0.5, 0.5, 0.0, 0.0, 0.0), (1.0,) + (0.0,) * 4, (0.0,) * 4 + (1.0,)))


def test_tokens_that_are_written_are_read(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    rating = Rating(Segment('Das Haus 👍 "tokens"'), "m", ())
    lines = [jsonl.dumps(rating, tokens=TOKENS), jsonl.dumps(rating), jsonl.dumps(rating, tokens=TokenScores((), ()))]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    assert list(jsonl.read_tokens(path)) == [TOKENS, None, TokenScores((), ())]


@pytest.mark.parametrize(
    ("tokens", "message"),
    [
        ([{"start": 0, "end": 9, "p": [1, 0, 0, 0, 0]}], r"tokens\[0\]: start 0 and end 9: must have 0 <= start <="),
        ([{"start": 0, "end": 1, "p": [1, 0, 0]}], r"tokens\[0\].p: "),
        ([{"start": 0, "end": 1, "p": [1, 0, 0, 0, 2]}], r"p\[4\]: "),
        ([{"begin": 0}], "unknown key"),
        ({}, "tokens: "),
    ],
)
def test_bad_tokens(tmp_path: Path, tokens: object, message: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({"hypothesis": "Haus", "tokens": tokens}), encoding="utf-8")
    with pytest.raises(FormatError, match=message) as caught:
        list(jsonl.read_tokens(path))
    assert caught.value.line == 1


def test_numbers_of_numpy_are_numbers() -> None:
    integer: Any = np.int64
    real: Any = np.float32
    span = ErrorSpan(integer(0), integer(2), Severity.MINOR, confidence=real(0.5))
    key = SegmentKey(index=integer(3))
    score = Estimate(real(-1.5), "mqm")
    rating = Rating(Segment("ab", key=key, extra={"n": integer(7), "day": datetime.date(2026, 1, 2)}), "a", (span,))
    line = json.loads(jsonl.dumps(dataclasses.replace(rating, estimate=score)))
    assert (line["index"], line["errors"][0]["end"], line["errors"][0]["confidence"]) == (3, 2, 0.5)
    assert (line["expected_score"], line["n"], line["day"]) == (-1.5, 7, "2026-01-02")


@pytest.mark.parametrize(
    ("name", "index", "stored"),
    [
        (None, 0, False),
        ("", 0, False),
        ("segment 1", 0, False),
        ("line 1", 0, False),
        ("line 2", 0, True),  # of a table, whose first line is the header
        ("line 1", None, True),
        ("id 17", 16, True),
        ("unit '\u2028' (line 3)", 4, True),
    ],
)
def test_names_of_segments_that_say_more_than_a_number(name: str | None, index: int | None, stored: bool) -> None:
    line = jsonl.dumps(Rating(Segment("h", key=SegmentKey(index=index), name=name), "m", ()))
    assert ("segment_name" in line) == stored
    assert jsonl.loads(line).segment.name == (name if stored else None)

"""Errors that quote words instead of naming offsets."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import matese
from matese import ErrorSpan, Severity, UnplacedError
from matese.errors import FormatError, InputError

HYPOTHESIS = "Das Haus, das Haus steht."
ERRORS: list[dict[str, Any]] = [
    {"span": "haus", "severity": "Minor", "explanation": "twice", "correction": ""},
    {"Quote": "Haus", "severity": "MAJOR", "type": "Style", "confidence": 0.5},
    {"text": "Haus", "severity": None},
    {"span": "house", "severity": "minor"},
    {"span": "Maus", "severity": "critical", "error_type": "Accuracy"},
]
SPANS = (
    ErrorSpan(4, 8, None),
    ErrorSpan(4, 8, Severity.MINOR, reason="twice", correction=""),
    ErrorSpan(14, 18, Severity.MAJOR, "Style", 0.5),
)


@pytest.mark.parametrize(
    "errors",
    [
        ERRORS,
        {"errors": ERRORS},
        json.dumps(ERRORS),
        f"The errors:\n```json\n{json.dumps({'errors': ERRORS})}\n```\n",
        f"In [1] and {{2}}, [a] is wrong: {json.dumps(ERRORS)} [end]",
    ],
)
def test_quotes_become_places(errors: Any) -> None:
    (rating,) = matese.ratings_from_quotes([errors], [HYPOTHESIS], sources=["The house stands."], rater="llm")
    assert rating.errors == SPANS
    assert rating.source_errors == (ErrorSpan(4, 9, Severity.MINOR),)
    assert rating.unplaced == (UnplacedError(Severity.CRITICAL, "Accuracy", "Maus"),)
    assert rating.rater == "llm"


def test_files_with_quotes_are_read(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "llm.jsonl"
    row = {"mt": HYPOTHESIS, "rater": "llm", "errors": [{"span": "haus", "severity": "Minor", "id": 1}]}
    path.write_text(json.dumps(row) + "\n", encoding="utf-8")
    (rating,) = matese.read(path)
    assert (rating.rater, rating.errors) == ("llm", (ErrorSpan(4, 8, Severity.MINOR),))
    assert "unknown key 'id' of an error" in caplog.text
    with pytest.raises(FormatError, match=r"llm\.jsonl:1: unknown key 'id' of an error: must be span, severity"):
        matese.read(path, strict=True)


def test_what_is_not_known_is_counted(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    errors = [{"span": "Haus", "severity": "Severe", "id": number} for number in range(2)]
    (rating,) = matese.ratings_from_quotes([errors], [HYPOTHESIS])
    assert rating.errors == (ErrorSpan(4, 8, None), ErrorSpan(14, 18, None))
    assert "unknown severity 'Severe' of an error (2)" in caplog.text
    assert "unknown key 'id' of an error (2)" in caplog.text
    path = tmp_path / "llm.jsonl"
    path.write_text(json.dumps({"mt": HYPOTHESIS, "errors": errors}) + "\n", encoding="utf-8")
    assert matese.read(path) == [rating]
    path.write_text(path.read_text(encoding="utf-8").replace("id", "reason"), encoding="utf-8")
    with pytest.raises(FormatError, match="unknown severity 'Severe' of an error: must be neutral, minor"):
        matese.read(path, strict=True)


@pytest.mark.parametrize(
    ("errors", "message"),
    [
        (["a"], r"hypothesis 0: errors\[0\] is 'a': must be an object"),
        ([{"severity": "minor"}], r"hypothesis 0: errors\[0\]: no words"),
        ([{"span": "Haus", "confidence": 2}], "hypothesis 0: confidence 2: must be between 0 and 1"),
        (7, "hypothesis 0: 7: must be a list of errors"),
        ("{", "hypothesis 0: not JSON"),
    ],
)
def test_what_are_no_quotes(errors: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        matese.ratings_from_quotes([errors], [HYPOTHESIS])

"""The errors of answers: what is not understood is no answer, and never "no error"."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from matese.annotation import ErrorSpan, Omission, Rating, Segment, Severity, UnplacedError
from matese.formats.weights_file import NamedSeverity, Scheme
from matese.language_model import answers, prompts
from matese.language_model.prompts import Passage, Question

MQM = Question()
ERROR = '{"quote": "Hund", "severity": "major"}'


@pytest.mark.parametrize(
    ("answer", "n_errors"),
    [
        ('{"errors": []}', 0),
        ('{"errors": [], "explanation": "fine", "checked": ["names"], "score": 90}', 0),
        (f'{{"errors": [{ERROR}], "omissions": [{{"quote": "not"}}]}}', 1),
        (f'{{"errors": [], "omissions": [{ERROR}]}} No: {{"errors": [{ERROR}]}}', 1),
        (f'{{"errors": [], "omissions": [{ERROR}]}}', None),
        ('{"errors": "none"}', None),
        ('{"errors": null}', None),
        ('{"error": []}', None),
        ("No errors.", None),
        # What comes last is the answer, whatever the model has tried out before.
        (f'{{"errors": []}} No: {{"errors": [{ERROR},]}}', None),
        (f'{{"errors": []}} No: {{"errors": [{ERROR}, {{"span": "Hund"}}]}}', None),
        (f'{{"errors": []}} No: {{"errors": [{ERROR}, {{"quote": "Hu', None),
        (f'{{"errors": []}} {"{x} " * 300} {{"errors": [{ERROR}]}}', None),
        (f'{{"errors": []}} {"{x} " * 90} {{"errors": [{ERROR}]}} {{}}', 1),
    ],
)
def test_errors_of_an_answer(answer: str, n_errors: int | None) -> None:
    if n_errors is None:
        with pytest.raises(answers.AnswerError):
            answers.read_errors(answer)
    else:
        assert len(answers.read_errors(answer)) == n_errors


def read(text: str, segment: Segment, question: Question = MQM, counts: answers.QuoteCounts | None = None) -> Rating:
    prompt = prompts.build(question, Passage(segment))
    return answers.read(text, segment, prompt, question, counts or answers.QuoteCounts(), rater="tiny")


SEGMENT = Segment("Das ist Berlin.", "This is Berlin.", ("Hier ist Berlin.",))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (" Translation", ErrorSpan(8, 14, Severity.MAJOR, "Accuracy/Omission")),
        ("source", Omission("source", None, 8, 14, Severity.MAJOR, "Accuracy/Omission")),
        ("Reference", Omission("reference", 0, 9, 15, Severity.MAJOR, "Accuracy/Omission")),
        ("target", None),
    ],
)
def test_quotes_are_looked_up_in_the_text_that_is_named(text: str, found: ErrorSpan | Omission | None) -> None:
    error = {"quote": "Berlin", "severity": "major", "text": text, "category": "Accuracy/Omission"}

    def rated(segment: Segment) -> Rating:
        return read(json.dumps({"errors": [error]}), segment)

    if found is None:
        with pytest.raises(answers.AnswerError):
            rated(SEGMENT)
    else:
        assert rated(SEGMENT).all_errors == (found,)
    if text == "Reference":
        with pytest.raises(answers.AnswerError):
            rated(replace(SEGMENT, references=()))


MAJOR = Severity.MAJOR
SAID = {"severity": "major", "reason": "wrong city", "correction": "Bonn"}


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        ({"quote": "Berlin"}, ErrorSpan(8, 14, MAJOR, reason="wrong city", correction="Bonn")),
        ({"quote": "Berlin", "reason": "", "correction": ""}, ErrorSpan(8, 14, MAJOR, correction="")),
        ({"quote": "Berlin", "text": "source"}, Omission("source", None, 8, 14, MAJOR, "Accuracy/Omission",
                                                         reason="wrong city")),
        ({"quote": "Paris"}, UnplacedError(MAJOR, words="Paris", reason="wrong city")),
        # Offsets in place of a quote.
        ({"start": 8, "end": 14}, ErrorSpan(8, 14, MAJOR, reason="wrong city", correction="Bonn")),
        ({"start": 8, "end": 99}, UnplacedError(MAJOR, reason="wrong city")),
        ({"start": 8}, None),
        ({}, None),
    ],
)  # fmt: skip
def test_reasons_and_corrections(error: dict[str, object], expected: object) -> None:
    text = json.dumps({"errors": [{**SAID, **error}]})
    if expected is None:
        with pytest.raises(answers.AnswerError):
            read(text, SEGMENT)
    else:
        assert read(text, SEGMENT).all_errors == (expected,)


def test_the_corrected_translation_must_be_there_if_it_is_asked_for() -> None:
    question = Question(has_correction=True)
    assert read('{"errors": [], "correction": "Das ist Bonn."}', SEGMENT, question).correction == "Das ist Bonn."
    assert read('{"errors": [], "correction": "Das ist Bonn."}', SEGMENT).correction is None
    with pytest.raises(answers.AnswerError, match="no correction"):
        read('{"errors": []}', SEGMENT, question)


def test_what_nobody_asked_for_is_counted() -> None:
    counts = answers.QuoteCounts()
    error = {**SAID, "quote": "Berlin", "note": "sure", "empty": None}
    read(json.dumps({"errors": [error], "summary": "one slip", "score": 70}), SEGMENT, counts=counts)
    assert counts.unasked == {"errors.note": 1, "summary": 1, "score": 1}


def test_severities_and_categories_of_a_scheme() -> None:
    severities = (NamedSeverity("Blocker", Severity.CRITICAL), NamedSeverity("slip", Severity.MINOR))
    question = Question(own_scheme=Scheme({"Names": "", "Brand voice": "too formal"}, severities))
    error = {"quote": "Berlin", "severity": "blocker", "category": "brand VOICE"}
    (span,) = read(json.dumps({"errors": [error]}), SEGMENT, question).all_errors
    assert span == ErrorSpan(8, 14, Severity.CRITICAL, "Brand voice")
    assert prompts.schema(question, "source")["properties"]["errors"]["items"]["properties"]["severity"] == {
        "type": "string", "enum": ["Blocker", "slip"]
    }  # fmt: skip


@pytest.mark.parametrize("text", ["A is better.", '{"better": "C"}', '{"better": null}', '{"better": "A"'])
def test_a_preference_that_is_none(text: str) -> None:
    with pytest.raises(answers.AnswerError):
        answers.read_better(text)

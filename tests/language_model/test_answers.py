"""The errors of answers: what is not understood is no answer, and never "no error"."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from matese.annotation import ErrorSpan, Omission, Rating, Segment, Severity
from matese.language_model import answers, prompts

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

    def read(segment: Segment) -> Rating:
        prompt = prompts.build("mqm", segment)
        return answers.read(
            json.dumps({"errors": [error]}), segment, prompt, "mqm", answers.QuoteCounts(), rater="tiny"
        )

    if found is None:
        with pytest.raises(answers.AnswerError):
            read(SEGMENT)
    else:
        assert read(SEGMENT).all_errors == (found,)
    if text == "Reference":
        with pytest.raises(answers.AnswerError):
            read(replace(SEGMENT, references=()))

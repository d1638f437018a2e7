"""The errors of answers: what is not understood is no answer, and never "no error"."""

from __future__ import annotations

import pytest

from matese.language_model import answers

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

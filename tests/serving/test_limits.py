"""Limits of a request, and the options that set them."""

from __future__ import annotations

import pytest

from matese.annotation import Segment
from matese.cli import fields, options
from matese.serving.limits import Limits
from matese.tasks import serve

LIMITS = Limits(segments=2, characters=10, text_characters=8)


@pytest.mark.parametrize(
    ("segments", "too_large"),
    [
        ([], None),
        ([Segment("12345"), Segment("12345")], None),
        ([Segment("")] * 3, "3 segments: "),
        ([Segment("1234", "1234", ("1", "12"))], "11 characters: must be 10 at most in one request"),
        ([Segment("1", "12345678")], None),
        ([Segment("1", "123456789")], "9 characters: must be 8 at most in one text"),
    ],
)
def test_what_is_too_large(segments: list[Segment], too_large: str | None) -> None:
    problem = LIMITS.problem(segments)
    assert (problem is None) == (too_large is None)
    assert (problem or "").startswith(too_large or "")


def test_each_option_sets_its_limit() -> None:
    arguments = ["--max-segments", "1", "--max-characters", "2", "--max-text-characters", "1", "--timeout", "3"]
    assert fields.request(serve.Request, {}).limits == Limits()
    asked = fields.request(serve.Request, vars(options.parse(["serve", *arguments])))
    assert asked.limits == Limits(segments=1, characters=2, text_characters=1, seconds=3)

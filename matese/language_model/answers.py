"""From the answer of a language model to a rating: JSON is validated, quotes become places in the texts."""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

import msgspec
from msgspec.structs import replace

from matese import mqm
from matese.annotation import (
    AnyError,
    ErrorSpan,
    Estimate,
    Omission,
    Rating,
    Segment,
    Severity,
    UnplacedError,
    severities,
)
from matese.errors import InputError, one_of, shortened
from matese.formats.format import rating_of
from matese.formats.weights_file import Scheme
from matese.language_model.prompts import NON_TRANSLATION, OMISSION, Prompt, Question
from matese.text import quotes
from matese.validation import plain_values

INEXACT = "inexact"
AMBIGUOUS = "ambiguous"
MISSING = "missing"
UNASKED = "unasked"
_LONGEST_NAME = 100
_NOTHING: tuple[object, ...] = (None, "", [], {})


class AnswerError(InputError):
    """An answer without the requested form."""


class _Error(msgspec.Struct, frozen=True):
    """An error; some models send offsets in place of a quote."""

    severity: str
    quote: str | None = None
    text: str = "translation"
    occurrence: int = 1
    category: str | None = None
    reason: str | None = None
    correction: str | None = None
    start: int | None = None
    end: int | None = None


class _Answer(msgspec.Struct, frozen=True):
    errors: tuple[_Error, ...]
    score: float | None = None
    correction: str | None = None


class _Score(msgspec.Struct, frozen=True):
    score: float


class _Better(msgspec.Struct, frozen=True):
    better: Literal["A", "B", "tie"]
    reason: str | None = None


_AnswerT = TypeVar("_AnswerT")


@dataclass
class QuoteCounts:
    """How quotes were found.

    Attributes:
        n_quotes: all quotes.
        kinds: those found only without regard to case, spaces and typography ("inexact"), those that occur several
            times ("ambiguous"), and those that do not occur ("missing").
        unasked: keys that the model has sent although nobody asked for them.
    """

    n_quotes: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    unasked: Counter[str] = field(default_factory=Counter)


def read(
    text: str,
    segment: Segment,
    prompt: Prompt,
    question: Question,
    counts: QuoteCounts,
    *,
    rater: str,
) -> Rating:
    """Returns the rating that an answer stands for.

    An error whose quote occurs nowhere keeps what is said of it and the quote, without a place.

    Args:
        text: the answer.
        segment: what was judged.
        prompt: what was sent.
        question: what was asked.
        counts: get the quotes of this answer.
        rater: of the rating.

    Raises:
        AnswerError: if the answer does not have the requested form; `counts` are unchanged then.
    """
    answer, raw = _parse(text)
    estimate = _estimate(answer.score) if question.has_score else None
    if question.has_correction and not answer.correction:
        raise AnswerError("no correction of the whole translation; it must be the requested JSON")
    scheme = question.scheme
    rows = [
        (
            replace(error, text=_text_name(error.text, segment)),
            _severity(error.severity, scheme),
            _category(error.category, scheme),
        )
        for error in answer.errors
    ]
    placed = [_placed(*row, segment, prompt, counts) for row in dict.fromkeys(rows)]
    counts.unasked += _unasked(raw, question)
    unique = dict.fromkeys(pair for pair in placed if not isinstance(pair[0], UnplacedError))
    unplaced = [error for error, _ in placed if isinstance(error, UnplacedError)]
    in_source = [error for error, is_in_source in unique if is_in_source and isinstance(error, ErrorSpan)]
    elsewhere = [error for error, is_in_source in unique if not is_in_source]
    rating = rating_of(segment, rater, (*elsewhere, *unplaced), in_source, estimate=estimate)
    correction = _writable(answer.correction) if question.has_correction else None
    return rating if correction is None else dataclasses.replace(rating, correction=correction)


def _unasked(raw: Mapping[str, Any], question: Question) -> Counter[str]:
    """Returns how often an answer has each key that the prompt does not name and whose value is not empty."""
    asked = ["errors", *(["score"] if question.has_score else []), *(["correction"] if question.has_correction else [])]
    keys = [key for key, value in raw.items() if key not in asked and value not in _NOTHING]
    for error in raw["errors"]:
        names = _Error.__struct_fields__ if isinstance(error, dict) else ()
        keys += [f"errors.{key}" for key, value in error.items() if key not in names and value not in _NOTHING]
    return Counter(keys)


def read_errors(text: str) -> list[dict[str, Any]]:
    """Returns the errors of an answer, with the keys `text`, `quote`, `occurrence` and `severity`.

    Raises:
        AnswerError: if the answer does not have the requested form.
    """
    names = ("text", "quote", "occurrence", "severity")
    errors = [replace(error, quote=_writable(error.quote) or "") for error in _parse(text)[0].errors]
    return [{name: getattr(error, name) for name in names} for error in dict.fromkeys(errors)]


def read_score(text: str) -> Estimate:
    """Returns the score of an answer that has nothing else.

    Raises:
        AnswerError: if it has none from 0 to 100.
    """
    answer, _ = _last(text, "score", _Score)
    return _estimate(answer.score)


def read_better(text: str) -> _Better:
    """Returns which of two translations an answer prefers, and why.

    Raises:
        AnswerError: if it names none of them, nor a tie.
    """
    return _last(text, "better", _Better)[0]


def _estimate(score: float | None) -> Estimate:
    if score is None or not 0 <= score <= 100:
        raise AnswerError(f"score is {score}: must be a number from 0 to 100")
    return Estimate(score, "esa")


def _writable(text: str | None) -> str | None:
    """Returns a text without halves of surrogate pairs, which JSON can escape, but no file hold."""
    return text and text.encode(errors="replace").decode()


def _placed(
    error: _Error, severity: Severity, category: str | None, segment: Segment, prompt: Prompt, counts: QuoteCounts
) -> tuple[AnyError, bool]:
    """Returns an error with the place of its quote, if it has one, and whether that is in the source."""
    reason = _writable(error.reason) or None
    correction = _writable(error.correction)
    if category == NON_TRANSLATION:
        return UnplacedError(severity, category, reason=reason), False
    counts.n_quotes += 1
    is_elsewhere = error.text != "translation"
    place = None if is_elsewhere else _place(segment.hypothesis, error, counts)
    if place is not None:
        return ErrorSpan(*place, severity, category, reason=reason, correction=correction), False
    context = prompt.context
    if is_elsewhere:
        context = "source" if error.text == "source" else "reference"
    if is_elsewhere or category == OMISSION:
        place = _place((segment.source if context == "source" else segment.references[0]) or "", error, counts)
    if place is None:
        counts.kinds[MISSING] += 1
        return UnplacedError(severity, category, words=_writable(error.quote) or None, reason=reason), False
    if category in (OMISSION, None) or context == "reference":
        number = None if context == "source" else 0
        return Omission(context, number, *place, severity, category or OMISSION, reason=reason), False
    return ErrorSpan(*place, severity, category, reason=reason, correction=correction), True


def of_blank(segment: Segment, question: Question, *, rater: str) -> Rating:
    """Returns the rating of a blank translation, which is made without a request to the language model."""
    unplaced = (mqm.NON_TRANSLATION,) if mqm.is_untranslated(segment) else ()
    estimate = Estimate(0.0 if unplaced else 100.0, "esa") if question.prompt == "esa" else None
    return Rating(segment, rater, (), unplaced=unplaced, estimate=estimate)


def _parse(text: str) -> tuple[_Answer, dict[str, Any]]:
    """Returns an answer, as a type and as it was; one without errors must not list objects under another key."""
    answer, raw = _last(text, "errors", _Answer)
    for key, value in raw.items() if not answer.errors else ():
        if isinstance(value, list) and any(isinstance(item, dict) for item in value):
            raise AnswerError(f"no `errors`, but objects in {shortened(key)}: all errors must be in `errors`")
    for error in answer.errors:
        if error.quote is None and None in (error.start, error.end):
            raise AnswerError("an error without a quote; it must be the requested JSON")
    return answer, raw


def _last(text: str, key: str, kind: type[_AnswerT]) -> tuple[_AnswerT, dict[str, Any]]:
    """Returns the last JSON object with a key in a text, as a type and as it was.

    Models may think aloud before it, or fence it. What they try out on the way is no answer, even where the last object
    is faulty or cut off.
    """
    values = [*plain_values.json_values(text, lambda value: isinstance(value, dict) and key in value)]
    last = values[-1] if values else None
    rest = text if last is None else text[last[1] :]
    if last is None or re.search(rf'"{key}"\s*:', rest):
        raise AnswerError(f"no JSON object with `{key}` in {shortened(rest.strip())}; it must be the requested JSON")
    try:
        return plain_values.convert(last[0], kind), last[0]
    except InputError as error:
        raise AnswerError(f"{error}; it must be the requested JSON") from None


def _text_name(name: str, segment: Segment) -> str:
    """Returns "translation", "source" or "reference". Raises an AnswerError for a text that the prompt did not show."""
    has_text = {"translation": True, "source": segment.source is not None, "reference": bool(segment.references)}
    cleaned = name.strip().casefold()
    if not has_text.get(cleaned):
        allowed = one_of([text for text, is_there in has_text.items() if is_there])
        raise AnswerError(f"text {shortened(name)}: must be {allowed}")
    return cleaned


def _severity(name: str, scheme: Scheme) -> Severity:
    """Returns a severity by its name in the scheme, or by ours."""
    named = {severity.name.casefold(): severity.severity for severity in scheme.severities}
    cleaned = name.strip()
    try:
        return named.get(cleaned.casefold()) or severities.parse(cleaned)
    except InputError as error:
        raise AnswerError(str(error)) from None


def _category(name: str | None, scheme: Scheme) -> str | None:
    """Returns a category, in the spelling of the scheme if it belongs to it."""
    if name is None or not name.strip():
        return None
    spellings = {category.casefold(): category for category in scheme.categories}
    cleaned = " ".join(name.split())
    if len(cleaned) > _LONGEST_NAME or not cleaned.isprintable():
        raise AnswerError(f"category {shortened(name)}: must be a short name")
    return spellings.get(cleaned.casefold().rstrip("!"), cleaned)


def _place(text: str, error: _Error, counts: QuoteCounts) -> tuple[int, int] | None:
    """Returns where a quote occurs in a text, None if it does not; counts quotes that are not found once, as given."""
    if error.quote is None:
        start = error.start or 0
        end = error.end or 0
        return (start, end) if 0 <= start < end <= len(text) else None
    places, is_exact = quotes.places(text, error.quote)
    counts.kinds[INEXACT] += bool(places) and not is_exact
    if not places:
        return None
    counts.kinds[AMBIGUOUS] += len(places) > 1
    return places[error.occurrence - 1 if 1 <= error.occurrence <= len(places) else 0]

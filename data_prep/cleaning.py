"""Clean ratings for training (Perrella et al. 2022, section 2.1)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from data_prep.report import Count
from matese import mqm
from matese.annotation import ErrorSpan, Overall, Rating, Severity, UnplacedError
from matese.formats.span_projection import project

_Error = TypeVar("_Error", ErrorSpan, UnplacedError)
_Text = TypeVar("_Text", str, str | None)

DROPPED_CATEGORIES = {"accuracy/omission": "Accuracy/Omission", "source error": "Source error"}
"""Categories of errors that are not in the hypothesis, by prefix, and the names under which they are counted."""


def prepare(raters: Sequence[Rating], drop: Count, count: Count) -> list[Rating]:
    """Returns the ratings of one segment with one text, their MQM score, and only the errors used for training.

    Args:
        raters: the ratings of all raters.
        drop: called with the reason for each dropped error or rating.
        count: called for each changed rating or error.
    """
    cleaned = [clean(with_score(rating), drop, count) for rating in unify_texts(raters, count)]
    return [trim(rating, count) for rating in cleaned if rating is not None]


def unify_texts(ratings: Sequence[Rating], count: Count) -> tuple[Rating, ...]:
    """Returns the ratings of one segment with the same hypothesis and source.

    The raters of a segment may have different texts because raters could edit the text they marked, and exports doubled
    some quotation marks. The most frequent text is used; among equally frequent texts, the shortest one (most edits
    were additions). The spans of the other raters are moved to their place in that text.
    """
    hypothesis = _commonest([rating.segment.hypothesis for rating in ratings])
    source = _commonest([rating.segment.source for rating in ratings])
    unified = []
    for rating in ratings:
        if (rating.segment.hypothesis, rating.segment.source) != (hypothesis, source):
            count("rating moved to the text of the other raters")
            rating = _move(rating, hypothesis, source, count)
        unified.append(rating)
    return tuple(unified)


def undouble_quotes(text: str) -> str:
    r"""Returns a text without the doubled quotation marks of a CSV field that was read as plain text.

    >>> undouble_quotes('"He said ""no""."'), undouble_quotes('""Late Night"" host'), undouble_quotes('5" and 7""')
    ('He said "no".', '"Late Night" host', '5" and 7""')
    """
    if '""' not in text:
        return text
    # A quoted field has a quotation mark at both ends, and those between them are doubled.
    inner = text[1:-1] if len(text) > 2 and text[0] == text[-1] == '"' else text
    for candidate in (inner, text):
        if '"' not in candidate.replace('""', ""):
            return candidate.replace('""', '"')
    return text


def with_plain_quotes(rating: Rating, count: Count) -> Rating:
    """Returns the rating without doubled quotation marks in its texts; the offsets of the spans count both marks."""
    segment = rating.segment
    hypothesis = undouble_quotes(segment.hypothesis)
    source = None if segment.source is None else undouble_quotes(segment.source)
    if (hypothesis, source) == (segment.hypothesis, segment.source):
        return rating
    count("doubled quotation marks undone")
    return _move(rating, hypothesis, source, count)


def trim(rating: Rating, count: Count) -> Rating:
    """Returns the rating without white space at the ends of its spans, as in predictions.

    Two spans that share only a space then no longer overlap. A span of only white space has no token to tag and becomes
    an error without a place.
    """
    errors, lost = _trimmed(rating.errors or (), rating.segment.hypothesis, count)
    source_errors, lost_source = _trimmed(rating.source_errors, rating.segment.source or "", count)
    return replace(
        rating,
        errors=None if rating.errors is None else errors,
        source_errors=source_errors,
        unplaced=(*rating.unplaced, *lost, *lost_source),
    )


def _trimmed(
    spans: Sequence[ErrorSpan], text: str, count: Count
) -> tuple[tuple[ErrorSpan, ...], tuple[UnplacedError, ...]]:
    kept = []
    lost = []
    for span in spans:
        marked = text[span.start : span.end]
        start = span.end - len(marked.lstrip())
        end = span.start + len(marked.rstrip())
        if start >= end:
            count("error on white space only, kept without a place")
            lost.append(UnplacedError(span.severity, span.category))
            continue
        if (start, end) != (span.start, span.end):
            count("white space at the ends of a span trimmed")
        kept.append(replace(span, start=start, end=end))
    return tuple(kept), tuple(lost)


def with_score(rating: Rating) -> Rating:
    """Returns the rating with its MQM score as `overall`. Call this before errors are dropped."""
    return replace(rating, overall=Overall(mqm.score(rating), "mqm"))


def clean(rating: Rating, drop: Count, count: Count) -> Rating | None:
    """Returns the rating without errors that are not used for training; None if the whole rating is dropped.

    Accuracy/Omission, Source error and Neutral errors are dropped; Critical becomes Major. A rating with a
    Non-translation error is dropped because the segment would look error-free without that error.
    """
    errors: tuple[ErrorSpan | UnplacedError, ...] = (*(rating.errors or ()), *rating.source_errors, *rating.unplaced)
    if any((error.category or "").casefold().startswith("non-translation") for error in errors):
        drop("rating: Non-translation")
        return None
    return replace(
        rating,
        errors=None if rating.errors is None else _kept(rating.errors, drop, count),
        source_errors=_kept(rating.source_errors, drop, count),
        unplaced=_kept(rating.unplaced, drop, count),
    )


def _kept(errors: Sequence[_Error], drop: Count, count: Count) -> tuple[_Error, ...]:
    kept: list[_Error] = []
    for error in errors:
        category = (error.category or "").casefold()
        reasons: list[str] = [
            reason for beginning, reason in DROPPED_CATEGORIES.items() if category.startswith(beginning)
        ]
        if reasons or error.severity is Severity.NEUTRAL:
            drop(f"error: {(*reasons, 'Neutral')[0]}")
        elif error.severity is Severity.CRITICAL:
            count("Critical counted as Major")
            kept.append(replace(error, severity=Severity.MAJOR))
        else:
            kept.append(error)
    return tuple(kept)


def _commonest(texts: Sequence[_Text]) -> _Text:
    counts = Counter(texts)
    return min(counts, key=lambda text: (-counts[text], len(text or ""), text or ""))


def _move(rating: Rating, hypothesis: str, source: str | None, count: Count) -> Rating:
    """Returns the rating with its spans moved to another wording of its texts."""
    segment = rating.segment
    errors, lost = project(rating.errors or (), segment.hypothesis, hypothesis)
    source_errors, lost_source = project(rating.source_errors, segment.source or "", source or "")
    for _ in (*lost, *lost_source):
        count("error without a place in the unified text")
    return replace(
        rating,
        segment=replace(segment, hypothesis=hypothesis, source=source),
        errors=None if rating.errors is None else errors,
        source_errors=source_errors,
        unplaced=(*rating.unplaced, *lost, *lost_source),
    )

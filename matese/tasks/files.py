"""Ratings from a file and to a file, in any format."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import length_hint
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, cast

from matese import mqm
from matese.annotation import AnnotationError, Rating, TokenScores
from matese.errors import InputError, UsageError, shortened
from matese.render.rating_list import Ratings
from matese.tasks import notices

if TYPE_CHECKING:
    import datasets
    import pandas
    import polars

    from matese.formats.row_issues import RowIssue

    RatingsLike: TypeAlias = (
        "Iterable[Rating] | str | PathLike[str] | pandas.DataFrame | polars.DataFrame | datasets.Dataset"
    )
    """Ratings in any form: a collection of them, a file, or a table in memory."""


def read(
    path: str | PathLike[str],
    *,
    format: str | None = None,  # noqa: A002
    lang_pair: str | None = None,
    report: Callable[[RowIssue], None] | None = None,
    untranslated: bool = False,
    strict: bool = False,
) -> Ratings:
    """Returns the ratings of a file in any format that can be read.

    Faulty rows are repaired or skipped, as the commands do, and a warning of the logger "matese" counts them.

    Args:
        path: of the file; "-" is standard input.
        format: name of the format; None to detect it.
        lang_pair: of the segments ("en-de"), for formats that do not state it.
        report: is called with each row that is skipped or repaired, in place of the warning.
        untranslated: read XLIFF and PO units without a translation as blank translations, as `compare` and `gate` do.
        strict: raise a FormatError at the first faulty row.

    Raises:
        FormatError: if the format is unknown, the file has no rating or, with `strict`, a faulty row.
        OSError: if the file cannot be read.
    """
    from matese.formats import detection
    from matese.formats.format import ReadOptions
    from matese.formats.row_issues import IssueCounts

    try:
        issues = IssueCounts()
        options = ReadOptions(None if strict else report or issues, lang_pair=lang_pair, untranslated=untranslated)
        ratings = Ratings(detection.read(os.fspath(path), options, name=format))
        notices.info(*issues.messages())
        return ratings
    except FileNotFoundError:
        raise FileNotFoundError(f"{path}: no such file or directory: check the path") from None


def ratings_from_quotes(
    errors: Sequence[str | Sequence[Mapping[str, object]] | Mapping[str, object]],
    hypotheses: Sequence[str],
    *,
    sources: Sequence[str | None] | None = None,
    references: Sequence[str] | Sequence[Sequence[str]] | None = None,
    rater: str | None = None,
) -> Ratings:
    """Returns a rating for each hypothesis, of errors that quote its words, as language models report them.

    Words are found without regard to case and quotation marks where they do not stand exactly. An error whose words
    stand neither in the hypothesis nor in the source has no place. An unknown severity is undecided. The logger
    "matese" counts unknown keys and severities.

    Args:
        errors: of each hypothesis: a list of objects such as {"span": "Haus", "severity": "Minor"}, with a reason, a
            category, a correction and a confidence if known; an object that has it as `errors`; or a text with such
            JSON, fenced or not.
        hypotheses: the translations.
        sources: one for each hypothesis.
        references: one for each hypothesis, or a list of several for each.
        rater: who reported the errors.

    Raises:
        InputError: if a value is no list of such errors; it names the number of the hypothesis, from 0.

    >>> (rating,) = ratings_from_quotes(['[{"span": "haus", "severity": "Minor"}]'], ["Das Haus"])
    >>> rating.errors[0].start, rating.errors[0].end, rating.errors[0].severity.value
    (4, 8, 'minor')
    """
    from matese.formats import quotes
    from matese.formats.segments import of_texts

    segments = of_texts(hypotheses, references, sources)
    if isinstance(errors, str) or length_hint(errors) != len(segments):
        raise UsageError(f"errors: must be a list for each of the {len(segments)} hypotheses")
    ratings = Ratings()
    ignored: Counter[str] = Counter()
    for number, (reported, segment) in enumerate(zip(errors, segments, strict=True)):
        try:
            value = _last_errors(reported) if isinstance(reported, str) else reported
            listed_errors = value.get("errors") if isinstance(value, Mapping) else value
            if isinstance(listed_errors, str) or not isinstance(listed_errors, Sequence):
                raise UsageError(f"{shortened(value)}: must be a list of errors")
            ratings.append(quotes.rating(listed_errors, segment, rater, lambda problem, _: ignored.update([problem])))
        except (InputError, AnnotationError) as error:
            raise InputError(f"hypothesis {number}: {error}") from None
    if ignored:
        notices.info(", ".join(f"{problem} ({n:,})" for problem, n in ignored.most_common()))
    return ratings


def _last_errors(text: str) -> object:
    """Returns the last list of errors, or object with such a list, in a text; models fence it or write around it."""
    from matese.validation import plain_values

    def holds_errors(value: object) -> bool:
        errors = value.get("errors") if isinstance(value, dict) else value
        return isinstance(errors, list) and all(isinstance(error, dict) for error in errors)

    values = [value for value, _ in plain_values.json_values(text, holds_errors, starts="{[")]
    return values[-1] if values else plain_values.from_json(text, object)


def is_frame(value: object) -> bool:
    """Whether this is a table of pandas, polars or datasets."""
    from matese.formats.tables import frames

    return frames.is_frame(value)


def listed(ratings: RatingsLike, name: str = "ratings") -> Ratings:
    """Returns ratings as a list: of a file, of a table of pandas, polars or datasets, or of any other collection.

    Args:
        ratings: in one of these forms.
        name: of the argument, for messages.

    Raises:
        UsageError: if they are something else.
        InputError: if the file or table cannot be read.
    """
    if isinstance(ratings, Ratings):
        return ratings
    if isinstance(ratings, str | PathLike):
        return read(ratings)
    if is_frame(ratings):
        return Ratings.from_frame(ratings)
    if not isinstance(ratings, Iterable):
        raise UsageError(f"{name} is a {type(ratings).__name__}: must be a file, a table or a list of ratings")
    collected = Ratings(cast("Iterable[Rating]", ratings))
    if not_ratings := [value for value in collected if not isinstance(value, Rating)]:
        raise UsageError(f"{name} holds {shortened(not_ratings[0])}: must be ratings")
    return collected


def read_tokens(path: str | PathLike[str]) -> list[TokenScores | None] | None:
    """Returns the token scores of each rating of a JSONL file; None if there are none, or it can be read only once.

    Raises:
        FormatError: if token scores are not as their format says.
    """
    from matese.formats import detection
    from matese.formats.tables import jsonl

    if not Path(path).is_file() or detection.detect(str(path)) != "jsonl":
        return None
    tokens = list(jsonl.read_tokens(str(path)))
    return tokens if any(scores is not None for scores in tokens) else None


def write(
    ratings: RatingsLike,
    path: str | PathLike[str],
    *,
    format: str | None = None,  # noqa: A002
    weights: mqm.AnyWeights = "matese",
    template: str | PathLike[str] | None = None,
    strict: bool = False,
) -> Counter[str]:
    """Writes ratings in a format, as a whole or not at all; returns how often something was lost, by kind.

    Args:
        ratings: what is written; a collection, a file or a table of ratings.
        path: of the file; formats that are folders need a new or empty one.
        format: name of the format, as `matese convert --help-all` lists them; None for the format that the path ends
            in.
        weights: penalties for the scores in the file, or the name of a preset.
        template: XLIFF, PO and XLSX only: the file that the texts come from.
        strict: raise an InputError if the format cannot hold everything.

    Raises:
        InputError: if the ratings cannot be written in this format or to this place.
        OSError: if the file cannot be written.

    >>> import tempfile
    >>> from matese import ErrorSpan, Segment, Severity
    >>> rating = Rating(Segment("Das Haus", "The house"), "anna", (ErrorSpan(4, 8, Severity.MAJOR, confidence=0.5),))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write([rating], f"{folder}/spans.txt", format="doccano")["confidences"]
    1
    """
    from matese.formats import writing

    is_held_elsewhere = isinstance(ratings, str | PathLike) or is_frame(ratings)
    collected = listed(ratings) if is_held_elsewhere else cast("Iterable[Rating]", ratings)
    return writing.write_as(collected, path, format=format, weights=weights, template=template, strict=strict)

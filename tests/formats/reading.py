"""What a reader makes of a file, in short: a line for each rating, and a line for each issue."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from matese.annotation import ErrorSpan, Omission, Rating, UnplacedError
from matese.errors import FormatError
from matese.formats import detection
from matese.formats.format import ReadOptions
from matese.formats.row_issues import RowIssue


def read(path: Path, form: str | None = None, **options: Any) -> tuple[list[Rating], list[str]]:
    """Reads a file twice: the issues that one reading reports are the error of the other, which is strict.

    Returns:
        the ratings, and the issues as "line: kind, reason"; "!" stands before the one that strict reading refuses.
    """
    issues: list[RowIssue] = []
    ratings = list(detection.read(path, ReadOptions(issues.append, **options), name=form))
    notes = [f"{issue.line}: {issue.kind}, {issue.reason}" for issue in issues]
    try:
        again = list(detection.read(path, ReadOptions(**options), name=form))
    except FormatError as error:
        (refused, *_) = [n for n, issue in enumerate(issues) if issue.line == error.line and issue.reason in str(error)]
        notes[refused] = f"!{notes[refused]}"
    else:
        assert again == ratings
    return ratings, notes


def shown(path: Path, form: str | None = None, **options: Any) -> tuple[list[str], list[str]]:
    """Reads as `read` does, and returns each rating as "rater: hypothesis | errors"."""
    ratings, notes = read(path, form, **options)
    return [f"{rating.rater}: {rating.segment.hypothesis} | {marks(rating)}" for rating in ratings], notes


def marks(rating: Rating) -> str:
    """The errors of a rating: "0-3 major Style, source 2-4 minor, missing source 0-1 minor, - major" (no place)."""
    if rating.errors is None:
        return "no spans"
    return ", ".join(
        [
            *map(_span, rating.errors),
            *(f"source {_span(error)}" for error in rating.source_errors),
            *(
                f"missing {omission.text}{'' if omission.reference is None else omission.reference} {_span(omission)}"
                for omission in rating.omissions
            ),
            *(f"- {_kind(error)}" for error in rating.unplaced),
        ]
    )


def _span(error: ErrorSpan | Omission) -> str:
    confidence = "" if error.confidence is None else f" {error.confidence}"
    return f"{error.start}-{error.end} {_kind(error)}{confidence}"


def _kind(error: ErrorSpan | Omission | UnplacedError) -> str:
    severity = "undecided" if error.severity is None else error.severity.value
    return severity if error.category is None else f"{severity} {error.category}"

"""Rows that a reader skips or repairs: each is a `RowIssue`, which strict reading turns into an error."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, TypeVar

from matese.annotation import AnnotationError
from matese.errors import FormatError, InputError, counted, one_of
from matese.files import name_of, read_lines

T = TypeVar("T")
IssueKind = Literal["skipped", "repaired", "ignored", "assumed"]
_ADVICE = {
    "skipped": "matese convert skips such rows",
    "repaired": "matese convert repairs such rows",
    "ignored": "matese convert ignores such annotations",
    "assumed": "matese convert assumes that",
}


@dataclass(frozen=True, slots=True)
class RowIssue:
    """A row that does not follow its format.

    Attributes:
        kind: "skipped": the row yields no rating; "repaired": it yields one that differs from what is written;
            "ignored": an annotation of the row is not understood, so that its rating lacks it; "assumed": the file
            leaves something open, and the reason says what is assumed.
        reason: a short text, the same for all rows with the same issue, so that they can be counted.
        path: the file, as it was given.
        line: counted from 1; 0 for any.
        allowed: what must be there instead, if that is known.
    """

    kind: IssueKind
    reason: str
    path: str
    line: int
    allowed: str | None = field(default=None, compare=False)


class UnusableRowError(InputError):
    """A row that yields no rating: its reason, and what is allowed; for `RowIssues.skip`."""

    def __init__(self, reason: str, allowed: str | None) -> None:
        super().__init__(reason, allowed)


@dataclass(frozen=True, slots=True)
class IssueCounts:
    """Counts issues by file, kind and reason; to be called with each issue, as `ReadOptions.report` is."""

    _counts: Counter[RowIssue] = field(default_factory=Counter)
    _first_lines: dict[RowIssue, int] = field(default_factory=dict)

    def __call__(self, issue: RowIssue) -> None:
        """Counts an issue."""
        kind = replace(issue, line=0)
        self._counts[kind] += 1
        self._first_lines.setdefault(kind, issue.line)

    def messages(self) -> Iterator[str]:
        """Yields one sentence for each kind of issue, the most frequent first.

        >>> counts = IssueCounts()
        >>> counts(RowIssue("skipped", "unknown severity", "ted.tsv", 7))
        >>> list(counts.messages())
        ['ted.tsv: 1 row skipped: unknown severity (line 7)']
        """
        for issue, n in self._counts.most_common():
            if issue.kind == "assumed":
                yield f"{issue.path}: {issue.reason}"
                continue
            line = self._first_lines[issue]
            place = f" ({'first: ' if n > 1 else ''}line {line})" if line else ""
            noun = "annotation" if issue.kind == "ignored" else "row"
            yield f"{issue.path}: {counted(n, noun)} {issue.kind}: {issue.reason}{place}"


@dataclass(frozen=True, slots=True)
class RowIssues:
    """Reports the issues of one row, or raises a FormatError if its file is read strictly.

    Attributes:
        path: the file, as it was given.
        report: called with each issue; None to read strictly.
        line: of the row, from 1.
    """

    path: str
    report: Callable[[RowIssue], None] | None
    line: int

    def skip(self, reason: str, allowed: str | None) -> None:
        """Reports that the row is skipped; strict reading accepts that if `allowed` is None."""
        self._handle("skipped", reason, allowed)

    def repair(self, reason: str, allowed: str | None) -> None:
        """Reports that the row is read differently from what is written; strict reading as in `skip`."""
        self._handle("repaired", reason, allowed)

    def ignore(self, reason: str, allowed: str | None) -> None:
        """Reports an annotation that is not understood: a region, label, note or state; strict reading as in `skip`.

        The caller must not make the rating free of errors because of it: without any other error, `Rating.errors` is
        None.
        """
        self._handle("ignored", reason, allowed)

    def ignore_unknown(self, keys: Iterable[str], known_keys: Sequence[str], of: str = "an error") -> bool:
        """Reports the keys of an annotation that are not known, and returns whether there are any."""
        unknown = [key for key in keys if key not in known_keys]
        for key in unknown:
            self.ignore(f"unknown key {key!r} of {of}", f"must be {one_of(known_keys)}")
        return bool(unknown)

    def assume(self, reason: str) -> None:
        """Reports what is assumed about a file; strict reading accepts that."""
        self._handle("assumed", reason, None)

    def _handle(self, kind: IssueKind, reason: str, allowed: str | None) -> None:
        if self.report is not None:
            self.report(RowIssue(kind, reason, self.path, self.line, allowed))
        elif allowed is not None:
            message = f"{reason}: {allowed}; {_ADVICE[kind]}, and so does matese.read with report="
            raise FormatError(self.path, self.line, message)


@contextlib.contextmanager
def located(path: str | Path, line: int | None) -> Iterator[None]:
    """Adds file and line to the body's errors about values that a rating cannot have."""
    try:
        yield
    except FormatError:
        raise
    except (InputError, AnnotationError) as error:
        raise FormatError(name_of(path), line, str(error)) from None


def parse_lines(path: str | Path, parse: Callable[[str], T]) -> Iterator[T]:
    """Yields what `parse` makes of each line of a text file; its errors get file and line."""
    for number, line in enumerate(read_lines(path), start=1):
        try:
            yield parse(line)
        except (InputError, AnnotationError) as error:  # quicker than `located`, for many lines
            raise FormatError(name_of(path), number, str(error)) from None

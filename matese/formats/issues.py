"""Rows that a reader skips or repairs: each is a `RowIssue`, which strict reading turns into an error."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from matese.annotation import AnnotationError
from matese.errors import FormatError, InputError
from matese.files import name_of


@dataclass(frozen=True, slots=True)
class RowIssue:
    """A row that does not follow its format.

    Attributes:
        kind: "skipped": the row yields no rating; "repaired": it yields one that differs from what is written.
        reason: a short text, the same for all rows with the same issue, so that they can be counted.
        path: the file, as it was given.
        line: counted from 1; 0 for any.
    """

    kind: Literal["skipped", "repaired"]
    reason: str
    path: str
    line: int


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
            place = f"{'first: ' if n > 1 else ''}line {self._first_lines[issue]}"
            yield f"{issue.path}: {n:,} row{'s' * (n != 1)} {issue.kind}: {issue.reason} ({place})"


@dataclass(frozen=True, slots=True)
class IssueHandler:
    """Reports the issues of one file, or raises a FormatError if the file is read strictly.

    Attributes:
        path: the file, as it was given.
        report: called with each issue; None to read strictly.
    """

    path: str
    report: Callable[[RowIssue], None] | None

    def skip(self, line: int, reason: str, allowed: str) -> None:
        """Reports that a row is skipped.

        Raises:
            FormatError: in strict reading, with `reason` and what is `allowed`.
        """
        self._handle(RowIssue("skipped", reason, self.path, line), allowed)

    def repair(self, line: int, reason: str, allowed: str) -> None:
        """Reports that a row is read in part, or differently from what is written.

        Raises:
            FormatError: in strict reading, with `reason` and what is `allowed`.
        """
        self._handle(RowIssue("repaired", reason, self.path, line), allowed)

    def leave_out(self, line: int, reason: str) -> None:
        """Reports a correct row that is left out; strict reading accepts it, too."""
        if self.report is not None:
            self.report(RowIssue("skipped", reason, self.path, line))

    def repair_on_request(self, line: int, reason: str) -> None:
        """Reports a repair that an option of the reader asks for; it is no error in strict reading."""
        if self.report is not None:
            self.report(RowIssue("repaired", reason, self.path, line))

    def _handle(self, issue: RowIssue, allowed: str) -> None:
        if self.report is None:
            done = "skips" if issue.kind == "skipped" else "repairs"
            todo = f"matese convert {done} such rows, and so does matese.read with report="
            raise FormatError(issue.path, issue.line, f"{issue.reason}: {allowed}; {todo}")
        self.report(issue)


@contextlib.contextmanager
def located(path: str | Path, line: int | None) -> Iterator[None]:
    """Adds file and line to the body's errors about values that a rating cannot have."""
    try:
        yield
    except FormatError:
        raise
    except (InputError, AnnotationError) as error:
        raise FormatError(name_of(path), line, str(error)) from None

"""Counts of the prepared data, as JSON and as tables for the terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, field
from functools import partial
from typing import Literal

from rich.console import Console
from rich.table import Table

from matese.annotation import Rating, Severity
from matese.formats.row_issues import IssueKind

Count = Callable[[str], None]
"""Counts a reason."""
Kind = IssueKind | Literal["dropped"]
"""Fate of a row: as readers report it, or dropped (left out on purpose)."""
Name = tuple[str, str]
"""Test set and language pair."""


@dataclass(frozen=True, slots=True)
class Tally:
    """Counts of skipped, repaired and dropped rows and errors, by data set, kind and reason."""

    counts: Counter[tuple[str, Kind, str]] = field(default_factory=Counter)

    def add(self, data_set: str, kind: Kind, reason: str) -> None:
        """Counts one row or error."""
        self.counts[data_set, kind, reason] += 1

    def counter(self, data_set: str, kind: Kind) -> Count:
        """Returns a function that counts a reason."""
        return partial(self.add, data_set, kind)


@dataclass(frozen=True, slots=True)
class Counts:
    """Counts of some ratings: one for each segment if raters were merged, with their error spans."""

    segments: int
    with_references: int
    minor: int
    major: int

    @classmethod
    def of(cls, ratings: Sequence[Rating]) -> Counts:
        """Returns the counts of some ratings."""
        spans = Counter(span.severity for rating in ratings for span in rating.errors or ())
        n_with = sum(bool(rating.segment.references) for rating in ratings)
        return cls(len(ratings), n_with, spans[Severity.MINOR], spans[Severity.MAJOR])


@dataclass(frozen=True, slots=True)
class Report:
    """Report of a command: its settings, and counts of the ratings and held-out texts in each file that it wrote."""

    files: Mapping[str, Mapping[Name, Counts]]
    tally: Tally
    settings: Mapping[str, object] = field(default_factory=dict)
    held_out: Mapping[str, int] = field(default_factory=dict)

    def to_json(self) -> dict[str, object]:
        """Returns the report as a JSON object."""
        return {
            "settings": dict(self.settings),
            "held_out_texts": dict(self.held_out),
            "files": [
                {"file": file, "test_set": test_set, "lang_pair": lang_pair, **asdict(counts)}
                for file, by_set in self.files.items()
                for (test_set, lang_pair), counts in by_set.items()
            ],
            "faults": [
                {"data_set": data_set, "kind": kind, "reason": reason, "count": number}
                for (data_set, kind, reason), number in sorted(self.tally.counts.items())
            ],
        }

    def show(self, console: Console) -> None:
        """Prints the report as tables."""
        for table in (self._segments(), self._faults()):
            console.print(table)

    def _segments(self) -> Table:
        table = _table("Segments and error spans", ["data set"], ["segments", "with reference", "Minor", "Major"])
        for file, by_set in self.files.items():
            totals = [sum(column) for column in zip(*map(astuple, by_set.values()), strict=True)]
            table.add_row(file, *(f"{number:,}" for number in totals), style="bold", end_section=not by_set)
            for name, counts in by_set.items():
                numbers = (f"{number:,}" for number in astuple(counts))
                table.add_row(f"  {' '.join(name)}", *numbers, end_section=name == [*by_set][-1])
        return table

    def _faults(self) -> Table:
        table = _table("Skipped, repaired and dropped rows and errors", ["data set", "", "reason"], ["count"])
        for (data_set, kind, reason), number in sorted(self.tally.counts.items()):
            table.add_row(data_set, kind, reason, f"{number:,}")
        return table


def _table(title: str, texts: Iterable[str], numbers: Iterable[str]) -> Table:
    table = Table(*texts, title=title)
    for name in numbers:
        table.add_column(name, justify="right", min_width=4)
    return table

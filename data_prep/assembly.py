"""Turn a file of ratings into training data: repaired, cleaned, merged, and with references."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import partial

from data_prep import cleaning, datasets, references
from data_prep.cleaning import Merge
from data_prep.datasets import DataSet
from data_prep.report import Count, Tally
from data_prep.store import Store
from matese.annotation import Rating, SegmentKey
from matese.formats.format import renumbered
from matese.formats.row_issues import RowIssue
from matese.preparation import normalise


def load(data_set: DataSet, store: Store, *, merge: Merge, seed: int, tally: Tally) -> tuple[Rating, ...]:
    """Returns the ratings of one file as training data, in the order of the file.

    The seed decides between overlapping spans, for each segment on its own.

    Raises:
        InputError: if a file is not in its format, or a reference file is not parallel to its sources.
        OSError: if a file cannot be read.
    """

    def report(issue: RowIssue) -> None:
        tally.add(data_set.name, issue.kind, issue.reason)

    repaired = tally.counter(data_set.name, "repaired")
    dropped = tally.counter(data_set.name, "dropped")
    ratings: list[Rating] = []
    raw = (_with_plain_quotes(rating, data_set, repaired) for rating in datasets.read(data_set, store, report))
    for raters in _by_segment(raw):
        ratings += cleaning.prepare(raters, dropped, repaired, seed=partial(_seed, data_set, seed), merge=merge)
    translations = references.collect(data_set, ratings, store)
    return tuple(references.with_references(rating, translations) for rating in ratings)


def _with_plain_quotes(rating: Rating, data_set: DataSet, count: Count) -> Rating:
    return cleaning.with_plain_quotes(rating, count) if data_set.doubled_quotes else rating


def _by_segment(ratings: Iterable[Rating]) -> Iterator[Sequence[Rating]]:
    """Yields the ratings of each segment; the source is part of its key because some numbers are used twice."""
    segments: dict[tuple[SegmentKey | None, str], list[Rating]] = defaultdict(list)
    for rating in ratings:
        segments[rating.segment.key, normalise(rating.segment.source or "")].append(rating)
    yield from segments.values()


def _seed(data_set: DataSet, seed: int, rating: Rating) -> str:
    # The number in the file is part of the seed, so that the training data of the released models do not change.
    segment = renumbered(rating, data_set.start).segment
    return f"merge|{seed}|{segment.key}|{segment.source}"

"""Contents of a set of ratings: counts, names, and whether spans begin and end at word boundaries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from matese import text as texts
from matese.annotation import ErrorSpan, Rating

NAMES = ("test sets", "language pairs", "systems", "raters")


@dataclass
class FileSummary:
    """Counts of a set of ratings.

    Attributes:
        n_ratings: in all.
        n_error_free: ratings of spans without any error.
        n_without_spans: ratings whose spans were not annotated.
        n_overall: ratings with a judgement of the whole segment.
        n_spans: errors in hypotheses.
        n_on_words: spans that begin and end at word boundaries.
        n_overlapping: spans that overlap the previous one.
        n_source_errors: errors in sources.
        n_omissions: words of sources and references that hypotheses lack.
        n_unplaced: errors without a place.
        segments: hashes of the segments, since their texts might not fit in memory.
        severities: number of errors of each severity.
        categories: number of errors of each category.
        names: number of ratings of each test set, language pair, system and rater, by `NAMES`.
    """

    n_ratings: int = 0
    n_error_free: int = 0
    n_without_spans: int = 0
    n_overall: int = 0
    n_spans: int = 0
    n_on_words: int = 0
    n_overlapping: int = 0
    n_source_errors: int = 0
    n_omissions: int = 0
    n_unplaced: int = 0
    segments: set[int] = field(default_factory=set)
    severities: Counter[str] = field(default_factory=Counter)
    categories: Counter[str] = field(default_factory=Counter)
    names: Mapping[str, Counter[str]] = field(default_factory=lambda: {name: Counter() for name in NAMES})

    def add(self, rating: Rating) -> None:
        """Counts a rating."""
        spans, text, key = rating.errors or (), rating.segment.hypothesis, rating.segment.key
        self.n_ratings += 1
        self.n_without_spans += rating.errors is None
        self.n_error_free += rating.errors is not None and not rating.all_errors
        self.n_overall += rating.overall is not None
        # Raters may have typed into the text of a segment with a key.
        self.segments.add(hash((key, text if key is None or key.index is None else None)))
        self.n_spans += len(spans)
        words = texts.words(text) if spans else ()
        self.n_on_words += sum(_is_on_words(span, words) for span in spans)
        self.n_overlapping += sum(one.end > other.start for one, other in pairwise(spans))
        self.n_source_errors += len(rating.source_errors)
        self.n_omissions += len(rating.omissions)
        self.n_unplaced += len(rating.unplaced)
        for error in rating.all_errors:
            self.severities["undecided" if error.severity is None else error.severity.value] += 1
            self.categories[error.category or "none"] += 1
        places = (None, None, None) if key is None else (key.test_set, key.lang_pair, key.system)
        for name, counts in zip((*places, rating.rater), self.names.values(), strict=True):
            if name is not None:
                counts[name] += 1


def summarise(ratings: Iterable[Rating]) -> FileSummary:
    """Returns the counts of some ratings, read once."""
    found = FileSummary()
    for rating in ratings:
        found.add(rating)
    return found


def _is_on_words(span: ErrorSpan, words: Sequence[tuple[int, int]]) -> bool:
    """Whether a span neither begins nor ends within a word.

    >>> _is_on_words(ErrorSpan(4, 8, None), [(0, 3), (4, 8)]), _is_on_words(ErrorSpan(4, 7, None), [(0, 3), (4, 8)])
    (True, False)
    """
    return not any(start < edge < end for start, end in words for edge in (span.start, span.end))

"""The contents of a file of ratings for a reader: counts, names, and whether spans begin and end at word boundaries."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from matese.annotation import ErrorSpan, Rating, Severity, severities
from matese.text.words import word_ranges

_MOST_NAMES = 10


def rows(form: str, ratings: Iterable[Rating]) -> Iterator[tuple[str, str]]:
    """Yields labels and values; `form` is the format of the file. The ratings are read once and not kept."""
    counts = Counter[str]()
    by_severity = Counter[Severity | None]()
    categories = Counter[str]()
    names = {name: Counter[str]() for name in ("test sets", "language pairs", "systems", "raters")}
    segments: set[int] = set()  # hashes, since the texts might not fit in memory
    for rating in ratings:
        key = rating.segment.key
        for label, n in _counts(rating).items():
            counts[label] += n
        # Raters may have typed into the text of a segment with a key.
        segments.add(hash((key, rating.segment.hypothesis if key is None or key.index is None else None)))
        for error in rating.all_errors:
            by_severity[error.severity] += 1
            categories[error.category or "none"] += 1
        places = (None, None, None) if key is None else (key.test_set, key.lang_pair, key.system)
        for name, counter in zip((*places, rating.rater), names.values(), strict=True):
            if name is not None:
                counter[name] += 1
    yield "format", form
    for label, n in counts.items():
        is_share = label == "spans on words"
        share = f"{n / counts['spans']:.1%}" if counts["spans"] else "-"
        yield label, share if is_share else f"{n:,}"
        if label == "ratings":
            yield "segments", f"{len(segments):,}"
    found = [f"{severities.name(one)} {by_severity[one]:,}" for one in severities.EVERY if by_severity[one]]
    yield "severities", ", ".join(found) or "-"
    for label, counter in {"categories": categories, **names}.items():
        yield label, _most_common(counter)


def _counts(rating: Rating) -> dict[str, int]:
    spans = rating.errors or ()
    words = word_ranges(rating.segment.hypothesis) if spans else ()
    return {
        "ratings": 1,
        "free of errors": rating.errors is not None and not rating.all_errors,
        "ratings without spans": rating.errors is None,
        "overall judgements": rating.overall is not None,
        "spans": len(spans),
        "spans on words": sum(_is_on_words(span, words) for span in spans),
        "spans that overlap": sum(span.end > following.start for span, following in pairwise(spans)),
        "errors in the source": len(rating.source_errors),
        "omissions": len(rating.omissions),
        "errors without a place": len(rating.unplaced),
    }


def _is_on_words(span: ErrorSpan, words: Sequence[tuple[int, int]]) -> bool:
    """Whether a span neither begins nor ends within a word.

    >>> _is_on_words(ErrorSpan(4, 8, None), [(0, 3), (4, 8)]), _is_on_words(ErrorSpan(4, 7, None), [(0, 3), (4, 8)])
    (True, False)
    """
    return not any(_is_within_word(edge, words) for edge in (span.start, span.end))


def _is_within_word(edge: int, words: Sequence[tuple[int, int]]) -> bool:
    """Whether a word, of which there are many in order, begins before an edge and ends after it."""
    place = bisect_left(words, (edge,))
    return place > 0 and edge < words[place - 1][1]


def _most_common(counts: Counter[str]) -> str:
    """Returns names and counts, the most frequent first."""
    names = ", ".join(f"{name} {count:,}" for name, count in counts.most_common(_MOST_NAMES))
    n_more = len(counts) - _MOST_NAMES
    return f"{names} and {n_more:,} more" if n_more > 0 else names or "-"

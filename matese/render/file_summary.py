"""The contents of a file of ratings for a reader: counts, names, and whether spans begin and end at word boundaries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import pairwise

from matese.annotation import ErrorSpan, Rating, Segment, SegmentKey, Severity, severities
from matese.text.words import is_within_word

_MOST_NAMES = 10
_NO_KEY = SegmentKey()
_NOTHING = Rating(Segment(""), None, ())


def rows(form: str, ratings: Iterable[Rating]) -> Iterator[tuple[str, str]]:
    """Yields labels and values; `form` is the format of the file. The ratings are read once and not kept."""
    counts = Counter(dict.fromkeys(_counts(_NOTHING), 0))
    by_severity = Counter[Severity | None]()
    categories = Counter[str | None]()
    names = {name: Counter[str | None]() for name in ("test sets", "language pairs", "systems", "raters")}
    test_sets, lang_pairs, systems, raters = names.values()
    segments: set[int] = set()  # hashes, since the texts might not fit in memory
    for rating in ratings:
        counts.update(_counts(rating))
        for error in rating.all_errors:
            by_severity[error.severity] += 1
            categories[error.category or "none"] += 1
        key = rating.segment.key or _NO_KEY
        # Raters may have typed into the text of a segment with a key.
        segments.add(hash((key, rating.segment.hypothesis if key.index is None else None)))
        test_sets[key.test_set] += 1
        lang_pairs[key.lang_pair] += 1
        systems[key.system] += 1
        raters[rating.rater] += 1
    yield "format", form
    for label, n in counts.items():
        is_share = label == "spans on words"
        share = f"{n / counts['spans']:.1%}" if counts["spans"] else "-"
        yield label, share if is_share else f"{n:,}"
        if label == "ratings":
            yield "segments", f"{len(segments):,}"
    of_severities = [
        f"{severities.name(severity)} {by_severity[severity]:,}"
        for severity in severities.EVERY
        if by_severity[severity]
    ]
    yield "severities", ", ".join(of_severities) or "-"
    for label, counter in {"categories": categories, **names}.items():
        yield label, _most_common(counter)


def _counts(rating: Rating) -> dict[str, int]:
    """Returns what a rating adds to the counts, by label."""
    spans = rating.errors or ()
    text = rating.segment.hypothesis
    return {
        "ratings": 1,
        "free of errors": rating.errors is not None and not rating.all_errors,
        "ratings without spans": rating.errors is None,
        "overall judgements": rating.overall is not None,
        "spans": len(spans),
        "spans on words": sum(_is_on_words(span, text) for span in spans),
        "spans that overlap": sum(span.end > following.start for span, following in pairwise(spans)),
        "errors in the source": len(rating.source_errors),
        "omissions": len(rating.omissions),
        "errors without a place": len(rating.unplaced),
    }


def _is_on_words(span: ErrorSpan, text: str) -> bool:
    """Whether a span neither begins nor ends within a word.

    >>> _is_on_words(ErrorSpan(4, 8, None), "Das Haus"), _is_on_words(ErrorSpan(4, 7, None), "Das Haus")
    (True, False)
    """
    return not (is_within_word(text, span.start) or is_within_word(text, span.end))


def _most_common(counts: Counter[str | None]) -> str:
    """Returns names and counts, the most frequent first."""
    named = [(name, count) for name, count in counts.most_common() if name is not None]
    names = ", ".join(f"{name} {count:,}" for name, count in named[:_MOST_NAMES])
    n_more = len(named) - _MOST_NAMES
    return f"{names} and {n_more:,} more" if n_more > 0 else names or "-"

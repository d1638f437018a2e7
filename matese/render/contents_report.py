"""The contents of a file of ratings as lines for a reader."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from matese.annotation import Severity
from matese.evaluation.systems.file_summary import FileSummary

_MOST_NAMES = 10


def rows(form: str, found: FileSummary) -> Iterator[tuple[str, str]]:
    """Yields labels and values; `form` is the format of the file."""
    yield "format", form
    yield "ratings", f"{found.n_ratings:,}"
    yield "segments", f"{len(found.segments):,}"
    yield "free of errors", f"{found.n_error_free:,}"
    yield "ratings without spans", f"{found.n_without_spans:,}"
    yield "overall judgements", f"{found.n_overall:,}"
    yield "spans", f"{found.n_spans:,}"
    yield "spans on words", f"{found.n_on_words / found.n_spans:.1%}" if found.n_spans else "-"
    yield "spans that overlap", f"{found.n_overlapping:,}"
    yield "errors in the source", f"{found.n_source_errors:,}"
    yield "omissions", f"{found.n_omissions:,}"
    yield "errors without a place", f"{found.n_unplaced:,}"
    order = ["undecided", *(severity.value for severity in Severity)]
    severities = [f"{one} {found.severities[one]:,}" for one in order if found.severities[one]]
    yield "severities", ", ".join(severities) or "-"
    yield "categories", _most_common(found.categories)
    for label, counts in found.names.items():
        yield label, _most_common(counts)


def _most_common(counts: Counter[str]) -> str:
    """Returns names and counts, the most frequent first."""
    names = ", ".join(f"{name} {count:,}" for name, count in counts.most_common(_MOST_NAMES))
    n_more = len(counts) - _MOST_NAMES
    return f"{names} and {n_more:,} more" if n_more > 0 else names or "-"

"""`matese info`: what is in a file of ratings, and whether its offsets look as if they counted what they must."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise

from matese.annotation import ErrorSpan, Rating, Severity, UnplacedError
from matese.cli import convert, options, output, streams
from matese.cli.output import Output
from matese.evaluation import units
from matese.formats import Note, detection
from matese.formats.format import Reading
from matese.formats.table import BY_NAME, READ
from matese.render.visible import show

_EPILOG = """output:
  The file's format, counts of ratings, segments and spans, and lists of systems, raters and language pairs. "spans on
  words" is the share of spans that begin and end at the edge of a word: where it is low in a language that parts words
  by spaces, the offsets may count something else (bytes, UTF-16 units, inclusive ends).

examples:
  matese info mqm_newstest2020_ende.tsv
  matese info export.json
"""
_SHOWN = 10


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the command and its options."""
    parser = subparsers.add_parser(
        "info",
        help="say what is in a file of ratings",
        description="Says what is in a file of ratings.",
        epilog=_EPILOG,
    )
    parser.add_argument("input", metavar="FILE", help="ratings; - is standard input")
    parser.add_argument(
        "--from", dest="from_", type=options.choice("format", *READ), metavar="FORMAT", help="(default: told by FILE)"
    )
    parser.add_argument("--strict", action="store_true", help="stop where a row is faulty")
    convert.add_offsets(parser.add_argument_group("reading"))


def run(args: argparse.Namespace) -> int:
    """Runs the command and returns its exit code."""
    notes: Counter[Note] = Counter()

    def count(note: Note) -> None:
        notes[Note(note.kind, note.reason, note.path, 0)] += 1

    with output.opened(None) as results:
        name = args.from_ or detection.detect(args.input)
        report = None if args.strict else count
        reading = Reading(report, end_shift=args.end_shift, single_characters=args.single_characters)
        _write(results, name, _count(convert.read(args.input, args.from_, reading)))
    for note, n in notes.most_common():
        streams.say(f"{note.path}: {n:,} row{'s' * (n != 1)} {note.kind}: {note.reason}")
    return 0


@dataclass
class _Found:
    """What was counted."""

    n_ratings: int = 0
    n_free: int = 0
    n_not_asked: int = 0
    n_overall: int = 0
    n_spans: int = 0
    n_on_words: int = 0
    n_overlapping: int = 0
    n_source: int = 0
    n_unplaced: int = 0
    segments: set[int] = field(default_factory=set)
    severities: Counter[str] = field(default_factory=Counter)
    categories: Counter[str] = field(default_factory=Counter)
    names: Mapping[str, Counter[str]] = field(
        default_factory=lambda: {name: Counter() for name in ("test sets", "language pairs", "systems", "raters")}
    )


def _count(ratings: Iterable[Rating]) -> _Found:
    found = _Found()
    for rating in ratings:
        errors, text, key = rating.errors or (), rating.segment.hypothesis, rating.segment.key
        found.n_ratings += 1
        found.n_not_asked += rating.errors is None
        found.n_free += rating.errors == () and not rating.unplaced and not rating.source_errors
        found.n_overall += rating.overall is not None
        # A number instead of the texts, which may not fit in memory.
        found.segments.add(hash((key, text)))
        found.n_spans += len(errors)
        words = units.words(text) if errors else ()
        found.n_on_words += sum(_is_on_words(error, words) for error in errors)
        found.n_overlapping += sum(a.end > b.start for a, b in pairwise(errors))
        found.n_source += len(rating.source_errors)
        found.n_unplaced += len(rating.unplaced)
        placed_or_not: list[ErrorSpan | UnplacedError] = [*errors, *rating.source_errors, *rating.unplaced]
        for error in placed_or_not:
            found.severities["undecided" if error.severity is None else error.severity.value] += 1
            found.categories[error.category or "none"] += 1
        names = (None, None, None) if key is None else (key.test_set, key.lang_pair, key.system)
        given = (*names, rating.rater)
        for name, counts in zip(given, found.names.values(), strict=True):
            if name is not None:
                counts[name] += 1
    return found


def _is_on_words(span: ErrorSpan, words: Iterable[tuple[int, int]]) -> bool:
    """Whether a span neither begins nor ends within a word.

    >>> _is_on_words(ErrorSpan(4, 8, None), [(0, 3), (4, 8)]), _is_on_words(ErrorSpan(4, 7, None), [(0, 3), (4, 8)])
    (True, False)
    """
    return not any(start < edge < end for start, end in words for edge in (span.start, span.end))


def _write(results: Output, name: str, found: _Found) -> None:
    rows = [
        ("format", f"{name} ({BY_NAME[name].title})"),
        ("ratings", f"{found.n_ratings:,}"),
        ("segments", f"{len(found.segments):,}"),
        ("free of errors", f"{found.n_free:,}"),
        ("spans not asked for", f"{found.n_not_asked:,}"),
        ("overall judgements", f"{found.n_overall:,}"),
        ("spans", f"{found.n_spans:,}"),
        ("spans on words", f"{found.n_on_words / found.n_spans:.1%}" if found.n_spans else "-"),
        ("spans that overlap", f"{found.n_overlapping:,}"),
        ("errors in the source", f"{found.n_source:,}"),
        ("errors without a place", f"{found.n_unplaced:,}"),
    ]
    order = ["undecided", *(severity.value for severity in Severity)]
    severities = [f"{one} {found.severities[one]:,}" for one in order if found.severities[one]]
    rows += [("severities", ", ".join(severities) or "-"), ("categories", _listed(found.categories))]
    rows += [(what, _listed(counts)) for what, counts in found.names.items()]
    width = max(len(what) for what, _ in rows)
    for what, value in rows:
        results.write(f"{what:<{width}}  {show(value)}\n")


def _listed(counts: Counter[str]) -> str:
    """Returns names and counts, the most frequent first."""
    if not counts:
        return "-"
    listed = ", ".join(f"{name} {count:,}" for name, count in counts.most_common(_SHOWN))
    rest = len(counts) - _SHOWN
    return f"{listed} and {rest:,} more" if rest > 0 else listed

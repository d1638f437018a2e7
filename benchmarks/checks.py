"""How often human raters have marked what the checks without a model find.

    python -m benchmarks.checks data/prepared/dev.jsonl data/prepared/wmt22-test.jsonl

For each kind of finding: how many there are, how many overlap an error that the raters marked in the translation, and
how many stand in a segment in which they marked any error at all, beside the share of all segments in which they did.
Findings in the source (what is missing) have no place in the translation, so that nothing can overlap them. The checks
read the source; `--references` gives them the references too, which quiet them.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from matese.annotation import ErrorSpan, Rating
from matese.checks import checker
from matese.formats import jsonl


@dataclass
class Found:
    """What was counted.

    Attributes:
        n_segments: segments that were rated and have a source.
        n_erroneous: those in which the raters marked an error.
        found: findings, by their kind.
        overlapping: those that overlap an error of the raters.
        erroneous: those in a segment with an error of the raters.
        lang_pairs: findings, by kind and language pair.
    """

    n_segments: int = 0
    n_erroneous: int = 0
    found: Counter[str] = field(default_factory=Counter)
    overlapping: Counter[str] = field(default_factory=Counter)
    erroneous: Counter[str] = field(default_factory=Counter)
    lang_pairs: Counter[tuple[str, str]] = field(default_factory=Counter)


def main() -> None:
    """Prints the figures of each file, and writes them as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, nargs="+", help="ratings of people, JSONL")
    parser.add_argument("--references", action="store_true", help="give the checks the references too")
    parser.add_argument("--json", type=Path, help="where to write all figures")
    arguments = parser.parse_args()
    figures = {}
    for path in arguments.data:
        found = measure(jsonl.read(path), with_references=arguments.references)
        share = found.n_erroneous / max(1, found.n_segments)
        print(f"{path.name}: {found.n_segments:,} segments, in {share:.0%} the raters marked an error\n")
        print("\n".join(table(found)), end="\n\n")
        figures[path.name] = to_json(found)
    if arguments.json is not None:
        arguments.json.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


def measure(ratings: Iterable[Rating], *, with_references: bool) -> Found:
    """Counts what the checks find in segments that people have rated."""
    found = Found()
    for rating in ratings:
        segment = rating.segment
        if segment.source is None or rating.errors is None:
            continue
        is_erroneous = bool(rating.errors or rating.unplaced or rating.source_errors)
        found.n_segments += 1
        found.n_erroneous += is_erroneous
        checked = checker.check(segment if with_references else replace(segment, references=()))
        for kind, span in _findings(checked):
            found.found[kind] += 1
            found.erroneous[kind] += is_erroneous
            found.overlapping[kind] += span is not None and _overlaps(span, rating.errors)
            found.lang_pairs[kind, (segment.key and segment.key.lang_pair) or "unknown"] += 1
    return found


def _findings(checked: Rating) -> Iterator[tuple[str, ErrorSpan | None]]:
    """Yields kind and place in the translation of each finding."""
    yield from ((error.category or "", error) for error in checked.errors or ())
    yield from ((error.category or "", None) for error in checked.source_errors)
    yield from ((error.category or "", None) for error in checked.unplaced)


def _overlaps(span: ErrorSpan, errors: Sequence[ErrorSpan]) -> bool:
    return any(error.start < span.end and span.start < error.end for error in errors)


def table(found: Found) -> Iterator[str]:
    """Yields the rows of a table, the most frequent kind first."""
    yield "| category | found | overlap an error of the raters | in a segment with an error |"
    yield "|---|---|---|---|"
    for kind, n in found.found.most_common():
        overlap = "-" if "Omission" in kind else f"{found.overlapping[kind] / n:.0%}"
        yield f"| `{kind}` | {n:,} | {overlap} | {found.erroneous[kind] / n:.0%} |"


def to_json(found: Found) -> dict[str, object]:
    """Returns the counts."""
    kinds = {
        kind: {
            "found": n,
            "overlapping": found.overlapping[kind],
            "in segments with an error": found.erroneous[kind],
            "language pairs": {pair: m for (own, pair), m in sorted(found.lang_pairs.items()) if own == kind},
        }
        for kind, n in found.found.most_common()
    }
    return {"segments": found.n_segments, "segments with an error": found.n_erroneous, "kinds": kinds}


if __name__ == "__main__":
    main()

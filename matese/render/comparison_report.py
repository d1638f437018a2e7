"""Compared systems as tables, as text of the segments that differ most, and as one JSON object."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from matese.annotation import ErrorSpan, Omission, Rating, Segment, SegmentKey
from matese.evaluation.alignment import describe_segment
from matese.evaluation.statistics.bootstrap import Figure
from matese.evaluation.systems import error_changes, quality
from matese.evaluation.systems.comparison import ALPHA, PairComparison, SystemComparison
from matese.evaluation.systems.differences import PairedDifference
from matese.evaluation.systems.metric_scores import MetricComparison
from matese.render import json_objects
from matese.render.labels import place_label, severity_label, short_number, show
from matese.render.scores import EXPECTED_EXPLAINED, SCORES_EXPLAINED
from matese.render.tables import Table, bounded, decimal, interval

_FIGURES = {
    "score": "score",
    "expected_score": "expected score",
    "minor": "Minor",
    "major": "Major",
    "critical": "Critical",
    "per_1000_words.errors": "errors / 1,000 words",
    "per_1000_words.major": "Major / 1,000 words",
    "per_1000_characters.errors": "errors / 1,000 characters",
    **{f"share.{key}": label for key, label in quality.SHARES.items()},
}
_DIFFERENCES = {
    "score": "score",
    "expected_score": "expected score",
    "errors": "errors",
    "major": "Major",
    "net_introduced": "introduced minus fixed",
    "net_worsened": "worsened minus softened",
}
_MOST_RATERS = 10


def notices(found: SystemComparison) -> list[str]:
    """Returns what readers should know about the comparison."""
    n, own = found.n_segments, [found.notice] if found.notice else []
    if len({score for scores in found.scores().values() for score in scores}) == 1:
        return [*own, "all segments of all systems have the same score: nothing to test, and every p-value is 1"]
    few = f"{n:,} segment{'s' * (n != 1)}: too few for any difference to be significant, whatever the intervals show"
    return [*own, few] if 2 / 2**n > ALPHA else own


def text(found: SystemComparison, n_listed: int = 10) -> list[str | Table]:
    """Returns the whole report: verdicts, tables, signatures, and the `n_listed` largest differences."""
    lines = "".join(f"{line}\n" for line in verdicts(found))
    return [f"{lines}\n", *tables(found), signatures(found), largest_differences(found, n_listed)]


def verdicts(found: SystemComparison) -> list[str]:
    """Returns sentences: which system of each pair is better, and what the two scores are."""
    lines = [sentence for (first, name), pair in found.pairs.items() for sentence in _verdict(found, first, name, pair)]
    explained = SCORES_EXPLAINED if _has_spans(found) else [EXPECTED_EXPLAINED]
    return [*lines, *(explained if found.basis == "expected" else [])]


def _has_spans(found: SystemComparison) -> bool:
    return all(pair.changes for pair in found.pairs.values())


def _verdict(found: SystemComparison, first: str, name: str, pair: PairComparison) -> Iterator[str]:
    """Yields whether a system is better or worse than another, and whether the other score disagrees."""
    difference, changes = found.decisive(pair), pair.n_changes()
    is_better = difference.bootstrap.value > 0
    counts = f"{changes['fixed']:,} error{'s' * (changes['fixed'] != 1)} fixed, {changes['introduced']:,} introduced"
    claim = f"{name} is {'better' if is_better else 'worse'} than {first}:"
    if difference.p_permutation > ALPHA:
        claim = f"No significant difference between {name} and {first}: {name}"
    yield f"{claim} {_points(difference)}" + (f"; {counts}" if pair.changes else "")
    if opposing := found.opposing(pair):
        other = quality.SCORES["expected" if found.basis == "spans" else "spans"]
        yield f"The {other} says the opposite: {name} is {'worse' if is_better else 'better'}, {_points(opposing)}"


def _points(difference: PairedDifference) -> str:
    """Returns a difference with its interval and p-value, as in "+3.2 points (95 % 1.1 to 5.1, p = .004)"."""
    one, p = difference.bootstrap, difference.p_permutation
    shown = "< .001" if p < 0.001 else f"= {p:.3f}".replace("0.", ".", 1)
    limits = f"95 % {short_number(one.low)} to {short_number(one.high)}, " if math.isfinite(one.low) else ""
    return f"{one.value:+.2f} points ({limits}p {shown})"


def _differences(pair: PairComparison) -> dict[str, PairedDifference]:
    """Returns the differences that are known, by key."""
    found = {key: getattr(pair, key) for key in _DIFFERENCES}
    return {key: one for key, one in found.items() if one is not None and not math.isnan(one.bootstrap.value)}


def score_label(name: str, figure: Figure) -> str:
    """Returns a mean score with its interval.

    >>> score_label("expected_score", Figure(-1.25, -2.0, -0.5))
    'expected score -1.25 [-2.00, -0.50]'
    """
    return f"{_FIGURES[name]} {_figure(name, figure)}"


def tables(found: SystemComparison) -> Iterator[Table]:
    """Yields tables of the filters, the systems, their differences, and what became of errors."""
    names = list(found.ratings)
    if len(found.selections) > 1:
        yield Table(
            ["filter", "segments", "share", *(f"score of {name}" for name in names)],
            [
                [one.name, f"{one.n_segments:,}", f"{one.share:.1%}", *(_score(one.scores.get(name)) for name in names)]
                for one in found.selections
            ],
            "Segments that each filter selects, and mean scores",
        )
    yield Table(
        [f"{found.n_segments:,} segments", *names],
        [
            [label, *(_figure(key, own[key]) if key in own else "-" for own in found.figures.values())]
            for key, label in _FIGURES.items()
            if any(key in own for own in found.figures.values())
        ]
        + [[metric, *_metric_scores(own)] for metric, own in found.metrics.items()],
        f"{found.n_segments:,} segments",
    )
    yield from _tables_of_pairs(found)


def _tables_of_pairs(found: SystemComparison) -> Iterator[Table]:
    """Yields the differences, and what became of errors; names are short where all pairs have the same first system."""
    only = found.first if len({first for first, _ in found.pairs}) == 1 else None
    yield Table(
        [
            f"minus {only}" if only else "second minus first",
            "difference",
            "95% interval",
            "p, bootstrap",
            "p, permutation",
        ],
        [
            [f"{name if only else f'{name} minus {first}'}: {label}", *_difference(one)]
            for (first, name), pair in found.pairs.items()
            for label, one in (
                *((_DIFFERENCES[key], one) for key, one in _differences(pair).items()),
                *((metric, own.differences[first, name]) for metric, own in found.metrics.items()),
            )
        ],
        f"Differences: each system minus {only}" if only else "Differences between any two systems",
    )
    has_spans, shares = _has_spans(found), "the share of resamples that each system wins"
    corner = f"errors of {only} in" if has_spans else f"against {only}"
    caption = (
        f"What became of the errors{f' of {only}' * bool(only)}, and {shares}" if has_spans else shares.capitalize()
    )
    yield Table(
        [corner if only else "second against first", *error_changes.CHANGES * has_spans, "wins", "losses", "ties"],
        [
            [
                name if only else f"{name} against {first}",
                *(map(str, pair.n_changes().values()) if has_spans else ()),
                *map(_share, (pair.wins, pair.losses, pair.ties)),
            ]
            for (first, name), pair in found.pairs.items()
        ],
        caption,
    )


def signatures(found: SystemComparison) -> str:
    """Returns a line for each other metric with its signature."""
    return "".join(f"{show(f'{name}: {one.signature}')}\n" for name, one in found.metrics.items())


def largest_differences(found: SystemComparison, n: int) -> str:
    """Returns the `n` segments whose scores differ most, with their errors, as text; "" for none."""
    differences, scores = found.score_differences(), found.scores()
    lines = ["largest differences"] if n else []
    for number in _by_difference(differences)[:n]:
        own = {name: ratings[number] for name, ratings in found.ratings.items()}
        shown = ", ".join(f"{name} {scores[name][number]:.2f}" for name in own)
        lines.append(f"{segment_label(own[found.first])}: {differences[number]:+.2f} ({shown})")
        lines += [f"    {line}" for line in _errors(found, number, own)]
    return "".join(f"{show(line)}\n" for line in lines)


def to_json(found: SystemComparison, sources: Sequence[str]) -> dict[str, Any]:
    """Returns all figures and segments as one object; docs/compare.md describes its keys.

    Args:
        found: the systems.
        sources: names of the files that they were read from.
    """
    sampling = found.sampling
    return {
        "ratings": list(sources),
        "verdict": verdicts(found),
        "ranked_by": found.basis,
        "signature_warning": found.notice or None,
        "settings": {
            "weights": found.weights.name,
            "bootstrap": sampling.n_resamples,
            "permutations": sampling.n_permutations,
            "seed": sampling.seed,
        },
        "segments": found.n_segments,
        "filters": [
            {"filter": one.name, "segments": one.n_segments, "share": one.share, "scores": dict(one.scores)}
            for one in found.selections
        ],
        "systems": {
            name: {
                "raters": sorted({rating.rater or "" for rating in own})[:_MOST_RATERS],
                **json_objects.nest_figures(found.figures[name], with_intervals=sampling.n_resamples > 0),
            }
            for name, own in found.ratings.items()
        },
        "versus": _nested({names: _pair_to_json(pair) for names, pair in found.pairs.items()}),
        "metrics": {name: _metric_to_json(one) for name, one in found.metrics.items()},
        "differences": _segments_to_json(found),
    }


def errors_label(rating: Rating) -> str:
    """Returns the errors of a rating as one line of text.

    >>> from matese.annotation import Segment, Severity
    >>> errors_label(Rating(Segment("Das Haus"), None, (ErrorSpan(4, 8, Severity.MAJOR),)))
    'Major "Haus"'
    """
    spans = [_span_label(error, rating.segment) for error in _placed(rating)]
    return ", ".join([*spans, *_outside_hypothesis(rating)]) or "-"


def segment_label(rating: Rating) -> str:
    """Returns the place of a segment, or its text if the place is not known."""
    return place_label(rating.segment) or describe_segment(rating.segment)


def _nested(pairs: Mapping[tuple[str, str], Any]) -> dict[str, dict[str, Any]]:
    """Returns the values of pairs by the name of the first system, then by that of the second."""
    found: dict[str, dict[str, Any]] = {}
    for (first, name), value in pairs.items():
        found.setdefault(first, {})[name] = value
    return found


def _pair_to_json(pair: PairComparison) -> dict[str, Any]:
    found = {key: _difference_to_json(one) for key, one in _differences(pair).items()}
    shares = {key: json_objects.finite(getattr(pair, key)) for key in ("wins", "losses", "ties")}
    return {**found, **shares, "changes": pair.n_changes() if pair.changes else None}


def _metric_to_json(one: MetricComparison) -> dict[str, Any]:
    systems = {
        name: json_objects.nest_figures({"score": figure}, with_intervals=math.isfinite(figure.low))
        for name, figure in one.scores.items()
    }
    versus = {names: _difference_to_json(own) for names, own in one.differences.items()}
    return {"signature": one.signature, "systems": systems, "versus": _nested(versus)}


def _difference_to_json(one: PairedDifference) -> dict[str, Any]:
    found: dict[str, Any] = json_objects.nest_differences({"one": one.bootstrap})["one"]
    return found | {"p_permutation": one.p_permutation}


def _segments_to_json(found: SystemComparison) -> list[dict[str, Any]]:
    """Returns all segments as objects, largest difference first."""
    differences, scores = found.score_differences(), found.scores("spans")
    expected = found.scores("expected") if found.basis == "expected" else {}
    segments = []
    for number in _by_difference(differences):
        first = found.ratings[found.first][number]
        key = first.segment.key or SegmentKey()
        segments.append(
            {
                "number": number,
                **{name: getattr(key, name) for name in ("test_set", "lang_pair", "document", "index")},
                "difference": differences[number],
                "scores": {name: json_objects.finite(own[number]) for name, own in scores.items()},
                "expected_scores": {name: own[number] for name, own in expected.items()} or None,
                "changes": _nested(
                    {
                        names: {
                            change: [_error_to_json(*one) for one in errors]
                            for change, errors in _by_change(found, names, number).items()
                        }
                        for names in found.pairs
                    }
                ),
            }
        )
    return segments


def _error_to_json(error: ErrorSpan | Omission, segment: Segment) -> dict[str, Any]:
    severity = error.severity and error.severity.value
    place = {"start": error.start, "end": error.end, "text": _words(error, segment), "severity": severity}
    return place | ({"missing_from": error.text_name} if isinstance(error, Omission) else {})


def _by_difference(differences: Sequence[float]) -> list[int]:
    """Returns the numbers of the segments, largest difference first."""
    return sorted(range(len(differences)), key=lambda number: -abs(differences[number]))


def _by_change(
    comparison: SystemComparison, names: tuple[str, str], number: int
) -> dict[str, list[tuple[ErrorSpan | Omission, Segment]]]:
    """Returns the errors of a segment by change, each with its segment: fixed ones of the first system, others not."""
    pair = comparison.pairs[names]
    before, after = (comparison.ratings[name][number] for name in names)
    found: dict[str, list[tuple[ErrorSpan | Omission, Segment]]] = {change: [] for change in error_changes.CHANGES}
    if not pair.changes:
        return found
    changes = pair.changes[number]
    sides = (
        (before, (*changes.before, *changes.omissions_before), True),
        (after, (*changes.after, *changes.omissions_after), False),
    )
    for rating, own, is_before in sides:
        for error, change in zip(_placed(rating), own, strict=True):
            if change is not None and (change == "fixed") == is_before:
                found[change].append((error, rating.segment))
    return found


def _errors(found: SystemComparison, number: int, own: dict[str, Rating]) -> Iterator[str]:
    """Yields the errors of a segment, one line per change, and those that changes do not cover."""
    for names in found.pairs:
        against = f" (against {names[0]})" if len(found.pairs) > 1 else ""
        for change, errors in _by_change(found, names, number).items():
            if errors:
                yield f"{change} in {names[1]}{against}: {', '.join(_span_label(*one) for one in errors)}"
    for name, rating in own.items():
        if others := _outside_hypothesis(rating):
            yield f"{name}: {', '.join(others)}"


def _placed(rating: Rating) -> tuple[ErrorSpan | Omission, ...]:
    """Returns the errors whose changes are known: those in the hypothesis and omissions."""
    return (*(rating.errors or ()), *rating.omissions)


def _outside_hypothesis(rating: Rating) -> list[str]:
    """Returns the other errors."""
    source = rating.segment.source or ""
    return [
        *(
            f'{severity_label(one.severity)} "{source[one.start : one.end]}" in the source'
            for one in rating.source_errors
        ),
        *(f"{severity_label(error.severity)} without a place" for error in rating.unplaced),
    ]


def _span_label(error: ErrorSpan | Omission, segment: Segment) -> str:
    missing = " missing" * isinstance(error, Omission)
    return f'{severity_label(error.severity)} "{_words(error, segment)}"{missing}'


def _words(error: ErrorSpan | Omission, segment: Segment) -> str:
    return error.words(segment) if isinstance(error, Omission) else segment.hypothesis[error.start : error.end]


def _difference(one: PairedDifference) -> list[str]:
    found = one.bootstrap
    return [f"{found.value:+.4f}", interval(found), decimal(found.p), decimal(one.p_permutation)]


def _figure(key: str, figure: Figure) -> str:
    if key in ("minor", "major", "critical"):
        return f"{figure.value:,.0f}"
    return bounded(figure, _share if key.startswith("share.") else _score)


def _metric_scores(one: MetricComparison) -> list[str]:
    """Returns the scores of another metric, with more decimals if its scale may be from 0 to 1."""
    shown = "{:.4f}" if all(abs(figure.value) <= 1 for figure in one.scores.values()) else "{:.2f}"
    return [bounded(figure, shown.format) for figure in one.scores.values()]


def _score(value: float | None) -> str:
    return "-" if value is None or not math.isfinite(value) else f"{value:.2f}"


def _share(value: float) -> str:
    return f"{value:.1%}" if math.isfinite(value) else "-"

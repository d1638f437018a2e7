"""Compared systems as tables, as text of the segments that differ most, and as one JSON object."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from types import MappingProxyType
from typing import Any

import msgspec

from matese import mqm
from matese.annotation import AnyError, ErrorSpan, Omission, Rating, Segment, SegmentKey, UnplacedError, severities
from matese.errors import counted
from matese.evaluation.alignment import describe_segment
from matese.evaluation.statistics.bootstrap import Figure
from matese.evaluation.systems import error_changes, quality
from matese.evaluation.systems.comparison import ALPHA, PairComparison, SystemComparison
from matese.evaluation.systems.differences import MetricComparison, PairedDifference
from matese.evaluation.systems.preferences import PairPreferences
from matese.formats.accepted_findings import words_of
from matese.render import json_objects, result_keys
from matese.render.labels import place_label, short_number, show, unplaced_label
from matese.render.result_keys import ComparisonKeys, FilterKeys, MetricKeys, SamplingKeys
from matese.render.score_report import EXPECTED_EXPLAINED, SCORES_EXPLAINED
from matese.render.tables import MORE, Table, bounded, interval, p_equals, p_value

_COUNTS = {severity.value: severities.label(severity) for severity in severities.COUNTED}
_FIGURES = {
    "score": "score",
    "expected_score": "expected score",
    **_COUNTS,
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
    "net_worsened": "more severe minus less severe",
}
_CHANGES = {"softened": "less severe", "worsened": "more severe", "kept": "unchanged"}
"""Words for the changes of errors whose names are not plain."""
_OUTCOMES = ("better", "worse", "tied")
_LOOK_AT = "Look at the interval: if it includes 0, the difference may be chance."
_MOST_RATERS = 10
N_MAIN = 3
"""Segments with the largest differences in a report that is not whole."""
_N_OF_PAIRS = 2
"""Tables of `_tables_of_pairs`."""


def notices(comparison: SystemComparison) -> list[str]:
    """Returns what readers should know about the comparison."""
    n = comparison.n_segments
    notes = [comparison.notice] if comparison.notice else []
    notes += [
        f"{name} leaves out {metric.n_left_out:,} of {counted(n, 'segment')}, which lack a text that it reads"
        for name, metric in comparison.metrics.items()
        if metric.n_left_out
    ]
    if len({score for scores in comparison.scores().values() for score in scores}) == 1:
        return [*notes, "all segments of all systems have the same score: nothing to test, and every p-value is 1"]
    few = f"{counted(n, 'segment')}: too few for any difference to be significant, whatever the intervals show"
    return [*notes, few] if 2 / 2**n > ALPHA else notes


def text(comparison: SystemComparison, n_listed: int = 10, *, is_all: bool = False) -> list[str | Table]:
    """Returns the verdicts, the table of the systems, and the largest differences; with `is_all`, all tables, too.

    Without `is_all`, there are the tables that were asked for, of filters and other metrics, and `N_MAIN` segments.
    """
    lines = "".join(f"{line}\n" for line in verdicts(comparison))
    signatures = [f"{name}: {metric.signature}" for name, metric in comparison.metrics.items()]
    n = n_listed if is_all else min(n_listed, N_MAIN)
    largest = _largest_differences(comparison, n) if n else []
    every = list(tables(comparison))
    n_first = len(every) - _N_OF_PAIRS  # filters, if any, and systems
    main = every if is_all else every[: n_first + bool(comparison.metrics)]
    sections = ("".join(f"{show(line)}\n" for line in section) for section in (signatures, largest))
    return [f"{lines}\n", *main, *sections, *([] if is_all else [f"\n{MORE}"])]


def verdicts(comparison: SystemComparison) -> list[str]:
    """Returns sentences: which system of each pair is better, and what the two scores are."""
    lines: list[str] = []
    for (first, name), pair in comparison.pairs.items():
        difference = comparison.decisive(pair)
        changes = pair.n_changes()
        is_better = difference.bootstrap.value > 0
        claim = f"{name} is {'better' if is_better else 'worse'} than {first}:"
        if difference.p_permutation > ALPHA:
            is_mixed = any(in_figure.p_permutation <= ALPHA for in_figure in _differences(pair).values())
            by = f" by the {quality.SCORES[comparison.basis]}" * is_mixed
            claim = f"No significant difference{by} between {name} and {first}: {name}"
        fixed = f"{counted(changes['fixed'], 'error')} fixed"
        counts = f"; found: {fixed}, {changes['introduced']:,} introduced" if pair.changes else ""
        lines.append(f"{claim} {_points(difference)}{counts}")
        if opposing := comparison.opposing(pair):
            opposing_score = quality.SCORES["expected" if comparison.basis == "spans" else "spans"]
            verdict = "worse" if is_better else "better"
            lines.append(f"The {opposing_score} says the opposite: {name} is {verdict}, {_points(opposing)}")
    explained = SCORES_EXPLAINED if _has_spans(comparison) else [EXPECTED_EXPLAINED]
    return [*lines, *(explained if comparison.basis == "expected" else [])]


def _has_spans(comparison: SystemComparison) -> bool:
    return all(pair.changes for pair in comparison.pairs.values())


def _points(difference: PairedDifference) -> str:
    """Returns a difference with its interval and p-value, as in "+3.2 points (95 % 1.1 to 5.1, p = .004)"."""
    figure = difference.bootstrap
    ends = f"95 % {short_number(figure.low)} to {short_number(figure.high)}, " if math.isfinite(figure.low) else ""
    return f"{figure.value:+.2f} points ({ends}{p_equals(difference.p_permutation)})"


def _differences(pair: PairComparison) -> dict[str, PairedDifference]:
    """Returns the differences that are known, by key."""
    differences = {key: getattr(pair, key) for key in _DIFFERENCES}
    return {
        key: difference
        for key, difference in differences.items()
        if difference is not None and not math.isnan(difference.bootstrap.value)
    }


def score_label(name: str, figure: Figure) -> str:
    """Returns a mean score with its interval.

    >>> score_label("expected_score", Figure(-1.25, -2.0, -0.5))
    'expected score -1.25 [-2.00, -0.50]'
    """
    return f"{_FIGURES[name]} {_figure(name, figure)}"


def tables(comparison: SystemComparison) -> Iterator[Table]:
    """Yields tables of the filters, the systems, their differences, and what became of errors."""
    names = list(comparison.ratings)
    figures = comparison.figures.values()
    if len(comparison.selections) > 1:
        yield Table(
            ["filter", "segments", "share", *(f"score of {name}" for name in names)],
            [
                [
                    part.name,
                    f"{part.n_segments:,}",
                    f"{part.share:.1%}",
                    *(_score(part.scores.get(name)) for name in names),
                ]
                for part in comparison.selections
            ],
            "Segments that each filter selects, and mean scores. Look at the filters in which the order changes.",
        )
    n_segments = counted(comparison.n_segments, "segment")
    rows = [
        [label, *(_figure(key, of_system[key]) if key in of_system else "-" for of_system in figures)]
        for key, label in _FIGURES.items()
        if any(key in of_system for of_system in figures)
    ]
    best = "0 is best"
    if comparison.metrics:
        best += " for the score and the expected score; other metrics have scales of their own"
    for metric, compared in comparison.metrics.items():
        # More decimals if the scale may be from 0 to 1.
        decimals = "{:.4f}" if all(abs(figure.value) <= 1 for figure in compared.scores.values()) else "{:.2f}"
        rows.append([metric, *(bounded(figure, decimals.format) for figure in compared.scores.values())])
    yield Table(
        [n_segments, *names], rows, f"{n_segments}: mean scores and error rates. Look at the first rows; {best}."
    )
    yield from _tables_of_pairs(comparison)


def _tables_of_pairs(comparison: SystemComparison) -> Iterator[Table]:
    """Yields the differences, and what became of errors; names are short where all pairs have the same first system."""
    pairs = comparison.pairs
    has_spans = _has_spans(comparison)
    only = comparison.first if len({first for first, _ in pairs}) == 1 else None
    rows = []
    outcomes = []
    for (first, name), pair in pairs.items():
        differences = {_DIFFERENCES[key]: difference for key, difference in _differences(pair).items()}
        differences |= {metric: of_metric.differences[first, name] for metric, of_metric in comparison.metrics.items()}
        for label, difference in differences.items():
            figure = difference.bootstrap
            p_values = (p_value(figure.p), p_value(difference.p_permutation))
            both = name if only else f"{name} minus {first}"
            rows.append([f"{both}: {label}", f"{figure.value:+.4f}", interval(figure), *p_values])
        counts = map(str, pair.n_changes().values()) if has_spans else ()
        both = name if only else f"{name} against {first}"
        outcomes.append([both, *counts, *map(_share, (pair.wins, pair.losses, pair.ties))])
    yield Table(
        [
            f"minus {only}" if only else "second minus first",
            "difference",
            "95% interval",
            "p, bootstrap",
            "p, permutation",
        ],
        rows,
        f"{f'Each system minus {only}' if only else 'Any two systems compared'}. {_LOOK_AT}",
    )
    shares = "in which share of the resamples each system is better"
    caption = shares.capitalize()
    if has_spans:
        caption = f"What became of the errors{f' of {only}' * bool(only)}, and {shares}"
    corner = f"errors of {only} in" if has_spans else f"against {only}"
    header = [
        corner if only else "second against first",
        *map(_change_label, error_changes.CHANGES * has_spans),
        *_OUTCOMES,
    ]
    yield Table(header, outcomes, caption)


def _change_label(change: str) -> str:
    return _CHANGES.get(change, change)


def _largest_differences(comparison: SystemComparison, n: int) -> Iterator[str]:
    """Yields the `n` segments whose scores differ most, with their errors."""
    differences = comparison.score_differences()
    scores = comparison.scores()
    yield "largest differences"
    for number in _by_difference(differences)[:n]:
        ratings = {name: of_system[number] for name, of_system in comparison.ratings.items()}
        both = ", ".join(f"{name} {scores[name][number]:.2f}" for name in ratings)
        yield f"{segment_label(ratings[comparison.first])}: {differences[number]:+.2f} ({both})"
        for names in comparison.pairs:
            against = f" (against {names[0]})" if len(comparison.pairs) > 1 else ""
            for change, errors in _by_change(comparison, names, number).items():
                if errors:
                    labels = ", ".join(_span_label(*error) for error in errors)
                    yield f"    {_change_label(change)} in {names[1]}{against}: {labels}"
        for name, rating in ratings.items():
            if outside := _outside_hypothesis(rating):
                yield f"    {name}: {', '.join(outside)}"


def preference(first: str, second: str, judged: PairPreferences) -> str:
    """Returns a sentence about what a language model prefers.

    >>> preference("a", "b", PairPreferences(6, 2, 2, 1, 1, Figure(0.7, 0.5, 0.9)))
    'Preferences: b wins 70 % [50, 90] against a (6 better, 2 worse, 2 ties, 1 of them because the order of the \
translations decided; 1 without an answer)'
    """
    rate = judged.win_rate
    interval = "" if math.isnan(rate.low) else f" [{100 * rate.low:.0f}, {100 * rate.high:.0f}]"
    unsteady = f", {judged.unsteady:,} of them because the order of the translations decided" if judged.unsteady else ""
    unanswered = f"; {judged.unanswered:,} without an answer" if judged.unanswered else ""
    counts = f"{judged.wins:,} better, {judged.losses:,} worse, {counted(judged.ties, 'tie')}{unsteady}{unanswered}"
    return f"Preferences: {second} wins {100 * rate.value:.0f} %{interval} against {first} ({counts})"


def to_json(
    comparison: SystemComparison,
    sources: Sequence[str],
    preferred: Mapping[tuple[str, str], PairPreferences] = MappingProxyType({}),
) -> dict[str, Any]:
    """Returns all figures and segments as one object, see `result_keys.ComparisonKeys`.

    Args:
        comparison: of the systems.
        sources: the files.
        preferred: what a language model says of pairs of systems.
    """
    sampling = comparison.sampling
    every = itertools.chain(*comparison.ratings.values())
    keys = ComparisonKeys(
        **result_keys.origin(every, comparison.weights),  # type: ignore[arg-type]
        ratings=list(sources),
        verdict=verdicts(comparison),
        ranked_by=comparison.basis,
        signature_warning=comparison.notice or None,
        settings=SamplingKeys(
            weights=comparison.weights.name,
            bootstrap=sampling.bootstrap,
            permutations=sampling.permutations,
            seed=sampling.seed,
        ),
        segments=comparison.n_segments,
        filters=[
            FilterKeys(filter=part.name, segments=part.n_segments, share=part.share, scores=dict(part.scores))
            for part in comparison.selections
        ],
        systems={
            name: {
                "raters": sorted({rating.rater or "" for rating in ratings})[:_MOST_RATERS],
                **json_objects.nest_figures(comparison.figures[name], with_intervals=sampling.bootstrap > 0),
            }
            for name, ratings in comparison.ratings.items()
        },
        versus=_nested({names: _pair_to_json(pair) for names, pair in comparison.pairs.items()}),
        metrics={name: _metric_to_json(metric) for name, metric in comparison.metrics.items()},
        preferences=_nested({names: _preferences_to_json(judged) for names, judged in preferred.items()}),
        differences=_segments_to_json(comparison),
    )
    written: dict[str, Any] = msgspec.to_builtins(keys)
    return written


def _preferences_to_json(judged: PairPreferences) -> dict[str, Any]:
    rate = judged.win_rate
    return asdict(judged) | json_objects.nest_figures({"win_rate": rate}, with_intervals=not math.isnan(rate.low))


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
    nested: dict[str, dict[str, Any]] = {}
    for (first, name), value in pairs.items():
        nested.setdefault(first, {})[name] = value
    return nested


def _pair_to_json(pair: PairComparison) -> dict[str, Any]:
    differences = {key: _difference_to_json(difference) for key, difference in _differences(pair).items()}
    shares = {key: json_objects.finite(getattr(pair, key)) for key in ("wins", "losses", "ties")}
    return {**differences, **shares, "changes": pair.n_changes() if pair.changes else None}


def _metric_to_json(metric: MetricComparison) -> MetricKeys:
    systems = {
        name: json_objects.nest_figures({"score": figure}, with_intervals=math.isfinite(figure.low))
        for name, figure in metric.scores.items()
    }
    versus = {names: _difference_to_json(difference) for names, difference in metric.differences.items()}
    return MetricKeys(signature=metric.signature, left_out=metric.n_left_out, systems=systems, versus=_nested(versus))


def _difference_to_json(difference: PairedDifference) -> dict[str, Any]:
    return json_objects.difference(difference.bootstrap) | {"p_permutation": difference.p_permutation}


def _segments_to_json(comparison: SystemComparison) -> list[dict[str, Any]]:
    """Returns all segments as objects, largest difference first."""
    differences = comparison.score_differences()
    scores = comparison.scores("spans")
    expected = comparison.scores("expected") if comparison.basis == "expected" else {}
    segments = []
    for number in _by_difference(differences):
        key = comparison.ratings[comparison.first][number].segment.key or SegmentKey()
        changes = {
            names: {
                change: [_error_to_json(*error) for error in errors]
                for change, errors in _by_change(comparison, names, number).items()
            }
            for names in comparison.pairs
        }
        segments.append(
            {
                "number": number,
                **{name: getattr(key, name) for name in ("test_set", "lang_pair", "document", "index")},
                "difference": differences[number],
                "scores": {name: json_objects.finite(of_system[number]) for name, of_system in scores.items()},
                "expected_scores": {name: of_system[number] for name, of_system in expected.items()} or None,
                "changes": _nested(changes),
            }
        )
    return segments


def _error_to_json(error: AnyError, segment: Segment) -> dict[str, Any]:
    severity = error.severity and error.severity.value
    if isinstance(error, UnplacedError):
        return {"start": None, "end": None, "text": segment.hypothesis, "severity": severity}
    place = {"start": error.start, "end": error.end, "text": words_of(error, segment), "severity": severity}
    return place | ({"missing_from": error.text_name} if isinstance(error, Omission) else {})


def _by_difference(differences: Sequence[float]) -> list[int]:
    """Returns the numbers of the segments, largest difference first."""
    return sorted(range(len(differences)), key=lambda number: -abs(differences[number]))


def _by_change(
    comparison: SystemComparison, names: tuple[str, str], number: int
) -> dict[str, list[tuple[AnyError, Segment]]]:
    """Returns the errors of a segment by change, each with its segment: fixed ones of the first system, others not.

    A blank translation is one error without a place.
    """
    pair = comparison.pairs[names]
    by_change: dict[str, list[tuple[AnyError, Segment]]] = {change: [] for change in error_changes.CHANGES}
    if not pair.changes:
        return by_change
    changes = pair.changes[number]
    before, after = (comparison.ratings[name][number] for name in names)
    for error, change in zip(_placed(before), (*changes.before, *changes.omissions_before), strict=True):
        if change == "fixed":
            by_change[change].append((error, before.segment))
    for error, change in zip(_placed(after), (*changes.after, *changes.omissions_after), strict=True):
        if change is not None:
            by_change[change].append((error, after.segment))
    if changes.blank is not None:
        blank = before.segment if changes.blank == "fixed" else after.segment
        by_change[changes.blank].append((mqm.NON_TRANSLATION, blank))
    return by_change


def _placed(rating: Rating) -> tuple[ErrorSpan | Omission, ...]:
    """Returns the errors whose changes are known: those in the hypothesis and omissions."""
    return (*(rating.errors or ()), *rating.omissions)


def _outside_hypothesis(rating: Rating) -> list[str]:
    """Returns the other errors."""
    source = rating.segment.source or ""
    in_source = [(severities.label(error.severity), source[error.start : error.end]) for error in rating.source_errors]
    return [
        *(f'{severity} "{words}" in the source' for severity, words in in_source),
        *map(unplaced_label, rating.unplaced),
    ]


def _span_label(error: AnyError, segment: Segment) -> str:
    if isinstance(error, UnplacedError):
        return f"{severities.label(error.severity)} blank translation"
    missing = " missing" * isinstance(error, Omission)
    return f'{severities.label(error.severity)} "{words_of(error, segment)}"{missing}'


def _figure(key: str, figure: Figure) -> str:
    if key in _COUNTS:
        return f"{figure.value:,.0f}"
    return bounded(figure, _share if key.startswith("share.") else _score)


def _score(value: float | None) -> str:
    return "-" if value is None or not math.isfinite(value) else f"{value:.2f}"


def _share(value: float) -> str:
    return f"{value:.1%}" if math.isfinite(value) else "-"

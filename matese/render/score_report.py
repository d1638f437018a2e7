"""Scores of systems and segments: a table for readers, lines and JSON for programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from matese import mqm
from matese.annotation import Rating, Segment
from matese.mqm import SystemSummary
from matese.render import json_objects, terminal
from matese.render.labels import show
from matese.render.tables import bounded, p_value

if TYPE_CHECKING:
    from rich.text import Text

    from matese.evaluation.systems.system_ranking import RankedSystem

SCORES_EXPLAINED = (
    "score: minus the penalties of the marked errors",
    "expected score: the model's estimate of people's score; its order of systems agrees with people's more often",
)
EXPECTED_EXPLAINED = "expected score: the model's own score; higher is better"
"""For a model that marks no errors."""
INTERVALS_EXPLAINED = "the interval of the expected score covers the sampling of segments and the model's uncertainty"
"""With several predictions for each segment."""
SEGMENT_HEADER = ("system", "document", "segment", "score", "expected_score", "minor", "major", "signature")
SYSTEM_HEADER = (
    *("system", "score", "expected_score", "segments", "with_errors", "minor", "major", "blank", "signature"),
)
FiguresByName = Mapping[str, float | None]


def place_of(segment: Segment, number: int) -> dict[str, str | None]:
    """Returns where a segment stands, as columns: its document, and what readers call it.

    Args:
        segment: if the files of a system are joined, its document is its file, unless the file names documents.
        number: of the segment among those of its system, from 1; for a segment without a name, number or line.

    >>> from matese.annotation import SegmentKey
    >>> place_of(Segment("Hallo", key=SegmentKey(document="a.csv"), name="line 7"), 9)
    {'document': 'a.csv', 'segment': 'line 7'}
    """
    document = None if segment.key is None else segment.key.document
    return {"document": document, "segment": segment.label or f"segment {number}"}


def of_segment(ratings: Sequence[Rating], weights: mqm.Weights) -> dict[str, float | None]:
    """Returns the figures of a segment, in the order of the columns: mean scores, and all errors, of its raters."""
    estimates = [value for rating in ratings if (value := mqm.expected_score(rating)) is not None]
    expected = mqm.corpus_score(estimates) if len(estimates) == len(ratings) else None
    if any(rating.errors is None for rating in ratings):
        return {"score": None, "expected_score": expected, "minor": None, "major": None}
    n_minor, n_major = mqm.count(error for rating in ratings for error in rating.all_errors)
    return {
        "score": mqm.corpus_score(mqm.score(rating, weights) for rating in ratings),
        "expected_score": expected,
        "minor": n_minor,
        "major": n_major,
    }


def of_system(summary: SystemSummary) -> dict[str, float | None]:
    """Returns the figures of a system, in the order of the columns of a line."""
    marked = {"with_errors": summary.n_with_errors, "minor": summary.n_minor, "major": summary.n_major}
    return {
        "score": summary.score,
        "expected_score": summary.expected_score,
        "segments": summary.n_segments,
        **(marked if summary.has_spans else dict.fromkeys(marked)),
        "blank": summary.n_blank,
    }


def line(*fields: str | float | None) -> str:
    r"""Returns fields separated by tabs; control characters within a field become visible.

    >>> line("a\tb", 1.0, None)
    'a␉b\t1\t\n'
    """
    cells = ("" if field is None else show(field) if isinstance(field, str) else f"{field:.10g}" for field in fields)
    return "\t".join(cells) + "\n"


def to_json(
    standings: Sequence[RankedSystem], segments: Sequence[Sequence[Mapping[str, str | float | None]]] | None
) -> dict[str, Any]:
    """Returns all systems as one object, with place and figures of each segment unless `segments` is None."""
    systems: list[dict[str, object]] = []
    for number, ranked in enumerate(standings):
        means = {"score": ranked.score, "expected_score": ranked.expected_score}
        intervals = json_objects.nest_figures({name: mean for name, mean in means.items() if mean}, with_intervals=True)
        summary = ranked.summary
        systems.append(
            {
                "system": summary.system,
                **of_system(summary),
                **intervals,
                "score_100": summary.score_100,
                "penalty_per_1000_words": summary.penalty_per_1000_words,
                "p": ranked.p,
            }
        )
        if segments is not None:
            of_segments = [{"index": index, **columns} for index, columns in enumerate(segments[number])]
            systems[-1]["segment_scores"] = of_segments
    first = standings[0].summary
    names = [ranked.summary.system for ranked in _best_first(standings)]
    return {"signature": first.signature, "weights": first.weights.name, "ranking": names, "systems": systems}


def summary(standings: Sequence[RankedSystem], note: str = "", width: int | None = None) -> Text:
    """Returns the table of all systems, best first, notes below it, and the signatures; see `terminal.table`."""
    from rich.text import Text

    names = dict.fromkeys(show(name) for standing in standings for name in standing.summary.signatures)
    explained_intervals = [INTERVALS_EXPLAINED] if any(standing.summary.lows for standing in standings) else []
    has_expected = any(standing.expected_score for standing in standings)
    explained = SCORES_EXPLAINED if all(standing.score for standing in standings) else [EXPECTED_EXPLAINED]
    notes = [*([note] if note else []), *(explained if has_expected else []), *explained_intervals]
    filled = {name: cells for name, cells in columns(standings).items() if any(cells)}
    table = terminal.table(list(filled), list(zip(*filled.values(), strict=True)), width)
    return Text.assemble(table, *(f"{line}\n" for line in (*notes, *names)))


def columns(standings: Sequence[RankedSystem]) -> dict[str, list[str]]:
    """Returns the cells of each column, best system first; "" for no blank hypotheses and for what is not known."""
    ranked = _best_first(standings)
    return {
        "system": [standing.summary.system for standing in ranked],
        "segments": [f"{standing.summary.n_segments:,}" for standing in ranked],
        "blank": [f"{standing.summary.n_blank:,}" if standing.summary.n_blank else "" for standing in ranked],
        "with errors": [f"{standing.summary.n_with_errors:,}" if standing.score else "" for standing in ranked],
        "Minor": [f"{standing.summary.n_minor:,}" if standing.score else "" for standing in ranked],
        "Major": [f"{standing.summary.n_major:,}" if standing.score else "" for standing in ranked],
        "score": ["" if standing.score is None else bounded(standing.score) for standing in ranked],
        "expected score": [
            "" if standing.expected_score is None else bounded(standing.expected_score) for standing in ranked
        ],
        f"p (against {standings[0].summary.system})": [
            "" if standing.p is None else p_value(standing.p) for standing in ranked
        ],
    }


def _best_first(standings: Sequence[RankedSystem]) -> list[RankedSystem]:
    return sorted(standings, key=lambda standing: -standing.rank_score)

"""The page of ratings: a table and charts of the systems, and their segments."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from matese import mqm
from matese.annotation import Rating, Segment, SegmentKey, severities
from matese.evaluation import alignment
from matese.evaluation.systems import quality, system_ranking
from matese.mqm import SystemSummary
from matese.render import html_page, page_charts, score_report
from matese.render.html_page import Chart, Page
from matese.render.page_data import PageSegment, Saving, Translation
from matese.render.tables import Table

_SHARE_COLOURS = ("good", "only-minor", "one-major", "majors")
_MOST_RATERS = 5


@dataclass(frozen=True, slots=True)
class Reviews:
    """The ratings that the server of a page has saved, and where."""

    saving: Saving
    ratings: Sequence[Rating]


def render(
    title: str,
    systems: Mapping[str, Sequence[Rating]],
    *,
    weights: mqm.Weights = mqm.MATESE,
    notes: Sequence[str] = (),
    reviews: Reviews | None = None,
) -> str:
    """Returns the page as HTML; `notes` are lines below the heading, `reviews` what the page's server has saved."""
    ratings = list(itertools.chain(*systems.values()))
    rated = tabled = _with_spans(systems)
    has_expected = [mqm.expected_score(rating) is not None for rating in ratings]
    if not rated and all(has_expected):  # of a model that marks no errors
        tabled = {name: list(of_system) for name, of_system in systems.items() if of_system}
    n_without = len(ratings) - sum(map(len, tabled.values()))
    explained = score_report.SCORES_EXPLAINED if rated else [score_report.EXPECTED_EXPLAINED]
    counted = "1 rating has no spans and is" if n_without == 1 else f"{n_without:,} ratings have no spans and are"
    page = Page(
        title=title,
        facts={"Weights": weights.name},
        folded=raters(ratings),
        segments=[
            PageSegment(translations) for translations in _by_segment(systems, reviews.ratings if reviews else ())
        ],
        weights=weights,
        tables=[_overview(tabled, weights)] if tabled else [],
        charts=overview_charts(rated, weights),
        notes=[
            *([f"{counted} not counted in any figure"] if n_without else []),
            *(note for note in (*notes, alignment.signature_difference(systems)) if note),
            *(explained if any(has_expected) else []),
        ],
        saving=reviews.saving if reviews else None,
    )
    return html_page.render(page)


def _with_spans(systems: Mapping[str, Sequence[Rating]]) -> dict[str, list[Rating]]:
    """Returns the ratings of each system whose errors are known."""
    annotated = {name: [rating for rating in ratings if rating.errors is not None] for name, ratings in systems.items()}
    return {name: ratings for name, ratings in annotated.items() if ratings}


def _by_segment(
    systems: Mapping[str, Sequence[Rating]], reviews: Sequence[Rating] = ()
) -> list[tuple[Translation, ...]]:
    """Returns the translations of each segment by all systems; segments are in the order of their first ratings."""
    reviewed: dict[Segment, list[Rating]] = {}
    for review in reversed(reviews):
        reviewed.setdefault(named_segment(review, systems), []).append(review)
    segments: dict[object, list[Translation]] = {}
    for name, ratings in systems.items():
        counts: Counter[object] = Counter()
        for rating in ratings:
            segment = rating.segment
            key = (replace(segment.key or SegmentKey(), system=None), segment.source, segment.references)
            reviews_of_segment = reviewed.get(named_segment(rating, [name]))
            counts[key] += 1  # ratings that nothing tells apart belong together in their order
            segments.setdefault((*key, counts[key]), []).append(
                Translation(name, rating, review=reviews_of_segment.pop() if reviews_of_segment else None)
            )
    return list(map(tuple, segments.values()))


def named_segment(rating: Rating, systems: Iterable[str]) -> Segment:
    """Returns the segment of a rating without blank texts, which names its system if there is a single one."""
    names = list(systems)
    key = rating.segment.key or SegmentKey()
    return replace(
        rating.segment.without_blanks(), key=key if key.system or len(names) > 1 else replace(key, system=names[0])
    )


def raters(ratings: Sequence[Rating]) -> dict[str, str]:
    """Returns the raters as a fact of a page; nothing if none is named."""
    names = list(dict.fromkeys(rating.rater for rating in ratings if rating.rater is not None))
    more = f" and {len(names) - _MOST_RATERS:,} more" if len(names) > _MOST_RATERS else ""
    return {"Raters and signatures": ", ".join(names[:_MOST_RATERS]) + more} if names else {}


def overview_charts(systems: Mapping[str, Sequence[Rating]], weights: mqm.Weights) -> list[Chart]:
    """Returns the distribution of the scores, and the shares of segments by their severest errors, as far as known."""
    systems = _with_spans(systems)
    if not systems:
        return []
    of_segments = {name: [mqm.score(rating, weights) for rating in ratings] for name, ratings in systems.items()}
    figures = {name: quality.figures(ratings, weights) for name, ratings in systems.items()}
    shares = {
        name: {label: of_system[f"share.{key}"] for key, label in quality.SHARES.items()}
        for name, of_system in figures.items()
    }
    caption = "Segments by their severest errors"
    names = [(page_charts.colour(number), name) for number, name in enumerate(systems)]
    return [
        Chart("Segments by score", page_charts.histogram(of_segments, label="score of a segment"), names[1:] and names),
        Chart(
            caption,
            page_charts.stacked(shares, label=caption, classes=_SHARE_COLOURS),
            list(zip(_SHARE_COLOURS, quality.SHARES.values(), strict=True)),
        ),
    ]


def _overview(systems: Mapping[str, Sequence[Rating]], weights: mqm.Weights) -> Table:
    """Returns the table of counts, scores and rates, one system per row, best first."""
    summaries = {name: SystemSummary(name, weights) for name in systems}
    for name, ratings in systems.items():
        for rating in ratings:
            summaries[name].add(rating)
    columns = score_report.columns(system_ranking.rank(list(summaries.values())))
    figures = [quality.figures(systems[name], weights) for name in columns["system"]]
    for severity in (severity for severity in severities.COUNTED if severity not in severities.MINOR_MAJOR):
        counts = [of_system.get(severity.value) for of_system in figures]
        columns[severities.label(severity)] = [f"{n:,.0f}" if n else "" for n in counts]
    for key, label in (("errors", "errors"), ("major", "Major")):
        rates = [of_system.get(f"per_1000_words.{key}") for of_system in figures]
        columns[f"{label} per 1,000 words"] = ["" if rate is None else f"{rate:.1f}" for rate in rates]
    filled = {label: cells for label, cells in columns.items() if any(cells)}
    return Table(list(filled), list(zip(*filled.values(), strict=True)), "Systems")

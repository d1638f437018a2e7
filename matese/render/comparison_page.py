"""The page of compared systems: tables, charts, and the segments with the translations of all systems."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from matese.evaluation.systems.comparison import SystemComparison
from matese.render import comparison_report, html_page, page_charts, report_page
from matese.render.html_page import Chart, Page
from matese.render.page_data import PageSegment, Translation

_MOST_CHARTS = 6


def render(comparison: SystemComparison, sources: Sequence[str] = (), *, notes: Sequence[str] = ()) -> str:
    """Returns the page as HTML; `sources` are the names of the files, `notes` lines below the heading."""
    names = list(comparison.ratings)
    files = {"Files": ", ".join(sources)} if sources else {}
    signatures = [f"{name} {metric.signature}" for name, metric in comparison.metrics.items()]
    folded = report_page.raters([rating for ratings in comparison.ratings.values() for rating in ratings])
    share = f"The filters select {comparison.selections[-1].share:.1%} of the corpus."
    page = Page(
        title=f"{names[0]} and {names[1]} compared" if len(names) == 2 else f"{len(names)} systems compared",
        facts={**files, "Weights": comparison.weights.name},
        folded=folded | ({"Signatures of other metrics": ", ".join(signatures)} if signatures else {}),
        segments=_segments(comparison),
        weights=comparison.weights,
        # The terminal has no captions, so that the corner of its tables says what a page has as caption.
        tables=[replace(table, header=["", *table.header[1:]]) for table in comparison_report.tables(comparison)],
        charts=[*report_page.overview_charts(comparison.ratings, comparison.weights), *_charts(comparison)],
        verdict=comparison_report.verdicts(comparison),
        notes=[*notes, *([share] if len(comparison.selections) > 1 else []), *filter(None, [comparison.notice])],
    )
    return html_page.render(page)


def _charts(comparison: SystemComparison) -> list[Chart]:
    """Returns the segment scores of the systems of each pair plotted against each other."""
    scores = comparison.scores()
    return [
        Chart(
            f"{name} against {first}: dots above the line are better in {name}",
            page_charts.bubbles(list(zip(scores[first], scores[name], strict=True)), x_label=first, y_label=name),
        )
        for first, name in list(comparison.pairs)[:_MOST_CHARTS]
    ]


def _segments(comparison: SystemComparison) -> list[PageSegment]:
    """Returns the segments; the errors of a system that is in one pair only have their changes."""
    n_pairs = Counter(itertools.chain(*comparison.pairs))
    changes: dict[str, list[tuple[str | None, ...]]] = {}
    for (first, name), pair in comparison.pairs.items():
        if pair.changes:
            changes |= {
                first: [change.before for change in pair.changes],
                name: [change.after for change in pair.changes],
            }
    return [
        PageSegment(
            tuple(
                Translation(
                    name, ratings[number], changes[name][number] if name in changes and n_pairs[name] == 1 else ()
                )
                for name, ratings in comparison.ratings.items()
            ),
            difference,
        )
        for number, difference in enumerate(comparison.score_differences())
    ]

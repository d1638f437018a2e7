"""The page of compared systems: tables, charts, and the segments with the translations of all systems."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from matese.annotation import Rating
from matese.evaluation.systems.comparison import SystemComparison
from matese.render import comparison_report, html_page, page_charts, report_page
from matese.render.html_page import Chart, Page
from matese.render.page_data import PageSegment, Translation

_MOST_CHARTS = 6


def render(found: SystemComparison, sources: Sequence[str] = ()) -> str:
    """Returns the page as HTML.

    Args:
        found: the systems.
        sources: names of the files that they were read from.
    """
    names = list(found.ratings)
    ratings = [rating for own in found.ratings.values() for rating in own]
    share = found.selections[-1].share
    page = Page(
        title=f"{names[0]} and {names[1]} compared" if len(names) == 2 else f"{len(names)} systems compared",
        facts={
            **({"Files": ", ".join(sources)} if sources else {}),
            "Weights": found.weights.name,
        },
        folded=report_page.raters(ratings) | _metrics(found),
        segments=_segments(found),
        weights=found.weights,
        tables=[
            # The terminal has no captions, so that the corner of its tables says what a page has as caption.
            replace(table, header=["", *table.header[1:]])
            for table in comparison_report.tables(found)
        ],
        charts=[*report_page.overview_charts(_with_spans(found), found.weights), *_charts(found)],
        verdict=comparison_report.verdicts(found),
        notes=[
            *([f"The filters select {share:.1%} of the corpus."] if len(found.selections) > 1 else []),
            *([found.notice] if found.notice else []),
        ],
    )
    return html_page.render(page)


def _metrics(found: SystemComparison) -> dict[str, str]:
    """Returns the signatures of the other metrics as a fact of the page; nothing if there are none."""
    signatures = [f"{name} {one.signature}" for name, one in found.metrics.items()]
    return {"Signatures of other metrics": ", ".join(signatures)} if signatures else {}


def _with_spans(found: SystemComparison) -> dict[str, tuple[Rating, ...]]:
    """Returns the ratings of each system whose errors are known."""
    known = {name: tuple(one for one in own if one.errors is not None) for name, own in found.ratings.items()}
    return {name: own for name, own in known.items() if own}


def _charts(found: SystemComparison) -> list[Chart]:
    """Returns the segment scores of the systems of each pair plotted against each other."""
    scores = found.scores()
    return [
        Chart(
            f"{name} against {first}: dots above the line are better in {name}",
            page_charts.bubbles(list(zip(scores[first], scores[name], strict=True)), x_label=first, y_label=name),
        )
        for first, name in list(found.pairs)[:_MOST_CHARTS]
    ]


def _segments(found: SystemComparison) -> list[PageSegment]:
    """Returns the segments; with two systems, each error has its change."""
    others = Counter(name for pair in found.pairs for name in pair)
    changes = {name: [own.after for own in pair.changes] for (_, name), pair in found.pairs.items()}
    changes |= {name: [own.before for own in pair.changes] for (name, _), pair in found.pairs.items()}
    changes = {name: own for name, own in changes.items() if others[name] == 1}
    return [
        PageSegment(
            tuple(
                Translation(name, own[number], changes[name][number] if changes.get(name) else ())
                for name, own in found.ratings.items()
            ),
            difference,
        )
        for number, difference in enumerate(found.score_differences())
    ]

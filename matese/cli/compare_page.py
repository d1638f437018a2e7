"""The page of `matese compare`: tables, plots, and the segments with the translations of all systems."""

from __future__ import annotations

from collections.abc import Sequence

from matese.cli import report_page
from matese.cli.compared import Compared
from matese.render import charts, html
from matese.render.html import Chart, Page, Table
from matese.render.rows import Row, Translation

_MOST_PLOTS = 6


def make(found: Compared, paths: Sequence[str], tables: Sequence[tuple[list[str], list[list[str]]]]) -> str:
    """Returns the page.

    Args:
        found: the systems.
        paths: their files.
        tables: headers and rows of what the terminal shows too.
    """
    names = list(found.ratings)
    is_pair = len(names) == 2
    every = [rating for own in found.ratings.values() for rating in own]
    notes = [] if len(found.parts) == 1 else [f"Filters leave {found.parts[-1].share:.1%} of the corpus."]
    page = Page(
        title=f"{' and '.join(names)} side by side" if is_pair else f"{len(names)} systems side by side",
        facts={"Ratings": ", ".join(paths), "Weights": found.weights.name, **report_page.signatures(every)},
        rows=_rows(found),
        weights=found.weights,
        tables=[Table(_caption(header[0], found.first), ["", *header[1:]], body) for header, body in tables],
        charts=[*report_page.overview_charts(found.ratings, found.weights), *_plots(found)],
        notes=notes,
        made_by=report_page.MADE_BY,
    )
    return html.dumps(page)


def _caption(corner: str, first: str) -> str:
    """Returns the caption of a table, of which the terminal has the word in the corner only."""
    captions = {
        "filter": "What each filter leaves, and the mean scores there",
        f"less {first}": f"Differences: each system less {first}",
        f"errors of {first} in": f"What became of the errors of {first}, and the share of resamples that each wins",
    }
    return captions.get(corner, corner)


def _plots(found: Compared) -> list[Chart]:
    """Returns the score of the first system against each other's."""
    first = found.scores(found.first)
    return [
        Chart(
            f"{name} against {found.first}: dots above the line are better in {name}",
            charts.bubbles(list(zip(first, found.scores(name), strict=True)), x_label=found.first, y_label=name),
        )
        for name in list(found.versus)[:_MOST_PLOTS]
    ]


def _rows(found: Compared) -> list[Row]:
    """Returns a row a segment, each error with its fate; of the first system where there is one other."""
    fates = {name: [own.after for own in one.changes] for name, one in found.versus.items()}
    if len(fates) == 1:
        fates[found.first] = [own.before for one in found.versus.values() for own in one.changes]
    return [
        Row(
            tuple(
                Translation(name, own[number], fates[name][number] if name in fates else ())
                for name, own in found.ratings.items()
            ),
            difference,
        )
        for number, difference in enumerate(found.differences())
    ]

"""The page of ratings: a table and charts of the systems, and their segments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import matese
from matese import mqm
from matese.annotation import Rating
from matese.evaluation import bootstrap, quality
from matese.render import charts, html
from matese.render.html import Chart, Page, Table
from matese.render.rows import Row, Translation

MADE_BY = f"matese {matese.__version__}"
SHARE_NAMES = ("no error", "only Minor", "one Major", "several Major")
_SHARE_CLASSES = ("good", "minor", "one-major", "majors")
_MOST_SIGNATURES = 5


def make(
    title: str,
    systems: Mapping[str, Sequence[Rating]],
    weights: mqm.Weights,
    facts: Mapping[str, str],
    notes: Sequence[str] = (),
) -> str:
    """Returns the page.

    Args:
        title: its heading.
        systems: the ratings of each, in order; not all need have spans.
        weights: what scores count by.
        facts: of the ratings; weights and signatures are added.
        notes: what else is to be told.
    """
    rated = {name: [one for one in own if one.errors is not None] for name, own in systems.items()}
    n_without = sum(len(own) for own in systems.values()) - sum(len(own) for own in rated.values())
    many = "rating is" if n_without == 1 else "ratings are"
    told = [f"{n_without:,} {many} without spans: counted in no figure"] if n_without else []
    page = Page(
        title=title,
        facts={**facts, "Weights": weights.name, **signatures([one for own in systems.values() for one in own])},
        rows=[Row((Translation(name, one),)) for name, own in systems.items() for one in own],
        weights=weights,
        tables=[overview({name: own for name, own in rated.items() if own}, weights)],
        charts=overview_charts({name: own for name, own in rated.items() if own}, weights),
        notes=[*notes, *told],
        made_by=MADE_BY,
    )
    return html.dumps(page)


def signatures(ratings: Sequence[Rating]) -> dict[str, str]:
    """Returns who made the ratings, as a fact of a page; none where nobody is named."""
    names = list(dict.fromkeys(rating.rater for rating in ratings if rating.rater is not None))
    more = f" and {len(names) - _MOST_SIGNATURES:,} more" if len(names) > _MOST_SIGNATURES else ""
    return {"Raters": ", ".join(names[:_MOST_SIGNATURES]) + more} if names else {}


def overview(systems: Mapping[str, Sequence[Rating]], weights: mqm.Weights) -> Table:
    """Returns the table of counts and rates, a system a row."""
    header = ["system", "segments", "no error", "Minor", "Major", "Critical", "score"]
    header += ["errors per 1,000 words", "Major per 1,000 words"]
    body = []
    for name, ratings in systems.items():
        found = figures(ratings, weights)
        numbers = [found["share.no_error"] * len(ratings), *(found[key] for key in ("minor", "major", "critical"))]
        rates = [found[f"per_1000_words.{key}"] for key in ("errors", "major")]
        body.append(
            [name, f"{len(ratings):,}", *(f"{number:,.0f}" for number in numbers), f"{found['score']:.2f}"]
            + [f"{rate:.1f}" for rate in rates]
        )
    return Table("Systems", header, body)


def overview_charts(systems: Mapping[str, Sequence[Rating]], weights: mqm.Weights) -> list[Chart]:
    """Returns the distribution of the scores, and the shares of the segments by their severest errors."""
    if not systems:
        return []
    scores = {name: [mqm.score(one, weights) for one in own] for name, own in systems.items()}
    shares = {
        name: {
            shown: figures(own, weights)[f"share.{key}"] for shown, key in zip(SHARE_NAMES, quality.SHARES, strict=True)
        }
        for name, own in systems.items()
    }
    caption = "Segments by their severest errors"
    return [
        Chart("Segments by score", charts.histogram(scores, label="score of a segment")),
        Chart(caption, charts.stacked(shares, label=caption, classes=_SHARE_CLASSES)),
    ]


def figures(ratings: Sequence[Rating], weights: mqm.Weights) -> dict[str, float]:
    """Returns the figures of `quality.statistic`."""
    found = quality.statistic(ratings, weights).figures(bootstrap.once(len(ratings)))
    return {name: float(values[0]) for name, values in found.items()}

"""The agreement of raters as text and as one JSON object."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from matese.render import tables
from matese.render.evaluation_report import settings
from matese.render.json_objects import nest_figures
from matese.render.labels import show
from matese.render.tables import Table, decimal

if TYPE_CHECKING:
    from matese.evaluation.systems.agreement import RaterAgreement

_OF_RATERS = ("mpp.micro.f1", "hsh", "tsh", "severity.agreement", "score.pearson")
_OF_PAIRS = (
    "mpp.micro.f1",
    "mp.micro.f1",
    "em.micro.f1",
    "char_wmt25.f1",
    "hsh",
    "tsh",
    "severity.agreement",
    "severity.kappa",
    "score.pearson",
    "score.kendall",
)


def text(found: RaterAgreement) -> Iterator[object]:
    """Yields a heading and the tables of all raters together, of each rater, and of each two raters."""
    yield (
        f"{found.n_segments:,} segments with two raters or more, {found.n_ratings:,} ratings of {len(found.others)} "
        f"raters; tags and alpha by {show(found.options.tagging.unit)}\n\n"
    )
    pooled = {**found.pooled, **found.alpha}
    for table in (tables.rates, tables.other_figures):
        yield table(pooled, with_intervals=found.options.n_resamples > 0)
    yield _raters(found)
    yield Table(
        ["raters", "segments", *_OF_PAIRS],
        [
            [f"{one} and {other}", f"{found.n_shared[one, other]:,}", *(decimal(own[key].value) for key in _OF_PAIRS)]
            for (one, other), own in found.pairs.items()
        ],
    )


def _raters(found: RaterAgreement) -> Table:
    header = ["rater", "segments", "errors/segment", "Major share", "error-free", "span length", "score"]
    first, *others = _OF_RATERS
    rows = []
    for name, one in found.profiles.items():
        habits = (one.errors_per_segment, one.major_share, one.error_free, one.span_length, one.score)
        own = found.others.get(name, {})
        with_others = [decimal(own[key].value) if key in own else "-" for key in _OF_RATERS]
        rows.append([name, f"{one.n_segments:,}", *map(decimal, habits), *with_others])
    return Table([*header, f"{first} with others", *others], rows)


def to_json(found: RaterAgreement, *, name: str) -> dict[str, Any]:
    """Returns all figures as one object, whose keys docs/evaluation.md lists.

    Args:
        found: the agreement.
        name: of the ratings, usually the file.
    """
    with_intervals = found.options.n_resamples > 0
    return {
        "ratings": name,
        "settings": settings(found.options),
        "segments": found.n_segments,
        "ratings_alone": found.n_single,
        "pooled": nest_figures(found.pooled, with_intervals=with_intervals),
        **nest_figures(found.alpha, with_intervals=with_intervals),
        "raters": {
            rater: {
                **asdict(one),
                "with_others": nest_figures(found.others[rater], with_intervals=False)
                if rater in found.others
                else None,
            }
            for rater, one in found.profiles.items()
        },
        "pairs": [
            {"raters": list(names), "segments": found.n_shared[names], **nest_figures(own, with_intervals=False)}
            for names, own in found.pairs.items()
        ],
    }

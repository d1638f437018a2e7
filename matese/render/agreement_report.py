"""The agreement of raters as text and as one JSON object."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from matese.errors import counted
from matese.render import tables
from matese.render.evaluation_report import settings
from matese.render.json_objects import nest_figures
from matese.render.labels import show
from matese.render.tables import Table, decimal

if TYPE_CHECKING:
    from matese.evaluation.systems.agreement import RaterAgreement

_OF_RATERS = ("mpp.micro.f1", "hsh", "tsh", "severity.agreement", "score.pearson")
_OF_PAIRS = (
    *("mpp.micro.f1", "mp.micro.f1", "em.micro.f1", "char_wmt25.f1", "hsh", "tsh"),
    *("severity.agreement", "severity.kappa", "score.pearson", "score.kendall"),
)


def text(agreement: RaterAgreement) -> Iterator[object]:
    """Yields a heading and the tables of all raters together, of each rater, and of each two raters."""
    yield (
        f"{counted(agreement.n_segments, 'segment')} with two raters or more, "
        f"{counted(agreement.n_ratings, 'rating')} of {len(agreement.others)} raters; "
        f"tags and alpha by {show(agreement.options.tagging.unit)}\n\n"
    )
    figures_of_all = {**agreement.pooled, **agreement.alpha}
    yield from tables.of_figures(figures_of_all, with_intervals=agreement.options.n_resamples > 0)
    header = ["rater", "segments", "errors/segment", "Major share", "error-free", "span length", "score"]
    rows = []
    for name, profile in agreement.profiles.items():
        n_segments, *habits = asdict(profile).values()
        figures = agreement.others.get(name, {})
        with_others = (decimal(figures[key].value) if key in figures else "-" for key in _OF_RATERS)
        rows.append([name, f"{n_segments:,}", *map(decimal, habits), *with_others])
    yield Table([*header, f"{_OF_RATERS[0]} with others", *_OF_RATERS[1:]], rows)
    rows = [
        [" and ".join(names), f"{agreement.n_shared[names]:,}", *(decimal(figures[key].value) for key in _OF_PAIRS)]
        for names, figures in agreement.pairs.items()
    ]
    yield Table(["raters", "segments", *_OF_PAIRS], rows)


def to_json(agreement: RaterAgreement, *, name: str) -> dict[str, Any]:
    """Returns all figures of the ratings of this name as one object, whose keys docs/research/evaluation.md lists."""
    with_intervals = agreement.options.n_resamples > 0
    others = agreement.others
    with_others = {rater: nest_figures(figures, with_intervals=False) for rater, figures in others.items()}
    return {
        "ratings": name,
        "settings": settings(agreement.options),
        "segments": agreement.n_segments,
        "ratings_alone": agreement.n_single,
        "pooled": nest_figures(agreement.pooled, with_intervals=with_intervals),
        **nest_figures(agreement.alpha, with_intervals=with_intervals),
        "raters": {
            rater: {**asdict(profile), "with_others": with_others.get(rater)}
            for rater, profile in agreement.profiles.items()
        },
        "pairs": [
            {
                "raters": list(names),
                "segments": agreement.n_shared[names],
                **nest_figures(figures, with_intervals=False),
            }
            for names, figures in agreement.pairs.items()
        ],
    }

"""The agreement of raters as text and as one JSON object."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from matese.errors import counted
from matese.render import tables
from matese.render.evaluation_report import settings
from matese.render.json_objects import nest_figures
from matese.render.labels import percent, show
from matese.render.tables import Table, decimal

if TYPE_CHECKING:
    from matese.evaluation.systems.agreement import RaterAgreement

_HABITS = {
    "errors_per_segment": "errors/segment",
    "major_share": "Major share",
    "error_free": "error-free",
    "span_length": "span length",
    "score": "score",
}
_MAIN_HABITS = ("errors_per_segment", "major_share", "error_free", "score")
_OF_RATERS = ("mpp.micro.f1", "hsh", "tsh", "severity.agreement", "score.pearson")
_OF_PAIRS = (
    *("mpp.micro.f1", "mp.micro.f1", "em.micro.f1", "char_wmt25.f1", "hsh", "tsh"),
    *("severity.agreement", "severity.kappa", "score.pearson", "score.kendall"),
)


def text(agreement: RaterAgreement, *, is_all: bool = False) -> Iterator[object]:
    """Yields what the figures say and a table of the raters; with `is_all`, the tables of all figures, too."""
    heading = (
        f"{counted(agreement.n_segments, 'segment')} with two raters or more, "
        f"{counted(agreement.n_ratings, 'rating')} of {len(agreement.others)} raters; "
        f"tags and alpha by {show(agreement.options.tagging.unit)}"
    )
    yield "\n".join([heading, *_in_words(agreement)]) + "\n\n"
    yield _raters(agreement, _MAIN_HABITS, _OF_RATERS[:1])
    if not is_all:
        yield tables.MORE
        return
    figures_of_all = {**agreement.pooled, **agreement.alpha}
    yield from tables.of_figures(figures_of_all, with_intervals=agreement.options.figures.bootstrap > 0)
    yield _raters(agreement, tuple(_HABITS), _OF_RATERS)
    rows = [
        [" and ".join(names), f"{agreement.n_shared[names]:,}", *(decimal(figures[key].value) for key in _OF_PAIRS)]
        for names, figures in agreement.pairs.items()
    ]
    yield Table(["raters", "segments", *_OF_PAIRS], rows)


def _raters(agreement: RaterAgreement, habits: Sequence[str], with_others: Sequence[str]) -> Table:
    """Returns the table of the raters: how each annotates, and how well it agrees with the others."""
    rows = []
    for name, profile in agreement.profiles.items():
        figures = agreement.others.get(name, {})
        agreeing = (decimal(figures[key].value) if key in figures else "-" for key in with_others)
        rows.append([name, f"{profile.n_segments:,}", *(decimal(getattr(profile, key)) for key in habits), *agreeing])
    header = [f"{with_others[0]} with others", *with_others[1:]]
    return Table(["rater", "segments", *(_HABITS[key] for key in habits), *header], rows)


def _in_words(agreement: RaterAgreement) -> Iterator[str]:
    """Yields the main figures as sentences."""
    figures = {name: figure.value for name, figure in {**agreement.pooled, **agreement.alpha}.items()}

    def is_known(key: str) -> bool:
        return math.isfinite(figures.get(key, math.nan))

    if is_known("tsh"):
        spans = f"Of the errors that one rater marks, another one marks {percent(figures['tsh'])}, at least in part"
        of_severities = ""
        if is_known("severity.agreement"):
            of_severities = f"; {percent(figures['severity.agreement'])} of these have the same severity"
        yield f"{spans}{of_severities}."
    if is_known("alpha.severity"):
        alpha = figures["alpha.severity"]
        unit = show(agreement.options.tagging.unit)
        yield f"Krippendorff's alpha of the severity of each {unit} is {alpha:.2f} (1: always alike, 0: as by chance)."
    if len(agreement.profiles) > 1:
        counts = {name: profile.errors_per_segment for name, profile in agreement.profiles.items()}
        most = max(counts, key=lambda name: counts[name])
        fewest = min(counts, key=lambda name: counts[name])
        if counts[most] > counts[fewest]:
            highest = f"{show(most)} marks most ({counts[most]:.2f})"
            yield f"Errors in a segment: {highest}, {show(fewest)} fewest ({counts[fewest]:.2f})."


def to_json(agreement: RaterAgreement, *, name: str) -> dict[str, Any]:
    """Returns all figures of the ratings of this name as one object, whose keys docs/research/evaluation.md lists."""
    with_intervals = agreement.options.figures.bootstrap > 0
    with_others = {rater: nest_figures(figures, with_intervals=False) for rater, figures in agreement.others.items()}
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

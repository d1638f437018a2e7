"""People as a metric: how well one person's scores agree with those of others, as a ceiling for metrics.

The scores of the others are the human scores of all metrics, so that every row of a table has the same ones
(Proietti et al. 2025, arXiv 2506.19571). Only the translations that all of these people scored are compared, and the
score of a system is the mean of these.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

from matese.annotation import Rating, SegmentKey
from matese.errors import InputError, near_miss, one_of
from matese.evaluation.metrics.correlation_options import ANY_RATER
from matese.formats.corpora.score_files import MetricScores, SegmentName


def title(name: str) -> str:
    """Returns the name of the row of a person, or of any rater."""
    return f"human:{name}"


def hold_out(ratings: Sequence[Rating], rater: str, place: str) -> tuple[list[Rating], list[Rating]]:
    """Returns the ratings of the other raters and those of one rater, of the translations that have both.

    Args:
        ratings: of several raters.
        rater: whose ratings are held out, or `ANY_RATER`: of each source segment one rater, at random by a fixed seed,
            for all its translations that this rater rated, and any other rater for the rest.
        place: name of the ratings in messages.

    Raises:
        InputError: if the rater is unknown, or no translation has ratings of both.
    """
    names = sorted({rating.rater or "" for rating in ratings} - {""})
    if rater != ANY_RATER and rater not in names:
        allowed = one_of([ANY_RATER, *names[:10]])
        raise InputError(f"{place}: no rating of rater {rater!r}{near_miss(rater, names)} must be {allowed}")
    by_source: dict[SegmentKey, dict[str | None, list[Rating]]] = {}
    for rating in ratings:
        key = rating.segment.key or SegmentKey()
        by_source.setdefault(replace(key, system=None), {}).setdefault(key.system, []).append(rating)
    rng = random.Random(0)
    remaining: list[Rating] = []
    held_out: list[Rating] = []
    for by_system in by_source.values():
        raters = sorted({rating.rater or "" for rated in by_system.values() for rating in rated})
        order = rng.sample(raters, len(raters)) if rater == ANY_RATER else [rater]
        for rated in by_system.values():
            of_rater = next((rating for name in order for rating in rated if (rating.rater or "") == name), None)
            if of_rater is not None and len(rated) > 1:
                held_out.append(of_rater)
                remaining += [rating for rating in rated if rating is not of_rater]
    if not held_out:
        raise InputError(f"{place}: no translation with ratings of {rater} and of another rater: must have some")
    return remaining, held_out


def in_common(files: Sequence[MetricScores]) -> list[MetricScores]:
    """Returns the scores of the translations that every file scores; those of systems are left to their means.

    Raises:
        InputError: if there is no such translation.
    """
    common = {
        system: {name for name in scores if all(file.segments.get(system, {}).get(name) is not None for file in files)}
        for system, scores in files[0].segments.items()
    }
    if not any(common.values()):
        names = " and ".join(file.name for file in files)
        raise InputError(f"{names}: no translation that all of them score: must have some")

    def restricted(file: MetricScores) -> dict[str, dict[SegmentName, float | None]]:
        """Returns scores that are None outside of the common ones, so that files keep one line for each segment."""
        return {
            system: {name: score if name in kept else None for name, score in file.segments[system].items()}
            for system, kept in common.items()
            if kept
        }

    return [replace(file, systems={}, segments=restricted(file)) for file in files]

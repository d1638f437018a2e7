"""Several raters of the same segments: one text for all of them, one rating per segment, a profile of each rater."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from matese import merging, mqm
from matese.annotation import Rating, Segment, SegmentKey
from matese.errors import InputError, counted, one_of
from matese.evaluation import alignment
from matese.evaluation.alignment import describe_segment
from matese.evaluation.spans.rating_pairs import counted_spans
from matese.evaluation.systems import quality
from matese.text import span_projection

if TYPE_CHECKING:  # it imports scipy, which takes longer than scoring many files
    from matese.evaluation.spans.evaluation import NamedRatings

_MIN_SIMILARITY = 0.8
"""Texts that are less similar are different translations with the same key."""


@dataclass(frozen=True, slots=True)
class CommonTexts:
    """Ratings whose raters have the same text of each segment.

    Attributes:
        ratings: in their order.
        n_moved: ratings that had another version of the text.
        n_unplaced: spans of these that do not exist in the common text and are now errors without a place.
        n_left_out: ratings of another text that could not be merged.
    """

    ratings: tuple[Rating, ...]
    n_moved: int = 0
    n_unplaced: int = 0
    n_left_out: int = 0

    def notices(self) -> tuple[str, ...]:
        """Returns a sentence about the ratings that were moved, if any, and one about those that were left out."""
        lost = f"{self.n_unplaced:,} lost" if self.n_unplaced else "none lost"
        problems = (
            (self.n_moved, f"a slightly different text: spans moved to the common text, {lost}"),
            (self.n_left_out, "a text in which their spans have no place: left out"),
        )
        return tuple(f"{counted(n, 'rating')} refer{'s' * (n == 1)} to {problem}" for n, problem in problems if n)


def use_common_texts(ratings: Sequence[Rating], predicted: Sequence[Rating] = ()) -> CommonTexts:
    """Returns the ratings with the text that most raters of each segment have; the first one if several are equal.

    Some annotation tools let raters type into the text that they mark, so that offsets no longer agree. If there are
    predictions, their text of a segment counts: the one that most raters share, or else one that no rater has.
    """
    texts: dict[SegmentKey, Counter[str]] = {}
    for rating in ratings:
        if rating.segment.key is not None and rating.segment.key.index is not None:
            texts.setdefault(rating.segment.key, Counter())[rating.segment.hypothesis] += 1
    wanted = _predicted_texts(ratings, predicted)
    common = {key: _common_text(counts, wanted.get(key, ())) for key, counts in texts.items()}
    moved = tuple(_move(rating, common) for rating in ratings)
    changed = [(new, old) for new, old in zip(moved, ratings, strict=True) if new is not old]
    return CommonTexts(moved, len(changed), sum(len(new.unplaced) - len(old.unplaced) for new, old in changed))


def _predicted_texts(ratings: Sequence[Rating], predicted: Sequence[Rating]) -> dict[SegmentKey | None, list[str]]:
    """Returns the predictions' texts of each segment, by the key of its ratings; nothing without segment numbers."""
    places = alignment.places_of((ratings, predicted))
    if places is None:
        return {}
    by_place: dict[object, list[str]] = {}
    for place, rating in zip(places[1], predicted, strict=True):
        by_place.setdefault(place, []).append(rating.segment.hypothesis)
    return {rating.segment.key: by_place.get(place, []) for place, rating in zip(places[0], ratings, strict=True)}


def _common_text(counts: Counter[str], predicted: Sequence[str]) -> str:
    """Returns the most frequent of the raters' texts among the predicted ones; a predicted text if no rater has one."""
    every = [text for text, _ in counts.most_common()]
    return next((text for text in every if text in predicted), predicted[0] if predicted else every[0])


def _move(rating: Rating, common: dict[SegmentKey, str]) -> Rating:
    typed = rating.segment.hypothesis
    key = rating.segment.key
    text = typed if key is None else common.get(key, typed)
    if text == typed or rating.errors is None:
        return rating
    if difflib.SequenceMatcher(None, typed, text, autojunk=False).ratio() < _MIN_SIMILARITY:
        return rating
    errors, unplaced = span_projection.project(rating.errors, typed, text)
    segment = replace(rating.segment, hypothesis=text)
    return replace(rating, segment=segment, errors=errors, unplaced=(*rating.unplaced, *unplaced))


def one_per_segment(
    ratings: Sequence[Rating],
    *,
    name: str,
    rater: str | None = None,
    merge: merging.MergeMethod | None = None,
    predicted: Sequence[Rating] = (),
) -> CommonTexts:
    """Returns one rating per segment, of one rater or merged from all raters; counts moved spans.

    Args:
        ratings: of one rater or several.
        name: of the ratings in messages.
        rater: whose ratings to take.
        merge: how to merge the ratings of a segment, after `use_common_texts`, apart from other segments. Of texts that
            still differ the first of the most frequent ones counts: ratings of another are moved to it if all their
            spans have a clear place there, or else left out.
        predicted: what the ratings are compared with, whose texts they are moved to; see `use_common_texts`.

    Raises:
        InputError: if a segment has several raters and neither `rater` nor `merge` is given, the rater is unknown, or
            a rater has rated a segment twice.
    """
    if rater is not None:
        of_rater = tuple(rating for rating in ratings if rating.rater == rater)
        if not of_rater:
            raters = sorted({rating.rater or "none" for rating in ratings})[:10]
            raise InputError(f"{name}: no rating of rater {rater!r} (--rater): must be {one_of(raters)}")
        by_segment(of_rater, name)  # checks that the rater has rated each segment once
        return use_common_texts(of_rater, predicted) if predicted else CommonTexts(of_rater)
    common = use_common_texts(ratings, predicted) if merge is not None else CommonTexts(tuple(ratings))
    segments = by_segment(common.ratings, name)
    several = next((rated for rated in segments if len({rating.rater for rating in rated}) > 1), None)
    if several is None:
        return common
    if merge is None:
        names = " and ".join(str(rating.rater) for rating in several[:2])
        allowed = "must be one; choose a rater (--rater) or merge them (--merge)"
        raise InputError(f"{name} has several raters of a segment ({names}): {allowed}")
    alike = [_on_one_text(rated) for rated in segments]
    n_moved = sum(rating not in rated for rated, kept in zip(segments, alike, strict=True) for rating in kept)
    return CommonTexts(
        tuple(merging.merge(kept, method=merge) for kept in alike),
        common.n_moved + n_moved,
        common.n_unplaced,
        len(common.ratings) - sum(map(len, alike)),
    )


def by_segment(ratings: Sequence[Rating], name: str | None = None) -> list[list[Rating]]:
    """Returns the ratings of each segment, in the order of their first ones; `name` is theirs in messages.

    A key names a segment, whatever its raters have typed into the text. A key under which one rater has several ratings
    stands for several segments, one per text. Ratings without an index are of different segments. Ratings without a
    rater may be of different raters.

    Raises:
        InputError: if a rater has rated one text of a key twice.
    """
    by_key: dict[object, list[Rating]] = {}
    for number, rating in enumerate(ratings):
        key = rating.segment.key
        by_key.setdefault(number if key is None or key.index is None else key, []).append(rating)
    segments: list[list[Rating]] = []
    for of_key in by_key.values():
        if len(of_key) == 1:  # as nearly all are in most files
            segments.append(of_key)
            continue
        by_text: dict[object, list[Rating]] = {}
        for rating in of_key:
            by_text.setdefault(rating.segment, []).append(rating)
        has_each_once = len({rating.rater for rating in of_key}) == len(of_key)
        segments += [of_key] if has_each_once else by_text.values()
    for segment in segments:
        if len(segment) > 1:
            check_rated_once(segment, name)
    return segments


def check_marked_once(ratings: Iterable[Rating], name: str) -> None:
    """Raises an InputError if a rater has marked a segment of a named system twice.

    Several scores alone may be of several rounds, and equal numbers without a system of several data sets.
    """
    by_segment([rating for rating in ratings if rating.errors is not None and _is_of_system(rating)], name)


def _is_of_system(rating: Rating) -> bool:
    return rating.segment.key is not None and rating.segment.key.system is not None


def check_rated_once(ratings: Iterable[Rating], name: str | None = None) -> None:
    """Raises an InputError if two ratings of a segment are of the same rater; `name` is that of the ratings."""
    raters = set()
    for rating in ratings:
        if rating.rater is not None and rating.rater in raters:
            where = f"{name}: " if name else ""
            place = describe_segment(rating.segment)
            raise InputError(f"{where}{rating.rater} has rated {place} twice; one rating of a rater counts")
        raters.add(rating.rater)


def _on_one_text(ratings: Sequence[Rating]) -> list[Rating]:
    """Returns the ratings of a segment on the text that most of them hold, without those that do not fit it."""
    (segment, _), *_ = Counter(rating.segment for rating in ratings).most_common(1)
    moved = (_fitted(rating, segment) for rating in ratings)
    return [rating for rating in moved if rating is not None]


def _fitted(rating: Rating, segment: Segment) -> Rating | None:
    """Returns a rating on another version of its segment; None if one of its spans has no clear place there."""
    before = rating.segment
    spans = rating.errors or ()
    has_lost = any(omission.context(before) != omission.context(segment) for omission in rating.omissions)
    if has_lost or (rating.source_errors and before.source != segment.source):
        return None
    places = [span_projection.relocate(span.start, span.end, before.hypothesis, segment.hypothesis) for span in spans]
    moved = [replace(span, start=place[0], end=place[1]) for span, place in zip(spans, places, strict=True) if place]
    return replace(rating, segment=segment, errors=rating.errors and tuple(moved)) if None not in places else None


def on_texts_of(golds: Sequence[Rating], predicted: NamedRatings) -> NamedRatings:
    """Returns the predictions without those of other raters' texts of a segment that has a gold rating of one text."""
    places = alignment.places_of((golds, predicted.ratings))
    if places is None or len(golds) >= len(predicted.ratings):
        return predicted
    n_golds = Counter(places[0])
    n_predicted = Counter(places[1])
    texts = {(place, rating.segment.hypothesis) for place, rating in zip(places[0], golds, strict=True)}
    kept = [
        number
        for number, (place, rating) in enumerate(zip(places[1], predicted.ratings, strict=True))
        if not 0 < n_golds[place] < n_predicted[place] or (place, rating.segment.hypothesis) in texts
    ]
    return predicted.select(kept)


def mean_score(ratings: Sequence[Rating], weights: mqm.Weights) -> float:
    """Returns the MQM score of ratings as it is defined: the mean over segments of the mean of the raters' scores."""
    return mqm.corpus_score(
        mqm.corpus_score(mqm.score(rating, weights) for rating in segment) for segment in by_segment(ratings)
    )


def against_others(ratings: Sequence[Rating], merge: merging.MergeMethod | None) -> tuple[list[Rating], list[Rating]]:
    """Returns for each rating of a segment that others have rated the merged ratings of the others, and the rating.

    Without a method there are none.
    """
    if merge is None:
        return [], []
    rated = [rating for rating in use_common_texts(ratings).ratings if rating.errors is not None]
    pairs = [
        (merging.merge([*segment[:number], *segment[number + 1 :]], method=merge), rating)
        for segment in map(_on_one_text, by_segment(rated))
        if len({rating.rater for rating in segment}) > 1
        for number, rating in enumerate(segment)
    ]
    return [merged for merged, _ in pairs], [rating for _, rating in pairs]


@dataclass(frozen=True, slots=True)
class RaterProfile:
    """How a rater annotates, apart from the agreement with others. Neutral errors do not count.

    Attributes:
        n_segments: number of ratings.
        errors_per_segment: errors in source and hypothesis, omissions, and errors without a place.
        major_share: share of these that are Major or Critical; None if there are none.
        error_free: share of ratings without an error, whose severity may be undecided.
        span_length: mean length of the spans in the hypothesis, in characters; None if there are none.
        score: mean MQM score.
    """

    n_segments: int
    errors_per_segment: float
    major_share: float | None
    error_free: float
    span_length: float | None
    score: float


def profile(ratings: Sequence[Rating], weights: mqm.Weights) -> RaterProfile:
    """Returns the profile of one rater's ratings, one or more."""
    n_minor, n_major = np.array([mqm.count(rating.all_errors) for rating in ratings]).T
    lengths = [span.end - span.start for rating in ratings for span in counted_spans(rating)]
    n_errors = int(n_minor.sum() + n_major.sum())
    return RaterProfile(
        n_segments=len(ratings),
        errors_per_segment=n_errors / len(ratings),
        major_share=float(n_major.sum()) / n_errors if n_errors else None,
        error_free=float(np.mean([quality.severity_group(rating) == "no_error" for rating in ratings])),
        span_length=float(np.mean(lengths)) if lengths else None,
        score=mqm.corpus_score(mqm.score(rating, weights) for rating in ratings),
    )

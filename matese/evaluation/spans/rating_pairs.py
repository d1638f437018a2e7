"""Pairs of a gold and a predicted rating of one segment, and the errors that every measure counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from matese.annotation import ErrorSpan, Omission, Rating, SegmentKey
from matese.annotation.severities import COUNTED
from matese.errors import InputError
from matese.evaluation import alignment
from matese.evaluation.alignment import describe_segment


@dataclass(frozen=True, slots=True)
class RatingPair:
    """The ratings that a human and a model, or two humans, gave one segment, and their `counted_spans`, if any."""

    gold: Rating
    predicted: Rating
    gold_spans: tuple[ErrorSpan, ...]
    predicted_spans: tuple[ErrorSpan, ...]

    @classmethod
    def of(cls, gold: Rating, predicted: Rating) -> RatingPair:
        """Returns the pair of two ratings of one text."""
        return cls(gold, predicted, counted_spans(gold), counted_spans(predicted))

    @property
    def has_spans(self) -> bool:
        """Whether both ratings are of spans."""
        return self.gold.errors is not None and self.predicted.errors is not None

    @property
    def key(self) -> SegmentKey:
        """Key of the gold segment; language pair, system and domain are the prediction's if the gold key lacks them."""
        gold, predicted = (rating.segment.key or SegmentKey() for rating in (self.gold, self.predicted))
        lacking = [name for name in ("lang_pair", "system", "domain") if getattr(gold, name) is None]
        return replace(gold, **{name: getattr(predicted, name) for name in lacking})


def annotated_spans(rating: Rating) -> tuple[ErrorSpan, ...]:
    """Returns the spans of a rating.

    Raises:
        InputError: if it has none (`errors` is None).
    """
    if rating.errors is None:
        place = describe_segment(rating.segment)
        problem = "has no spans (errors is null): it is not reviewed or has a score alone"
        raise InputError(f"rating of {place} {problem}; finish the review, or give ratings of spans")
    return rating.errors


def counted_spans(rating: Rating) -> tuple[ErrorSpan, ...]:
    """Returns the spans that measures count, with the severities of `COUNTED`.

    Raises:
        InputError: if the rating has no spans.
    """
    counted = []
    for span in annotated_spans(rating):
        if span.severity is not None and span.severity in COUNTED:
            severity = COUNTED[span.severity]
            counted.append(span if severity is span.severity else replace(span, severity=severity))
    return tuple(counted)


def counted_omissions(rating: Rating) -> list[Omission]:
    """Returns the omissions that measures count."""
    return [omission for omission in rating.omissions if omission.severity in COUNTED]


def pair_up(
    golds: Sequence[Rating], predictions: Sequence[Rating], names: tuple[str, str] = ("gold", "prediction")
) -> tuple[RatingPair, ...]:
    """Returns the ratings of each segment as a pair, in the order of the gold ones; see `alignment.match`.

    All ratings of a side have spans, or none has: those of a model that only scores, or people's direct assessments.

    Raises:
        InputError: if the two sides, of these names, are not of the same segments, a rating has no spans but others of
            its side have some, or ratings without spans lack overall scores on one scale.
    """
    if not golds:
        raise InputError(f"{names[0]} has no ratings; give one or more")
    try:
        ordered = alignment.match(golds, predictions, names, _difference)
    except InputError as error:
        if len(golds) == len(predictions):
            raise
        raise InputError(f"{error}; --common compares only the segments that both have") from None
    spans = [_spans_of_all(side, name) for side, name in zip((golds, ordered), names, strict=True)]
    return tuple(RatingPair(*four) for four in zip(golds, ordered, *spans, strict=True))


def _difference(gold: Rating, predicted: Rating) -> alignment.Mismatch | None:
    gold_text = gold.segment.hypothesis
    predicted_text = predicted.segment.hypothesis
    if gold_text == predicted_text:
        return None
    places = range(min(len(gold_text), len(predicted_text)))
    start = next((place for place in places if gold_text[place] != predicted_text[place]), len(places))
    return f"hypothesis from character {start}", gold_text[start:], predicted_text[start:]


def _spans_of_all(ratings: Sequence[Rating], name: str) -> list[tuple[ErrorSpan, ...]]:
    if any(rating.errors is not None for rating in ratings):
        return [counted_spans(rating) for rating in ratings]
    for rating in ratings:
        if rating.whole is None:
            place = describe_segment(rating.segment)
            raise InputError(f"{name}: rating of {place} has neither spans nor an overall score; it needs one of them")
    scales = sorted({rating.whole.scale for rating in ratings if rating.whole is not None})
    if len(scales) > 1:
        problem = f"ratings without spans have overall scores on several scales ({', '.join(scales)}); all need one"
        raise InputError(f"{name}: {problem}")
    return [()] * len(ratings)

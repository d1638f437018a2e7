"""Pairs of a gold and a predicted rating of one segment, and the spans that every measure counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

from matese.annotation import ErrorSpan, Rating, Segment, SegmentKey, Severity
from matese.errors import InputError, shortened

_COUNTED = {Severity.MINOR: Severity.MINOR, Severity.MAJOR: Severity.MAJOR, Severity.CRITICAL: Severity.MAJOR}


@dataclass(frozen=True, slots=True)
class RatingPair:
    """The ratings that a human and a model, or two humans, gave one segment.

    Attributes:
        gold: counts as true.
        predicted: is compared with it.
        gold_spans: the gold spans that count; see `counted_spans`. Empty if spans were not annotated.
        predicted_spans: the predicted spans that count.
    """

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
    def n_characters(self) -> int:
        """Length of the hypothesis, in code points."""
        return len(self.gold.segment.hypothesis)

    @property
    def key(self) -> SegmentKey:
        """Key of the gold segment; language pair and system are the prediction's if the gold key lacks them."""
        gold = self.gold.segment.key or SegmentKey()
        predicted = self.predicted.segment.key or SegmentKey()
        lang_pair = predicted.lang_pair if gold.lang_pair is None else gold.lang_pair
        system = predicted.system if gold.system is None else gold.system
        return replace(gold, lang_pair=lang_pair, system=system)

    def with_severity(self, severity: Severity) -> RatingPair:
        """Returns the pair with the spans of one severity only, on both sides."""
        return replace(
            self,
            gold_spans=tuple(span for span in self.gold_spans if span.severity is severity),
            predicted_spans=tuple(span for span in self.predicted_spans if span.severity is severity),
        )


def counted_spans(rating: Rating) -> tuple[ErrorSpan, ...]:
    """Returns the spans that measures count: Critical ones as Major, and no Neutral or undecided ones.

    The WMT25 task maps Critical to Major and ignores undecided spans; Perrella et al. 2026 ignore Neutral ones.

    Raises:
        InputError: if the rating has no spans (`errors` is None).
    """
    if rating.errors is None:
        raise InputError(
            f"rating of {describe_segment(rating.segment)} has no spans (errors is null); give ratings of spans"
        )
    spans = []
    for span in rating.errors:
        severity = None if span.severity is None else _COUNTED.get(span.severity)
        if severity is not None:
            spans.append(span if severity is span.severity else replace(span, severity=severity))
    return tuple(spans)


def pair_up(golds: Sequence[Rating], predictions: Sequence[Rating]) -> tuple[RatingPair, ...]:
    """Returns rating i of both sides as a pair or, if their texts differ, the ratings with the same key.

    All ratings of a side have spans, or none has: those of a model that only scores, or people's direct assessments.

    Raises:
        InputError: if the two sides are not of the same segments, a rating has no spans but others of its side have
            some, or ratings without spans lack overall scores on one scale.
    """
    if not golds:
        raise InputError("no gold ratings; give one or more")
    if len(golds) != len(predictions):
        raise InputError(
            f"{len(golds):,} gold ratings and {len(predictions):,} predictions; both need one for each segment"
            f"{_first_uneven(golds, predictions)}"
        )
    differing = next(
        (i for i, (gold, other) in enumerate(zip(golds, predictions, strict=True)) if _differ(gold, other)), None
    )
    if differing is not None:
        reordered = _by_key(golds, predictions)
        if reordered is None:
            raise InputError(_difference(differing, golds[differing], predictions[differing]))
        predictions = reordered
    spans = [_spans_of_all(side) for side in (golds, predictions)]
    return tuple(RatingPair(*four) for four in zip(golds, predictions, *spans, strict=True))


def _spans_of_all(ratings: Sequence[Rating]) -> list[tuple[ErrorSpan, ...]]:
    if any(rating.errors is not None for rating in ratings):
        return [counted_spans(rating) for rating in ratings]
    scales = set()
    for rating in ratings:
        if rating.whole is None:
            place = describe_segment(rating.segment)
            raise InputError(f"rating of {place} has neither spans nor an overall score; it needs one of them")
        scales.add(rating.whole.scale)
    if len(scales) > 1:
        named = ", ".join(sorted(scales))
        raise InputError(f"ratings without spans have overall scores on several scales ({named}): must be one")
    return [()] * len(ratings)


def describe_segment(segment: Segment) -> str:
    """Returns the name of a segment in messages.

    >>> describe_segment(Segment("Hallo", key=SegmentKey(system="online-A", index=4)))
    "segment 4 of online-A ('Hallo')"
    """
    return f"{_describe(segment.key or SegmentKey())} ({shortened(segment.hypothesis)})"


def _describe(key: SegmentKey) -> str:
    number = "segment" if key.index is None else f"segment {key.index}"
    place = " ".join(name for name in (key.test_set, key.lang_pair, key.system) if name is not None)
    return f"{number}{f' of {place}' if place else ''}"


def _first_uneven(golds: Sequence[Rating], predictions: Sequence[Rating]) -> str:
    """Returns what names the first segment with several ratings or none on a side; "" if the keys do not tell."""
    gold_keys, keys = ([one.segment.key or SegmentKey() for one in own] for own in (golds, predictions))
    if any(key.index is None for key in (*gold_keys, *keys)):
        return ""
    for side, others, own in (("gold", keys, gold_keys), ("prediction", gold_keys, keys)):
        counts, present = Counter(own), set(own)
        several = next((key for key in own if counts[key] > 1), None)
        if several is not None:
            return f" ({_describe(several)} has {counts[several]} {side} ratings)"
        missing = next((key for key in others if key not in present), None)
        if missing is not None:
            return f" ({_describe(missing)} has no {side} rating)"
    return ""


def _differ(gold: Rating, predicted: Rating) -> bool:
    return gold.segment.hypothesis != predicted.segment.hypothesis


def _by_key(golds: Sequence[Rating], predictions: Sequence[Rating]) -> list[Rating] | None:
    """Returns the predictions in the order of the gold keys; None if the keys do not match one to one."""
    found = {other.segment.key: other for other in predictions}
    keys = [gold.segment.key for gold in golds]
    if None in found or len(found) < len(predictions) or set(keys) != set(found):
        return None
    ordered = [found[key] for key in keys]
    return None if any(map(_differ, golds, ordered)) else ordered


def _difference(number: int, gold: Rating, predicted: Rating) -> str:
    one, other = gold.segment.hypothesis, predicted.segment.hypothesis
    shared = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    return (
        f"rating {number + 1} is of different texts: gold {shortened(one)}, prediction {shortened(other)} (first "
        f"difference at character {shared}): rating i of both must be of one hypothesis, character for character"
        f"{_missing_keys(gold, predicted)}"
    )


def _missing_keys(gold: Rating, predicted: Rating) -> str:
    """Returns why ratings in another order cannot be matched, if their keys have different parts."""
    keys = [rating.segment.key or SegmentKey() for rating in (gold, predicted)]
    names = [one.name for one in fields(SegmentKey) if len({getattr(key, one.name) is None for key in keys}) > 1]
    if not names:
        return ""
    return f"; to match them by key whatever their order, both sides or none must state {' and '.join(names)}"

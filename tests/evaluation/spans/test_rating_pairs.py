from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from matese.annotation import ErrorSpan, Overall, Rating, Segment, SegmentKey, Severity
from matese.evaluation.spans import rating_pairs
from matese.evaluation.spans.rating_pairs import RatingPair
from tests.evaluation.material import major, minor, rating


def test_what_counts() -> None:
    given = [ErrorSpan(0, 2, None), ErrorSpan(1, 3, Severity.NEUTRAL), minor(4, 5), ErrorSpan(6, 9, Severity.CRITICAL)]
    assert rating_pairs.counted_spans(rating(*given)) == (minor(4, 5), major(6, 9))


def test_a_rating_without_spans_is_refused() -> None:
    scored = Rating(Segment("Hallo", key=SegmentKey(system="A", index=3)), None, None)
    with pytest.raises(ValueError, match=r"segment 4 of A \('Hallo'\) has no spans .*, or give ratings of spans"):
        RatingPair.of(scored, scored)


def scored(value: float, scale: Any = "comet") -> Rating:
    return Rating(Segment("x" * 40), None, None, overall=Overall(value, scale))


def test_a_side_without_any_span_has_overall_scores_on_one_scale() -> None:
    (one, other) = rating_pairs.pair_up([rating(minor(0, 1)), rating()], [scored(0.5), scored(0.7)])
    assert (one.has_spans, len(one.gold_spans), one.predicted_spans, other.predicted_spans) == (False, 1, (), ())
    with pytest.raises(ValueError, match=r"has no spans \(errors is null\): .* or give ratings of spans"):
        rating_pairs.pair_up([rating(), rating()], [scored(0.5), rating()])
    neither = replace(scored(0.5), overall=None)
    with pytest.raises(ValueError, match=r"has neither spans nor an overall score; it needs one of them"):
        rating_pairs.pair_up([rating(), rating()], [scored(0.5), neither])
    with pytest.raises(ValueError, match=r"overall scores on several scales \(comet, da\); all need one"):
        rating_pairs.pair_up([rating(), rating()], [scored(0.5), scored(50, "da")])


@pytest.mark.parametrize(
    ("own", "other", "turn"),
    [
        ({}, {}, 1),
        ({"index": 0}, {"index": 0}, -1),
        ({"index": 0}, {"index": 0, "lang_pair": "en-de"}, -1),  # what only one side says does not count
    ],
)
def test_pairs_stand_in_the_order_of_the_gold_ratings(own: dict[str, Any], other: dict[str, Any], turn: int) -> None:
    golds, others = (
        [rating(text="a", **key), rating(text="b", **({**key, "index": 1} if key else {}))] for key in (own, other)
    )
    assert [pair.predicted for pair in rating_pairs.pair_up(golds, others[::turn])] == others


def test_other_lengths() -> None:
    with pytest.raises(ValueError, match=r"^gold has 2 ratings and prediction 1; both need one .*: 1 in gold and 0 in"):
        rating_pairs.pair_up([rating(), rating()], [rating()])
    with pytest.raises(ValueError, match="gold has no ratings; give one or more"):
        rating_pairs.pair_up([], [])


@pytest.mark.parametrize("keys", [({}, {}), ({"index": 1}, {"index": 2}), ({"index": 1}, {"index": 1})])
def test_other_texts_name_the_first_that_differs(keys: tuple[dict[str, Any], dict[str, Any]]) -> None:
    golds = [rating(text="gleich", index=7), rating(text="Das Haus", **keys[0])]
    others = [rating(text="gleich", index=7), rating(text="Das Hemd", **keys[1])]
    message = "rating 2 is of different segments: hypothesis from character 5 is 'aus' in gold and 'emd' in prediction"
    with pytest.raises(ValueError, match=message):
        rating_pairs.pair_up(golds, others)
    with pytest.raises(ValueError, match="character 3"):  # the beginning of the other
        rating_pairs.pair_up([rating(text="Das")], [rating(text="Das ")])
    repeated = [rating(text=text, index=1) for text in "ab"]
    with pytest.raises(ValueError, match="rating 1 is of different segments"):
        rating_pairs.pair_up(repeated, repeated[::-1])


def test_what_one_side_does_not_know_the_other_does() -> None:
    found = RatingPair.of(rating(system="A"), rating(system="file", lang_pair="en-de"))
    assert (found.key.system, found.key.lang_pair) == ("A", "en-de")


def test_the_first_segment_with_several_ratings_or_none_is_named() -> None:
    golds = [rating(text="a", index=index) for index in range(3)]
    with pytest.raises(ValueError, match=r"segment \(segment 2 \('a'\): 1 in gold and 2 in prediction\); --common"):
        rating_pairs.pair_up(golds, [*golds, golds[1]])
    with pytest.raises(ValueError, match=r"segment \(segment 1 \('a'\): 1 in gold and 0 in prediction\); --common"):
        rating_pairs.pair_up(golds, golds[1:])

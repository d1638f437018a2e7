from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from matese import mqm
from matese.annotation import ErrorSpan, Omission, Rating, Segment, SegmentKey, Severity, TokenScores, UnplacedError
from matese.errors import InputError
from matese.evaluation.spans.evaluation import NamedRatings
from matese.evaluation.systems import raters
from matese.evaluation.systems.raters import CommonTexts
from tests.evaluation.material import major, minor

TEXT = "Das Haus am See ist alt."


def rating(rater: str, *errors: ErrorSpan, text: str = TEXT, index: int | None = 0) -> Rating:
    return Rating(Segment(text, key=SegmentKey(system="A", index=index)), rater, errors)


def test_raters_who_edited_the_text_are_moved_to_the_text_of_the_others() -> None:
    edited = rating("cleo", minor(4, 9), major(13, 16), major(21, 24), text="Das Hauss am See ist allt!")
    given = [rating("anna", minor(4, 8)), rating("ben", minor(4, 8)), edited]
    found = raters.use_common_texts(given)
    assert (found.n_moved, found.n_unplaced) == (1, 0)
    assert found.ratings[:2] == tuple(given[:2])
    moved = found.ratings[2]
    assert (moved.segment.hypothesis, moved.errors) == (TEXT, (minor(4, 8), major(12, 15), major(20, 22)))
    (notice,) = found.notices()
    assert notice.startswith("1 rating refers to a slightly different text")


def test_other_translations_with_one_key_stay_apart() -> None:
    given = [rating("anna"), rating("ben"), rating("cleo", minor(0, 3), text="Etwas ganz anderes steht hier")]
    assert raters.use_common_texts(given) == CommonTexts(tuple(given))


def test_spans_that_the_common_text_lacks_are_errors_without_a_place() -> None:
    edited = rating("cleo", minor(4, 5, "Style"), text="Das x Haus am See ist alt.")
    (*_, moved) = raters.use_common_texts([rating("anna"), rating("ben"), edited]).ratings
    assert (moved.errors, moved.unplaced) == ((), (UnplacedError(edited.errors[0].severity, "Style"),))  # type: ignore[index]


def test_one_rater_is_chosen_or_all_are_merged() -> None:
    given = [rating("anna", minor(4, 8)), rating("ben", minor(4, 8)), rating("cleo", minor(20, 23))]
    assert raters.one_per_segment(given, name="gold", rater="ben").ratings == (given[1],)
    (merged,) = raters.one_per_segment(given, name="gold", merge="majority").ratings
    assert (merged.rater, merged.errors) == ("anna+ben+cleo", (minor(4, 8),))
    apart = [rating("anna", index=1), rating("ben", index=2)]
    assert raters.one_per_segment(apart, name="gold").ratings == tuple(apart)
    without_index = [rating("anna", index=None), rating("ben", index=None)]
    assert raters.one_per_segment(without_index, name="gold").ratings == tuple(without_index)


def test_merging_commutes_with_taking_a_subset() -> None:
    texts = [f"Das Haus Nummer {number} am See ist alt." for number in range(30)]
    given = [
        rating(name, minor(start, start + 6), text=text, index=index)
        for index, text in enumerate(texts)
        for name, start in (("anna", 4), ("ben", 8))
    ]
    merged = raters.one_per_segment(given, name="gold", merge="union").ratings
    assert len({one.errors for one in merged}) == 2  # some segments keep the span of one rater, some of the other
    for n in (1, 7):
        assert raters.one_per_segment(given[2 * n :], name="gold", merge="union").ratings == merged[n:]
    others, each = raters.against_others([*given, *(replace(one, rater=f"{one.rater}2") for one in given)], "union")
    fewer, _ = raters.against_others([*given[2:], *(replace(one, rater=f"{one.rater}2") for one in given[2:])], "union")
    assert fewer == others[4:]
    assert len(each) == len(others)


def test_a_rating_with_omissions_is_not_moved_to_a_segment_without_their_reference() -> None:
    source = [replace(rating(name), segment=Segment(TEXT, "The house", key=rating(name).segment.key)) for name in "ab"]
    segment = replace(source[0].segment, references=("Das alte Haus",))
    other = Rating(segment, "c", (), omissions=(Omission("reference", 0, 4, 8, Severity.MINOR),))
    found = raters.one_per_segment([*source, other], name="gold", merge="majority")
    assert (found.ratings[0].rater, found.n_left_out) == ("a+b", 1)


def test_several_raters_and_unknown_ones() -> None:
    given = [rating("anna"), rating("ben")]
    with pytest.raises(InputError, match=r"gold has several raters of a segment \(anna and ben\): must be one"):
        raters.one_per_segment(given, name="gold")
    with pytest.raises(InputError, match=r"gold: no rating of rater 'eva' .*: must be anna or ben"):
        raters.one_per_segment(given, name="gold", rater="eva")


@pytest.mark.parametrize("options", [{}, {"rater": "anna"}, {"merge": "union"}, {"merge": "majority"}])
def test_a_rater_counts_once_in_a_segment(options: dict[str, Any]) -> None:
    twice = [rating("anna", minor(4, 8)), rating("ben"), rating("anna", major(0, 3))]
    given = twice if options else [twice[0], twice[2]]
    with pytest.raises(InputError, match=r"anna has rated segment 1 of A .* twice"):
        raters.one_per_segment(given, name="gold", **options)
    with pytest.raises(InputError, match=r"anna has rated segment 1 of A .* twice"):
        raters.by_segment(twice)
    with pytest.raises(InputError, match=r"gold: anna has rated segment 1 of A .* twice"):
        raters.check_marked_once(twice, "gold")
    raters.check_marked_once([replace(one, segment=Segment(TEXT, key=SegmentKey(index=0))) for one in twice], "gold")


def test_what_is_no_second_rating_of_a_rater() -> None:
    unnamed = [replace(rating("anna"), rater=None), replace(rating("anna", minor(4, 8)), rater=None)]
    assert raters.by_segment(unnamed) == [unnamed]
    without_index = [rating("anna", index=None), rating("anna", index=None)]
    assert raters.by_segment(without_index) == [[one] for one in without_index]
    other_text = [rating("anna"), rating("anna", text="Ein Haus")]
    assert raters.by_segment(other_text) == [[one] for one in other_text]


def test_profile() -> None:
    one = Rating(
        Segment("x" * 40, "y" * 40, key=SegmentKey(index=1)),
        "A",
        (minor(0, 4), ErrorSpan(5, 7, Severity.CRITICAL), ErrorSpan(8, 9, Severity.NEUTRAL)),
        (major(0, 2),),
        unplaced=(UnplacedError(Severity.MINOR),),
    )
    found = raters.profile([one, replace(one, errors=(), source_errors=(), unplaced=())], mqm.MATESE)
    assert found == raters.RaterProfile(
        n_segments=2, errors_per_segment=2.0, major_share=0.5, error_free=0.5, span_length=3.0, score=-6.0
    )
    spotless = raters.profile([rating("A")], mqm.MATESE)
    assert (spotless.major_share, spotless.span_length, spotless.error_free) == (None, None, 1.0)
    corrected = raters.profile([rating("A"), rating("A", ErrorSpan(0, 3, None))], mqm.MATESE)
    assert (corrected.error_free, corrected.errors_per_segment) == (0.5, 0.0), "undecided is an error, and not counted"


def test_raters_with_different_texts_are_merged_into_one_rating() -> None:
    given = [rating("anna", minor(4, 8)), rating("ben", major(12, 15))]
    doubled = rating("cleo", major(25, 32), text="Das Haus am See ist alt. Das Haus am See")
    foreign = rating("dan", minor(0, 5), text="Etwas ganz anderes steht hier")
    unmarked = rating("eva", text="Etwas ganz anderes steht hier")
    found = raters.one_per_segment([*given, doubled, foreign, unmarked], name="gold", merge="union")
    (merged,) = found.ratings
    assert (merged.segment.hypothesis, merged.rater) == (TEXT, "anna+ben+cleo+eva")
    assert (found.n_moved, found.n_left_out) == (2, 1)
    assert found.notices()[1].startswith("1 rating refers to a text in which")


def test_one_rater_of_two_texts_with_one_key_has_two_segments() -> None:
    given = [rating(name, text=text) for text in (TEXT, "Ein anderes System") for name in ("anna", "ben")]
    assert raters.by_segment(given) == [given[:2], given[2:]]


EDITED = "Das Hauss am See ist alt."


@pytest.mark.parametrize(
    ("texts", "predicted", "expected"),
    [
        # The prediction reads the text of one rater, of the other, of neither, of both, and a wholly different one.
        ((TEXT, EDITED), [TEXT], TEXT),
        ((TEXT, EDITED), [EDITED], EDITED),
        ((EDITED, EDITED), [TEXT], TEXT),
        ((EDITED, TEXT), [TEXT, EDITED], EDITED),
        ((TEXT, EDITED), ["Etwas ganz anderes steht hier"], TEXT),
    ],
)
def test_gold_ratings_are_merged_on_the_text_of_the_prediction(
    texts: tuple[str, str], predicted: list[str], expected: str
) -> None:
    marked = major(13, 16) if texts[0] == EDITED else major(12, 15)
    given = [rating("anna", marked, text=texts[0]), rating("ben", text=texts[1])]
    found = raters.one_per_segment(
        given, name="gold", merge="union", predicted=[rating("model", text=text) for text in predicted]
    )
    (merged,) = found.ratings
    assert merged.segment.hypothesis == expected
    assert merged.errors is not None
    assert [expected[span.start : span.end] for span in merged.errors] == ["See"]


def test_ratings_of_a_chosen_rater_are_moved_to_the_text_of_the_prediction() -> None:
    given = [rating("anna", major(13, 16), text=EDITED), rating("ben")]
    found = raters.one_per_segment(given, name="gold", rater="anna", predicted=[rating("model")])
    assert (found.ratings[0].segment.hypothesis, found.ratings[0].errors) == (TEXT, (major(12, 15),))
    assert found.n_moved == 1


def test_predictions_of_the_texts_of_other_raters_are_left_out() -> None:
    golds = [rating("anna"), rating("anna", index=1)]
    predicted = [rating("model", text=EDITED), rating("model"), rating("model", index=1)]
    tokens = [TokenScores(((0, 3),), ((1.0, 0.0, 0.0, 0.0, 0.0),)), None, None]
    kept = raters.on_texts_of(golds, NamedRatings("model", predicted, tokens))
    assert kept == NamedRatings("model", predicted[1:], [None, None])
    without_index = NamedRatings("model", [rating("model", index=None)] * 3)
    assert raters.on_texts_of(golds, without_index) == without_index

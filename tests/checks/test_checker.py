from __future__ import annotations

import time

import pytest

from matese import mqm
from matese.annotation import ErrorSpan, Estimate, Omission, Rating, Segment, SegmentKey, Severity
from matese.checks import checker, marks, numbers, words

MAJOR = Severity.MAJOR
MINOR = Severity.MINOR
KEY = SegmentKey(lang_pair="en-de_CH", index=3)


@pytest.mark.parametrize(
    ("segment", "is_error"),
    [
        (Segment(""), True),
        (Segment(" \n", "Yes"), True),
        (Segment("", ""), False),
        (Segment("", " ", (" ",)), False),
        (Segment("", "", ("Ja",)), True),
    ],
)
def test_empty_hypotheses(segment: Segment, is_error: bool) -> None:
    rating = checker.check(segment)
    assert rating.errors == ()
    assert rating.unplaced == ((mqm.NON_TRANSLATION,) if is_error else ())


def test_a_copy_is_the_only_finding() -> None:
    source = "He has paid 15 pounds (he."
    rating = checker.check(Segment(f" {source} ", source, key=KEY))
    assert rating.errors == (ErrorSpan(1, len(source) + 1, MAJOR, words.UNTRANSLATED),)
    assert checker.check(Segment(source, source, (source,))).errors == ()
    assert checker.check(Segment(source, source, key=SegmentKey(lang_pair="en_US-en_GB"))).errors == ()


def test_all_at_once_and_who_says_so() -> None:
    segment = Segment("Es kostet kostet kostet 15 € (мир", "It costs €17 at %s in 2020.", key=KEY)
    (rating,) = checker.annotate_segments([segment])
    assert rating.rater is not None
    assert rating.rater.startswith("matese|checks:all+language|lang_pair:en-de_CH|version:")
    assert [(error.category, segment.hypothesis[error.start : error.end]) for error in rating.errors or ()] == [
        (words.REPEATED, "kostet kostet"),
        (numbers.CHANGED, "15"),
        (marks.UNPAIRED, "("),
        (words.FOREIGN, "мир"),
    ]
    assert [error.category for error in rating.omissions] == [marks.LOST, numbers.MISSING]


def test_beside_a_model() -> None:
    segment = Segment("Es kostet 15 €.", "It costs €17.")
    rating = Rating(segment, "matese|model:m", (ErrorSpan(3, 9, MAJOR, None, 0.5),), estimate=Estimate(-5, "mqm"))
    both = checker.add_findings(rating)
    assert both.rater == "matese|model:m|checks:all|lang_pair:unknown"
    assert both.errors == (*(rating.errors or ()), ErrorSpan(10, 12, MAJOR, numbers.CHANGED))
    assert both.estimate == rating.estimate


def test_errors_on_the_same_words_cost_once() -> None:
    segment = Segment("Es kostet 15 € (netto.", "It costs €17.")
    spans = (ErrorSpan(3, 11, MINOR, None, 0.5), ErrorSpan(11, 14, MINOR, None, 0.7), ErrorSpan(0, 2, MINOR, None, 0.9))
    both = checker.add_findings(Rating(segment, "matese|model:m", spans))
    assert both.errors == (
        ErrorSpan(0, 2, MINOR, None, 0.9),
        ErrorSpan(10, 12, MAJOR, numbers.CHANGED, 0.7),
        ErrorSpan(15, 16, MINOR, marks.UNPAIRED),
    )
    blank = checker.add_findings(Rating(Segment("", "It costs"), "matese|model:m", (), unplaced=(mqm.NON_TRANSLATION,)))
    assert blank.unplaced == (mqm.NON_TRANSLATION,)


def test_the_more_exact_of_two_places_is_kept() -> None:
    segment = Segment("Es kostet 15 €.", "It costs €17.")
    long = checker.add_findings(Rating(segment, "matese|model:m", (ErrorSpan(3, 14, MINOR, None, 0.5),)))
    assert long.errors == (ErrorSpan(10, 12, MAJOR, numbers.CHANGED, 0.5),)
    copied = Segment("It costs a lot.", "It costs a lot.", ("Es kostet viel.",))
    exact = checker.add_findings(Rating(copied, "matese|model:m", (ErrorSpan(3, 8, MINOR, None, 0.5),)))
    assert exact.errors == (ErrorSpan(3, 8, MAJOR, words.UNTRANSLATED, 0.5),)


def test_a_placeholder_stays_whole() -> None:
    segment = Segment("Dateien löschen?", "Delete {0} files?")
    both = checker.add_findings(Rating(segment, "m", (), omissions=(Omission("source", None, 8, 9, MINOR, None, 0.6),)))
    assert both.omissions == (Omission("source", None, 7, 10, MAJOR, marks.LOST, 0.6),)


def test_an_omission_on_the_same_words_costs_once() -> None:
    segment = Segment("Es kostet.", "It costs €17 here.", ("Es kostet 17 Euro hier.",))
    omissions = (
        Omission("source", None, 9, 17, MINOR, None, 0.6),
        Omission("reference", 0, 9, 12, MINOR, None, 0.7),
    )
    both = checker.add_findings(Rating(segment, "matese|model:m", (), omissions=omissions))
    assert both.omissions == (Omission("source", None, 10, 12, MAJOR, numbers.MISSING, 0.7),)
    other = Omission("reference", 0, 13, 17, MINOR, None, 0.7)
    both = checker.add_findings(Rating(segment, "matese|model:m", (), omissions=(other,)))
    assert {*both.omissions} == {other, Omission("source", None, 10, 12, MAJOR, numbers.MISSING)}


def test_a_copy_needs_languages_or_a_reference_to_be_an_error() -> None:
    text = "He has paid fifteen pounds."
    assert checker.check(Segment(text, text)).errors == ()
    assert checker.check(Segment(text, text, ("Er hat gezahlt.",))).errors != ()
    assert checker.check(Segment(text, text, key=SegmentKey(lang_pair="en-de"))).errors != ()


@pytest.mark.parametrize("text", ["0," * 4000, f"%{'0' * 4000}!"])
def test_long_texts_of_digits_take_no_longer_than_others(text: str) -> None:
    started = time.process_time()
    checker.check(Segment(text, "x", key=KEY))
    assert time.process_time() - started < 4

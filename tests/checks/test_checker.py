from __future__ import annotations

import re
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from matese import mqm
from matese.annotation import (
    Codes,
    ErrorSpan,
    Estimate,
    InlineCode,
    Omission,
    Rating,
    Segment,
    SegmentKey,
    Severity,
    UnplacedError,
)
from matese.checks import checker, chosen, codes, numbers, placeholders, repetition, rules, scripts
from matese.errors import UsageError
from matese.tasks.annotators import Marking
from matese.text.words import UNTRANSLATED

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
    assert rating.unplaced == ((replace(mqm.NON_TRANSLATION, rule="blank"),) if is_error else ())


def test_a_copy_is_the_only_finding() -> None:
    source = "He has paid 15 pounds (he."
    rating = checker.check(Segment(f" {source} ", source, key=KEY))
    assert rating.errors == (ErrorSpan(1, len(source) + 1, MAJOR, UNTRANSLATED, rule="untranslated"),)
    assert checker.check(Segment(source, source, (source,))).errors == ()
    assert checker.check(Segment(source, source, key=SegmentKey(lang_pair="en_US-en_GB"))).errors == ()


def test_all_at_once_and_who_says_so() -> None:
    segment = Segment("Es kostet kostet kostet 15 € (Mоskau", "It costs €17 at %s.", key=KEY)
    (rating,) = checker.annotate_segments([segment])
    assert rating.rater is not None
    assert rating.rater.startswith(
        f"matese|checks:{'+'.join(rules.NAMES)}+py3langid+icu4py|lang_pair:en-de_CH|version:"
    )
    assert [(error.category, segment.hypothesis[error.start : error.end]) for error in rating.errors or ()] == [
        (repetition.REPEATED, "kostet kostet"),
        (numbers.CHANGED, "15"),
        (scripts.FOREIGN, "Mоskau"),
    ]
    assert [error.category for error in rating.omissions] == [placeholders.LOST]


def test_beside_a_model() -> None:
    segment = Segment("Es kostet 15 €.", "It costs €17.")
    rating = Rating(segment, "matese|model:m", (ErrorSpan(3, 9, MAJOR, None, 0.5),), estimate=Estimate(-5, "mqm"))
    both = checker.add_findings(rating)
    assert both.rater == f"matese|model:m|checks:{'+'.join(rules.NAMES)}+icu4py|lang_pair:unknown"
    assert both.errors == (*(rating.errors or ()), ErrorSpan(10, 12, MAJOR, numbers.CHANGED, rule="numbers"))
    assert both.estimate == rating.estimate


def test_errors_on_the_same_words_cost_once() -> None:
    segment = Segment("Es kostet 15 € netto.", "It costs €17.")
    spans = (ErrorSpan(3, 11, MINOR, None, 0.5), ErrorSpan(11, 14, MINOR, None, 0.7), ErrorSpan(0, 2, MINOR, None, 0.9))
    both = checker.add_findings(Rating(segment, "matese|model:m", spans))
    assert both.errors == (
        ErrorSpan(0, 2, MINOR, None, 0.9),
        ErrorSpan(10, 12, MAJOR, numbers.CHANGED, 0.7, rule="numbers"),
    )
    blank = checker.add_findings(Rating(Segment("", "It costs"), "matese|model:m", (), unplaced=(mqm.NON_TRANSLATION,)))
    assert blank.unplaced == (mqm.NON_TRANSLATION,)


def test_the_place_of_a_finding_is_kept() -> None:
    segment = Segment("Es kostet 15 €.", "It costs €17.")
    long = checker.add_findings(Rating(segment, "matese|model:m", (ErrorSpan(3, 14, MINOR, None, 0.5),)))
    assert long.errors == (ErrorSpan(10, 12, MAJOR, numbers.CHANGED, 0.5, rule="numbers"),)
    copy = Segment("It costs a lot.", "It costs a lot.", ("Es kostet viel.",))
    whole = checker.add_findings(Rating(copy, "matese|model:m", (ErrorSpan(3, 8, MINOR, None, 0.5),)))
    assert whole.errors == (ErrorSpan(0, 15, MAJOR, UNTRANSLATED, 0.5, rule="untranslated"),)


def test_a_placeholder_stays_whole() -> None:
    segment = Segment("Dateien löschen?", "Delete {0} files?")
    both = checker.add_findings(Rating(segment, "m", (), omissions=(Omission("source", None, 8, 9, MINOR, None, 0.6),)))
    assert both.omissions == (Omission("source", None, 7, 10, MAJOR, placeholders.LOST, 0.6, "placeholders"),)


def test_an_omission_on_the_same_words_costs_once() -> None:
    segment = Segment("Es kostet.", "It costs %d here.", ("Es kostet %d hier.",))
    same = Omission("reference", 0, 10, 12, MINOR, None, 0.7)
    both = checker.add_findings(Rating(segment, "matese|model:m", (), omissions=(same,)))
    assert both.omissions == (Omission("source", None, 9, 11, MAJOR, placeholders.LOST, 0.7, "placeholders"),)
    elsewhere = Omission("reference", 0, 13, 17, MINOR, None, 0.7)
    both = checker.add_findings(Rating(segment, "matese|model:m", (), omissions=(elsewhere,)))
    assert {*both.omissions} == {
        elsewhere,
        Omission("source", None, 9, 11, MAJOR, placeholders.LOST, rule="placeholders"),
    }


def test_a_copy_is_an_error_in_unknown_languages_too() -> None:
    text = "He has paid fifteen pounds."
    assert checker.check(Segment(text, text)).errors != ()
    assert checker.check(Segment(text, text, ("Er hat gezahlt.",))).errors != ()
    assert checker.check(Segment(text, text, key=SegmentKey(lang_pair="en-de"))).errors != ()


@pytest.mark.parametrize("text", ["0," * 4000, f"%{'0' * 4000}!", "9" * 9000, f"10{'⁹' * 9000}"])
def test_long_texts_of_digits_take_no_longer_than_others(text: str) -> None:
    started = time.process_time()
    checker.check(Segment(text, "x", key=KEY))
    assert time.process_time() - started < 4


CODE = InlineCode("x", "A")
OTHER = InlineCode("g", "1", "<b>")


@pytest.mark.parametrize(
    ("source", "hypothesis", "expected"),
    [
        ((), (), []),
        ((CODE, OTHER), (OTHER, CODE), []),  # their order is the translator's
        ((OTHER,), (replace(OTHER, shown="<i>"),), []),
        ((CODE,), (), [(codes.LOST, "<x A>")]),
        ((OTHER,), (), [(codes.LOST, "<g 1> (<b>)")]),
        ((CODE,), (InlineCode("x", "B"),), [(codes.LOST, "<x A>")]),
        ((CODE,), (InlineCode("ph", "A"),), [(codes.LOST, "<x A>")]),
        ((CODE,), (CODE, CODE), [(codes.ADDED, "<x A>")]),
        ((), (CODE,), [(codes.ADDED, "<x A>")]),
    ],
)
def test_inline_codes(
    source: tuple[InlineCode, ...], hypothesis: tuple[InlineCode, ...], expected: list[tuple[str, str]]
) -> None:
    rating = checker.check(Segment("Hallo", "Hello", codes=Codes(source, hypothesis)))
    assert rating.unplaced == tuple(UnplacedError(MAJOR, category, words, "codes") for category, words in expected)
    # Beside a model, each of them is kept.
    assert checker.add_findings(Rating(rating.segment, "m", ())).unplaced == rating.unplaced


def test_chosen_rules_alone_run_and_the_rater_names_them() -> None:
    segment = Segment("Es kostet kostet kostet 15 €", "It costs €17 at %s.", key=KEY)
    rating = checker.check(segment, chosen.choose("only,repetition,numbers").rules)
    assert {error.rule for error in rating.all_errors} == {"numbers", "repetition"}
    assert str(rating.rater).startswith("matese|checks:numbers+repetition|lang_pair:en-de_CH|")


def test_a_list_of_rules_is_a_choice() -> None:
    assert chosen.choose(["only", "numbers"]) == chosen.choose("only,numbers")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (True, "unknown value 'True'"),
        ("", "unknown value ''"),
        ("nubers", "unknown value 'nubers'"),
        ("none,numbers", "none stands alone"),
        ("also,only", "not both"),
        ("numbers,,codes", "unknown value ''"),
    ],
)
def test_choices_that_mean_nothing(text: Any, problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        chosen.choose(text)


@pytest.mark.parametrize(
    ("segment", "expected"),
    [
        (Segment("a"), ["untranslated", "language", "numbers", "placeholders", "codes", "addresses"]),
        (Segment("a", "b"), ["language", "codes"]),
        (Segment("a", "b", key=KEY, codes=Codes()), []),
    ],
)
def test_rules_that_can_say_nothing_are_known(segment: Segment, expected: list[str]) -> None:
    assert [rule.name for rule in rules.idle(rules.TABLE, [segment])] == expected


def test_categories_of_rules_are_documented() -> None:
    page = Path("docs/mark.md").read_text(encoding="utf-8")
    for rule in rules.TABLE:
        (row,) = (line for line in page.splitlines() if line.startswith(f"| `{rule.name}` | `"))
        assert row.split("|")[2].strip() == ", ".join(f"`{category}`" for category in rule.categories)


def test_every_rule_finds_its_fault_and_is_documented() -> None:
    page = Path("docs/mark.md").read_text(encoding="utf-8")
    faults = {
        "blank": Segment(" ", "Yes"),
        "untranslated": Segment("it is not open", "It is not open.", key=KEY),
        "language": Segment("Это написано совсем на другом языке.", "It is not open.", key=KEY),
        "scripts": Segment("Das Wort Wоrt ist schön", "The word is nice", key=KEY),
        "numbers": Segment("15", "17"),
        "placeholders": Segment("Hallo", "Hello {name}"),
        "codes": Segment("Hallo", "Hello", codes=Codes((CODE,), ())),
        "addresses": Segment("Hallo", "Hello a@pets.org"),
        "repetition": Segment("Hallo Hallo Hallo", "Hello"),
        "artefacts": Segment("<think>Hello</think>Hallo", "Hello"),
        "length": Segment("Hallo", "Hi", extra={"context": "max-length:2"}),
    }
    assert tuple(faults) == rules.NAMES
    for name, segment in faults.items():
        assert {error.rule for error in checker.check(segment).all_errors} == {name}
        assert f"| `{name}` |" in page
        assert re.search(rf"\b{name}\b", Marking.__doc__ or "")


@pytest.mark.parametrize(
    ("hypothesis", "source", "reference", "marked", "missing", "n_errors"),
    [
        ("Zimmer 21 ist frei.", "Room 12 is free.", "Zimmer 12 ist frei.", "21", "frei", 2),
        ("Zimmer 21 ist.", "Room 12 is free.", "Zimmer 12 ist frei.", "21", "frei", 2),
        ("Zimmer ist frei.", "Room %d is free.", "Zimmer %d ist frei.", None, "%d", 1),
        ("Zimmer ist.", "Room %d is free.", "Zimmer %d ist frei.", None, "frei", 2),
    ],
)
def test_what_model_and_rules_mark_costs_once(
    hypothesis: str, source: str, reference: str, marked: str | None, missing: str, n_errors: int
) -> None:
    errors = (
        () if marked is None else (ErrorSpan((at := hypothesis.index(marked)), at + len(marked), MAJOR, None, 0.5),)
    )
    start = reference.index(missing)
    omission = Omission("reference", 0, start, start + len(missing), MAJOR, None, 0.5)
    segment = Segment(hypothesis, source, (reference,), key=KEY)
    both = checker.add_findings(Rating(segment, "m", errors, omissions=(omission,)))
    assert len(both.all_errors) == n_errors


def test_a_finding_is_lost_to_no_other_rule() -> None:
    segment = Segment("Zahlen {m} jetzt 17 Mal", "Pay 12 times", key=KEY, extra={"max_length": 9})
    findings = checker.check(segment)
    assert {error.rule for error in findings.errors or ()} == {"length", "numbers", "placeholders"}
    unmarked = Rating(segment, "m", ())
    assert checker.add_findings(unmarked).all_errors == findings.all_errors
    marked = Rating(segment, "m", (ErrorSpan(0, 23, MINOR, None, 0.5),))
    both = checker.add_findings(marked).errors or ()
    assert [error.rule for error in both] == [error.rule for error in findings.errors or ()]
    assert [error.confidence for error in both] == [0.5, None, None], "the model's mark is one error"


def test_no_answer_of_a_model_is_not_free_of_errors() -> None:
    unanswered = Rating(Segment("Es kostet 17 €.", "It costs €17."), "matese|model:m", None)
    assert checker.add_findings(unanswered) == unanswered
    answered_by_rules = checker.add_findings(replace(unanswered, segment=Segment("Es kostet 15 €.", "It costs €17.")))
    assert [error.rule for error in answered_by_rules.errors or ()] == ["numbers"]
    assert answered_by_rules.rater is not None
    assert "model" not in answered_by_rules.rater
    scored = replace(unanswered, estimate=Estimate(-1.0, "mqm"))
    assert checker.add_findings(scored).errors is None, "a model of scores alone marks nothing"

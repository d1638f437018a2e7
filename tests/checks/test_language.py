from __future__ import annotations

import sys

import pytest

from matese import Segment
from matese.annotation import SegmentKey
from matese.checks import checker, copied, language, rules

FRENCH = "Les enfants jouent dans le jardin depuis ce matin et ne veulent pas rentrer."
GERMAN = "Die Kinder spielen seit heute früh im Garten und wollen nicht ins Haus kommen."
ENGLISH = "The children have been playing in the garden since this morning and do not want to come in."


@pytest.mark.parametrize(
    ("hypothesis", "references", "category"),
    [
        (f"  {GERMAN} ", (), None),
        (FRENCH, (), language.WRONG),
        ("The children are playing outside and refuse to come back into the house.", (), copied.UNTRANSLATED),
        (FRENCH, (GERMAN,), language.WRONG),
        (FRENCH, (FRENCH,), None),  # the reference is right
        ("OK", (), None),
        ("https://example.org/abc/1f0b42c6-49bb-91fa", (), None),
    ],
)
@pytest.mark.parametrize("source", [ENGLISH, None])
def test_texts_in_another_language_are_errors(
    hypothesis: str, references: tuple[str, ...], category: str | None, source: str | None
) -> None:
    key = SegmentKey(None, "en-de", None, None, 0)
    rating = checker.check(Segment(hypothesis, source, references, key))
    assert rating.errors is not None
    assert [(hypothesis[span.start : span.end], span.category) for span in rating.errors] == (
        [] if category is None else [(hypothesis.strip(), category)]
    )


@pytest.mark.parametrize("lang_pair", [None, "en-xx"])
def test_languages_that_are_not_known_are_not_checked(lang_pair: str | None) -> None:
    assert checker.check(Segment(FRENCH, ENGLISH, (), SegmentKey(None, lang_pair, None, None, 0))).errors == ()


def test_without_the_extra_the_signature_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "py3langid", None)
    language._identifier.cache_clear()
    language._labels.cache_clear()
    try:
        rating = checker.check(Segment(FRENCH, ENGLISH, (), SegmentKey(None, "en-de", None, None, 0)))
    finally:
        language._identifier.cache_clear()
        language._labels.cache_clear()
    assert rating.errors == ()
    assert rating.rater is not None
    assert f"|checks:{'+'.join(rules.NAMES)}|" in rating.rater

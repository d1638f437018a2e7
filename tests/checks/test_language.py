from __future__ import annotations

import sys

import pytest

from matese import Segment
from matese.annotation import SegmentKey
from matese.checks import checker, language, rule, rules
from matese.text.words import UNTRANSLATED

FRENCH = "Les enfants jouent dans le jardin depuis ce matin et ne veulent pas rentrer."
GERMAN = "Die Kinder spielen seit heute früh im Garten und wollen nicht ins Haus kommen."
ENGLISH = "The children have been playing in the garden since this morning and do not want to come in."


@pytest.mark.parametrize(
    ("hypothesis", "references", "category"),
    [
        (f"  {GERMAN} ", (), None),
        (FRENCH, (), language.WRONG),
        ("The children are playing outside and refuse to come back into the house.", (), UNTRANSLATED),
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


@pytest.mark.parametrize(
    ("pair", "source", "hypothesis", "category"),
    [
        # Names, tags and options of commands are no words of a language, and four words are no text.
        ("en-ja", "Python Packaging User Guide, Second Edition", "Python Packaging User Guide, Second Edition", None),
        ("en-ja", "Save", '<a class="button primary" href="{url}" title="Save">保存</a>', None),
        (
            "en-de",
            "Usage: git refs verify [--strict] [--verbose]",
            "Aufruf: git refs verify [--strict] [--verbose]",
            None,
        ),
        ("en-ru", "Check the network setup", "Verify the network setup", None),
        ("en-ru", "Please check the network settings", "Please verify the network setup again", UNTRANSLATED),
        # A language is known in one script, and a dialect is taken for its neighbour.
        ("en-sr", ENGLISH, "Najvažnija podešavanja su sada završena i sačuvana.", None),
        ("en-sr", "Otherwise", ENGLISH, UNTRANSLATED),
        ("en-sr_Cyrl", ENGLISH, "Najvažnija podešavanja su sada završena i sačuvana.", UNTRANSLATED),
        ("en-ms_Arab", ENGLISH, "باريس ݢيلير سيمبڠ کلوار کيني کوسوڠ", None),
        ("en-ms_Arab", ENGLISH, "聊天队列现在是空的，没有任何消息了，请稍后再试一次吧", language.WRONG),
        ("en-arz", ENGLISH, "أنا بفضّل القعاد في البيت عن الخروج", None),
        ("en-hr", ENGLISH, "Djeca se igraju u vrtu od jutros i ne žele ući u kuću.", None),
    ],
)
def test_what_is_surely_another_language(pair: str, source: str, hypothesis: str, category: str | None) -> None:
    rating = checker.check(Segment(hypothesis, source, (), SegmentKey(None, pair, None, None, 0)))
    assert [error.category for error in rating.errors or ()] == ([] if category is None else [category])


def test_without_the_extra_the_signature_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "py3langid", None)
    for cached in (caches := (rule.is_installed, language._label)):
        cached.cache_clear()
    try:
        rating = checker.check(Segment(FRENCH, ENGLISH, (), SegmentKey(None, "en-de", None, None, 0)))
    finally:
        for cached in caches:
            cached.cache_clear()
    assert rating.errors == ()
    assert rating.rater is not None
    assert f"|checks:{'+'.join(rules.NAMES)}+icu4py|" in rating.rater

"""The hand-written pairs, and how marks on them are counted."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter

import pytest

from benchmarks import contrast
from matese.annotation import ErrorSpan, Estimate, Rating, Severity

KINDS = {
    *("negation", "number", "name", "role", "antonym", "tense", "omission", "addition", "agreement", "false friend"),
    *("unit", "paraphrase"),
}
ITEMS = {item.id: item for item in contrast.read()}


def test_items_are_many_balanced_and_unique() -> None:
    items = contrast.read()
    assert len(ITEMS) == len(items) >= 320
    assert {item.kind for item in items} == KINDS
    assert len({item.lang_pair for item in items}) >= 8
    assert len({item.source for item in items}) == len(items)
    for part in ("lang_pair", "kind"):
        halves = Counter((getattr(item, part), item.half) for item in items)
        assert all(halves[group, "open"] == halves[group, "closed"] for group, _ in halves)
    rated = [item for item in items if item.lang_pair not in contrast.UNRATED_PAIRS]
    assert 2 * sum(item.bad is None for item in rated) == len(rated)
    unrated = Counter(item.lang_pair for item in items if item.lang_pair in contrast.UNRATED_PAIRS)
    assert unrated == dict.fromkeys(contrast.UNRATED_PAIRS, 20)


def test_each_item_is_well_formed() -> None:
    for item in ITEMS.values():
        check_item(item)


def check_item(item: contrast.Item) -> None:
    texts = [item.source, item.reference, item.good, *([] if item.bad is None else [item.bad])]
    assert len(set(texts)) == len(texts)
    for text in texts:
        assert unicodedata.normalize("NFC", text.strip()) == text
        assert text[-1] in ".?。？！" or item.lang_pair == "en-th", "Thai has no full stop"
    assert (item.bad is None) == (item.kind == "paraphrase") == (item.damage is None and item.omission is None)
    for whole, place in ((item.bad, item.damage), (item.reference, item.omission)):
        if whole is None or place is None:
            continue
        words = whole[slice(*place)]
        assert words == words.strip() != ""
        pattern = re.escape(words) if item.lang_pair[-2:] in {"zh", "ja", "th"} else rf"\b{re.escape(words)}\b"
        assert place in [match.span() for match in re.finditer(pattern, whole)], "place: whole words"
        # The words of a lost "not" remain.
        assert whole is item.reference or item.kind == "negation" or not re.search(pattern, item.good)


def rating(item: contrast.Item, *words: str, score: float = 0.0) -> Rating:
    text = item.bad or item.good
    spans = [ErrorSpan(text.index(word), text.index(word) + len(word), Severity.MAJOR) for word in words]
    return Rating(item.segment(text), "me", tuple(spans), estimate=Estimate(score, "mqm"))


@pytest.mark.parametrize(
    ("name", "words", "is_marked"),
    [
        ("en-de-number-1", (), False),
        ("en-de-number-1", ("430",), True),
        ("en-de-number-1", ("versagte, waren 4",), True),
        ("en-de-number-1", ("Fahrgäste",), False),
        # "mindestens" is missing between "reift" and "neun"
        ("en-de-omission-2", ("reift",), True),
        ("en-de-omission-2", ("neun",), True),
        ("en-de-omission-2", ("Rohmilch",), False),
    ],
)
def test_damage_is_marked_at_its_place(name: str, words: tuple[str, ...], is_marked: bool) -> None:
    assert contrast.is_marked(ITEMS[name], rating(ITEMS[name], *words)) == is_marked


def test_an_item_counts_in_the_columns_it_has() -> None:
    pair = ITEMS["en-de-number-1"]
    harmless = ITEMS["en-de-paraphrase-1"]
    first = contrast.judge(pair, rating(pair, "430", score=-1.0), rating(pair, "430", score=-5.0))
    assert first == {"marked": 1, "unmarked": 0, "score": 0.5, "expected score": 1, "chrF": first["chrF"]}
    second = contrast.judge(harmless, rating(harmless), None)
    assert second == {"unmarked": 1}
    pairs = [(rating(pair, "430"), rating(pair)), (rating(harmless, "Montag"), None)]
    points = [contrast.judge(item, *judgements) for item, judgements in zip([pair, harmless], pairs, strict=True)]
    shown = "\n".join(contrast.misses([pair, harmless], pairs, points))
    assert "en-de-number-1: not marked: Als die Maschine versagte" in shown
    assert "en-de-paraphrase-1: not unmarked: Bis [[Montag]] ist" in shown
    means = contrast.means([pair, harmless], [first, second])
    assert list(means) == ["all", "number", "paraphrase", "en-de"]
    assert means["all"]["unmarked"] == means["en-de"]["unmarked"] == 0.5
    assert means["paraphrase"]["marked"] is None


def test_languages_without_ratings_are_apart() -> None:
    items = [ITEMS[name] for name in ("en-ko-number-1", "en-de-number-1", "en-th-number-1")]
    means = contrast.means(items, [{"marked": 1.0}, {"marked": 0.0}, {"marked": 0.0}])
    assert {part: columns["marked"] for part, columns in means.items()} == {
        "all": 0,
        "number": 0,
        "en-de": 0,
        contrast.UNRATED: 0.5,
        "en-ko": 1,
        "en-th": 0,
    }

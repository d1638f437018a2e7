"""A model that prefers word salad to a translation must not ship."""

from __future__ import annotations

import unicodedata

import matese
from benchmarks import sanity

# Least share of pairs that the embedded model orders right, by what it reads: 20 pairs in each row. By the
# source alone, it cannot know which language is the wrong one.
BOUNDS = {
    "unrelated": {"reference": 0.9, "source": 0.9},
    "shuffled": {"reference": 0.9, "source": 0.9},
    "truncated": {"reference": 0.8, "source": 0.7},
    "copied source": {"reference": 0.95, "source": 0.95},
    "wrong language": {"reference": 0.9},
    "contradiction": {"reference": 0.25, "source": 0.2},
}


def test_the_embedded_model_prefers_good_translations() -> None:
    shares = sanity.measure(matese.load())
    found = {kind: shares[kind] for kind in BOUNDS}
    missed = [
        f"{kind}, {inputs}: {found[kind][inputs]}"
        for kind, row in BOUNDS.items()
        for inputs, bound in row.items()
        if not (found[kind][inputs] or 0) >= bound
    ]
    assert not missed
    assert shares["contradiction"]["chrF"] == 0, "the contradictions are worded like the references"


def test_texts_and_pairs() -> None:
    texts = sanity.read()
    assert len({own.id for own in texts}) == len({own.source for own in texts}) == len(texts) == 20
    for own in texts:
        translations = (own.reference, own.human, own.paraphrase, own.contradiction, own.other_language)
        assert len({own.source, *translations}) == 6
        assert all(unicodedata.normalize("NFC", text.strip()) == text for text in (own.source, *translations))
    pairs = list(sanity.pairs(texts))
    assert len(pairs) == 20 * len(BOUNDS)
    by_name = {pair.id: pair for pair in pairs}
    assert by_name["zh-en-4-unrelated"].bad == by_name["de-en-1-shuffled"].good, "of the same target language"
    shuffled = by_name["en-zh-1-shuffled"]
    halved = by_name["de-en-4-truncated"]
    assert sorted(shuffled.bad or "") == sorted(shuffled.good)
    assert shuffled.bad != shuffled.good
    assert halved.bad == "Sports were off limits for him"
    assert all(pair.bad != pair.good for pair in pairs)

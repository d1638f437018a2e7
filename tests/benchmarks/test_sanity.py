"""The pairs of good translations and obviously wrong ones."""

from __future__ import annotations

import unicodedata

from benchmarks import sanity


def test_texts_and_pairs() -> None:
    texts = sanity.read()
    assert len({own.id for own in texts}) == len({own.source for own in texts}) == len(texts) == 20
    for own in texts:
        translations = (own.reference, own.human, own.paraphrase, own.contradiction, own.other_language)
        assert len({own.source, *translations}) == 6
        assert all(unicodedata.normalize("NFC", text.strip()) == text for text in (own.source, *translations))
    pairs = list(sanity.pairs(texts))
    assert len(pairs) == 20 * len({pair.kind for pair in pairs}) == 20 * 9
    by_name = {pair.id: pair for pair in pairs}
    assert by_name["zh-en-4-unrelated"].bad == by_name["de-en-1-shuffled"].good, "of the same target language"
    shuffled = by_name["en-zh-1-shuffled"]
    halved = by_name["de-en-4-truncated"]
    assert sorted(shuffled.bad or "") == sorted(shuffled.good)
    assert shuffled.bad != shuffled.good
    assert halved.bad == "Sports were off limits for him"
    assert all(pair.bad != pair.good for pair in pairs)

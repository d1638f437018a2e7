"""The pairs of good translations and obviously wrong ones."""

from __future__ import annotations

import unicodedata

from benchmarks import sanity


def test_texts_and_pairs() -> None:
    texts = sanity.read()
    assert len({item.id for item in texts}) == len({item.source for item in texts}) == len(texts) == 20
    for item in texts:
        translations = (item.reference, item.human, item.paraphrase, item.contradiction, item.other_language)
        assert len({item.source, *translations}) == 6
        assert all(unicodedata.normalize("NFC", text.strip()) == text for text in (item.source, *translations))
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

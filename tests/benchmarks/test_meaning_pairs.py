"""The hand-written pairs that tell meaning from likeness.

`benchmarks/meaning_pairs.jsonl` was written by hand for the ruler, and no model may be trained or tuned on it. Each
line has a source, a reference and two translations. `correct` says what the source says in words unlike the
reference's; `wrong` is the reference with one Major error of meaning, so chrF prefers it. `span` is the range of the
changed words in `wrong`, in code points; it is null for an omission, where nothing in `wrong` can be marked. No rating
covers Spanish, Italian, Portuguese or Korean.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter
from pathlib import Path
from statistics import fmean
from typing import Any

from sacrebleu.metrics.chrf import CHRF

PATH = Path(__file__).parents[2] / "benchmarks" / "meaning_pairs.jsonl"
PAIRS: list[dict[str, Any]] = [json.loads(line) for line in PATH.read_text(encoding="utf-8").splitlines()]
FIELDS = ["id", "lang_pair", "domain", "kind", "source", "reference", "correct", "wrong", "span"]
KINDS = {"contradiction", "role", "number", "time", "negation", "related-word", "omission"}
DOMAINS = {"everyday", "software", "news"}
WITH_ENGLISH = ("de", "ru", "zh", "es", "fr", "ja", "pl", "it", "pt", "ko")
WITHOUT_SPACES = ("zh", "ja")


def words(text: str, lang: str) -> list[str]:
    """Returns the words of a text in lower case; its characters in languages without spaces."""
    all_words: list[str] = re.findall(r"\w+", text.lower())
    return list("".join(all_words)) if lang in WITHOUT_SPACES else all_words


def overlap(pair: dict[str, Any], field: str) -> float:
    """Returns the share of words that a translation and the reference have in common, from 0 to 1 (Dice)."""
    lang = pair["lang_pair"][-2:]
    counts = Counter(words(pair[field], lang))
    reference = Counter(words(pair["reference"], lang))
    return 2 * (counts & reference).total() / (counts.total() + reference.total())


def test_directions_kinds_and_domains_are_spread_evenly() -> None:
    assert len({pair["id"] for pair in PAIRS}) == len({pair["source"] for pair in PAIRS}) == len(PAIRS) >= 320
    directions = Counter(pair["lang_pair"] for pair in PAIRS)
    both_ways = {name for lang in WITH_ENGLISH for name in (f"en-{lang}", f"{lang}-en")}
    assert directions == dict.fromkeys(both_ways, 16) | {"de-fr": 8, "es-pl": 8}
    kinds = Counter((pair["lang_pair"], pair["kind"]) for pair in PAIRS)
    assert all(
        kinds[direction, kind] >= 1 + (directions[direction] == 16) for direction in directions for kind in KINDS
    )
    domains = Counter((pair["lang_pair"], pair["domain"]) for pair in PAIRS)
    assert all(4 <= domains[direction, domain] <= 7 for direction in both_ways for domain in DOMAINS)


def test_pairs_are_well_formed() -> None:
    for pair in PAIRS:
        assert list(pair) == FIELDS
        assert pair["id"].startswith(f"{pair['lang_pair']}-{pair['kind']}-"), pair
        assert pair["kind"] in KINDS, pair
        assert pair["domain"] in DOMAINS, pair
        texts = [pair[field] for field in ("source", "reference", "correct", "wrong")]
        assert len(set(texts)) == 4, pair
        for text in texts:
            assert unicodedata.normalize("NFC", " ".join(text.split())) == text
            assert text[-1] in ".?!。？！"
        assert (pair["span"] is None) == (pair["kind"] == "omission"), pair


def test_an_omission_only_lacks_text() -> None:
    for pair in PAIRS:
        rest = iter(words(pair["reference"], "zh"))
        assert pair["span"] is not None or all(word in rest for word in words(pair["wrong"], "zh")), pair


def test_wrong_is_the_reference_outside_its_span() -> None:
    for pair in PAIRS:
        if pair["span"] is None:
            continue
        wrong = pair["wrong"]
        reference = pair["reference"]
        start, end = pair["span"]
        assert 0 <= start < end <= len(wrong), pair
        assert wrong[start:end] == wrong[start:end].strip(), pair
        assert reference.startswith(wrong[:start]), pair
        assert reference.endswith(wrong[end:]), pair
        assert reference[start : len(reference) - len(wrong[end:])] != wrong[start:end], pair
        if pair["lang_pair"][-2:] not in WITHOUT_SPACES:
            assert not re.search(r"\w\Z", wrong[:start]), f"{pair}: the span starts with a word"
            is_korean = pair["lang_pair"] == "en-ko"
            assert is_korean or not re.match(r"\w", wrong[end:]), f"{pair}: the span ends with a word"


def test_correct_is_unlike_the_reference_and_wrong_is_like_it() -> None:
    assert fmean(overlap(pair, "correct") for pair in PAIRS) < 0.35
    assert fmean(overlap(pair, "wrong") for pair in PAIRS) > 0.75
    chrf = CHRF()
    prefers_wrong = [
        chrf.sentence_score(pair["wrong"], [pair["reference"]]).score
        > chrf.sentence_score(pair["correct"], [pair["reference"]]).score
        for pair in PAIRS
    ]
    assert fmean(prefers_wrong) >= 0.97


def test_length_does_not_tell_the_two_apart() -> None:
    assert 0.4 <= fmean(len(pair["correct"]) > len(pair["wrong"]) for pair in PAIRS) <= 0.6

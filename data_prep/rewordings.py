"""Make training data that contrast harmless rewordings with real errors.

Raters found some translations of a source free of errors, and most sources have human references: all of these are
correct, and any of them can be the reference of another, whose different words are then harmless. The same texts with
one injected error of meaning, and a damaged copy of the reference, are wrong however similar they are. All are ratings
of one source with one reference, so the ranking loss learns to score the rewordings higher.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from pathlib import Path

from data_prep import synthesis
from data_prep.translations import SYSTEM_REFERENCE
from matese import mqm
from matese.annotation import ErrorSpan, Overall, Rating, Segment, SegmentKey, Severity
from matese.corruption.pools import Pool
from matese.text.languages import languages_of

RATER = "rewordings"
FOREIGN = "foreign"
REFERENCE = "reference"
_N_REFERENCES = 2
"""Largest number of references of a source."""
_N_REWORDINGS = 2
"""Largest number of rewordings of each reference."""
_COPIES = 0.3
"""Share of the references for which a copy of the source is added as a wrong translation."""
_LONGEST = 200
"""Most characters of a text: long texts take time and add nothing."""
_MOST_ALIKE = 0.9
"""Share of common characters above which two texts count as the same wording."""


@dataclass(frozen=True)
class Correct:
    """All correct translations of a source, with the system of each."""

    source: str
    lang_pair: str
    test_set: str | None
    texts: Mapping[str, str]


def build(inputs: Iterable[Path], *, seed: int, progress: Callable[[str], None]) -> Iterator[Rating]:
    """Yields the ratings of all sources with two or more correct translations."""
    ratings, languages = synthesis.read(inputs, progress)
    progress("pairing translations")
    for number, correct in enumerate(group(ratings)):
        yield from pairs(correct, languages, random.Random(f"rewordings|{seed}|{number}"))


def group(ratings: Iterable[Rating]) -> list[Correct]:
    """Returns the correct translations of each source, for sources with two or more."""
    texts: dict[tuple[str, str, str | None], dict[str, str]] = defaultdict(dict)
    for rating in ratings:
        segment = rating.segment
        key = segment.key
        if segment.source is None or key is None or key.lang_pair is None or rating.rater == SYSTEM_REFERENCE:
            continue
        translations = texts[segment.source, key.lang_pair, key.test_set]
        for reference in segment.references:
            if reference.strip() and len(reference) <= _LONGEST:
                translations.setdefault(reference, REFERENCE)
        is_correct = (
            len(segment.hypothesis) <= _LONGEST
            and rating.errors == ()
            and not (rating.unplaced or rating.omissions or rating.source_errors)
        )
        if is_correct and (rating.overall is None or rating.overall.value in (0, 100)):
            translations.setdefault(segment.hypothesis, key.system or "system")
    return [Correct(*place, translations) for place, translations in texts.items() if len(translations) > 1]


def pairs(correct: Correct, languages: Mapping[str, Pool], rng: random.Random) -> Iterator[Rating]:
    """Yields the ratings of a source: rewordings of some of its translations, and damaged texts."""
    key = SegmentKey(correct.test_set, correct.lang_pair)
    pair = languages_of(key)
    if not pair[1] or pair[1] not in languages:
        return
    setting = synthesis.setting_of(pair, correct.source, languages)
    for reference in rng.sample(list(correct.texts), min(_N_REFERENCES, len(correct.texts))):
        rewordings = _rewordings(reference, list(correct.texts))
        clean = [
            _clean(text, correct.source, reference, replace(key, system=correct.texts[text])) for text in rewordings
        ]
        if not clean:
            continue
        copied = _clean(reference, correct.source, reference, replace(key, system=f"{RATER}-copy"))
        damaged = [synthesis.inject(rating, setting, rng, 1, kinds=synthesis.MEANING) for rating in (*clean, copied)]
        yield from clean
        yield from (case.rating for case in damaged if case is not None)


def _rewordings(reference: str, texts: Sequence[str]) -> list[str]:
    """Returns the translations that differ most from the reference."""
    alike = {text: SequenceMatcher(None, reference, text, autojunk=False).ratio() for text in texts}
    different = sorted((ratio, text) for text, ratio in alike.items() if ratio < _MOST_ALIKE)
    return [text for _, text in different[:_N_REWORDINGS]]


def _clean(text: str, source: str, reference: str, key: SegmentKey) -> Rating:
    return Rating(Segment(text, source, (reference,), key), RATER, (), overall=Overall(0.0, "mqm"))


def foreign(ratings: Iterable[Rating], *, seed: int) -> Iterator[Rating]:
    """Yields translations into another target language, and copies of the source, as entirely wrong.

    Their meaning is right for an encoder of a hundred languages, but the reference shows that the language is wrong.
    Only correct translations are used, of sources with several target languages.
    """
    texts: dict[str, dict[SegmentKey, str]] = defaultdict(dict)
    for rating in ratings:
        segment = rating.segment
        key = segment.key
        if segment.source is not None and key is not None and key.lang_pair is not None and rating.errors == ():
            texts[segment.source].setdefault(SegmentKey(key.test_set, key.lang_pair), segment.hypothesis)
    for number, (source, references) in enumerate(texts.items()):
        rng = random.Random(f"foreign|{seed}|{number}")
        for key, reference in references.items():
            foreign_texts = [text for text_key, text in references.items() if text_key.lang_pair != key.lang_pair]
            if foreign_texts:
                # Without a reference, the target language would be unknown.
                yield _wrong(rng.choice(foreign_texts), None, reference, replace(key, system=f"{RATER}-foreign"))
            if source not in (reference, "") and rng.random() < _COPIES:
                yield _wrong(source, source, reference, replace(key, system=f"{RATER}-source"))


def _wrong(text: str, source: str | None, reference: str, key: SegmentKey) -> Rating:
    span = ErrorSpan(len(text) - len(text.lstrip()), len(text.rstrip()), Severity.MAJOR)
    return Rating(Segment(text, source, (reference,), key), FOREIGN, (span,), overall=Overall(mqm.LOWEST_SCORE, "mqm"))

"""Texts that mean the same beside texts that do not, for the head that finds errors of meaning.

- **STS** (`meaning/stsb-multi-mt`, training part): two sentences and how much of the meaning they share, 0 to 5, in
  eleven languages. One is the hypothesis, the other the reference; the source is the reference in another language.
- **CANNOT** (`meaning/cannot-wmt`, evaluation part): English sentences beside paraphrases and beside the opposite.
- **NTREX-128** (`meaning/ntrex-128`): translations by professionals, some in two variants of a language (Spanish of
  Spain and of Mexico), of which one is the reference of the other; and the same with one injected error of meaning.
- **Our own** (`data_prep/contrasts/*.tsv`): a reference, another correct wording, and a wrong one, mostly close to the
  reference.

`paragraphs` joins some of them. Each Rating is of the rater `contrasts`, without an error or with a Major one, which
has a place where it is known.
"""

from __future__ import annotations

import csv
import io
import random
import zlib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from pathlib import Path

from data_prep import splits, synthesis
from data_prep.store import Store
from matese.annotation import ErrorSpan, Rating, Segment, SegmentKey, Severity, UnplacedError
from matese.corruption import pools
from matese.corruption.edits import Setting
from matese.corruption.pools import words_of

RATER = "contrasts"
STS = "meaning/stsb-multi-mt"
STS_LANGUAGES = ("de", "en", "es", "fr", "it", "ja", "nl", "pl", "pt", "ru", "zh")
CANNOT = "meaning/cannot-wmt"
NTREX = "meaning/ntrex-128"
OWN = Path(__file__).with_name("contrasts")
NTREX_CODES: Mapping[str, tuple[str, ...]] = {
    "cs": ("ces",),
    "de": ("deu",),
    "es": ("spa", "spa-MX"),
    "fr": ("fra", "fra-CA"),
    "hi": ("hin",),
    "is": ("isl",),
    "it": ("ita",),
    "ja": ("jpn",),
    "ko": ("kor",),
    "nl": ("nld",),
    "pl": ("pol",),
    "pt": ("por", "por-BR"),
    "ru": ("rus",),
    "uk": ("ukr",),
    "zh": ("zho-CN",),
}
"""NTREX-128's names of the translations into each language."""
_SAME = 4.4
"""STS: least score of the same meaning."""
_DIFFERENT = 3.2
"""STS: largest score of another meaning; pairs in between are left out."""
_N_LANGUAGES = 3
"""Languages in which each STS pair is used."""
_NTREX_SHARE = 0.35
"""Share of the sentences used in each language."""
_IN_PARAGRAPH = (2, 3, 4)
"""Numbers of texts of a paragraph."""
_SHORT = 40
"""Most characters of the source of a short text."""
_KEPT = 8
"""One in so many contrasts of short texts is kept for calibration."""
_CLOSE = 0.75
"""Share of equal words above which the words that differ are the place of the error."""
_FEW_WORDS = 8
"""In texts of up to so many words, the words that differ are the place of the error, however few are equal."""


def build(store: Store, *, seed: int) -> Iterator[Rating]:
    """Yields the contrasts whose source is not held out.

    Raises:
        InputError: if a file is damaged.
    """
    for ratings in (sts(store, seed=seed), cannot(store), ntrex(store, seed=seed), own()):
        yield from (rating for rating in ratings if not splits.committed().covers(rating.segment))


def sts(store: Store, *, seed: int) -> Iterator[Rating]:
    """Yields STS pairs, each in some languages and with a source in another language."""
    tables = {}
    for language in STS_LANGUAGES:
        text = store.read(f"{STS}/data/stsb-{language}-train.csv").decode("utf-8")
        tables[language] = list(csv.reader(io.StringIO(text)))
    for index, rows in enumerate(zip(*tables.values(), strict=True)):
        by_language = dict(zip(tables, rows, strict=True))
        value = float(rows[0][2])
        if _DIFFERENT < value < _SAME:
            continue
        rng = random.Random(f"sts|{seed}|{index}")
        for target in rng.sample(STS_LANGUAGES, _N_LANGUAGES):
            source = rng.choice([language for language in STS_LANGUAGES if language != target])
            first = rng.randrange(2)
            key = SegmentKey("sts", f"{source}-{target}", None, None, index)
            reference = by_language[target][first]
            segment = Segment(by_language[target][1 - first], by_language[source][first], (reference,), key)
            if segment.hypothesis != reference or value >= _SAME:
                yield _rating(segment, is_same=value >= _SAME)


def cannot(store: Store) -> Iterator[Rating]:
    """Yields English paraphrases and negations."""
    table = io.StringIO(store.read(f"{CANNOT}/cannot_wmt_data/cannot_wmt_eval.csv").decode("utf-8"))
    for index, row in enumerate(csv.DictReader(table)):
        if row["source"] == "cannot" and row["candidate"].strip() and row["reference"].strip():
            key = SegmentKey("cannot", "en-en", None, None, index)
            yield _rating(Segment(row["candidate"], None, (row["reference"],), key), is_same=float(row["score"]) == 1)


def ntrex(store: Store, *, seed: int) -> Iterator[Rating]:
    """Yields translations by professionals, and the same with an injected error of meaning."""
    folder = "NTREX-128"
    name = f"{folder}/newstest2019-src.eng.txt"
    english = [line.rstrip("\r") for line in store.texts(NTREX, [name])[name]]
    texts: dict[str, Sequence[str]] = {}
    for codes in NTREX_CODES.values():
        for code in codes:
            name = f"{folder}/newstest2019-ref.{code}.txt"
            texts[code] = [line.rstrip("\r") for line in store.texts(NTREX, [name])[name]]
    segments = [
        Segment(text, source, (), SegmentKey("ntrex", f"en-{language}", None, None, index))
        for language, codes in NTREX_CODES.items()
        for index, (source, text) in enumerate(zip(english, texts[codes[0]], strict=True))
    ]
    languages = pools.build_all(segments)
    for segment in segments:
        assert segment.key is not None
        assert segment.key.index is not None
        assert segment.key.lang_pair is not None
        source_text = segment.source or ""
        language = segment.key.lang_pair.partition("-")[2]
        rng = random.Random(f"ntrex|{seed}|{language}|{segment.key.index}")
        if rng.random() >= _NTREX_SHARE or not segment.hypothesis.strip() or not source_text.strip():
            continue
        versions = list(dict.fromkeys(texts[code][segment.key.index] for code in NTREX_CODES[language]))
        setting = synthesis.setting_of(("en", language), source_text, languages)
        for hypothesis in versions:
            other_texts = [text for text in versions if text != hypothesis]
            # A text that is its own reference teaches nothing, but a wrong copy of it does.
            clean = Rating(Segment(hypothesis, source_text, tuple(other_texts), segment.key), RATER, ())
            yield clean
            yield from _damaged(clean, other_texts or [hypothesis], setting, rng)
        if len(versions) > 1:
            yield from _damaged(Rating(segment, RATER, ()), versions[:1], setting, rng)


def _damaged(clean: Rating, references: Sequence[str], setting: Setting, rng: random.Random) -> Iterator[Rating]:
    """Yields the rating with an injected error of meaning and other references, if an error fits."""
    wrong = synthesis.inject(clean, setting, rng, 1, kinds=synthesis.MEANING)
    if wrong is not None:
        segment = replace(wrong.rating.segment, references=tuple(references))
        yield replace(wrong.rating, segment=segment, rater=RATER, overall=None)


def is_kept_for_calibration(rating: Rating) -> bool:
    """Whether a contrast of ours is not to be trained on: an eighth of those of short texts, drawn by the source."""
    segment = rating.segment
    if segment.key is None or segment.key.test_set != OWN.name or not segment.source:
        return False
    return len(segment.source) <= _SHORT and zlib.crc32(segment.source.encode()) % _KEPT == 0


def own() -> Iterator[Rating]:
    """Yields the contrasts written for this project.

    Each correct wording is the reference of the other, and the wrong one has both, so that neither likeness nor its
    lack tells right from wrong.
    """
    for path in sorted(OWN.glob("*.tsv")):
        with open(path, encoding="utf-8", newline="") as stream:
            for index, row in enumerate(csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE)):
                key = SegmentKey("contrasts", path.stem, None, None, index)
                closer = max((row["reference"], row["correct"]), key=lambda text: likeness(row["wrong"], text))
                wrong = _rating(Segment(row["wrong"], row["source"], (closer,), key), is_same=False)
                for reference, wording in (("reference", "correct"), ("correct", "reference")):
                    segment = Segment(row[wording], row["source"], (row[reference],), key)
                    yield _rating(segment, is_same=True)
                    yield replace(wrong, segment=replace(wrong.segment, references=segment.references))


def paragraphs(ratings: Sequence[Rating], *, n_paragraphs: int, seed: int) -> Iterator[Rating]:
    """Yields paragraphs of contrasts of one language pair: right ones, and the same with one wrong text.

    The texts are joined by spaces, without any in Chinese and Japanese. Only texts with a source are used, for which
    there are, for one reference, a right and a wrong one.
    """
    by_pair: dict[str, dict[tuple[str, str], dict[bool, Rating]]] = defaultdict(lambda: defaultdict(dict))
    for rating in ratings:
        segment = rating.segment
        if segment.key is not None and segment.key.lang_pair is not None and segment.source and segment.references:
            is_right = not rating.all_errors
            by_pair[segment.key.lang_pair][segment.source, segment.references[0]].setdefault(is_right, rating)
    usable = {pair: [both for both in texts.values() if len(both) == 2] for pair, texts in by_pair.items()}
    pairs = [pair for pair, texts in usable.items() if len(texts) >= max(_IN_PARAGRAPH)]
    rng = random.Random(f"paragraphs|{seed}")
    for index in range(n_paragraphs if pairs else 0):
        pair = rng.choices(pairs, [len(usable[pair]) for pair in pairs])[0]
        texts = rng.sample(usable[pair], rng.choice(_IN_PARAGRAPH))
        wrong = rng.randrange(len(texts))
        key = SegmentKey("paragraphs", pair, None, None, index)
        yield _joined([both[True] for both in texts], key)
        yield _joined([both[number != wrong] for number, both in enumerate(texts)], key)


def _joined(ratings: Sequence[Rating], key: SegmentKey) -> Rating:
    """Returns the rating of a paragraph of texts; each has a source, and its first reference is used."""
    source_language, target_language = str(key.lang_pair).split("-")
    space = _space(target_language)
    errors: list[ErrorSpan] = []
    start = 0
    for rating in ratings:
        errors += [replace(span, start=span.start + start, end=span.end + start) for span in rating.errors or ()]
        start += len(rating.segment.hypothesis) + len(space)
    segment = Segment(
        space.join(rating.segment.hypothesis for rating in ratings),
        _space(source_language).join(rating.segment.source or "" for rating in ratings),
        (space.join(rating.segment.references[0] for rating in ratings),),
        key,
    )
    unplaced = tuple(error for rating in ratings for error in rating.unplaced)
    return Rating(segment, RATER, tuple(errors), unplaced=unplaced)


def _space(language: str) -> str:
    return "" if language in ("ja", "zh") else " "


def _rating(segment: Segment, *, is_same: bool) -> Rating:
    """Returns the rating of a text that means the same as its reference or not."""
    if is_same:
        return Rating(segment, RATER, ())
    place = changed(segment.hypothesis, segment.references[0])
    if place is None:
        return Rating(segment, RATER, (), unplaced=(UnplacedError(Severity.MAJOR),))
    return Rating(segment, RATER, (ErrorSpan(*place, Severity.MAJOR),))


def changed(text: str, reference: str) -> tuple[int, int] | None:
    """Returns the words of a text that differ from a reference that is close to it; None if it is not, or lacks words.

    A short text need not be close: what differs in it is wrong as a whole.

    >>> changed("We never eat meat.", "We often eat meat."), changed("We eat meat.", "We often eat meat.")
    ((3, 8), None)
    >>> changed("Lemon tart", "Melon tart"), changed("Delete", "Save")
    ((0, 5), (0, 6))
    """
    ranges = words_of(text)
    matcher = _matcher(text, reference)
    if matcher.ratio() < _CLOSE and len(ranges) > _FEW_WORDS:
        return None
    changes = [change for change in matcher.get_opcodes() if change[0] != "equal" and change[2] > change[1]]
    if not changes:
        return None
    return ranges[changes[0][1]][0], ranges[changes[-1][2] - 1][1]


def likeness(text: str, other: str) -> float:
    """Returns the share of equal words of two texts: 0 to 1."""
    return _matcher(text, other).ratio()


def _matcher(text: str, other: str) -> SequenceMatcher[str]:
    words, other_words = ([each[start:end] for start, end in words_of(each)] for each in (text, other))
    return SequenceMatcher(None, words, other_words, autojunk=False)

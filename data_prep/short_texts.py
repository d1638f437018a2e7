"""Contrasts of short texts: minimal pairs of a parallel corpus, and contrasts written for this project.

- **Parallel texts** (`short/parallel.jsonl`): human translations of short texts. They are right, by the source alone.
  Two translations of one source are right by the reference, too.
- **Minimal pairs** (`short/pairs.jsonl`, made by `minimal_pairs`): two translations that differ in one short stretch,
  as their sources do. The wrong text is read beside the source, and also beside its own source, of which it is the
  right translation, so that each text is as often right as wrong.
- **Written contrasts** (`written.json.xz`): sources with several right wordings, wrong ones with the place of the
  error, ones with a Minor error, and ones that lack words of the source. Right and wrong texts are read beside the
  same references, and no text beside itself, so that likeness does not tell right from wrong.

A source is held out if the CRC32 of its UTF-8 is divisible by 8; a minimal pair, if both its sources are. Whatever
shares a text with a held-out row, in any language or direction, is left out of the training, too (`Reserved`).
"""

from __future__ import annotations

import itertools
import json
import lzma
import random
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from data_prep import splits
from data_prep.contrasts import OWN, RATER
from data_prep.store import Store
from matese.annotation import ErrorSpan, Omission, Rating, Segment, SegmentKey, Severity, UnplacedError
from matese.corruption.pools import words_of
from matese.errors import FormatError

FOLDER = "short"
WRITTEN = OWN / "written.json.xz"
"""The written contrasts without the held-out ones."""
HELD_OUT_WRITTEN = Path(__file__).with_name("held_out_written.txt")
"""Hashes of those texts of held-out written contrasts that stand in the public parallel texts or in written ones."""
_HELD_OUT = 8
"""One source in so many is held out."""
_KEPT = 64
"""One written source in so many is kept for the calibration."""
_LARGEST_PART = 0.6
"""Largest share of the text that may differ in a minimal pair: otherwise the error has no place."""
_N_REFERENCES = 2
"""References beside which the texts of a written source are read."""
_OFTEN = frozenset({"negation", "role", "sense", "scope", "attachment"})
"""Kinds of error that are rare or hard: their sources are read beside one reference more."""
_WORD_WINDOW = 2
"""Most words of a stretch; in languages without spaces, twice as many characters."""
_SOURCE_WINDOW = 3
_MOST_WORDS = 40
_MOST_ALIKE = 60
"""Most texts that are compared of those that are equal outside a stretch."""
_MOST_PAIRS = 4
"""Most pairs of a text."""


def is_held_out(source: str) -> bool:
    """Whether a source is kept out of the training.

    >>> is_held_out("The house is old."), is_held_out("Good morning!")
    (False, False)
    """
    return zlib.crc32(source.encode()) % _HELD_OUT == 0


def is_kept_for_calibration(rating: Rating) -> bool:
    """Whether a written contrast is not trained on but calibrated on."""
    return zlib.crc32((rating.segment.source or "").encode()) % _KEPT == 1


@dataclass(frozen=True, slots=True)
class Parallel:
    """A source and its translation."""

    lang_pair: str
    source: str
    target: str


@dataclass(frozen=True, slots=True)
class MinimalPair:
    """A translation that is wrong by a short stretch, because it translates another source.

    Attributes:
        lang_pair: of both translations.
        source: what `reference` translates.
        reference: the right translation.
        wrong: the wrong one.
        wrong_source: what `wrong` translates.
        old: the words of the reference that `wrong` has not.
        new: the words that it has instead.
    """

    lang_pair: str
    source: str
    reference: str
    wrong: str
    wrong_source: str
    old: str
    new: str

    @property
    def texts(self) -> tuple[str, ...]:
        """All its texts."""
        return (self.source, self.reference, self.wrong, self.wrong_source)

    @property
    def is_held_out(self) -> bool:
        """Whether both its sources are; a pair with one held-out source is neither trained on nor measured."""
        return is_held_out(self.source) and is_held_out(self.wrong_source)


@dataclass(frozen=True)
class Reserved:
    """The texts of the held-out rows. What shares one with them is not trained on.

    Attributes:
        texts: of parallel texts.
        written: of written contrasts, as hashes.
    """

    texts: frozenset[str]
    written: splits.HeldOut

    def allows(self, *texts: str) -> bool:
        """Whether none of the texts stands in a held-out row."""
        return self.texts.isdisjoint(texts) and not any(text in self.written for text in texts)


def reserved(parallel: Iterable[Parallel]) -> Reserved:
    """Returns the texts of all held-out rows."""
    held_out = (row for row in parallel if is_held_out(row.source))
    texts = frozenset(text for row in held_out for text in (row.source, row.target))
    return Reserved(texts, splits.read_held_out(HELD_OUT_WRITTEN))


def read_parallel(store: Store) -> list[Parallel]:
    """Returns the human translations of short texts.

    Raises:
        FormatError: if a line is no such row.
    """
    return read_parallel_file(_file(store, "parallel.jsonl"))


def read_parallel_file(path: Path) -> list[Parallel]:
    """Returns the rows of a JSONL file, plain or packed with xz, of `lp`, `src` and `tgt`.

    Raises:
        FormatError: if a line is no such row.
    """
    return [Parallel(*row) for row in _rows(path, ("lp", "src", "tgt"))]


_PAIR_KEYS = {"lang_pair": "lp"}


def read_pairs(store: Store) -> list[MinimalPair]:
    """Returns the minimal pairs.

    Raises:
        FormatError: if a line is no such row.
    """
    names = [_PAIR_KEYS.get(field.name, field.name) for field in fields(MinimalPair)]
    return [MinimalPair(*row) for row in _rows(_file(store, "pairs.jsonl"), names)]


def dumps(pair: MinimalPair) -> str:
    """Returns a minimal pair as a line of JSON."""
    return json.dumps({_PAIR_KEYS.get(name, name): text for name, text in asdict(pair).items()}, ensure_ascii=False)


def read_written(path: Path = WRITTEN) -> list[Any]:
    """Returns the written contrasts of a file, a mapping for each source."""
    blocks: list[Any] = json.loads(lzma.decompress(path.read_bytes()))
    return blocks


def _file(store: Store, name: str) -> Path:
    """Returns the path of a file of short texts, plain or packed with xz."""
    plain = store.root / FOLDER / name
    packed = plain.with_name(f"{name}.xz")
    return packed if packed.is_file() else plain


def _rows(path: Path, names: Sequence[str]) -> Iterator[list[str]]:
    """Yields the texts under the names in each line of a file."""
    opened = lzma.open if path.suffix == ".xz" else open
    with opened(path, "rt", encoding="utf-8") as stream:
        for number, line in enumerate(stream, start=1):
            try:
                row = json.loads(line)
                texts = [row[name] for name in names]
            except (ValueError, KeyError, TypeError):
                raise FormatError(str(path), number, f"must be a JSON object with {', '.join(names)}") from None
            yield texts


def texts_of(block: Mapping[str, Any]) -> list[str]:
    """Returns all texts of a written source."""
    translations = [entry["text"] for kind in ("wrong", "minor", "missing") for entry in block[kind]]
    return [block["source"], *_wordings(block), *translations]


def _wordings(block: Mapping[str, Any]) -> list[str]:
    """Returns the right wordings of a written source."""
    return list(dict.fromkeys([block["reference"], *block["correct"]]))


def written(blocks: Iterable[Mapping[str, Any]], *, seed: int) -> Iterator[Rating]:
    """Yields the ratings of written contrasts, each beside one reference."""
    for index, block in enumerate(blocks):
        rng = random.Random(f"written|{seed}|{block['source']}")
        key = SegmentKey("written", block["lp"], None, None, index)
        wordings = _wordings(block)
        is_hard = any(entry["kind"] in _OFTEN for entry in block["wrong"])
        for reference in rng.sample(wordings, min(len(wordings), _N_REFERENCES + is_hard)):
            segment = Segment("", block["source"], (reference,), key)
            for text in wordings:
                if text != reference:
                    yield Rating(replace(segment, hypothesis=text), RATER, ())
            for severity, kind in ((Severity.MAJOR, "wrong"), (Severity.MINOR, "minor")):
                for entry in block[kind]:
                    spans = tuple(ErrorSpan(start, end, severity) for start, end in entry["spans"])
                    yield Rating(replace(segment, hypothesis=entry["text"]), RATER, spans)
            for entry in block["missing"]:
                yield _incomplete(replace(segment, hypothesis=entry["text"]), entry["words"])


def _incomplete(segment: Segment, words: str) -> Rating:
    start = (segment.source or "").find(words)
    if start < 0:
        return Rating(segment, RATER, (), unplaced=(UnplacedError(Severity.MAJOR, "Accuracy/Omission"),))
    omission = Omission("source", None, start, start + len(words), Severity.MAJOR, "Accuracy/Omission")
    return Rating(segment, RATER, (), omissions=(omission,))


def mined(parallel: Sequence[Parallel], pairs: Iterable[MinimalPair], held_out: Reserved) -> Iterator[Rating]:
    """Yields right translations and minimal pairs, by the source; and two translations of one source, by each other."""
    by_source: dict[tuple[str, str], list[str]] = defaultdict(list)
    for row in parallel:
        if held_out.allows(row.source, row.target):
            by_source[row.lang_pair, row.source].append(row.target)
    for index, ((lang_pair, _), targets) in enumerate(by_source.items()):
        key = SegmentKey("short", lang_pair, None, None, index)
        for target, reference in itertools.permutations(dict.fromkeys(targets), 2):
            yield Rating(Segment(target, None, (reference,), key), RATER, ())
    for index, pair in enumerate(pairs):
        if not held_out.allows(*pair.texts):
            continue
        key = SegmentKey("pairs", pair.lang_pair, None, None, index)
        wrong = Segment(pair.wrong, pair.source, (), key)
        yield _wrong(wrong, pair)
        yield Rating(replace(wrong, hypothesis=pair.reference), RATER, ())
        yield Rating(replace(wrong, source=pair.wrong_source), RATER, ())


def right(parallel: Sequence[Parallel], held_out: Reserved) -> Iterator[Rating]:
    """Yields the human translations, right by the source."""
    for index, row in enumerate(parallel):
        if held_out.allows(row.source, row.target):
            key = SegmentKey("short", row.lang_pair, None, None, index)
            yield Rating(Segment(row.target, row.source, (), key), RATER, ())


def _wrong(segment: Segment, pair: MinimalPair) -> Rating:
    """Returns the rating of the wrong text of a minimal pair; the error is the stretch, if it is a part of the text."""
    place = place_of(pair)
    if place is None:
        return Rating(segment, RATER, (), unplaced=(UnplacedError(Severity.MAJOR),))
    return Rating(segment, RATER, (ErrorSpan(*place, Severity.MAJOR),))


def place_of(pair: MinimalPair) -> tuple[int, int] | None:
    """Returns where the wrong text of a minimal pair differs from the right one; None if it only lacks words.

    >>> place_of(MinimalPair("de-en", "", "the red house", "the old house", "", "red", "old"))
    (4, 7)
    """
    before = _n_equal(pair.reference, pair.wrong)
    after = _n_equal(pair.reference[before:][::-1], pair.wrong[before:][::-1])
    start = before
    end = len(pair.wrong) - after
    # Where the wrong text only lacks characters, start is end: the word at this place.
    ranges = words_of(pair.wrong)
    words = [word for word in ranges if word[0] < max(end, start + 1) and word[1] > min(start, end - 1)]
    if not pair.new or not words:
        return None
    return words[0][0], words[-1][1]


def _n_equal(text: str, other: str) -> int:
    """Returns how many first characters of two texts are equal."""
    pairs = enumerate(zip(text, other, strict=False))
    return next((place for place, (left, right) in pairs if left != right), min(len(text), len(other)))


def lexicon(
    pairs: Iterable[MinimalPair], parallel: Iterable[Parallel], held_out: Reserved
) -> dict[str, dict[str, list[str]]]:
    """Returns by target language the words that may replace a word and change the meaning.

    They are the stretches of minimal pairs, less those that two translations of one source have: synonyms.
    """
    replacements: dict[str, Counter[tuple[str, str]]] = defaultdict(Counter)
    for pair in pairs:
        if pair.old and pair.new and held_out.allows(*pair.texts):
            replacements[pair.lang_pair.partition("-")[2]][pair.old, pair.new] += 1
    synonyms: dict[str, set[tuple[str, str]]] = defaultdict(set)
    by_source: dict[tuple[str, str], list[str]] = defaultdict(list)
    for row in parallel:
        by_source[row.lang_pair, row.source.lower()].append(row.target)
    for (lang_pair, _), targets in by_source.items():
        for target, synonym in itertools.permutations(dict.fromkeys(targets), 2):
            in_target, in_synonym = stretches(_tokens(target), _tokens(synonym))
            synonyms[lang_pair.partition("-")[2]].add((" ".join(in_target).lower(), " ".join(in_synonym).lower()))
    words: dict[str, dict[str, list[str]]] = {}
    for language, counts in replacements.items():
        of_language = words.setdefault(language, {})
        for old, new in counts:
            if (old.lower(), new.lower()) not in synonyms[language]:
                of_language.setdefault(old, []).append(new)
    return words


def minimal_pairs(parallel: Iterable[Parallel], *, seed: int) -> Iterator[MinimalPair]:
    """Yields pairs of translations that differ in one short stretch, as their sources do.

    >>> rows = [Parallel("en-de", "a red car", "ein rotes Auto"), Parallel("en-de", "a blue car", "ein blaues Auto")]
    >>> sorted((pair.reference, pair.wrong) for pair in minimal_pairs(rows, seed=0))
    [('ein blaues Auto', 'ein rotes Auto'), ('ein rotes Auto', 'ein blaues Auto')]
    """
    by_pair: dict[str, dict[tuple[str, str], Parallel]] = defaultdict(dict)
    for row in parallel:
        by_pair[row.lang_pair][row.source, row.target] = row
    for lang_pair, rows in by_pair.items():
        yield from _minimal_pairs(list(rows.values()), random.Random(f"pairs|{seed}|{lang_pair}"))


def _minimal_pairs(rows: Sequence[Parallel], rng: random.Random) -> Iterator[MinimalPair]:
    """Yields the minimal pairs of one language pair."""
    words = [_tokens(row.target) for row in rows]
    alike: dict[tuple[tuple[str, ...], tuple[str, ...]], list[int]] = defaultdict(list)
    for number, tokens in enumerate(words):
        if not 2 <= len(tokens) <= _MOST_WORDS:
            continue
        is_spaced = " " in rows[number].target
        window = _WORD_WINDOW if is_spaced else 2 * _WORD_WINDOW
        for width in range(window + 1):
            for start in range(len(tokens) - width + 1):
                alike[tuple(tokens[:start]), tuple(tokens[start + width :])].append(number)
    n_pairs: Counter[int] = Counter()
    done: set[tuple[int, int]] = set()
    for numbers in alike.values():
        drawn = rng.sample(numbers, min(len(numbers), _MOST_ALIKE))
        for first, second in itertools.permutations(drawn, 2):
            if (first, second) in done or n_pairs[first] >= _MOST_PAIRS:
                continue
            done.add((first, second))
            pair = _pair(rows[first], rows[second])
            if pair is not None:
                n_pairs[first] += 1
                yield pair


def _pair(row: Parallel, other: Parallel) -> MinimalPair | None:
    """Returns the pair of two translations; None if their sources are equal or differ in more than a short stretch."""
    if row.target.lower() == other.target.lower() or row.source.lower() == other.source.lower():
        return None
    in_sources = stretches(_tokens(row.source.lower()), _tokens(other.source.lower()))
    if max(map(len, in_sources)) > _SOURCE_WINDOW:
        return None
    old, new = stretches(_tokens(row.target), _tokens(other.target))
    if not any(character.isalnum() for word in (*old, *new) for character in word):
        return None
    texts = (row.source, row.target, other.target, other.source)
    return MinimalPair(row.lang_pair, *texts, " ".join(old), " ".join(new))


def stretches(words: Sequence[str], other_words: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """Returns the stretches outside of which two texts are equal.

    >>> stretches("a red car".split(), "a big blue car".split())
    (['red'], ['big', 'blue'])
    """
    shorter = min(len(words), len(other_words))
    start = next((place for place in range(shorter) if words[place] != other_words[place]), shorter)
    most = shorter - start
    after = next((place for place in range(most) if words[-1 - place] != other_words[-1 - place]), most)
    return words[start : len(words) - after], other_words[start : len(other_words) - after]


def _tokens(text: str) -> list[str]:
    return [text[start:end] for start, end in words_of(text)]

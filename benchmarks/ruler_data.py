"""Draw the segments of the ruler: held-out translations with judgements, and pairs of sentences about meaning.

No source or reference of any segment may be trained on: all are on the committed lists of `data_prep.splits` or in
test files that no training reads. Sources are drawn in the order of a hash, so that a smaller draw is part of a larger
one and test sets that share sources share predictions.
"""

from __future__ import annotations

import csv
import hashlib
import io
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from statistics import fmean

import msgspec
import numpy as np

from benchmarks import contrast, held_out, quality
from data_prep import splits
from data_prep.segment_scores import FOLDERS, system_name
from data_prep.store import Store
from data_prep.translations import Item, items
from matese.annotation import Rating, Segment, SegmentKey
from matese.evaluation.statistics.arrays import FloatArray, IntArray
from matese.formats.tables import jsonl

JUDGES = {"gpt4": "GPT-4", "esa": "ESA", "mqm": "MQM", "bio": "biomedical", "da": "DA"}
"""The judgements of translations, and their names in tables."""
PREPARED = {"esa": "esa-test", "mqm": "dev", "bio": "bio-test"}
"""File of `data_prep prepare` for each kind of human judgement."""
N_SOURCES = {"gpt4": 110, "esa": 90, "mqm": 30, "bio": 60, "da": 110}
"""Sources to draw for each test set and language pair: about 11,000 translations."""
N_STS = 100
"""Pairs of STS in each language."""
N_CANNOT = 300
"""Anchors of CANNOT."""

_EVERY_CASE = 2
"""One in so many of the held-out contrasts is drawn."""

GEMBA = "teachers/gemba-gpt4-wmt22"
_GEMBA_PAIRS = ("en-de", "en-ru", "zh-en")
_GEMBA_RANGES = {"DA": (0, 100), "SQM": (0, 100), "Stars": (1, 5), "Classes": (0, 4)}
"""Worst and best answer to each of the four prompts."""
STS = "meaning/stsb-multi-mt"
CANNOT = "meaning/cannot-wmt"
_MIN_SOURCES = 20
"""Fewer held-out sources of a language pair say nothing about its systems."""

Draw = Callable[[Iterable[str], int], list[str]]
"""Takes some of the first N texts, see `draw`."""


def draw(texts: Iterable[str], n: int, *, every: int = 1, is_all: bool = False) -> list[str]:
    """Returns every K-th of the first `n` texts, or of all, in the order of a hash.

    >>> draw(["a", "b", "c", "d"], 2), draw(["a", "b", "c", "d"], 2, every=2, is_all=True)
    (['b', 'a'], ['b', 'd'])
    """
    ordered = sorted(set(texts), key=lambda text: hashlib.sha256(f"ruler {text}".encode()).digest())
    return (ordered if is_all else ordered[:n])[::every]


@dataclass(frozen=True, eq=False)
class Part:
    """The translations of one language pair of a test set by all systems, with judgements.

    Attributes:
        judge: one of `JUDGES`.
        name: test set and language pair.
        ratings: with one reference; each system translates a source at most once. `errors` is None without spans.
        golds: judgement of each translation, higher is better; NaN if only systems are judged.
        systems: official score of each system; None if it is the mean of its translations' scores.
        n_held_out: sources that could be drawn.
    """

    judge: str
    name: str
    ratings: tuple[Rating, ...]
    golds: tuple[float, ...]
    systems: Mapping[str, float] | None
    n_held_out: int

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The systems, sorted."""
        return tuple(sorted({_system(rating.segment) for rating in self.ratings}))

    @cached_property
    def rows(self) -> IntArray:
        """The place of each translation's system, (translations,)."""
        places = {name: row for row, name in enumerate(self.names)}
        return np.array([places[_system(rating.segment)] for rating in self.ratings], dtype=np.int64)

    @cached_property
    def columns(self) -> IntArray:
        """The number of each translation's source, (translations,)."""
        sources = {
            source: column for column, source in enumerate(sorted({segment.source or "" for segment in self.segments}))
        }
        return np.array([sources[segment.source or ""] for segment in self.segments], dtype=np.int64)

    @property
    def segments(self) -> list[Segment]:
        """The segments, with one reference."""
        return [rating.segment for rating in self.ratings]

    @property
    def n_sources(self) -> int:
        """Number of drawn sources."""
        return int(self.columns.max(initial=-1)) + 1

    def grid(self, values: Sequence[float] | FloatArray) -> FloatArray:
        """Returns values of the segments as a table, NaN where a system has no translation: (systems, sources)."""
        table = np.full((len(self.names), self.n_sources), np.nan)
        table[self.rows, self.columns] = values
        return table


def _system(segment: Segment) -> str:
    return (segment.key.system if segment.key else None) or ""


class Pair(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A correct and a wrong translation; `span` is the wrong part of `wrong`, None where something is missing."""

    id: str
    lang_pair: str
    domain: str
    kind: str
    source: str
    reference: str
    correct: str
    wrong: str
    span: tuple[int, int] | None

    def segment(self, hypothesis: str) -> Segment:
        """Returns the segment of one of the translations."""
        return Segment(hypothesis, self.source, (self.reference,), SegmentKey(lang_pair=self.lang_pair))


@dataclass(frozen=True, slots=True)
class Similar:
    """Two sentences of one pair of STS, by languages, with people's similarity; `row` is the same in all languages."""

    row: int
    lang_pair: str
    segment: Segment
    similarity: float


@dataclass(frozen=True, slots=True)
class Anchor:
    """A sentence of CANNOT as the reference of its paraphrases and of sentences that say the opposite."""

    paraphrases: tuple[Segment, ...]
    opposites: tuple[Segment, ...]


@dataclass(frozen=True, slots=True)
class Ruler:
    """All that a model is measured on."""

    parts: tuple[Part, ...]
    pairs: tuple[Pair, ...]
    contrast: tuple[contrast.Item, ...]
    sts: tuple[Similar, ...]
    cross: tuple[Similar, ...]
    cannot: tuple[Anchor, ...]
    cases: tuple[held_out.Case, ...]

    def segments(self) -> Iterator[Segment]:
        """Yields all segments with a source and a reference: those that are read by reference and by source."""
        for part in self.parts:
            yield from part.segments
        for pair in self.pairs:
            yield from map(pair.segment, (pair.correct, pair.wrong))
        for item in self.contrast:
            yield from map(item.segment, filter(None, (item.good, item.bad)))


def read(store: Store, prepared: Path, pairs: Path, *, every: int = 1, is_all: bool = False) -> Ruler:
    """Returns the drawn segments.

    Args:
        store: the raw files.
        prepared: folder with the files of `data_prep prepare`.
        pairs: minimal pairs of meaning, JSONL.
        every: take only every K-th of the sources, rows and pairs that are drawn.
        is_all: draw all held-out sources instead of `N_SOURCES`, and all rows of STS and CANNOT.
    """
    sampler = partial(draw, every=every, is_all=is_all)
    parts = [*_gpt4(store, sampler), *_human(prepared, sampler), *_assessed(store, sampler)]
    of_pairs = [msgspec.json.decode(line, type=Pair) for line in pairs.read_bytes().splitlines()]
    taken = set(draw((pair.source for pair in of_pairs), len(of_pairs), every=every))
    of_contrast = [item for item in contrast.read() if item.bad is not None]
    taken |= set(draw((item.source for item in of_contrast), len(of_contrast), every=every))
    sts, cross = _similarities(store, sampler)
    return Ruler(
        parts=tuple(parts),
        pairs=tuple(pair for pair in of_pairs if pair.source in taken),
        contrast=tuple(item for item in of_contrast if item.source in taken),
        sts=tuple(sts),
        cross=tuple(cross),
        cannot=tuple(_anchors(store, sampler)),
        cases=tuple(held_out.read(store, every=_EVERY_CASE * every)),
    )


def _gpt4(store: Store, sampler: Draw) -> Iterator[Part]:
    """Yields the held-out sources of WMT22 with the mean of GPT-4's eight judgements, scaled to 0-1."""
    scores = {pair: _gemba_scores(store, pair) for pair in _GEMBA_PAIRS}
    for pair, of_pair in _held_out_items(store, "generaltest2022", _GEMBA_PAIRS).items():
        translations = [
            (Rating(_segment(item, system), "GPT-4", None), scores[pair][system][item.index])
            for item in of_pair
            for system in item.hypotheses
            if system in scores[pair]
        ]
        yield from _parts(translations, sampler, judge="gpt4", name=f"generaltest2022 {pair}")


def _gemba_scores(store: Store, pair: str) -> dict[str, list[float]]:
    """Returns the scores of each system, one for each line of the test set."""
    files = [name for name in store.names(GEMBA) if f"/{pair}/" in name and name.endswith(".seg.score")]
    columns: dict[str, list[list[float]]] = defaultdict(list)
    for name, lines in store.texts(GEMBA, files).items():
        worst, best = _GEMBA_RANGES[name.rpartition("/")[2].split("-")[2]]
        of_file: dict[str, list[float]] = defaultdict(list)
        for line in lines:
            system, _, value = line.partition("\t")
            of_file[system].append((float(value) - worst) / (best - worst))
        for system, values in of_file.items():
            columns[system].append(values)
    return {system: [fmean(row) for row in zip(*values, strict=True)] for system, values in columns.items()}


def _human(prepared: Path, sampler: Draw) -> Iterator[Part]:
    """Yields the prepared test sets with people's spans and scores."""
    for judge, name in PREPARED.items():
        by_part: dict[str, list[tuple[Rating, float]]] = defaultdict(list)
        for rating in quality.choose(jsonl.read(prepared / f"{name}.jsonl")):
            key = rating.segment.key or SegmentKey()
            with_one_reference = replace(
                rating, segment=replace(rating.segment, references=rating.segment.references[:1])
            )
            by_part[f"{key.test_set} {key.lang_pair}"].append(
                (with_one_reference, rating.overall.value if rating.overall else 0.0)
            )
        for title, translations in sorted(by_part.items()):
            yield from _parts(translations, sampler, judge=judge, name=title)


def _assessed(store: Store, sampler: Draw) -> Iterator[Part]:
    """Yields held-out sources of the systems that have a score by direct assessment."""
    for test_set, (folder, part) in FOLDERS.items():
        part = part.replace("seg", "sys")
        files = {name.rpartition(part)[2].removesuffix(".csv"): name for name in store.names(folder) if part in name}
        for pair, of_pair in _held_out_items(store, test_set, files).items():
            scores = _system_scores(store.read(f"{folder}/{files[pair]}").decode())
            translations = [
                (Rating(_segment(item, system), "DA", None), np.nan)
                for item in of_pair
                for system in item.hypotheses
                if system in scores
            ]
            yield from _parts(translations, sampler, judge="da", name=f"{test_set} {pair}", systems=scores)


def _system_scores(text: str) -> dict[str, float]:
    """Returns the z-score of each system by its name in the test set."""
    rows = csv.DictReader(io.StringIO(text), delimiter=" ")
    return {system_name(row["SYS"]): float(row["Z.SCR"]) for row in rows}


def _held_out_items(store: Store, test_set: str, lang_pairs: Iterable[str]) -> dict[str, list[Item]]:
    """Returns the items with a held-out text of each language pair that has enough of them."""
    by_pair: dict[str, list[Item]] = defaultdict(list)
    for item in items(store, test_set, lang_pairs=set(lang_pairs)):
        texts = (item.source, *item.references)
        if item.source.strip() and item.references and any(map(splits.is_held_out, filter(str.strip, texts))):
            by_pair[item.lang_pair].append(item)
    return {pair: of_pair for pair, of_pair in by_pair.items() if len(of_pair) >= _MIN_SOURCES}


def _segment(item: Item, system: str) -> Segment:
    key = SegmentKey(item.test_set, item.lang_pair, system, None, item.index)
    return Segment(item.hypotheses[system], item.source, item.references[:1], key)


def _parts(
    translations: Iterable[tuple[Rating, float]],
    sampler: Draw,
    *,
    judge: str,
    name: str,
    systems: Mapping[str, float] | None = None,
) -> Iterator[Part]:
    """Yields one part with the drawn sources, or nothing if no source is left."""
    cells: dict[tuple[str, str], tuple[Rating, float]] = {}
    for rating, value in translations:
        segment = rating.segment
        if segment.hypothesis.strip():
            cells.setdefault((_system(segment), segment.source or ""), (rating, value))
    sources = {source for _, source in cells}
    drawn = set(sampler(sources, N_SOURCES[judge]))
    taken = [cell for (_, source), cell in cells.items() if source in drawn]
    if taken:
        ratings, golds = zip(*taken, strict=True)
        yield Part(judge, name, ratings, golds, systems, len(sources))


def _similarities(store: Store, sampler: Draw) -> tuple[list[Similar], list[Similar]]:
    """Returns pairs of STS with both sentences in one language, and with the first one in English as the source."""
    names = [name for name in store.names(STS) if name.endswith("-test.csv")]
    tables = {
        name.rpartition("/")[2].split("-")[1]: list(csv.reader(io.StringIO("\n".join(lines), newline="")))
        for name, lines in store.texts(STS, names).items()
    }
    rows = [int(row) for row in sampler(map(str, range(len(tables["en"]))), N_STS)]
    sts: list[Similar] = []
    cross: list[Similar] = []
    for language, table in sorted(tables.items()):
        for row in rows:
            first, second, similarity = table[row]
            key = SegmentKey(lang_pair=f"{language}-{language}")
            same = Segment(second, None, (first,), key)
            sts.append(Similar(row, language, same, float(similarity)))
            if language != "en":
                pair = f"en-{language}"
                across = Segment(second, tables["en"][row][0], (), SegmentKey(lang_pair=pair))
                cross.append(Similar(row, pair, across, float(similarity)))
    return sts, cross


def _anchors(store: Store, sampler: Draw) -> Iterator[Anchor]:
    """Yields the sentences of CANNOT's test part that stand in a pair of paraphrases and in one of opposites.

    Pairs with a sentence of the evaluation part, which is trained on (`data_prep contrasts`), are left out.
    """
    trained = {text for row in _cannot(store, "_eval.csv") for text in (row["candidate"], row["reference"])}
    partners: dict[str, dict[bool, list[str]]] = defaultdict(lambda: {True: [], False: []})
    for row in _cannot(store, "_test.csv"):
        texts = (row["candidate"], row["reference"])
        if trained.isdisjoint(texts):
            for anchor, partner in (texts, texts[::-1]):
                partners[anchor][float(row["score"]) == 1].append(partner)
    usable = [anchor for anchor, of_anchor in partners.items() if of_anchor[True] and of_anchor[False]]
    for anchor in sampler(usable, N_CANNOT):
        segments = {
            same: tuple(Segment(text, None, (anchor,)) for text in dict.fromkeys(texts))
            for same, texts in partners[anchor].items()
        }
        yield Anchor(segments[True], segments[False])


def _cannot(store: Store, ending: str) -> Iterator[dict[str, str]]:
    """Yields CANNOT's own rows of the file with an ending; the others are of WMT."""
    names = [name for name in store.names(CANNOT) if name.endswith(ending)]
    for name in names:
        table = csv.DictReader(io.StringIO("\n".join(store.texts(CANNOT, [name])[name]), newline=""))
        yield from (row for row in table if row["source"] == "cannot")

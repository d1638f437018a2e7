"""Translations graded as a whole, with no span marked: WMT25 by automatic judges, MLQE-PE by people.

A Rating of each has `errors=None` and an overall value: only its score is learned from.

**WMT25.** Five judges (XCOMET-XL, MetricX-24, CometKiwi-XL and two language models) graded each paragraph of what some
systems wrote. No reference is there; in its place stands the other translation that the judges liked best. No file of
sources is there either, but one system repeats them in its output, for the directions from English.

**MLQE-PE** (Fomicheva et al. 2022). Sentences of Wikipedia, one system a direction, graded by three people or more
(direct assessment, 0 to 100). Its post-edits are no references: they stay as near the output as they can.
"""

from __future__ import annotations

import csv
import io
import json
import statistics
import tarfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from data_prep import splits
from data_prep.store import Store
from data_prep.systems import LANGUAGES
from matese.annotation import Overall, Rating, Segment, SegmentKey

JUDGES = "judges"
"""The rater of WMT25."""

ASSESSED = "mlqe-pe"
"""The test set of MLQE-PE."""

MAX_CHARACTERS = 600

_WMT25 = "wmt/wmt25"
_SEPARATOR = "\n\n"
_MLQE = "qe/mlqe-pe"
_MLQE_FILES = tuple(
    f"data/direct-assessments/{part}/{pair}-{part}.tar.gz"
    for pair in ("en-de", "en-zh", "ru-en")
    for part in ("train", "dev")
)

# The range of each judge, onto which 0 (worst) to 1 (best) is laid.
_RANGES = {
    "XCOMET-XL": (0.0, 1.0),
    "CometKiwi-XL": (0.0, 1.0),
    "MetricX-24-Hybrid-XL": (-25.0, 0.0),
    "GEMBA-ESA-GPT4.1": (0.0, 100.0),
    "GEMBA-ESA-CMDA": (0.0, 100.0),
}


@dataclass(frozen=True, slots=True)
class _Place:
    """One paragraph of a document, in one direction."""

    lang_pair: str
    domain: str
    document: str
    paragraph: int


def judged(store: Store) -> Iterator[Rating]:
    """Yields what the judges of WMT25 say of each paragraph that is not too long, in the languages of `mini`.

    Raises:
        OSError: where the files cannot be read.
        ValueError: where a document has more or fewer paragraphs than grades.
    """
    names = store.names(_WMT25)
    systems = sorted(name for name in names if "/systems/" in name)
    lines = store.texts(_WMT25, [*systems, *(name.replace("/systems/", "/automatic_scores/") for name in systems)])
    graded: dict[_Place, dict[str, tuple[str, float]]] = defaultdict(dict)
    sources: dict[_Place, str] = {}
    for name in systems:
        grades = _grades(map(json.loads, lines[name.replace("/systems/", "/automatic_scores/")]))
        system = name.rpartition("/")[2].removesuffix(".jsonl")
        for document in map(json.loads, lines[name]):
            first = _place(*document["doc_id"].split("_#_"))
            values = grades[first]
            paragraphs = document["hypothesis"].split(_SEPARATOR)
            if len(paragraphs) != len(values):
                raise ValueError(f"{name}: {document['doc_id']}: {len(paragraphs)} paragraphs: must be {len(values)}")
            for number, graded_text in enumerate(zip(paragraphs, values, strict=True)):
                graded[replace(first, paragraph=number)][system] = graded_text
            said = document.get("source", "").split(_SEPARATOR)
            if len(said) == len(values):
                sources |= {_in_source(replace(first, paragraph=number)): text for number, text in enumerate(said)}
    for place, translations in graded.items():
        language, _, target = place.lang_pair.partition("-")
        if {language, target} <= LANGUAGES:
            yield from _judged(place, translations, sources.get(_in_source(place)))


def _place(lang_pair: str, domain: str, document: str) -> _Place:
    """Returns the place of a document's first paragraph, whose ids are written in two ways."""
    return _Place(lang_pair.partition("_")[0], domain, document.removeprefix("vid_"), 0)


def _in_source(place: _Place) -> _Place:
    """Returns where the source of all directions from its language stands."""
    return replace(place, lang_pair=place.lang_pair.partition("-")[0])


def _grades(documents: Iterable[Mapping[str, Any]]) -> dict[_Place, list[float]]:
    """Returns the mean of the judges, 0 to 1, of each paragraph of each document."""
    grades = {}
    for document in documents:
        scores = document["metric_scores"]
        laid = [[(value - low) / (high - low) for value in scores[name]] for name, (low, high) in _RANGES.items()]
        means = [min(1.0, max(0.0, statistics.fmean(values))) for values in zip(*laid, strict=True)]
        grades[_place(document["language_pair"], document["domain"], document["document_id"])] = means
    return grades


def _judged(place: _Place, translations: Mapping[str, tuple[str, float]], source: str | None) -> Iterator[Rating]:
    ranked = sorted(translations.items(), key=lambda one: -one[1][1])
    usable = source is None or 0 < len(source.strip()) <= MAX_CHARACTERS
    for system, (text, value) in translations.items():
        others = [other for _, (other, _) in ranked if other != text]
        key = SegmentKey("wmt25", place.lang_pair, system, f"{place.domain} {place.document}", place.paragraph)
        segment = Segment(text, source if usable else None, tuple(others[:1]), key)
        texts = (text, *segment.references)
        is_readable = bool(others) and all(other.strip() and len(other) <= MAX_CHARACTERS for other in texts)
        if is_readable and not splits.committed().covers(segment):
            yield Rating(segment, JUDGES, None, overall=Overall(round(value, 4), "unit"))


def assessed(store: Store) -> Iterator[Rating]:
    """Yields the direct assessments of MLQE-PE, training and development data of three directions.

    Raises:
        OSError: where the files cannot be read.
        ValueError: where an archive holds no table.
    """
    for name in _MLQE_FILES:
        pair = "-".join(name.rpartition("/")[2].split("-")[:2])
        with store.open(f"{_MLQE}/{name}") as packed, tarfile.open(fileobj=packed, mode="r:gz") as members:
            table = next((one for one in members if one.name.endswith(".tsv")), None)
            stream = table and members.extractfile(table)
            if not stream:
                raise ValueError(f"{name}: holds no table (.tsv): must hold one")
            text = io.TextIOWrapper(stream, encoding="utf-8", newline="")
            for number, row in enumerate(csv.DictReader(text, delimiter="\t", quoting=csv.QUOTE_NONE)):
                document = name.rpartition("-")[2].partition(".")[0]
                segment = Segment(
                    row["translation"], row["original"], (), SegmentKey(ASSESSED, pair, "mt", document, number)
                )
                if not splits.committed().covers(segment):
                    yield Rating(segment, None, None, overall=Overall(float(row["mean"]), "da"))

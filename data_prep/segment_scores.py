"""Segment scores without spans: metrics on WMT25, direct assessments of WMT21, WMT22 and MLQE-PE, and HTER.

Each Rating has `errors=None` and an overall judgement or an estimate, so that models only learn its score.

**WMT25.** Five metrics (XCOMET-XL, MetricX-24, CometKiwi-XL and two GEMBA prompts) scored each paragraph of every
system's translation. There are no references; the other translation with the best mean score is used instead. There is
no source file either, but one system repeats the sources in its output, for the language pairs from English.

**MLQE-PE** (Fomicheva et al. 2022). Sentences of Wikipedia, translated by one system for each language pair and scored
by three or more people (direct assessment, 0 to 100). Its post-edits are not used as references because they stay as
close to the translation as possible.

**Direct assessments.** Crowd workers saw the reference and scored nearly every system on nearly every source from 0 to
100. The z-scores are standardised by worker, as published. Most translations have one or two judgements. Human
translations that were rated as systems are left out, and so are translations whose texts are not published.

Relative ranks (daRR) need no separate file: two translations of one source are a pair if their raw scores differ by
`training.pair_gap` of a ranking model or more (25 points at WMT19). Smaller differences are ties, which are left out.

**HTER.** The number of edits that turn a translation into its post-edited version, divided by the words of the latter:
the TER of sacreBLEU, at most 1. The post-edit is not used as a reference because the two texts determine the score.
"""

from __future__ import annotations

import csv
import io
import json
import statistics
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from data_prep import splits
from data_prep.store import Store
from data_prep.translations import LANGUAGES, items
from matese.annotation import Estimate, Overall, Rating, Segment, SegmentKey
from matese.errors import FormatError, InputError

METRICS = "metrics"
"""Name of the rater of WMT25."""
MLQE_PE = "mlqe-pe"
"""Name of the test set of MLQE-PE."""
MAX_CHARACTERS = 600

WMT25 = "wmt/wmt25"
_SEPARATOR = "\n\n"
MLQE_PE_FOLDER = "qe/mlqe-pe"
MLQE_PE_FILES = tuple(
    f"data/direct-assessments/{part}/{pair}-{part}.tar.gz"
    for pair in ("en-de", "en-zh", "ru-en")
    for part in ("train", "dev")
)
# Worst and best value of each metric.
_RANGES = {
    "XCOMET-XL": (0.0, 1.0),
    "CometKiwi-XL": (0.0, 1.0),
    "MetricX-24-Hybrid-XL": (-25.0, 0.0),
    "GEMBA-ESA-GPT4.1": (0.0, 100.0),
    "GEMBA-ESA-CMDA": (0.0, 100.0),
}

FOLDERS = {
    "newstest2021": ("da/newstest2021-da", "newstest2021-toen/ad-seg-scores-"),
    "generaltest2022": ("da/generaltest2022-da", "newstest2022-toen/ad-seg-scores-"),
}
"""For each test set, the folder of its assessments and the common part of its file names of segment scores."""
_COLUMNS = {"z": "Z.SCR", "da": "RAW.SCR"}
_NAMES = {"Nemo": "NVIDIA-NeMo"}
_HUMAN = "HUMAN"
POST_EDITS = "qe/mlqe-pe/data/post-editing"
HTER_PAIRS = ("en-de", "en-zh", "ru-en")
"""The language pairs among the embedded model's languages."""
HTER_TEST_SET = "mlqe-pe-hter"


@dataclass(frozen=True, slots=True)
class _Place:
    """A paragraph of a document in a language pair."""

    lang_pair: str
    domain: str
    document: str
    paragraph: int


def wmt25_metrics(store: Store) -> Iterator[Rating]:
    """Yields the mean metric scores of each paragraph that is not too long, in the languages of the embedded model.

    Raises:
        InputError: if a document has more or fewer paragraphs than scores.
    """
    names = store.names(WMT25)
    systems = sorted(name for name in names if "/systems/" in name)
    lines = store.texts(WMT25, [*systems, *(name.replace("/systems/", "/automatic_scores/") for name in systems)])
    scored: dict[_Place, dict[str, tuple[str, float]]] = defaultdict(dict)
    sources: dict[_Place, str] = {}
    for name in systems:
        scores = _mean_scores(map(json.loads, lines[name.replace("/systems/", "/automatic_scores/")]))
        system = name.rpartition("/")[2].removesuffix(".jsonl")
        for document in map(json.loads, lines[name]):
            first = _place(*document["doc_id"].split("_#_"))
            values = scores[first]
            paragraphs = document["hypothesis"].split(_SEPARATOR)
            if len(paragraphs) != len(values):
                counts = f"{len(paragraphs)} paragraphs and {len(values)} scores; it needs one score per paragraph"
                raise InputError(f"{name}: document {document['doc_id']} has {counts}")
            for number, scored_text in enumerate(zip(paragraphs, values, strict=True)):
                scored[replace(first, paragraph=number)][system] = scored_text
            repeated = document.get("source", "").split(_SEPARATOR)
            if len(repeated) == len(values):
                sources |= {_in_source(replace(first, paragraph=number)): text for number, text in enumerate(repeated)}
    for place, translations in scored.items():
        language, _, target = place.lang_pair.partition("-")
        if {language, target} <= LANGUAGES:
            yield from _ratings(place, translations, sources.get(_in_source(place)))


def _place(lang_pair: str, domain: str, document: str) -> _Place:
    """Returns the first paragraph of a document, whose id has two spellings."""
    return _Place(lang_pair.partition("_")[0], domain, document.removeprefix("vid_"), 0)


def _in_source(place: _Place) -> _Place:
    """Returns the place of the source, which all language pairs with its language share."""
    return replace(place, lang_pair=place.lang_pair.partition("-")[0])


def _mean_scores(documents: Iterable[Mapping[str, Any]]) -> dict[_Place, list[float]]:
    """Returns the mean over the metrics, scaled to 0 (worst) to 1 (best), of each paragraph of each document."""
    scores = {}
    for document in documents:
        raw = document["metric_scores"]
        scaled = [[(value - low) / (high - low) for value in raw[name]] for name, (low, high) in _RANGES.items()]
        means = [min(1.0, max(0.0, statistics.fmean(values))) for values in zip(*scaled, strict=True)]
        scores[_place(document["language_pair"], document["domain"], document["document_id"])] = means
    return scores


def _ratings(place: _Place, translations: Mapping[str, tuple[str, float]], source: str | None) -> Iterator[Rating]:
    ranked = sorted(translations.items(), key=lambda item: -item[1][1])
    usable = source is None or 0 < len(source.strip()) <= MAX_CHARACTERS
    for system, (text, value) in translations.items():
        references = [reference for _, (reference, _) in ranked if reference != text]
        key = SegmentKey("wmt25", place.lang_pair, system, f"{place.domain} {place.document}", place.paragraph)
        segment = Segment(text, source if usable else None, tuple(references[:1]), key)
        texts = (text, *segment.references)
        is_readable = bool(references) and all(each.strip() and len(each) <= MAX_CHARACTERS for each in texts)
        if is_readable and not splits.committed().covers(segment):
            yield Rating(segment, METRICS, None, estimate=Estimate(round(value, 4), "0-1"))


def mlqe_pe(store: Store, *, scale: Literal["da", "z"] = "da") -> Iterator[Rating]:
    """Yields the direct assessments of MLQE-PE: training and development data of three language pairs.

    The scores are the published ones: raw scores from 0 to 100, or z-scores by annotator.

    Raises:
        InputError: if an archive has no table.
    """
    column = "mean" if scale == "da" else "z_mean"
    for name in MLQE_PE_FILES:
        pair = "-".join(name.rpartition("/")[2].split("-")[:2])
        document = name.rpartition("-")[2].partition(".")[0]
        table = io.StringIO(store.member(f"{MLQE_PE_FOLDER}/{name}", ".tsv"), newline="")
        for number, row in enumerate(csv.DictReader(table, delimiter="\t", quoting=csv.QUOTE_NONE)):
            key = SegmentKey(MLQE_PE, pair, "mt", document, number)
            segment = Segment(row["translation"], row["original"], (), key)
            if not splits.committed().covers(segment):
                yield Rating(segment, None, None, overall=Overall(float(row[column]), scale))


def direct_assessments(store: Store, scale: Literal["z", "da"]) -> Iterator[Rating]:
    """Yields the assessed translations whose source is not held out, with z-scores or raw scores from 0 to 100.

    Raises:
        InputError: if a row is damaged.
    """
    for test_set, (folder, part) in FOLDERS.items():
        files = {name.rpartition(part)[2].removesuffix(".csv"): name for name in store.names(folder) if part in name}
        scores = {pair: _raw_scores(store, f"{folder}/{name}", _COLUMNS[scale]) for pair, name in files.items()}
        for item in items(store, test_set, lang_pairs=files):
            for system, value in scores[item.lang_pair].get(item.index, {}).items():
                text = item.hypotheses.get(_NAMES.get(system, system), "")
                key = SegmentKey(test_set, item.lang_pair, system, None, item.index)
                segment = Segment(text, item.source, item.references, key)
                if text.strip() and not splits.committed().covers(segment):
                    yield Rating(segment, scale, None, overall=Overall(value, scale))


def _raw_scores(store: Store, name: str, column: str) -> Mapping[int, Mapping[str, float]]:
    """Returns the scores by line of the test set, from 0, and by system."""
    scores: dict[int, dict[str, float]] = defaultdict(dict)
    rows = csv.DictReader(io.StringIO(store.read(name).decode("utf-8")), delimiter=" ")
    for row in rows:
        try:
            system = row["SYS"].rpartition(".")[0]
            line = int(row["SID"])
            score = float(row[column])
        except (KeyError, TypeError, ValueError, AttributeError):
            problem = f"{' '.join(filter(None, row.values()))!r}: must be a system, a line number and scores"
            raise FormatError(name, rows.line_num, problem) from None
        if not system.startswith(_HUMAN):
            scores[line - 1][system] = round(score, 6)
    return scores


def system_name(numbered: str) -> str:
    """Returns the name in the test set's files of a system of the assessments.

    >>> system_name("UF.15"), system_name("Nemo.3"), system_name("M2M100_1.2B-B4.2")
    ('UF', 'NVIDIA-NeMo', 'M2M100_1.2B-B4')
    """
    name = numbered.rpartition(".")[0]
    return _NAMES.get(name, name)


def hter(store: Store) -> Iterator[Rating]:
    """Yields the post-edited translations of MLQE-PE: training and development data of three language pairs.

    Raises:
        InputError: if the files of a language pair differ in length.
    """
    from sacrebleu.metrics.ter import TER

    metric = TER()
    for pair in HTER_PAIRS:
        for part in ("train", "dev"):
            name = f"{POST_EDITS}/{part}/{pair}-{part}.tar.gz"
            texts = [store.member(name, f"{part}.{ending}").split("\n")[:-1] for ending in ("src", "mt", "pe")]
            if len(set(map(len, texts))) > 1:
                counts = ", ".join(str(len(column)) for column in texts)
                raise InputError(f"files in {name} have {counts} lines; all need one line per segment")
            for number, (source, hypothesis, post_edit) in enumerate(zip(*texts, strict=True)):
                segment = Segment(hypothesis, source, (), SegmentKey(HTER_TEST_SET, pair, "mt", part, number))
                if hypothesis.strip() and not splits.committed().covers(segment):
                    value = min(1.0, metric.sentence_score(hypothesis, [post_edit]).score / 100)
                    yield Rating(segment, None, None, overall=Overall(round(value, 6), "hter"))

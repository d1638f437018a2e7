"""The gold of the WMT21 metrics task: the official MQM scores, and the reference that the task read.

The reference is the standard one of each test set (refC for news en-de, refB for news and TED zh-en). The human
translations among the systems are those that Freitag et al. 2021b score, see `HUMANS`. Texts come from the published
ratings, without any cleaning, because every segment with an official score counts.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace

from data_prep import cleaning, datasets, references, splits
from data_prep.datasets import DATA_SETS, DataSet
from data_prep.store import Store
from matese.annotation import Overall, Rating, Segment, SegmentKey
from matese.formats.corpora import published_test_sets, score_files
from matese.preparation import normalise

LANG_PAIRS = ("en-de", "zh-en")
NAMES = {"newstest2021": "wmt21.news", "ted2021": "wmt21.tedtalks"}
"""The test sets, by their names in our data, with their names in mt-metrics-eval."""
HUMANS = {("newstest2021", "en-de"): frozenset("AB"), ("newstest2021", "zh-en"): frozenset("A")}
"""Letters of the human translations that count as systems. The task leaves out refD of en-de besides the reference."""


@dataclass(frozen=True, slots=True)
class Golds:
    """Ratings with an official score and the standard reference.

    Attributes:
        ratings: one per translation, without errors; the score is `overall`.
        n_without_text: official scores of translations whose text is not published with the ratings.
        n_without_reference: translations left out because the ratings lack the standard reference of their source.
    """

    ratings: list[Rating]
    n_without_text: int = 0
    n_without_reference: int = 0


def read(store: Store, every: int = 1, *, only_held_out: bool = False) -> Golds:
    """Returns the gold of both test sets and language pairs, for every K-th source.

    Args:
        store: folder of the raw files.
        every: K.
        only_held_out: take only sources that are on a committed list of `data_prep`.

    Raises:
        OSError: if a raw file is missing.
    """
    golds = Golds([])
    for data_set in DATA_SETS:
        if data_set.test_set in NAMES and data_set.lang_pair in LANG_PAIRS:
            of_set = with_scores(data_set, store, official_scores(data_set, store))
            golds = Golds(
                golds.ratings + of_set.ratings,
                golds.n_without_text + of_set.n_without_text,
                golds.n_without_reference + of_set.n_without_reference,
            )
    sources = {rating.segment.source or "" for rating in golds.ratings}
    taken = set(sorted(filter(splits.is_held_out, sources) if only_held_out else sources)[::every])
    return replace(golds, ratings=[rating for rating in golds.ratings if (rating.segment.source or "") in taken])


def official_scores(data_set: DataSet, store: Store) -> Mapping[tuple[str, int], float]:
    """Returns the official scores by system and segment."""
    name = f"mqm_{data_set.test_set}_{data_set.lang_pair.replace('-', '')}.avg_seg_scores.tsv"
    (scores,) = score_files.read(store.path(f"mqm/{name}"))
    return {
        (system, int(index)): score
        for system, by_segment in scores.segments.items()
        for index, score in by_segment.items()
        if score is not None
    }


def with_scores(data_set: DataSet, store: Store, scores: Mapping[tuple[str, int], float]) -> Golds:
    """Returns the translations of a data set that have a score, with score and standard reference."""
    meta = published_test_sets.find_meta(NAMES[data_set.test_set], data_set.lang_pair)
    assert meta is not None, data_set
    standard = meta.reference.removeprefix("ref")
    segments = dict(_segments(data_set, store, scores))
    translations = references.collect(data_set, [Rating(segment, None, None) for segment in segments.values()], store)
    humans = HUMANS.get((data_set.test_set, data_set.lang_pair), frozenset())
    ratings: list[Rating] = []
    n_without_text = 0
    n_without_reference = 0
    for (system, index), score in scores.items():
        letter = datasets.human(system)
        if letter is not None and letter not in humans:
            continue
        segment = segments.get((system, index))
        if segment is None:
            n_without_text += 1
            continue
        reference = translations.by_letter(segment).get(standard)
        if reference is None:
            n_without_reference += 1
            continue
        ratings.append(Rating(replace(segment, references=(reference,)), None, None, overall=Overall(score, "mqm")))
    return Golds(ratings, n_without_text, n_without_reference)


def _segments(
    data_set: DataSet, store: Store, scores: Mapping[tuple[str, int], float]
) -> Iterator[tuple[tuple[str, int], Segment]]:
    """Yields the translations of the ratings by system and segment of the test set."""
    numbers = _numbers(data_set, store, {index for _, index in scores})
    for rating in datasets.read(data_set, store, lambda _: None):
        segment = rating.segment
        key = rating.segment.key or SegmentKey()
        if data_set.doubled_quotes is not None:
            hypothesis = cleaning.undouble_quotes(segment.hypothesis)
            segment = replace(segment, hypothesis=hypothesis, source=cleaning.undouble_quotes(segment.source or ""))
        index = key.index if numbers is None else numbers.get(normalise(segment.source or ""))
        if key.system is not None and index is not None:
            yield (key.system, index), replace(segment, key=replace(key, document=None, index=index))


def _numbers(data_set: DataSet, store: Store, scored: Collection[int]) -> Mapping[str, int] | None:
    """Returns the number of each scored source in the test set; None if the ratings have these numbers.

    The error spans of 2021 number the segments of each document instead.
    """
    if data_set.references is None:
        return None
    folder = data_set.references.folder
    file = data_set.references.source
    sources = store.texts(folder, [file])[file]
    return {normalise(source): number for number, source in enumerate(sources) if number in scored}

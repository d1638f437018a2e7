"""Translations of WMT that nobody rated, scored by a teacher with the reference, for training by reference and source.

The teacher's expected score is blended with the similarity of hypothesis and reference in the encoder (BERTScore with
idf weights, Zhang et al. 2020), which orders the translations of a source better than most trained models of this size.
The similarity is scaled to mean and spread of the teacher's scores of the language pair.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from data_prep.store import Store
from data_prep.translations import TEST_SETS, Item, is_usable, items
from matese import Annotator, baselines
from matese.annotation import Estimate, Rating, Segment, SegmentKey
from matese.model.texts.encoding import InputKind

FloatArray = npt.NDArray[np.float64]
RATER = "teacher"
_READ: InputKind = "reference"


@dataclass(frozen=True, slots=True)
class Teaching:
    """How many translations are scored, and how.

    Attributes:
        n_sources: sources of each test set and language pair.
        n_systems: most translations of a source.
        similarity: weight of the similarity in the score, 0 to 1.
        seed: of the draw.
        by_source: whether the reference is left out of what is written, so that the score is learned from the source.
    """

    n_sources: int = 100
    n_systems: int = 10
    similarity: float = 0.4
    seed: int = 0
    by_source: bool = False


def build(
    store: Store, teachers: Sequence[Annotator], how: Teaching, progress: Callable[[str], None]
) -> Iterator[Rating]:
    """Yields the scored translations, without spans: the score is the mean over the teachers."""
    for test_set in TEST_SETS:
        by_pair: dict[str, list[Item]] = {}
        for item in items(store, test_set):
            if is_usable(item) and item.references:
                by_pair.setdefault(item.lang_pair, []).append(item)
        for pair, usable in by_pair.items():
            progress(f"{test_set} {pair}")
            rng = random.Random(f"teaching|{how.seed}|{test_set}|{pair}")
            drawn = rng.sample(usable, min(how.n_sources, len(usable)))
            segments = [segment for item in drawn for segment in _segments(item, how.n_systems, rng)]
            scores = _scores(segments, teachers, how.similarity)
            for segment, score in zip(segments, scores.tolist(), strict=True):
                kept = replace(segment, references=()) if how.by_source else segment
                yield Rating(kept, RATER, None, estimate=Estimate(round(score, 3), "mqm"))


def _segments(item: Item, n_systems: int, rng: random.Random) -> Iterator[Segment]:
    """Yields some systems' translations of a source, with one of its references."""
    distinct = {text: system for system, text in item.hypotheses.items() if text.strip()}
    texts = rng.sample(list(distinct), min(n_systems, len(distinct)))
    reference = rng.choice(item.references)
    for text in texts:
        key = SegmentKey(item.test_set, item.lang_pair, distinct[text], None, item.index)
        if text != reference:
            yield Segment(text, item.source, (reference,), key)


def _scores(segments: Sequence[Segment], teachers: Sequence[Annotator], similarity: float) -> FloatArray:
    """Returns the blended score of each segment of a language pair: (segments,)."""
    read = [replace(segment, source=None) for segment in segments]
    by_teacher = [[_expected(rating) for rating in teacher.annotate_segments(read)] for teacher in teachers]
    taught: FloatArray = np.mean(by_teacher, axis=0)
    if similarity == 0:
        return taught
    (metric,) = baselines.make_baselines(["bertscore-idf"])
    (scored,) = metric.score({"all": read})
    alike = np.asarray(scored.segments["all"])
    scaled = (alike - alike.mean()) / max(alike.std(), 1e-6) * taught.std() + taught.mean()
    blended: FloatArray = np.minimum(0, (1 - similarity) * taught + similarity * scaled)
    return blended


def _expected(rating: Rating) -> float:
    assert rating.estimate is not None, "the teacher must have a score head"
    return rating.estimate.value

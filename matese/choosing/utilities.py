"""Utilities: the quality of each translation of a source with the other translations as references."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from matese import mqm
from matese.annotation import Segment, is_blank
from matese.errors import ModelError
from matese.evaluation.metrics import chrf
from matese.evaluation.statistics.arrays import FloatArray
from matese.streams import grouped

if TYPE_CHECKING:
    from matese.model.annotator import Annotator
    from matese.model.predictor import Predictor

_TEXTS_AT_ONCE = 512
"""Texts that are embedded together, so that batches are full."""


@dataclass(frozen=True, slots=True)
class WeightedTexts:
    """The different translations of a source, which are hypotheses and references at once.

    Attributes:
        texts: each once.
        weights: (texts,), how often each occurred, as a share.
        source: None if it is not known.
    """

    texts: tuple[str, ...]
    weights: FloatArray
    source: str | None = None


def weighted_texts(texts: Iterable[str], source: str | None) -> WeightedTexts:
    """Returns the different texts with their shares."""
    counts = Counter(texts)
    shares = np.array(list(counts.values()), np.float64)
    return WeightedTexts(tuple(counts), shares / shares.sum(), source)


@dataclass(frozen=True, slots=True)
class Utility:
    """A reference-based metric.

    Attributes:
        signature: names everything that can change its values.
        expected: yields the expected utility of the texts of each source: (texts,), higher is better.
    """

    signature: str
    expected: Callable[[Iterable[WeightedTexts]], Iterator[FloatArray]]


def of_chrf(*, is_aggregated: bool = False) -> Utility:
    """Returns chrF2 of sacreBLEU; `is_aggregated` compares with average n-gram counts instead of each translation."""

    def expected(sources: Iterable[WeightedTexts]) -> Iterator[FloatArray]:
        for translations in sources:
            if is_aggregated:
                yield chrf.against_average(translations.texts, translations.weights)
            else:
                yield chrf.pairwise(translations.texts) @ translations.weights

    return Utility("utility:chrF2" + "+aggregated" * is_aggregated, expected)


def of_model(annotator: Annotator, *, is_aggregated: bool = False) -> Utility:
    """Returns the utility of any model that reads a reference: its expected score, or else the score of its errors.

    A COMET model that embeds each text alone takes n runs of the encoder for n texts. With `is_aggregated`, the average
    embedding is the one reference (Vamvas and Sennrich 2024).

    Raises:
        ModelError: if references cannot be aggregated for this model.
    """
    if annotator.config.texts.layout == "alone":
        expected = partial(_expected_by_embeddings, annotator, is_aggregated)
        return Utility(f"utility:{annotator.name}" + "+aggregated" * is_aggregated, expected)
    if is_aggregated:
        problem = f"model {annotator.name} reads hypothesis and reference together: its references cannot be averaged"
        raise ModelError(f"{problem}; use chrF or a COMET estimator")
    return Utility(f"utility:{annotator.name}", partial(_expected_by_pairs, annotator))


def _expected_by_pairs(annotator: Annotator, sources: Iterable[WeightedTexts]) -> Iterator[FloatArray]:
    """Yields the expected utility of the texts of each source. Pairs of several sources share batches."""

    def pairs() -> Iterator[tuple[WeightedTexts, list[Segment]]]:
        for translations in sources:
            _check_reads_reference(annotator, translations)
            references = _references(translations)
            yield (
                translations,
                [
                    Segment(text, translations.source, (reference,))
                    for text in translations.texts
                    for reference in references
                ],
            )

    for translations, ratings in grouped(annotator.annotate_segments, pairs()):
        scores = np.array(list(map(mqm.ranking_score, ratings))).reshape(len(translations.texts), -1)
        weights = np.array(list(_references(translations).values()))
        yield scores @ (weights / weights.sum())


def _references(translations: WeightedTexts) -> dict[str, float]:
    """Returns the weights of the texts that can be references: blank ones are none, unless all are blank."""
    weights = dict(zip(translations.texts, translations.weights.tolist(), strict=True))
    return {text: weight for text, weight in weights.items() if not is_blank(text)} or weights


def _expected_by_embeddings(
    annotator: Annotator, is_aggregated: bool, sources: Iterable[WeightedTexts]
) -> Iterator[FloatArray]:
    chunk: list[WeightedTexts] = []
    reads_source = annotator.config.texts.inputs == ("source+reference",)
    for translations in sources:
        _check_reads_reference(annotator, translations)
        chunk.append(translations if reads_source else replace(translations, source=None))
        if sum(len(waiting.texts) for waiting in chunk) >= _TEXTS_AT_ONCE:
            yield from _of_chunk(annotator.predictor, is_aggregated, chunk)
            chunk = []
    yield from _of_chunk(annotator.predictor, is_aggregated, chunk)


def _of_chunk(predictor: Predictor, is_aggregated: bool, chunk: Sequence[WeightedTexts]) -> Iterator[FloatArray]:
    combine = predictor.engine.combine
    assert combine is not None

    def estimate(hypotheses: FloatArray, source: FloatArray | None, references: FloatArray) -> FloatArray:
        embeddings = {"hypothesis": hypotheses, "reference": references}
        return np.asarray(combine(embeddings if source is None else embeddings | {"source": source}), np.float64)

    read = (text for translations in chunk for text in (*translations.texts, translations.source))
    texts = list(dict.fromkeys(text for text in read if text is not None))
    vectors = dict(zip(texts, predictor.embed(texts), strict=True)) if texts else {}
    for translations in chunk:
        hypotheses = np.stack([vectors[text] for text in translations.texts])  # (texts, width)
        source = None
        if translations.source is not None:
            source = np.broadcast_to(vectors[translations.source], hypotheses.shape)
        if is_aggregated:
            average = (translations.weights[:, None] * hypotheses).sum(0).astype(np.float32)
            references = np.broadcast_to(average, hypotheses.shape)
            yield estimate(hypotheses, source, references)
            continue
        # One hypothesis at a time: the features of all pairs would take six times their embeddings.
        repeated = (np.broadcast_to(hypothesis, hypotheses.shape) for hypothesis in hypotheses)
        scores = [estimate(hypothesis, source, hypotheses) for hypothesis in repeated]
        yield np.stack(scores) @ translations.weights


def _check_reads_reference(annotator: Annotator, translations: WeightedTexts) -> None:
    """Raises a ModelError unless the model reads a reference beside the texts that are given."""
    # Any text: a candidate may be blank, and a blank reference counts as missing.
    if annotator.choose_inputs(Segment("text", translations.source, ("text",))) == "source":
        raise ModelError(f"model {annotator.name} reads no reference; a utility needs a model that does")

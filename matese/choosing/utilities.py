"""Utilities: the quality of each translation of a source with the other translations as references."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from matese import mqm
from matese.annotation import Segment
from matese.errors import ModelError
from matese.evaluation.metrics import chrf

if TYPE_CHECKING:
    from matese.annotator import Annotator
    from matese.inference.predictor import Predictor

FloatArray = npt.NDArray[np.float64]
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


class Utility(Protocol):
    """A reference-based metric.

    Attributes:
        signature: names everything that can change its values.
    """

    signature: str

    def expected(self, sources: Iterable[WeightedTexts]) -> Iterator[FloatArray]:
        """Yields the expected utility of the texts of each source: (texts,), higher is better."""


class Chrf:
    """chrF2 of sacreBLEU; `is_aggregated` compares with average n-gram counts instead of each translation."""

    def __init__(self, *, is_aggregated: bool = False) -> None:
        self._is_aggregated = is_aggregated
        self.signature = "utility:chrF2" + "+aggregated" * is_aggregated

    def expected(self, sources: Iterable[WeightedTexts]) -> Iterator[FloatArray]:
        """Yields the expected utility of the texts of each source."""
        for translations in sources:
            if self._is_aggregated:
                yield chrf.against_average(translations.texts, translations.weights)
            else:
                yield chrf.pairwise(translations.texts) @ translations.weights


class ModelUtility:
    """The expected score of any model that reads a reference, or else the score of the errors that it marks."""

    def __init__(self, annotator: Annotator) -> None:
        self._annotator = annotator
        self.signature = f"utility:{annotator.name}"

    def expected(self, sources: Iterable[WeightedTexts]) -> Iterator[FloatArray]:
        """Yields the expected utility of the texts of each source. Pairs of several sources share batches."""
        waiting: deque[WeightedTexts] = deque()

        def pairs() -> Iterator[Segment]:
            for translations in sources:
                check_reads_reference(self._annotator, translations)
                waiting.append(translations)
                for text in translations.texts:
                    yield from (Segment(text, translations.source, (reference,)) for reference in translations.texts)

        values: list[float] = []
        for rating in self._annotator.annotate_segments(pairs()):
            values.append(mqm.ranking_score(rating))
            n_texts = len(waiting[0].texts)
            if len(values) == n_texts**2:
                yield np.array(values).reshape(n_texts, n_texts) @ waiting.popleft().weights
                values = []


class EmbeddingUtility:
    """The score of a COMET model that embeds each text alone, so that n texts take n runs of the encoder.

    With `is_aggregated`, the average embedding is the one reference (Vamvas and Sennrich 2024).
    """

    def __init__(self, annotator: Annotator, predictor: Predictor[Any, Any], *, is_aggregated: bool = False) -> None:
        self._annotator, self._predictor, self._is_aggregated = annotator, predictor, is_aggregated
        self._interpreter: Any = predictor.interpreter  # of a regression model
        self.signature = f"utility:{annotator.name}" + "+aggregated" * is_aggregated

    def expected(self, sources: Iterable[WeightedTexts]) -> Iterator[FloatArray]:
        """Yields the expected utility of the texts of each source."""
        chunk: list[WeightedTexts] = []
        for translations in sources:
            check_reads_reference(self._annotator, translations)
            chunk.append(translations)
            if sum(len(waiting.texts) for waiting in chunk) >= _TEXTS_AT_ONCE:
                yield from self._of_chunk(chunk)
                chunk = []
        yield from self._of_chunk(chunk)

    def _of_chunk(self, chunk: Sequence[WeightedTexts]) -> Iterator[FloatArray]:
        from matese.regression import interpreter

        texts = dict.fromkeys(
            text for translations in chunk for text in (*translations.texts, *_source_of(translations))
        )
        vectors = dict(zip(texts, interpreter.embed(self._predictor, list(texts)), strict=True)) if texts else {}
        for translations in chunk:
            hypotheses = np.stack([vectors[text] for text in translations.texts])  # (texts, width)
            sources = [vectors[text] for text in _source_of(translations)]
            source = np.broadcast_to(sources[0], hypotheses.shape) if sources else None
            if self._is_aggregated:
                average = (translations.weights[:, None] * hypotheses).sum(0).astype(np.float32)
                references = np.broadcast_to(average, hypotheses.shape)
                yield np.asarray(self._interpreter.estimate(hypotheses, source, references), np.float64)
                continue
            # One hypothesis at a time: the features of all pairs would take six times their embeddings.
            repeated = (np.broadcast_to(hypothesis, hypotheses.shape) for hypothesis in hypotheses)
            scores = [self._interpreter.estimate(hypothesis, source, hypotheses) for hypothesis in repeated]
            yield np.stack(scores) @ translations.weights


def of_model(annotator: Annotator, *, is_aggregated: bool = False) -> Utility:
    """Returns the utility of a model, with embeddings computed once where its architecture allows that.

    Raises:
        ModelError: if references cannot be aggregated for this model.
    """
    from matese.regression.config import ROWS, RegressionConfig

    if isinstance(annotator.config, RegressionConfig) and annotator.config.architecture not in ROWS:
        return EmbeddingUtility(annotator, annotator.predictor, is_aggregated=is_aggregated)
    if is_aggregated:
        problem = f"model {annotator.name} reads hypothesis and reference together: its references cannot be averaged"
        raise ModelError(f"{problem}; use chrF or a COMET estimator")
    return ModelUtility(annotator)


def check_reads_reference(annotator: Annotator, translations: WeightedTexts) -> None:
    """Raises a ModelError unless the model reads a reference beside the texts that are given."""
    if annotator.choose_inputs(Segment(translations.texts[0], translations.source, translations.texts[:1])) == "source":
        raise ModelError(f"model {annotator.name} reads no reference; a utility needs a model that does")


def _source_of(translations: WeightedTexts) -> tuple[str, ...]:
    return () if translations.source is None else (translations.source,)

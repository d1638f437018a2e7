"""Interpret the output of a regression model: from embeddings, scores and label probabilities to ratings."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import torch

from matese.annotation import ErrorSpan, Estimate, Rating, Segment
from matese.errors import ModelError
from matese.model.copy_and_blank import Override
from matese.model.heads.word_labels import decoding as word_labels
from matese.model.interpreter import Options
from matese.model.model_input import ModelInput, contexts, inputs_of
from matese.model.prediction import FloatArray
from matese.model.predictor import Predictor
from matese.model.regression.config import ROWS, RegressionConfig
from matese.model.regression.network import Regressor, RegressorOutput
from matese.model.released.metricx import MetricX
from matese.model.texts.encoding import Encoding, InputKind, IntArray

_NO_PLACE = np.zeros((1, 2), np.int32)


class RegressionWindow(NamedTuple):
    """A model's output for an encoding: its vector and label probabilities are those of `Row`."""

    encoding: Encoding
    vector: FloatArray
    probabilities: FloatArray | None


@dataclass(frozen=True, slots=True)
class Row:
    """A model's output for texts that it reads together.

    Attributes:
        vector: (n,), an embedding, or one score.
        ranges: (tokens, 2), characters of the hypothesis' tokens and the special tokens around it (empty ranges).
        probabilities: (tokens, 1 + severities); None for a model that marks no errors.
        is_windowed: whether the texts were read in overlapping windows.
    """

    vector: FloatArray
    ranges: IntArray
    probabilities: FloatArray | None
    is_windowed: bool


@dataclass(frozen=True, slots=True)
class RegressionPrediction:
    """A regression model's prediction for a segment: its score on the scale of the model, and labels as in `Row`."""

    score: float
    ranges: IntArray
    probabilities: FloatArray | None
    is_windowed: bool
    is_blank: bool = False
    """Always False: the model reads blank texts too."""


class RegressionInterpreter:
    """Interprets the output of a regression model. See `Interpreter` for the attributes.

    Released models score all texts themselves; no rule overrides them.
    """

    overrides: tuple[Override, ...] = ()

    def __init__(self, model: Regressor | MetricX) -> None:
        """Keeps the model, whose head scores embeddings."""
        self.config = model.config
        self._model = model

    def decoding(self, inputs: InputKind, options: Options) -> str:
        """Returns everything that the marks of segments with these inputs depend on, for the signature."""
        if not self.config.severities:
            return "none"
        named = "argmax" if options.min_confidence is None else f"{options.min_confidence:g}"
        weights = "+".join(f"{weight:g}" for weight in self.config.input_weights)
        named += f"+inputs{weights}" if len(_kinds(inputs, self.config)) > 1 else ""
        return named + ("+words" if options.whole_words else "")

    def scoring(self, inputs: InputKind) -> str:
        """Returns how segments are scored, for the signature."""
        return self.config.architecture + "+".join(f"{weight:g}" for weight in self.config.score_weights or ())

    def rows(self, reading: Segment) -> tuple[Segment, ...]:
        """Returns the texts of each row that a reading needs."""
        return rows_of(reading, self.config)

    def windows(self, encodings: Sequence[Encoding]) -> Sequence[Encoding]:
        """Returns the windows of a row with the special tokens around the hypothesis counted as its tokens."""
        return with_special_tokens(encodings)

    def join(self, row: Segment, windows: Sequence[RegressionWindow]) -> Row:
        """Returns a row from its windows: the mean of their vectors, weighted by the number of kept tokens."""
        first, *others = windows
        if not others:
            return Row(first.vector, first.encoding.ranges, first.probabilities, is_windowed=False)
        kept = [(window, slice(*window.encoding.kept)) for window in windows]
        shares = np.array([part.stop - part.start for _, part in kept], np.float64)
        vector = (np.stack([window.vector for window in windows]) * (shares / shares.sum())[:, None]).sum(0)
        ranges = np.concatenate([window.encoding.ranges[part] for window, part in kept])
        marked = [window.probabilities[part] for window, part in kept if window.probabilities is not None]
        probabilities = np.concatenate(marked) if marked else None
        return Row(vector.astype(np.float32), ranges, probabilities, is_windowed=True)

    def predict(
        self, model_inputs: Sequence[ModelInput], rows: Mapping[Segment, Row], options: Options
    ) -> list[RegressionPrediction]:
        """Returns the prediction for each segment: the mean over the references, if there are several."""
        readings = dict.fromkeys(reading for model_input in model_inputs for reading in model_input.readings)
        read = {reading: [rows[row] for row in self.rows(reading)] for reading in readings}
        if self.config.architecture in ROWS:
            predictions = {reading: self._of_rows(parts, options) for reading, parts in read.items()}
        else:
            predictions = self._of_embeddings(read)
        return [self._mean([predictions[reading] for reading in model_input.readings]) for model_input in model_inputs]

    def _of_rows(self, rows: Sequence[Row], options: Options) -> RegressionPrediction:
        probabilities = _mean_probabilities(rows, self.config)
        score = _score(rows, probabilities, self.config, options)
        return RegressionPrediction(score, rows[0].ranges, probabilities, any(row.is_windowed for row in rows))

    def _of_embeddings(self, read: Mapping[Segment, Sequence[Row]]) -> dict[Segment, RegressionPrediction]:
        """Returns the score of each reading from the embeddings of its texts."""
        names = ("hypothesis", *self.config.inputs[0].split("+"))
        columns = zip(*read.values(), strict=True)  # all readings have the same texts
        vectors = {name: np.stack([row.vector for row in rows]) for name, rows in zip(names, columns, strict=True)}
        scores = self.estimate(vectors["hypothesis"], vectors.get("source"), vectors.get("reference")).tolist()
        return {
            reading: RegressionPrediction(score, rows[0].ranges, None, any(row.is_windowed for row in rows))
            for (reading, rows), score in zip(read.items(), scores, strict=True)
        }

    def estimate(self, hypotheses: FloatArray, sources: FloatArray | None, references: FloatArray | None) -> FloatArray:
        """Returns the score of each hypothesis, (segments,), from embeddings: each is (segments, width)."""
        assert isinstance(self._model, Regressor)
        device = next(self._model.parameters()).device
        others = (None if part is None else torch.tensor(part, device=device) for part in (sources, references))
        with torch.inference_mode():
            scores: FloatArray = self._model.estimate(torch.tensor(hypotheses, device=device), *others).cpu().numpy()
        return scores

    def _mean(self, readings: Sequence[RegressionPrediction]) -> RegressionPrediction:
        return self.average(readings, math.fsum(reading.score for reading in readings) / len(readings))

    def average(self, predictions: Sequence[RegressionPrediction], score: float) -> RegressionPrediction:
        """Returns the mean of several predictions for one segment; models that mark errors share a vocabulary."""
        marked = [prediction.probabilities for prediction in predictions if prediction.probabilities is not None]
        probabilities = np.mean(marked, axis=0) if marked else None
        is_windowed = any(prediction.is_windowed for prediction in predictions)
        return replace(predictions[0], score=score, probabilities=probabilities, is_windowed=is_windowed)

    def decode(
        self, model_inputs: Sequence[ModelInput], predictions: Sequence[RegressionPrediction], options: Options
    ) -> Iterator[Rating]:
        """Yields a rating for each prediction, without the name of a rater."""
        for model_input, prediction in zip(model_inputs, predictions, strict=True):
            if not math.isfinite(prediction.score):
                raise ModelError("the model's output is NaN or infinite: its weights must be finite and not too large")
            estimate = Estimate(round(prediction.score, 6), self.config.scale)
            yield Rating(
                model_input.segment, None, self._mark(model_input.segment, prediction, options), estimate=estimate
            )

    def _mark(
        self, segment: Segment, prediction: RegressionPrediction, options: Options
    ) -> tuple[ErrorSpan, ...] | None:
        if prediction.probabilities is None:
            return None
        return word_labels.find(
            segment.hypothesis,
            prediction.ranges,
            prediction.probabilities,
            self.config.severities,
            min_confidence=options.min_confidence,
            whole_words=options.whole_words,
        )


def embed(predictor: Predictor[Row, RegressionPrediction], texts: Sequence[str]) -> FloatArray:
    """Returns the embedding of each text, (texts, width), from a model that embeds each text alone."""
    readings = tuple(Segment(text) for text in dict.fromkeys(texts))
    rows = predictor.compute(predictor.prepare([ModelInput(Segment(""), "source", readings)]))
    return np.stack([rows[Segment(text)].vector for text in texts])


def with_special_tokens(windows: Sequence[Encoding]) -> list[Encoding]:
    """Returns the windows of a row with the special tokens around the hypothesis counted as its tokens.

    Their ranges are empty. unbabel-comet labels special tokens too, and its score depends on that.
    """
    if windows[0].first == 0:  # rows begin without a special token
        return list(windows)
    changed = []
    for number, window in enumerate(windows):
        is_first = number == 0
        is_last = number == len(windows) - 1
        start, end = window.kept
        ranges = np.concatenate([_NO_PLACE, window.ranges, _NO_PLACE])
        kept = (start + (not is_first), end + 1 + is_last)
        changed.append(replace(window, first=window.first - 1, ranges=ranges, kept=kept))
    return changed


def window_outputs(output: RegressorOutput, encodings: Sequence[Encoding]) -> Iterator[RegressionWindow]:
    """Yields the output for each row of a batch, without padding."""
    vectors = output.vectors.cpu().numpy()
    logits = output.tag_logits
    probabilities = None if logits is None else logits.cpu().double().softmax(-1).numpy()
    for row, encoding in enumerate(encodings):
        marked = None if probabilities is None else probabilities[row, : len(encoding.ranges)]
        yield RegressionWindow(encoding, vectors[row], marked)


def _kinds(inputs: InputKind, config: RegressionConfig) -> tuple[InputKind, ...]:
    """Returns the kind of input of each row that a model reads for a segment with these inputs."""
    if config.architecture == "unified" and inputs == "source+reference" and len(config.inputs) > 1:
        return ("source", "reference", "source+reference")
    return (inputs,)


def rows_of(reading: Segment, config: RegressionConfig) -> tuple[Segment, ...]:
    """Returns the texts of each row that a reading needs."""
    if config.architecture not in ROWS:
        return tuple(Segment(text) for text in (reading.hypothesis, *contexts(reading)))
    parts = {
        "source": replace(reading, references=()),
        "reference": replace(reading, source=None),
        "source+reference": reading,
    }
    return tuple(parts[kind] for kind in _kinds(inputs_of(reading), config))


def _mean_probabilities(rows: Sequence[Row], config: RegressionConfig) -> FloatArray | None:
    marked = [row.probabilities for row in rows if row.probabilities is not None]
    if len(marked) < 2:
        return marked[0] if marked else None
    return np.tensordot(config.input_weights, np.stack(marked), 1)


def _score(rows: Sequence[Row], probabilities: FloatArray | None, config: RegressionConfig, options: Options) -> float:
    """Returns the score of a reading: the mean of its rows, or xCOMET's weighted sum.

    `predict_step` in `comet/models/multitask/unified_metric.py` and `xcomet_metric.py` of unbabel-comet 2.2.7.
    """
    scores = [float(row.vector[0]) for row in rows]
    if config.score_weights is None or probabilities is None:
        return math.fsum(scores) / len(scores)
    *of_rows, of_mqm = config.score_weights
    if len(scores) == 1:
        of_rows = [math.fsum(of_rows)]
    labels = word_labels.choose_labels(probabilities, options.min_confidence)
    marked = word_labels.mqm_score(labels, config.severities)
    bounded = [min(score, 1.0) for score in scores]
    return math.fsum([of_mqm * marked, *(w * score for w, score in zip(of_rows, bounded, strict=True))])

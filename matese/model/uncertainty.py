"""How sure a model is: several predictions for a segment, their common judgement, and how far they agree.

The predictions come from Monte Carlo dropout, from several models, or from several references. Their scores give a
normal distribution: its mean (of several models their median) and 95 % interval, as in Glushkova et al. 2021,
"Uncertainty-Aware Machine Translation Evaluation", section 3. Perrella et al. 2022, section 3.2, submitted the median
of the MQM scores of the spans of five models ("span-models").
"""

from __future__ import annotations

import re
import statistics
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from itertools import repeat
from typing import Any, Literal

from matese import mqm
from matese.annotation import ErrorSpan, Estimate, Votes
from matese.errors import ModelError, UsageError
from matese.model.decoding import Decoding
from matese.model.model_input import ModelInput
from matese.model.predictor import PredictedRating, Predictor, chunked
from matese.model.texts.encoding import InputKind
from matese.mqm import LOWEST_SCORE

Z95 = 1.959964
"""Standard deviations of a normal distribution in half of a 95 % interval."""
USUAL_P = 0.1
"""Share of units that dropout switches off; Glushkova et al. 2021 use it with 100 passes."""
_FIRST_CHUNK = 2**12
_LARGEST_CHUNK = 2**17
"""Tokens of the segments that all predictions are made of before the next segments are read."""
_LEAST = 2
"""Fewest predictions that have a spread."""
_ALLOWED = "must be dropout:N, dropout:N:P, models:DIR,DIR, span-models:DIR,DIR or references"


@dataclass(frozen=True, slots=True)
class Uncertainty:
    """Where several predictions come from.

    Attributes:
        kind: of the source. Both kinds of models mark errors alike; the common score of "models" is the median of
            their expected scores, that of "span-models" the median of the MQM scores of their spans.
        n_passes: passes with dropout.
        p: share of the units that a pass switches off.
        models: names of the models.
        scale: factor of the standard deviations, as `matese evaluate` fits it to dev data.
    """

    kind: Literal["dropout", "models", "span-models", "references"]
    n_passes: int = 0
    p: float = USUAL_P
    models: tuple[str, ...] = ()
    scale: float = 1.0

    def __post_init__(self) -> None:
        if not 0 < self.scale < float("inf"):
            raise UsageError(f"interval scale {self.scale:g}: must be greater than 0 and finite")

    def __str__(self) -> str:
        scale = "" if self.scale == 1 else f"*{self.scale:g}"
        named = {
            "dropout": f"dropout{self.n_passes}p{self.p:g}",
            "models": f"models{len(self.models)}-median",
            "span-models": f"models{len(self.models)}-median-of-spans",
        }
        return f"{named.get(self.kind, self.kind)}{scale}"


def parse(text: str, *, scale: float = 1.0) -> Uncertainty:
    """Returns what a text such as "dropout:10" asks for.

    Args:
        text: "dropout:N", "dropout:N:P", "models:DIR,DIR", "span-models:DIR,DIR" or "references".
        scale: see `Uncertainty`.

    Raises:
        UsageError: if the text has another form.

    >>> parse("dropout:30:0.2").p, parse("models:a,b").models
    (0.2, ('a', 'b'))
    """
    kind, _, rest = text.partition(":")
    if text == "references":
        return Uncertainty("references", scale=scale)
    if kind == "dropout" and (match := re.fullmatch(r"([0-9]{1,6})(?::([0-9]*\.?[0-9]+))?", rest)):
        p = USUAL_P if match[2] is None else float(match[2])
        if int(match[1]) < _LEAST:
            raise UsageError(f"uncertainty {text}: use {_LEAST} passes or more, because one has no spread")
        if not 0 < p < 1:
            raise UsageError(f"uncertainty {text}: {match[2]} must be a share greater than 0 and less than 1")
        return Uncertainty("dropout", int(match[1]), p, scale=scale)
    if kind in ("models", "span-models"):
        names = tuple(rest.split(","))
        if len(names) < _LEAST or "" in names:
            raise UsageError(f"uncertainty {text}: must name {_LEAST} models or more, separated by commas")
        for name in names:
            if names.count(name) > 1:
                raise UsageError(f"uncertainty {text}: {name} is named twice; name different models")
        return Uncertainty("models" if kind == "models" else "span-models", models=names, scale=scale)
    raise UsageError(f"uncertainty {text!r}: {_ALLOWED}")


Member = tuple[Predictor, Decoding, Callable[[], AbstractContextManager[None]]]
"""What makes one of several predictions: a predictor, its decoding, and what is switched on while it runs."""


class Ensemble(Predictor):
    """Several predictions as one predictor. Attributes are those of the first model."""

    def __init__(
        self,
        uncertainty: Uncertainty,
        predictors: Sequence[Predictor],
        decodings: Sequence[Decoding],
        weights: mqm.Weights = mqm.MATESE,
    ) -> None:
        """Takes loaded models.

        Args:
            uncertainty: where the predictions come from.
            predictors: one model, or several for `models` and `span-models`.
            decodings: how the predictions of each model become ratings; joint predictions become ratings as those of
                the first model.
            weights: penalties of errors, for `span-models`.

        Raises:
            ModelError: if the models do not fit together, or dropout cannot be applied to one.
        """
        first = predictors[0]
        super().__init__(first.interpreter, first.engine, first.text_encoder)
        self.uncertainty = uncertainty
        self._weights = weights
        self._predictors = tuple(predictors)
        self._members: list[Member] = list(zip(predictors, decodings, repeat(nullcontext), strict=False))
        if uncertainty.models:
            _check_alike(uncertainty.models, predictors)
        if uncertainty.kind == "dropout":
            self._members = _with_dropout(first, decodings[0], uncertainty)

    @property
    def lowered_batch_tokens(self) -> int | None:
        """Most padded tokens of a batch since the device ran out of memory; None if it did not."""
        lowered = [predictor.lowered_batch_tokens for predictor in self._predictors]
        return min((n_tokens for n_tokens in lowered if n_tokens is not None), default=None)

    def forget(self) -> None:
        """Forgets earlier predictions, so that the next run can be timed."""
        for predictor in self._predictors:
            predictor.forget()

    def settings(self, inputs: InputKind, decoding: Decoding) -> dict[str, str]:
        """Returns the fields of a signature that say what a rating of segments with these inputs depends on."""
        return {**super().settings(inputs, decoding), "uncertainty": str(self.uncertainty)}

    def annotate(self, model_inputs: Iterable[ModelInput], decoding: Decoding) -> Iterator[PredictedRating]:
        """Yields a rating for each segment, in order and lazily, with an interval and the votes for its errors.

        Raises:
            UsageError: if several references are asked for and a segment has fewer than two.
        """
        annotate = self._by_reference if self.uncertainty.kind == "references" else self._by_member
        for chunk in chunked(
            model_inputs, lambda model_input: model_input.n_tokens, first=_FIRST_CHUNK, largest=_LARGEST_CHUNK
        ):
            yield from annotate(chunk, decoding)

    def _by_member(self, model_inputs: Sequence[ModelInput], decoding: Decoding) -> Iterator[PredictedRating]:
        columns = []
        for predictor, member_decoding, switched_on in self._members:
            if self.uncertainty.kind == "dropout":
                predictor.forget()  # of another pass
            with switched_on():
                columns.append(list(predictor.annotate(model_inputs, member_decoding)))
        if self.uncertainty.kind == "dropout":
            self.forget()
        groups = list(zip(*columns, strict=True))
        centre = statistics.median if self.uncertainty.models else statistics.fmean
        means = [
            self.interpreter.average(
                [result.raw for result in group], centre(result.raw.score or 0.0 for result in group)
            )
            for group in groups
        ]
        for joined, group in zip(self.decode(model_inputs, means, decoding), groups, strict=True):
            if self.uncertainty.kind == "span-models":
                members = [_by_spans(result, self._weights) for result in group]
                median = round(statistics.median(map(_estimate, members)), 4)
                rating = replace(joined.rating, estimate=Estimate(median, "mqm"))
                yield self._with_agreement(joined._replace(rating=rating), members)
            else:
                yield self._with_agreement(joined, group)

    def _by_reference(self, model_inputs: Sequence[ModelInput], decoding: Decoding) -> Iterator[PredictedRating]:
        alone = []
        for model_input in model_inputs:
            if len(model_input.readings) < _LEAST:
                text = repr(model_input.segment.hypothesis[:40])
                number = f"{len(model_input.segment.references)} for {text}, read with {model_input.inputs}"
                raise UsageError(f"uncertainty references needs {_LEAST} references or more for each segment: {number}")
            for reading in model_input.readings:
                alone.append(model_input._replace(segment=reading.segment, readings=(reading,)))
        results = self._predictors[0].annotate(alone, decoding)
        groups = [[next(results) for _ in model_input.readings] for model_input in model_inputs]
        # Readings are remembered, so that this costs no more time.
        for joined, group in zip(self._predictors[0].annotate(model_inputs, decoding), groups, strict=True):
            yield self._with_agreement(joined, group)

    def _with_agreement(self, joined: PredictedRating, group: Sequence[PredictedRating]) -> PredictedRating:
        deviation = self.uncertainty.scale * statistics.stdev(map(_estimate, group))
        rating = joined.rating
        errors = rating.errors and tuple(
            replace(error, votes=_votes(error, [result.rating.errors or () for result in group]))
            for error in rating.errors
        )
        assert rating.estimate is not None
        estimate = with_interval(rating.estimate, deviation)
        return joined._replace(rating=replace(rating, errors=errors, estimate=estimate))


def _estimate(result: PredictedRating) -> float:
    assert result.rating.estimate is not None
    return result.rating.estimate.value


def _by_spans(result: PredictedRating, weights: mqm.Weights) -> PredictedRating:
    """Returns a prediction whose estimate is the MQM score of its errors.

    Raises:
        ModelError: if the model marks none.
    """
    if result.rating.errors is None:
        raise ModelError("uncertainty span-models needs models that mark errors; use models:DIR,DIR for others")
    estimate = Estimate(mqm.score(result.rating, weights), "mqm")
    return result._replace(rating=replace(result.rating, estimate=estimate))


def with_interval(estimate: Estimate, deviation: float) -> Estimate:
    """Returns an estimate with the 95 % interval of a normal distribution, cut at the ends of the MQM scale.

    >>> with_interval(Estimate(-1.0, "mqm"), 1.0)
    Estimate(value=-1.0, scale='mqm', low=-2.96, high=0.0, deviation=1.0)
    """
    low = estimate.value - Z95 * deviation
    high = estimate.value + Z95 * deviation
    if estimate.scale == "mqm":
        low = max(low, min(LOWEST_SCORE, estimate.value))
        high = min(high, max(0.0, estimate.value))
    # With more digits than the ends, since an interval scale multiplies it.
    return replace(estimate, low=round(low, 4), high=round(high, 4), deviation=round(deviation, 6))


def _votes(error: ErrorSpan, marked: Sequence[Sequence[ErrorSpan]]) -> Votes:
    """Returns how many of several predictions mark an error.

    Args:
        error: of the common judgement.
        marked: the errors of each prediction. Of those that overlap the error, the one that shares most of it counts.
    """
    severities = []
    for errors in marked:
        shared = [(min(span.end, error.end) - max(span.start, error.start), span.severity) for span in errors]
        length, severity = max(shared, key=lambda pair: pair[0], default=(0, None))
        if length > 0:
            severities.append(severity)
    n_other = sum(severity is not error.severity for severity in severities)
    return Votes(round(len(severities) / len(marked), 4), round(n_other / len(severities), 4) if severities else 0.0)


def _with_dropout(predictor: Predictor, decoding: Decoding, uncertainty: Uncertainty) -> list[Member]:
    if predictor.module is None:
        raise ModelError("dropout needs the weights in torch: load the model without n_segments")
    from matese.model.encoder.dropout import Dropout

    dropout = Dropout(predictor.module, uncertainty.p)
    return [(predictor, decoding, partial(dropout.passing, number)) for number in range(uncertainty.n_passes)]


def _check_alike(names: Sequence[str], predictors: Sequence[Predictor]) -> None:
    """Raises a ModelError unless the predictions of all models can be joined."""

    def traits(predictor: Predictor) -> dict[str, Any]:
        config = predictor.config
        labels = config.heads.word_labels
        marks = labels.severities if labels is not None else config.heads.tags is not None
        return {
            "kind": config.heads.tags is not None,
            "scale": predictor.interpreter.scorer.scale,
            "inputs": sorted(config.texts.inputs),
            "severities": marks,
            "vocabulary": predictor.text_encoder.tokenization() if marks else None,
        }

    expected = traits(predictors[0])
    for name, predictor in zip(names[1:], predictors[1:], strict=True):
        actual = traits(predictor)
        differing = next((trait for trait in expected if expected[trait] != actual[trait]), None)
        if differing is not None:
            raise ModelError(
                f"models {names[0]} and {name} differ in {differing}: the models of an ensemble must share it"
            )

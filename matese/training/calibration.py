"""Calibrate a tagger on dev data after training: read each segment once for each kind of input, and fit all to that."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch

from matese.errors import InputError
from matese.formats.row_issues import RowIssue
from matese.model import annotator as annotators
from matese.model import error_free as detection
from matese.model import loading
from matese.model.config import ModelConfig
from matese.model.decoding import FITTED, Decoding
from matese.model.error_free import ErrorFreeDetector
from matese.model.heads.meaning import decoding as meaning
from matese.model.heads.meaning.settings import MeaningRule
from matese.model.heads.tags.bio import O
from matese.model.heads.tags.confidence import MarkThreshold, SpanConfidence
from matese.model.interpreter import Interpreter
from matese.model.operating_point import OperatingPoint
from matese.model.storage import checkpoint
from matese.model.texts.encoding import InputKind
from matese.training import confidences, error_free, judged, meaning_rules, tag_calibration
from matese.training.confidences import SpanFit
from matese.training.error_free import Decided, ErrorFreeFit
from matese.training.judged import Annotates, Chosen, Judged
from matese.training.meaning_rules import MeaningFit
from matese.training.reading import read
from matese.training.tag_calibration import TokenPoint
from matese.validation import plain_values

_WEIGHT = "tag_head.weight"
_BIAS = "tag_head.bias"


@dataclass(frozen=True)
class Calibration:
    """The fitted values.

    Attributes:
        temperature: divisor of the logits.
        biases: added to the logits of each tag after the division.
        error_before: expected calibration error of the probability of any error, in 15 bins (Guo et al. 2017).
        error_after: the same after calibration.
        token_points: token agreement, in order of the error probability.
        chosen: the point with the highest F1 of the marked tokens, whatever their severity, which has its own decision
            (`SpanConfidence.major`); its error probability determines the spans.
        n_tokens: number of tokens that the tags were fitted on.
        min_confidence: least confidence of a marked span where there are no thresholds; with thresholds, the lowest.
        thresholds: least confidence of a marked span, by kind of input and length; empty if there are too few spans.
        meaning: rules for errors of meaning, for each kind of input with which the meaning head is used.
        meaning_fits: what they cost.
        confidences: span confidence for each kind of input; empty if there are too few spans.
        span_fits: what they were fitted on.
        span_points: span agreement over all kinds of input, in order of the minimum confidence; empty if there are too
            few spans.
        error_free: detectors of segments that are free of errors; empty if there are too few segments.
        error_free_fits: what they were fitted on.
    """

    temperature: float
    biases: tuple[float, ...]
    error_before: float
    error_after: float
    token_points: tuple[TokenPoint, ...]
    chosen: TokenPoint
    n_tokens: int
    min_confidence: float
    thresholds: tuple[MarkThreshold, ...] = ()
    meaning: tuple[MeaningRule, ...] = ()
    meaning_fits: tuple[MeaningFit, ...] = ()
    confidences: tuple[SpanConfidence, ...] = ()
    span_fits: tuple[SpanFit, ...] = ()
    span_points: tuple[OperatingPoint, ...] = ()
    error_free: tuple[ErrorFreeDetector, ...] = ()
    error_free_fits: tuple[ErrorFreeFit, ...] = ()


@dataclass(frozen=True)
class Readings:
    """What people and the network say of the segments, for one kind of input.

    Attributes:
        inputs: the kind of input.
        judged: of the ratings that everything is fitted to.
        others: of those that only meaning and the detection of segments free of errors are fitted to.
        short_texts: of those that only the threshold of marks in short texts is fitted to.
    """

    inputs: InputKind
    judged: tuple[Judged, ...]
    others: tuple[Judged, ...]
    short_texts: tuple[Judged, ...] = ()

    def changed(self, change: Callable[[Judged], Judged]) -> Readings:
        """Returns the same with every prediction changed."""
        return replace(
            self,
            judged=tuple(map(change, self.judged)),
            others=tuple(map(change, self.others)),
            short_texts=tuple(map(change, self.short_texts)),
        )


def calibrate(
    directory: Path,
    paths: Sequence[Path],
    output: Path,
    *,
    error_free_paths: Sequence[Path] = (),
    short_paths: Sequence[Path] = (),
    every: int = 1,
    progress: Callable[[str], None],
    report: Callable[[RowIssue], None] | None = None,
) -> Calibration:
    """Writes a copy of a model with a calibrated tag head and fitted rules of decoding. Returns the fitted values.

    Args:
        directory: the model directory.
        paths: files of ratings that the model was not trained on.
        output: directory of the new model; may be `directory`.
        error_free_paths: files of more such ratings, in another manner of annotation: the rules for errors of meaning
            are fitted to them too, and the detection of segments free of errors for language pairs that `paths` lack.
        short_paths: files of more ratings, of which only short hypotheses are read: the threshold of their marks is
            fitted to them, too.
        every: read every N-th rating of the first two, and all of short hypotheses.
        progress: called with the name of each step.
        report: called with each row that is skipped or repaired; None to raise a FormatError at such a row.

    Raises:
        InputError: if there is no usable model or no usable rating, or a line is not a rating.
        OSError: if a file cannot be read or written.
    """
    progress("reading the ratings")
    ratings = judged.choose(read(paths, report=report), every)
    others = judged.choose(read(error_free_paths, report=report), every)
    short = judged.choose_short(read(short_paths, report=report))
    annotator = annotators.load(directory)
    if not checkpoint.is_tagger(directory):
        raise InputError(f"{directory} is no tagger of matese: must be a directory that matese train wrote")
    readings = read_once(annotator, annotator.config, ratings, others, short, progress=progress)
    calibration = fit(readings, annotator.config, progress=progress)
    _save(directory, output, calibration)
    return calibration


def read_once(
    annotator: Annotates,
    config: ModelConfig,
    ratings: Sequence[Chosen],
    others: Sequence[Chosen],
    short_texts: Sequence[Chosen],
    *,
    progress: Callable[[str], None],
) -> list[Readings]:
    """Returns what the network says of all segments, each read once for each kind of input."""
    readings = []
    for inputs in config.texts.inputs:
        read = iter(judged.judge(annotator, [*ratings, *others, *short_texts], inputs, progress=progress))
        of_each = (
            tuple(itertools.islice(read, sum(judged.is_read(one.rating.segment, inputs) for one in chosen)))
            for chosen in (ratings, others, short_texts)
        )
        readings.append(Readings(inputs, *of_each))
    return readings


def fit(readings: Sequence[Readings], config: ModelConfig, *, progress: Callable[[str], None]) -> Calibration:
    """Returns everything that is fitted, in the order in which decoding applies it.

    Temperature and biases of the tags; the probability from which tokens belong to a span; rules for errors of meaning;
    confidence, severity and thresholds of spans; and the detection of segments that are free of errors.

    Raises:
        InputError: if no rating has a tag.
    """
    progress("fitting the tags")
    tags = tag_calibration.fit_tags([each for one in readings for each in one.judged if each.is_sampled])
    if tags is None:
        raise InputError("no rating has tags, because all errors are without a place; give ratings with marked errors")
    readings = [one.changed(tags.apply) for one in readings]
    progress("fitting the rules for errors of meaning")
    meaning_fits = tuple(_meaning_fits(readings, config))
    rules = {found.rule.inputs: found.rule for found in meaning_fits}
    readings = [one.changed(_lowered(rules[one.inputs])) if one.inputs in rules else one for one in readings]
    progress("fitting the confidence of spans")
    span_fits = tuple(
        confidences.fit(
            one.judged,
            one.inputs,
            tags.chosen.min_probability,
            others=one.others,
            short_texts=one.short_texts,
            span_budget=config.decoding.span_budget,
            whole_words=config.decoding.whole_words,
        )
        for one in readings
    )
    thresholds = tuple(found.threshold for found in span_fits if found.threshold is not None)
    calibration = Calibration(
        temperature=tags.temperature,
        biases=tags.biases,
        error_before=tags.error_before,
        error_after=tags.error_after,
        token_points=tags.points,
        chosen=tags.chosen,
        n_tokens=tags.n_tokens,
        min_confidence=min((one.least for one in thresholds if one.least < 1), default=tags.chosen.min_probability),
        thresholds=thresholds,
        meaning=tuple(rules.values()),
        meaning_fits=meaning_fits,
        confidences=tuple(found.confidence for found in span_fits) if thresholds else (),
        span_fits=span_fits,
        span_points=_over_inputs(span_fits),
    )
    progress("fitting the detection of segments free of errors")
    decoding = with_fitted(config.decoding, calibration)
    fits = tuple(
        found
        for one in readings
        for found in error_free.fit_all(
            _decided(one.judged, config, decoding), _decided(one.others, config, decoding), inputs=one.inputs
        )
    )
    return replace(calibration, error_free=tuple(found.detector for found in fits), error_free_fits=fits)


def with_fitted(decoding: Decoding, calibration: Calibration) -> Decoding:
    """Returns the decoding with the fitted values."""
    return replace(decoding, **{name: getattr(calibration, name) for name in FITTED})


def _meaning_fits(readings: Sequence[Readings], config: ModelConfig) -> Iterator[MeaningFit]:
    settings = config.heads.meaning
    for one in readings:
        if settings is not None and one.inputs in settings.inputs and config.heads.score is not None:
            rule = config.decoding.meaning_rule(one.inputs) or MeaningRule(one.inputs, 0.0)
            sample = [each for each in (*one.judged, *one.others) if each.is_sampled]
            found = meaning_rules.fit(sample, rule)
            if found is not None:
                yield found


def _lowered(rule: MeaningRule) -> Callable[[Judged], Judged]:
    def change(each: Judged) -> Judged:
        (prediction,) = meaning.apply(rule, [each.prediction])
        return replace(each, prediction=prediction)

    return change


def _decided(segments: Sequence[Judged], config: ModelConfig, decoding: Decoding) -> list[Decided]:
    """Returns what the detection depends on, with the marks of the product."""
    sample = [each for each in segments if each.is_sampled]
    marked = Interpreter(config, ()).decode(
        [each.model_input for each in sample],
        [each.prediction for each in sample],
        replace(decoding, error_free=()),
    )
    return [
        Decided(
            each,
            detection.features_of(
                each.prediction.score or 0.0, (1 - np.exp(each.prediction.log_probabilities[:, O])).tolist()
            ),
            detection.has_major(rating.errors or ()),
        )
        for each, rating in zip(sample, marked, strict=True)
    ]


def _over_inputs(fits: Sequence[SpanFit]) -> tuple[OperatingPoint, ...]:
    """Returns the mean precision and recall over the kinds of input."""
    columns = zip(*(found.points for found in fits if found.points), strict=True)
    return tuple(
        OperatingPoint(
            own[0].min_confidence,
            float(np.mean([point.precision for point in own])),
            float(np.mean([point.recall for point in own])),
        )
        for own in columns
    )


def _save(directory: Path, output: Path, calibration: Calibration) -> None:
    stored = checkpoint.load(directory)
    tensors = dict(stored.tensors)
    weight = tensors[_WEIGHT]
    bias = tensors[_BIAS]
    tensors[_WEIGHT] = (weight.double() / calibration.temperature).to(weight.dtype)
    tensors[_BIAS] = (bias.double() / calibration.temperature + torch.tensor(calibration.biases).double()).to(
        bias.dtype
    )
    config = stored.config
    model = replace(config.model, decoding=with_fitted(config.model.decoding, calibration))
    training = {**(config.training or {}), "calibration": plain_values.to_plain(calibration)}
    _, tokenizer = loading.load_tagger(directory, is_trainable=True)
    changed = replace(stored, config=replace(config, model=model, training=training), tensors=tensors)
    checkpoint.save(output, changed, tokenizer, card=checkpoint.read_card(directory))

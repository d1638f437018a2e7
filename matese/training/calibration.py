"""Calibrate the tag probabilities and choose the operating point, on dev data after training."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from matese.annotation import Rating
from matese.errors import InputError
from matese.evaluation.statistics.arrays import FloatArray
from matese.formats import validation
from matese.formats.row_issues import RowIssue
from matese.model import loading
from matese.model.config import ModelConfig
from matese.model.decoding import FITTED
from matese.model.engines.hardware import choose_device, choose_precision
from matese.model.error_free import ErrorFreeDetector
from matese.model.heads import registry
from matese.model.heads.learning import IGNORED
from matese.model.heads.meaning.network import MeaningTensors
from matese.model.heads.meaning.settings import MeaningRule
from matese.model.heads.tags.bio import TAGS, O
from matese.model.heads.tags.confidence import SpanConfidence
from matese.model.network import Network
from matese.model.operating_point import OperatingPoint
from matese.model.prediction import check_numbers
from matese.model.storage import checkpoint
from matese.training import batching, confidences, corpus_building, error_free
from matese.training.batching import Limits
from matese.training.confidences import Annotate
from matese.training.corpus import Corpus
from matese.training.error_free import ErrorFreeFit
from matese.training.reading import read
from matese.training.span_validation import window_batch

THRESHOLDS = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5)
FALSE_ALARMS = 0.02
"""Share of the segments without an error in which an error of meaning is found."""
_BATCH_TOKENS = 4096
_N_BINS = 15
_WEIGHT = "tag_head.weight"
_BIAS = "tag_head.bias"


@dataclass(frozen=True)
class TokenPoint:
    """Agreement with the raters over tokens, for all kinds of input, at a minimum error probability.

    Attributes:
        min_probability: least error probability of a marked token.
        precision: share of the marked tokens that a rater marked, with any severity.
        recall: share of the rater's marked tokens that are marked, with any severity.
        macro_f1: macro-F1 of the five tags.
    """

    min_probability: float
    precision: float
    recall: float
    macro_f1: float

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall."""
        return 2 * self.precision * self.recall / max(self.precision + self.recall, 1e-9)


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
        n_tokens: number of tokens that the calibration was fitted on.
        min_confidence: least confidence of a marked span.
        meaning: for each kind of input with which the meaning head is used, its rule, with the logit as threshold that
            it exceeds in `FALSE_ALARMS` of the segments that the raters found free of errors; empty without the head.
        confidences: span confidence for each kind of input; empty if there are too few spans.
        span_points: span agreement, in order of the minimum confidence; empty if there are too few spans.
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
    meaning: tuple[MeaningRule, ...] = ()
    confidences: tuple[SpanConfidence, ...] = ()
    span_points: tuple[OperatingPoint, ...] = ()
    error_free: tuple[ErrorFreeDetector, ...] = ()
    error_free_fits: tuple[ErrorFreeFit, ...] = ()


def calibrate(
    directory: Path,
    paths: Sequence[Path],
    output: Path,
    *,
    error_free_paths: Sequence[Path] = (),
    progress: Callable[[str], None],
    load_annotate: Callable[[Path], Annotate],
    report: Callable[[RowIssue], None] | None = None,
) -> Calibration:
    """Writes a copy of a model with a calibrated tag head and the best operating point. Returns the fitted values.

    Temperature and biases (vector scaling with one scale, Guo et al. 2017) are folded into the weights of the head. The
    error probability with the best F1 of marked tokens determines the spans. Their confidence is fitted to predict
    whether a rater marks something there (`matese.training.confidences`). The minimum confidence is set so that the
    model marks as many segments as the raters did, and the severity so that as many spans are Major.

    Args:
        directory: the model directory.
        paths: files of ratings that the model was not trained on.
        output: directory of the new model; may be `directory`.
        error_free_paths: files of more such ratings, to which only the detection of segments free of errors is fitted,
            for the language pairs that `paths` lack.
        progress: called with the name of each step.
        load_annotate: returns a function that annotates with the model in a directory.
        report: called with each row that is skipped or repaired; None to raise a FormatError at such a row.

    Raises:
        InputError: if there is no usable model or no usable rating, or a line is not a rating.
        OSError: if a file cannot be read or written.
    """
    tagger, tokenizer = loading.load_tagger(directory, is_trainable=True)
    progress("reading")
    ratings = list(read(paths, report=report))
    others = list(read(error_free_paths, report=report))
    encoder = tagger.text_encoder(tokenizer)
    heads = registry.targets(tagger.config)
    inputs = tagger.config.texts.inputs
    corpus = corpus_building.build(ratings, encoder, inputs, heads, keep_ratings=True, with_spans=True)
    calibration = _fit_tags(tagger, corpus, progress)
    if tagger.meaning_head is not None:
        progress("finding the thresholds of errors of meaning")
        calibration = replace(calibration, meaning=tuple(_meaning_rules(tagger, corpus)))
    with tempfile.TemporaryDirectory() as folder:
        calibrated = Path(folder) / directory.name
        _save(directory, calibrated, _with_all_spans(calibration, tagger.config), has_budget=False)
        progress("fitting the confidence of spans")
        annotate = load_annotate(calibrated)
        calibration = _fit_spans(annotate, tagger.config, ratings, calibration)
        progress("fitting the detection of segments free of errors")
        config = tagger.config
        fits = error_free.fit_all(
            annotate, ratings, others, model_inputs=config.texts.inputs, lang_pairs=config.lang_pairs
        )
        calibration = replace(calibration, error_free=tuple(one.detector for one in fits), error_free_fits=fits)
    _save(directory, output, calibration)
    return calibration


def _with_all_spans(calibration: Calibration, config: ModelConfig) -> Calibration:
    """Returns the fitted values with which every span is marked, where it is once its confidence is fitted."""
    least = calibration.chosen.min_probability
    return replace(
        calibration, confidences=tuple(confidences.unfitted(inputs, least) for inputs in config.texts.inputs)
    )


def _fit_spans(
    annotate: Annotate, config: ModelConfig, ratings: Sequence[Rating], calibration: Calibration
) -> Calibration:
    """Returns the fitted values, completed for spans."""
    least = calibration.chosen.min_probability
    budget = config.decoding.span_budget
    fitted = confidences.fit_all(annotate, ratings, config.texts.inputs, least, span_budget=budget)
    lowest = calibration.min_confidence if fitted.min_confidence is None else fitted.min_confidence
    return replace(calibration, min_confidence=lowest, confidences=fitted.fitted, span_points=fitted.points)


def _fit_tags(tagger: Network, corpus: Corpus, progress: Callable[[str], None]) -> Calibration:
    place = choose_device("auto")
    rows = []
    for number, row in enumerate(_logits(tagger.to(place), corpus, place)):
        progress(f"predicting, batch {number + 1}")
        rows.append(row)
    logits = torch.cat([batch_logits for batch_logits, _ in rows])
    tag_ids = torch.cat([batch_tags for _, batch_tags in rows])
    if not len(tag_ids):
        raise InputError("no rating has tags, because all errors are without a place; give ratings with marked errors")
    check_numbers(logits.numpy())
    temperature, biases = fit(logits, tag_ids)
    calibrated = logits / temperature + biases
    points = token_points(calibrated, tag_ids)
    chosen = max(points, key=lambda point: point.f1)
    return Calibration(
        temperature=temperature,
        biases=tuple(round(bias, 6) for bias in biases.tolist()),
        error_before=calibration_error(logits, tag_ids),
        error_after=calibration_error(calibrated, tag_ids),
        token_points=points,
        chosen=chosen,
        n_tokens=len(tag_ids),
        min_confidence=chosen.min_probability,
    )


def fit(logits: Tensor, tag_ids: Tensor) -> tuple[float, Tensor]:
    """Returns the temperature and the biases, (tags,), with the least cross-entropy.

    Args:
        logits: (tokens, tags).
        tag_ids: (tokens,).
    """
    scale = torch.zeros((), dtype=torch.float64, requires_grad=True)
    biases = torch.zeros(len(TAGS), dtype=torch.float64, requires_grad=True)
    logits_64 = logits.double()

    def loss() -> Tensor:
        # The last term fixes the sum of the biases, on which the cross-entropy does not depend.
        return functional.cross_entropy(logits_64 * scale.exp() + biases, tag_ids) + 1e-6 * biases.square().sum()

    confidences.minimise([scale, biases], loss)
    return math.exp(-scale.item()), biases.detach()


def token_points(logits: Tensor, tag_ids: Tensor) -> tuple[TokenPoint, ...]:
    """Returns the agreement at each of `THRESHOLDS`, ignoring the tag transitions of decoding."""
    points = []
    for threshold in THRESHOLDS:
        biased = logits.clone()
        biased[:, O] += math.log(threshold / (1 - threshold))
        counts = np.zeros((len(TAGS), len(TAGS)), dtype=np.int64)
        np.add.at(counts, (tag_ids.numpy(), biased.argmax(-1).numpy()), 1)
        hits = counts[1:, 1:].sum()
        f1 = 2 * counts.diagonal() / np.maximum(counts.sum(0) + counts.sum(1), 1)
        precision = hits / max(1, counts[:, 1:].sum())
        recall = hits / max(1, counts[1:].sum())
        points.append(TokenPoint(threshold, float(precision), float(recall), float(f1.mean())))
    return tuple(points)


def calibration_error(logits: Tensor, tag_ids: Tensor) -> float:
    """Returns the expected calibration error of the error probability, in bins of equal width."""
    probabilities: FloatArray = (1 - torch.softmax(logits.double(), -1)[:, O]).numpy()
    is_error = (tag_ids != O).double().numpy()
    bins = np.minimum((probabilities * _N_BINS).astype(int), _N_BINS - 1)
    gaps = np.bincount(bins, probabilities - is_error, minlength=_N_BINS)
    return float(np.abs(gaps).sum() / len(probabilities))


@torch.inference_mode()
def _logits(tagger: Network, corpus: Corpus, place: torch.device) -> Iterator[tuple[Tensor, Tensor]]:
    """Yields the logits (tokens, tags) and tags (tokens,) of each batch, for each kind of input."""
    usable = corpus.usable()
    for number, inputs in enumerate(corpus.inputs):
        if not usable[:, number].any():
            continue
        limits = Limits(_BATCH_TOKENS, tagger.config.texts.max_tokens)
        for dev in batching.dev_loader(corpus, inputs, limits, window_batch):
            batch = dev.to(place)
            with torch.autocast(place.type, torch.bfloat16, enabled=choose_precision("auto", place) == "bf16"):
                output = tagger(batch.inputs)
            tag_ids = batch.targets["tag_ids"]
            known = tag_ids != IGNORED
            yield output.tag_logits[known].cpu(), tag_ids[known].cpu()


@torch.inference_mode()
def _meaning_rules(tagger: Network, corpus: Corpus) -> Iterator[MeaningRule]:
    """Yields the rule for each kind of input that is judged, and for which some segments are free of errors."""
    settings = tagger.config.heads.meaning
    assert settings is not None
    usable = corpus.usable()
    place = next(tagger.parameters()).device
    for number, inputs in enumerate(corpus.inputs):
        if inputs not in settings.inputs or not usable[:, number].any():
            continue
        logits: list[float] = []
        limits = Limits(_BATCH_TOKENS, tagger.config.texts.max_tokens)
        for rows in batching.dev_loader(corpus, inputs, limits, batching.make_batch):
            batch = rows.to(place)
            with torch.autocast(place.type, torch.bfloat16, enabled=choose_precision("auto", place) == "bf16"):
                output = tagger(batch.inputs)
            is_free = batch.targets["has_meaning_error"] == 0
            logits += output[MeaningTensors].segment_logits[is_free].float().tolist()
        if logits:
            before = tagger.config.decoding.meaning_rule(inputs) or MeaningRule(inputs, 0.0)
            yield replace(before, threshold=round(float(np.quantile(logits, 1 - FALSE_ALARMS)), 4))


def _save(directory: Path, output: Path, calibration: Calibration, *, has_budget: bool = True) -> None:
    stored = checkpoint.load(directory)
    tensors = dict(stored.tensors)
    weight = tensors[_WEIGHT]
    bias = tensors[_BIAS]
    tensors[_WEIGHT] = (weight.double() / calibration.temperature).to(weight.dtype)
    tensors[_BIAS] = (bias.double() / calibration.temperature + torch.tensor(calibration.biases).double()).to(
        bias.dtype
    )
    config = stored.config
    decoding = replace(config.model.decoding, **{name: getattr(calibration, name) for name in FITTED})
    if not has_budget:
        decoding = replace(decoding, span_budget=None)
    training = {**(config.training or {}), "calibration": validation.to_plain(calibration)}
    _, tokenizer = loading.load_tagger(directory, is_trainable=True)
    changed = replace(
        stored,
        config=replace(config, model=replace(config.model, decoding=decoding), training=training),
        tensors=tensors,
    )
    checkpoint.save(output, changed, tokenizer, card=checkpoint.read_card(directory))

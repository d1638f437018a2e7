"""After training: probabilities that are as often right as they say, and the operating point, both from dev data."""

from __future__ import annotations

import json
import math
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn import functional

import matese
from matese.encoder import checkpoint
from matese.encoder.hardware import choose_device, choose_precision
from matese.tagger import model
from matese.tagger.batch import IGNORED
from matese.tagger.blending import Blend
from matese.tagger.model import Tagger
from matese.tagger.tags import TAGS, O
from matese.training import blending, data
from matese.training.reading import read
from matese.training.validation import dev_loader

THRESHOLDS = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5)
_BATCH_TOKENS = 4096
_N_BINS = 15
_WEIGHT, _BIAS = "tag_head.weight", "tag_head.bias"


@dataclass(frozen=True)
class OperatingPoint:
    """What a least confidence leads to, tokens of all kinds of input together.

    Attributes:
        min_confidence: see `matese.tagger.decoding.decode`.
        precision: share of the marked tokens that a rater marked, whatever the severity.
        recall: share of the tokens that a rater marked that are marked.
        macro_f1: over the five tags.
    """

    min_confidence: float
    precision: float
    recall: float
    macro_f1: float


@dataclass(frozen=True)
class Calibration:
    """What was fitted.

    Attributes:
        temperature: by which the logits are divided.
        biases: added to the logits of each tag after that.
        error_before: expected calibration error of the probability of any error, in 15 bins (Guo et al. 2017).
        error_after: the same with what was fitted.
        points: of rising least confidence.
        chosen: the one of the highest macro-F1.
        n_tokens: that it was fitted on.
        blends: what the expected score is made of, for each input; none without a score head.
    """

    temperature: float
    biases: tuple[float, ...]
    error_before: float
    error_after: float
    points: tuple[OperatingPoint, ...]
    chosen: OperatingPoint
    n_tokens: int
    blends: tuple[Blend, ...] = ()


def calibrate(
    directory: Path,
    paths: Sequence[Path],
    output: Path,
    *,
    share: float,
    progress: Callable[[str], None],
    with_blends: bool = True,
) -> Calibration:
    """Writes a copy of a model whose tag head is calibrated and whose operating point is the best; returns both.

    Temperature and biases (vector scaling with one scale, Guo et al. 2017) become part of the head's weights.

    Args:
        directory: the model's.
        paths: of ratings that were not learned from.
        output: the directory of the new model, which may be the old one.
        share: of the sources, those whose ratings are used.
        progress: is told what is being done.
        with_blends: whether a model with a score head gets what its expected score is made of, see
            `matese.training.blending`; otherwise it is of the head alone.

    Raises:
        ModelError: if there is no usable model.
        ValueError: if no rating can be used.
        FormatError: where a line is no rating.
        OSError: if something cannot be read or written.
    """
    tagger, tokenizer = model.load(directory)
    progress("reading")
    ratings = list(read(paths, [share] * len(paths)))
    corpus = data.build(
        ratings, tagger.text_encoder(tokenizer), tagger.config.inputs, keep_ratings=True, with_spans=True
    )
    found = _fit_tags(tagger, corpus, progress)
    if tagger.config.score_head and with_blends:
        progress("fitting the expected score")
        with tempfile.TemporaryDirectory() as folder:
            calibrated_model = Path(folder) / directory.name
            _save(directory, calibrated_model, found)
            annotator = matese.load(calibrated_model)
        found = replace(found, blends=blending.fit_all(annotator, ratings))
    _save(directory, output, found)
    return found


def _fit_tags(tagger: Tagger, corpus: data.Corpus, progress: Callable[[str], None]) -> Calibration:
    place = choose_device("auto")
    rows = []
    for number, row in enumerate(_logits(tagger.to(place), corpus, place)):
        progress(f"predicting, batch {number + 1}")
        rows.append(row)
    logits, tag_ids = torch.cat([one for one, _ in rows]), torch.cat([other for _, other in rows])
    temperature, biases = fit(logits, tag_ids)
    calibrated = logits / temperature + biases
    points = operating_points(calibrated, tag_ids)
    return Calibration(
        temperature=temperature,
        biases=tuple(round(bias, 6) for bias in biases.tolist()),
        error_before=calibration_error(logits, tag_ids),
        error_after=calibration_error(calibrated, tag_ids),
        points=points,
        chosen=max(points, key=lambda point: point.macro_f1),
        n_tokens=len(tag_ids),
    )


def fit(logits: Tensor, tag_ids: Tensor) -> tuple[float, Tensor]:
    """Returns the temperature and the biases (tags,) of the least cross-entropy.

    Args:
        logits: (tokens, tags).
        tag_ids: (tokens,).
    """
    scale = torch.zeros((), dtype=torch.float64, requires_grad=True)
    biases = torch.zeros(len(TAGS), dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.LBFGS([scale, biases], max_iter=100, line_search_fn="strong_wolfe")
    given = logits.double()

    def closure() -> float:
        optimizer.zero_grad()
        # All biases may rise together; the last term keeps them.
        loss = functional.cross_entropy(given * scale.exp() + biases, tag_ids) + 1e-6 * biases.square().sum()
        torch.autograd.backward(loss)
        return loss.item()

    optimizer.step(closure)  # type: ignore[no-untyped-call]
    return math.exp(-scale.item()), biases.detach()


def operating_points(logits: Tensor, tag_ids: Tensor) -> tuple[OperatingPoint, ...]:
    """Returns what each least confidence leads to, without the transitions of decoding."""
    points = []
    for threshold in THRESHOLDS:
        biased = logits.clone()
        biased[:, O] += math.log(threshold / (1 - threshold))
        counts = np.zeros((len(TAGS), len(TAGS)), dtype=np.int64)
        np.add.at(counts, (tag_ids.numpy(), biased.argmax(-1).numpy()), 1)
        hits = counts[1:, 1:].sum()
        f1 = 2 * counts.diagonal() / np.maximum(counts.sum(0) + counts.sum(1), 1)
        precision, recall = hits / max(1, counts[:, 1:].sum()), hits / max(1, counts[1:].sum())
        points.append(OperatingPoint(threshold, float(precision), float(recall), float(f1.mean())))
    return tuple(points)


def calibration_error(logits: Tensor, tag_ids: Tensor) -> float:
    """Returns the mean distance of the probability of any error from the share of errors, in bins of equal width."""
    said: npt.NDArray[np.float64] = (1 - torch.softmax(logits.double(), -1)[:, O]).numpy()
    is_error = (tag_ids != O).double().numpy()
    bins = np.minimum((said * _N_BINS).astype(int), _N_BINS - 1)
    gaps = np.bincount(bins, said - is_error, minlength=_N_BINS)
    return float(np.abs(gaps).sum() / len(said))


@torch.inference_mode()
def _logits(tagger: Tagger, corpus: data.Corpus, place: torch.device) -> Iterator[tuple[Tensor, Tensor]]:
    """Yields logits (tokens, tags) and tags (tokens,) of batch after batch, for each kind of input."""
    usable = corpus.usable()
    for number, inputs in enumerate(corpus.inputs):
        if not usable[:, number].any():
            continue
        settings = {"batch_tokens": _BATCH_TOKENS, "longest": tagger.config.max_tokens, "pad_id": corpus.encoder.pad_id}
        for dev in dev_loader(corpus, inputs, **settings):
            batch = dev.batch.to(place)
            with torch.autocast(place.type, torch.bfloat16, enabled=choose_precision("auto", place) == "bf16"):
                output = tagger(batch)
            assert batch.tag_ids is not None
            known = batch.tag_ids != IGNORED
            yield output.tag_logits[known].cpu(), batch.tag_ids[known].cpu()


def _save(directory: Path, output: Path, found: Calibration) -> None:
    stored = checkpoint.load(directory, kind=model.KIND)
    tensors = dict(stored.tensors)
    weight, bias = tensors[_WEIGHT], tensors[_BIAS]
    tensors[_WEIGHT] = (weight.double() / found.temperature).to(weight.dtype)
    tensors[_BIAS] = (bias.double() / found.temperature + torch.tensor(found.biases).double()).to(bias.dtype)
    plain = json.loads(json.dumps(asdict(found)))
    settings = {**stored.settings, "min_confidence": found.chosen.min_confidence, "blends": plain["blends"]}
    training = {**(stored.training or {}), "calibration": plain}
    _, tokenizer = model.load(directory)
    card = directory / checkpoint.CARD
    text = card.read_text(encoding="utf-8") if card.is_file() else ""
    changed = replace(stored, settings=settings, tensors=tensors, training=training)
    checkpoint.save(output, changed, tokenizer, card=text)

"""From segments to explanations."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np
import numpy.typing as npt

from matese.annotation import Explanation, Rating, Segment, TextWeights
from matese.annotator import Annotator, load
from matese.errors import ModelError
from matese.evaluation.spans.token_localisation import badness
from matese.explanation import black_box, method
from matese.explanation.black_box import TextWords
from matese.explanation.method import BLACK_BOX, TAGS, Method
from matese.formats.segments import of_texts
from matese.inference.model_input import ModelInput

if TYPE_CHECKING:
    from matese.explanation.white_box import Reading

_Name = Literal["hypothesis", "source", "reference"]
_Weights = tuple[_Name, int | None, Sequence[tuple[int, int]], npt.NDArray[np.float64]]


def explain(
    hypotheses: Sequence[str],
    *,
    references: Sequence[str] | Sequence[Sequence[str]] | None = None,
    sources: Sequence[str] | None = None,
    model: str = "mini",
    by: str = "leave-one-out",
) -> list[Explanation]:
    """Returns why a model scores each hypothesis as it does: a weight for each token of the texts.

    A weight is positive if the token lowers the score; the absolute weights of a text have the mean 1.

    Args:
        hypotheses: the translations.
        references: one for each hypothesis, or a list of several for each.
        sources: one for each hypothesis.
        model: as in `matese.load`.
        by: a method of `matese.explanation.method`, with a layer and a head where it has them: "attention:3:0".

    Raises:
        UsageError: if there is no such method, layer or head.
        ModelError: if the model cannot be explained by it, or needs another text.

    >>> (found,) = explain(["Er kommt nicht."], references=["Er kommt."])
    >>> hypothesis = found.texts[0]
    >>> start, end = max(zip(hypothesis.weights, hypothesis.ranges))[1]
    >>> "Er kommt nicht."[start:end]
    'nicht'
    """
    chosen = method.parse(by)
    segments = of_texts(hypotheses, references, sources)
    n_segments = len(segments) if chosen.name in BLACK_BOX else None
    annotator = load(model, precision=method.precision_for([chosen]), n_segments=n_segments)
    return list(explain_segments(segments, annotator, chosen))


def explain_segments(
    segments: Iterable[Segment], annotator: Annotator, by: Method, *, only_hypothesis: bool = False
) -> Iterator[Explanation]:
    """Yields an explanation for each segment, as `explain` does; on request, of its hypothesis alone."""
    explained = _from_outside if by.name in BLACK_BOX else _by_tags if by.name == TAGS else _from_inside
    for rating, found in explained(segments, annotator, by, only_hypothesis):
        texts = [
            TextWeights(name, reference, tuple(ranges), tuple(normalised(weights)))
            for name, reference, ranges, weights in found
        ]
        yield Explanation(rating, str(by), tuple(texts))


def as_read(segment: Segment, annotator: Annotator) -> Segment:
    """Returns a segment with only the texts that the model reads."""
    inputs = annotator.choose_inputs(segment)
    reading = ModelInput.of(segment, inputs).readings[0]
    return Segment(segment.hypothesis, reading.source, () if inputs == "source" else segment.references, segment.key)


def normalised(weights: npt.NDArray[np.float64]) -> list[float]:
    """Returns weights whose absolute values have the mean 1; zeros if all are 0."""
    mean = float(np.abs(weights).mean()) if len(weights) else 0.0
    return [round(weight / mean, 4) if mean else 0.0 for weight in weights.tolist()]


def _from_outside(
    segments: Iterable[Segment], annotator: Annotator, by: Method, only_hypothesis: bool
) -> Iterator[tuple[Rating, list[_Weights]]]:
    waiting = deque[tuple[Segment, list[TextWords]]]()

    def texts() -> Iterator[tuple[Segment, TextWords]]:
        for segment in segments:
            read = as_read(segment, annotator)
            is_blank = not segment.hypothesis.strip()
            own = [] if is_blank else black_box.texts_of(read)[: 1 if only_hypothesis else None]
            own = [one for one in own if one.ranges]
            waiting.append((segment, own))
            yield from ((read, one) for one in own or [TextWords("hypothesis", None, segment.hypothesis, ())])

    found = black_box.weights(by.name, texts(), annotator.annotate_segments)
    for rating, first in found:
        segment, own = waiting.popleft()
        rows = [first, *(weights for _, weights in islice(found, max(0, len(own) - 1)))]
        yield (
            replace(rating, segment=segment),
            [
                (cast(_Name, one.name), one.reference, one.ranges, weights)
                for one, weights in zip(own, rows[: len(own)], strict=True)
            ],
        )


def _by_tags(
    segments: Iterable[Segment], annotator: Annotator, by: Method, only_hypothesis: bool
) -> Iterator[tuple[Rating, list[_Weights]]]:
    for rating, tokens in annotator.annotate_tokens(segments):
        is_blank = not rating.segment.hypothesis.strip()
        yield rating, [] if is_blank else [("hypothesis", None, tokens.ranges, badness(tokens))]


def _from_inside(
    segments: Iterable[Segment], annotator: Annotator, by: Method, only_hypothesis: bool
) -> Iterator[tuple[Rating, list[_Weights]]]:
    for rating in annotator.annotate_segments(segments):
        is_blank = not rating.segment.hypothesis.strip()
        yield rating, [] if is_blank else _read(as_read(rating.segment, annotator), annotator, by)


def _read(segment: Segment, annotator: Annotator, by: Method) -> list[_Weights]:
    found: list[_Weights] = []
    of_hypothesis = []
    for number, reading in enumerate(readings(segment, annotator)):
        for part, weights in reading.weights(by):
            ranges = [(start, end) for start, end in part.ranges.tolist()]
            if part.text == "hypothesis":
                of_hypothesis.append((ranges, weights))
            elif part.text == "reference" or number == 0:
                reference = number if part.text == "reference" else None
                found.append((cast(_Name, part.text), reference, ranges, weights))
    mean = np.mean([weights for _, weights in of_hypothesis], axis=0)
    return [("hypothesis", None, of_hypothesis[0][0], mean), *found]


def readings(segment: Segment, annotator: Annotator) -> Iterator[Reading]:
    """Yields the internal states of a model for each reading of a segment.

    Raises:
        ModelError: if the model has no weights in torch, or they are in bf16.
    """
    import torch

    from matese.explanation.white_box import Reading

    predictor: Any = annotator.predictor
    if predictor.module is None:
        raise ModelError("this method needs the weights in torch; use leave-one-out or lime for an exported model")
    if any(weights.dtype == torch.bfloat16 for weights in predictor.module.parameters()):
        raise ModelError("this method needs float32, but the model computes in bf16: load it with precision='float32'")
    for one in ModelInput.of(segment, annotator.choose_inputs(segment)).readings:
        yield Reading(predictor.module, predictor.text_encoder, one)

"""From segments to explanations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from matese.annotation import Explanation, Rating, Segment, TextWeights, is_blank
from matese.errors import ModelError
from matese.evaluation.spans.token_localisation import badness
from matese.evaluation.statistics.arrays import FloatArray
from matese.explanation import black_box, method
from matese.explanation.black_box import TextWords
from matese.explanation.method import BLACK_BOX, TAGS, Method
from matese.formats.segments import of_texts
from matese.model.annotator import Annotator, load
from matese.model.model_input import ModelInput
from matese.streams import grouped

if TYPE_CHECKING:
    from matese.explanation.white_box import Inspection

Explained = Iterator[tuple[Rating, Sequence[TextWeights]]]


def explain(
    hypotheses: Sequence[str],
    *,
    references: Sequence[str] | Sequence[Sequence[str]] | None = None,
    sources: Sequence[str | None] | None = None,
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

    >>> (explanation,) = explain(["Er kommt nicht."], references=["Er kommt."])
    >>> hypothesis = explanation.texts[0]
    >>> start, end = max(zip(hypothesis.weights, hypothesis.ranges))[1]
    >>> "Er kommt nicht."[start:end]
    'nicht'
    """
    by_method = method.parse(by)
    segments = of_texts(hypotheses, references, sources)
    n_segments = len(segments) if by_method.name in BLACK_BOX else None
    engine = "auto" if by_method.name in BLACK_BOX else "torch"
    annotator = load(model, precision=method.precision_for([by_method]), n_segments=n_segments, engine=engine)
    return list(explain_segments(segments, annotator, by_method))


def explain_segments(
    segments: Iterable[Segment], annotator: Annotator, by: Method, *, only_hypothesis: bool = False
) -> Iterator[Explanation]:
    """Yields an explanation for each segment, as `explain` does; on request, of its hypothesis alone."""
    segments = (segment.without_blanks() for segment in segments)
    if by.name in BLACK_BOX:
        explained = _from_outside(segments, annotator, by, only_hypothesis=only_hypothesis)
    elif by.name == TAGS:
        explained = _by_tags(segments, annotator)
    else:
        explained = _from_inside(segments, annotator, by)
    for rating, texts in explained:
        yield Explanation(rating, str(by), () if is_blank(rating.segment.hypothesis) else tuple(texts))


def as_read(segment: Segment, annotator: Annotator) -> Segment:
    """Returns a segment with only the texts that the model reads."""
    inputs = annotator.choose_inputs(segment)
    reading = ModelInput.of(segment, inputs).readings[0]
    return Segment(segment.hypothesis, reading.source, () if inputs == "source" else segment.references, segment.key)


def normalised(weights: FloatArray) -> list[float]:
    """Returns weights whose absolute values have the mean 1; zeros if all are 0."""
    mean = float(np.abs(weights).mean()) if len(weights) else 0.0
    return [round(weight / mean, 4) if mean else 0.0 for weight in weights.tolist()]


def _text_weights(
    name: Any,  # noqa: ANN401  (a name of TextWeights)
    reference: int | None,
    ranges: Iterable[tuple[int, int]],
    weights: FloatArray,
) -> TextWeights:
    return TextWeights(name, reference, tuple(ranges), tuple(normalised(weights)))


def _from_outside(segments: Iterable[Segment], annotator: Annotator, by: Method, *, only_hypothesis: bool) -> Explained:
    def texts() -> Iterator[tuple[tuple[Segment, list[TextWords]], list[tuple[Segment, list[TextWords]]]]]:
        for segment in segments:
            read = as_read(segment, annotator)
            explained = [text for text in black_box.texts_of(read) if text.ranges]
            if is_blank(segment.hypothesis):
                explained = []
            explained = explained[:1] if only_hypothesis else explained
            yield (segment, explained), [(read, explained)]

    weigh = partial(black_box.weights, by.name, rate=annotator.annotate_segments)
    for (segment, explained), ((rating, weights),) in grouped(weigh, texts()):
        yield (
            replace(rating, segment=segment),
            [
                _text_weights(text.name, text.reference, text.ranges, of_words)
                for text, of_words in zip(explained, weights, strict=True)
            ],
        )


def _by_tags(segments: Iterable[Segment], annotator: Annotator) -> Explained:
    for rating, tokens in annotator.annotate_tokens(segments):
        yield rating, [_text_weights("hypothesis", None, tokens.ranges, badness(tokens))]


def _from_inside(segments: Iterable[Segment], annotator: Annotator, by: Method) -> Explained:
    for rating in annotator.annotate_segments(segments):
        read = as_read(rating.segment, annotator)
        yield rating, [] if is_blank(rating.segment.hypothesis) else _inspected(read, annotator, by)


def _inspected(segment: Segment, annotator: Annotator, by: Method) -> list[TextWeights]:
    """Returns the weights of the hypothesis, on average over the readings, and those of the other texts."""
    texts = []
    of_hypothesis = []
    for number, inspection in enumerate(inspections(segment, annotator)):
        for part, weights in inspection.weights(by):
            if part.text == "hypothesis":
                of_hypothesis.append((part, weights))
            elif part.text == "reference" or number == 0:
                reference = number if part.text == "reference" else None
                texts.append(_text_weights(part.text, reference, part.characters, weights))
    mean = np.mean([weights for _, weights in of_hypothesis], axis=0)
    return [_text_weights("hypothesis", None, of_hypothesis[0][0].characters, mean), *texts]


def inspections(segment: Segment, annotator: Annotator) -> Iterator[Inspection]:
    """Yields the internal states of a model for each reading of a segment.

    Raises:
        ModelError: if the model has no weights in torch, or they are in bf16.
    """
    import torch

    from matese.explanation.white_box import Inspection

    predictor: Any = annotator.predictor
    if predictor.module is None:
        raise ModelError("this method needs the weights in torch: load the model with engine='torch'")
    if any(weights.dtype == torch.bfloat16 for weights in predictor.module.parameters()):
        raise ModelError("this method needs float32, but the model computes in bf16: load it with precision='float32'")
    languages = predictor.text_encoder.languages(segment)
    for reading in ModelInput.of(segment, annotator.choose_inputs(segment), languages=languages).readings:
        yield Inspection(predictor.module, predictor.text_encoder, reading)

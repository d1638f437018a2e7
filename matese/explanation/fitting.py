"""The layer, head and minimum weight that explain errors best, fitted on rated segments.

Weights are compared with human spans word by word, so that methods with different tokens can be compared: a word has
the highest weight of its tokens, and is bad if it shares a character with a Minor or Major span. AUC and Recall@K are
those of `matese evaluate` (`evaluation.spans.token_localisation`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, product
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from matese.annotation import ErrorSpan, Explanation, Rating, Severity
from matese.errors import FormatError, InputError
from matese.evaluation.spans import token_localisation
from matese.evaluation.spans.rating_pairs import counted_spans
from matese.evaluation.statistics.arrays import FloatArray
from matese.explanation import explainer
from matese.explanation.method import BY_HEAD, BY_LAYER, WHITE_BOX, Method, parse
from matese.files import cut_incomplete_line, head_of, naming, read_lines
from matese.model.annotator import Annotator
from matese.model.model_input import LongTextError
from matese.text.ranges import Range
from matese.text.words import word_ranges
from matese.version import __version__

_CHUNK = 16
"""Segments whose variants are batched together."""
_OTHER = "is of other segments or methods, or another model; use the same ones, or a new file"


@dataclass(frozen=True, slots=True)
class Fit:
    """How well a method finds the words in errors.

    Attributes:
        method: with the layer and the head.
        auc: mean over segments with both bad and good words.
        recall_at_k: likewise.
        min_weight: words from this weight on have the highest F1.
        f1: of these words, over all segments.
        n_segments: with both bad and good words.
    """

    method: Method
    auc: float
    recall_at_k: float
    min_weight: float
    f1: float
    n_segments: int


class Words(NamedTuple):
    """Which words of a segment are in errors, and their weights: (words,) each."""

    is_bad: npt.NDArray[np.bool_]
    weights: FloatArray


Places = dict[Method, Words]
"""The words of a segment for each method at each of its places."""


def best(segments: Iterable[Places | None], methods: Sequence[Method]) -> list[Fit]:
    """Returns the best layer and head of each method, of all of them unless the method names one.

    Takes what `words_of` yields; segments that are too long for a method are left out.

    Raises:
        InputError: if no rating has both words in errors and others.
    """
    words = by_method(segments)
    if not words:
        raise InputError("no segment could be explained: all are longer than the model reads at once")
    fits = [measure(place, of_segments) for place, of_segments in words.items()]
    return [max((fit for fit in fits if _is_at(fit.method, method)), key=lambda fit: fit.auc) for method in methods]


def by_method(segments: Iterable[Places | None]) -> dict[Method, list[Words]]:
    """Returns the words of all segments, for each method at each of its places."""
    words: dict[Method, list[Words]] = {}
    for segment in segments:
        for method, of_segment in (segment or {}).items():
            words.setdefault(method, []).append(of_segment)
    return words


def words_of(golds: Iterable[Rating], annotator: Annotator, methods: Sequence[Method]) -> Iterator[Places | None]:
    """Yields the words of each segment, lazily and in order; None if it is too long for a method.

    The variants of several segments are batched together. The model reads the first reference only.
    """
    inside = [method for method in methods if method.name in WHITE_BOX]
    texts_of = ((gold, gold.segment.without_blanks()) for gold in golds)
    with_one = ((gold, replace(segment, references=segment.references[:1])) for gold, segment in texts_of)
    read = (replace(gold, segment=segment, omissions=()) for gold, segment in with_one)
    while chunk := list(islice(read, _CHUNK)):
        words = [_from_inside(gold, annotator, inside) for gold in chunk]
        short = [(gold, places) for gold, places in zip(chunk, words, strict=True) if places is not None]
        for method in methods:
            if method in inside:
                continue
            segments = (gold.segment for gold, _ in short)
            explained = explainer.explain_segments(segments, annotator, method, only_hypothesis=True)
            for explanation, (gold, places) in zip(explained, short, strict=True):
                if ranges := word_ranges(gold.segment.hypothesis):
                    places[method] = Words(
                        token_localisation.bad_tokens(counted_spans(gold), ranges), word_weights(explanation, ranges)
                    )
        yield from words


def resumed(
    golds: Sequence[Rating], annotator: Annotator, methods: Sequence[Method], path: Path
) -> Iterator[Places | None]:
    """Yields what `words_of` yields, and keeps it in a file, so that the next run goes on after the last segment there.

    Raises:
        FormatError: if the file was written for other segments, methods, or another model.
        OSError: if the file cannot be read or written.
    """
    run = {"model": annotator.name, "methods": list(map(str, methods)), "version": __version__}
    n_done = 0
    if path.exists():
        if head_of(path, 7) not in (b"", b'{"run":'):
            raise FormatError(str(path), 1, _OTHER)
        cut_incomplete_line(path)
        for n_done, line in enumerate(read_lines(path), start=1):
            row = json.loads(line)
            is_same = n_done <= len(golds) and row["hypothesis"] == golds[n_done - 1].segment.hypothesis
            if row["run"] != run or not is_same:
                raise FormatError(str(path), n_done, _OTHER)
            yield row["words"] and {
                parse(name): Words(np.array(row["is_bad"], dtype=np.bool_), np.array(weights))
                for name, weights in row["words"].items()
            }
    with naming(str(path)), open(path, "a", encoding="utf-8", newline="\n") as stream:
        for gold, places in zip(golds[n_done:], words_of(golds[n_done:], annotator, methods), strict=True):
            row = {"run": run, "hypothesis": gold.segment.hypothesis, "is_bad": [], "words": None}
            if places is not None:
                row["words"] = {str(place): words.weights.tolist() for place, words in places.items()}
                row["is_bad"] = next((words.is_bad.tolist() for words in places.values()), [])
            stream.write(json.dumps(row, ensure_ascii=False) + "\n")
            stream.flush()
            yield places


def measure(method: Method, segments: Sequence[Words]) -> Fit:
    """Returns how well weights find bad words."""
    mixed = [words for words in segments if words.is_bad.any() and not words.is_bad.all()]
    if not mixed:
        raise InputError("no segment has both words in errors and others; the fit needs such segments")
    auc = np.mean([token_localisation.auc(*words) for words in mixed])
    recall = np.mean([token_localisation.recall_at_k(*words) for words in mixed])
    min_weight, f1 = _best_threshold(segments)
    return Fit(method, float(auc), float(recall), min_weight, f1, len(mixed))


def spans(explanation: Explanation, min_weight: float) -> Rating:
    """Returns the rating with the words of at least this weight as errors.

    They are Minor, because the weights say nothing of severities. Words with white space alone between them are one
    error.
    """
    rating = explanation.rating
    text = rating.segment.hypothesis
    ranges = word_ranges(text)
    errors: list[ErrorSpan] = []
    for (start, end), weight in zip(ranges, word_weights(explanation, ranges).tolist(), strict=True):
        if weight >= min_weight:
            joins = errors and not text[errors[-1].end : start].strip()
            errors.append(ErrorSpan(errors.pop().start if joins else start, end, Severity.MINOR))
    rater = f"{rating.rater}|explained:{explanation.method}>={min_weight:g}"
    return Rating(rating.segment, rater, tuple(errors), estimate=rating.estimate)


def word_weights(explanation: Explanation, ranges: Sequence[Range]) -> FloatArray:
    """Returns the highest weight of the tokens of each word of the hypothesis: (words,)."""
    if not explanation.texts:
        return np.zeros(len(ranges))
    hypothesis = explanation.texts[0]
    return _per_word(hypothesis.ranges, np.array(hypothesis.weights), ranges)


def _per_word(tokens: Sequence[Range], weights: FloatArray, words: Sequence[Range]) -> FloatArray:
    lowest = float(weights.min(initial=0.0))
    highest = np.full(len(words), lowest)
    for number, (start, end) in enumerate(words):
        inside = [weight for (first, last), weight in zip(tokens, weights, strict=True) if first < end and start < last]
        highest[number] = max(inside, default=lowest)
    return highest


def _from_inside(gold: Rating, annotator: Annotator, methods: Sequence[Method]) -> Places | None:
    """Returns the words of a segment for the methods that look inside; None if it is too long."""
    ranges = word_ranges(gold.segment.hypothesis)
    if not ranges or not methods:
        return {}
    try:
        inspections = list(explainer.inspections(explainer.as_read(gold.segment, annotator), annotator))
    except LongTextError:
        return None
    places = {}
    for method in methods:
        for place in _places(method, inspections[0].n_layers, inspections[0].n_heads):
            parts, weights = zip(*(inspection.weights(place)[0] for inspection in inspections), strict=True)
            mean = np.array(explainer.normalised(np.mean(weights, axis=0)))
            is_bad = token_localisation.bad_tokens(counted_spans(gold), ranges)
            places[place] = Words(is_bad, _per_word(parts[0].characters, mean, ranges))
    return places


def _places(method: Method, n_layers: int, n_heads: int) -> list[Method]:
    """Returns the method at all of its places, or at the one that it names."""
    if method.layer is not None or method.name not in (*BY_HEAD, *BY_LAYER):
        return [method]
    if method.name in BY_LAYER:
        return [Method(method.name, layer) for layer in range(n_layers + 1)]
    places = product(range(1, n_layers + 1), (None, *range(n_heads)))
    return [Method(method.name, layer, head) for layer, head in places]


def _is_at(place: Method, method: Method) -> bool:
    return place == method or (method.layer is None and place.name == method.name)


def _best_threshold(segments: Sequence[Words]) -> tuple[float, float]:
    """Returns the minimum weight with the highest F1 of the words, and this F1."""
    is_bad, weights = map(np.concatenate, zip(*segments, strict=True))
    order = np.argsort(-weights, kind="stable")
    hits = np.cumsum(is_bad[order])
    f1 = 2 * hits / (np.arange(1, len(order) + 1) + max(1, int(hits[-1])))
    # A threshold cannot part words of one weight.
    f1[:-1][weights[order][:-1] == weights[order][1:]] = 0
    best = int(f1.argmax())
    return float(weights[order[best]]), float(f1[best])

"""Score the segments of the ruler with models and baselines, and remember the scores in files.

The predictions of a model are stored as they are made, in a file named after the signature, so that an interrupted run
continues and a second run reads. Baselines are stored by the texts they have scored.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np

from matese import mqm
from matese.annotation import ErrorSpan, Rating, Segment, SegmentKey, Severity
from matese.evaluation.metrics.lexical_metrics import Baseline
from matese.evaluation.statistics.arrays import FloatArray
from matese.model.annotator import Annotator
from matese.model.model_input import with_inputs
from matese.model.texts.encoding import InputKind

_CHUNK = 512
"""Segments between two writes."""


class Judgement(msgspec.Struct, frozen=True, array_like=True):
    """What a model says about a segment.

    Attributes:
        expected: its estimate; the score of its spans without one.
        of_spans: MQM score of all errors; None if the model marks none.
        spans: start, end and severity of the errors in the hypothesis; None if the model marks none.
        is_marked: whether there is any error, omissions included.
    """

    expected: float
    of_spans: float | None
    spans: tuple[tuple[int, int, str], ...] | None
    is_marked: bool

    @classmethod
    def of(cls, rating: Rating) -> Judgement:
        """Returns what a rating says."""
        of_spans = None if rating.errors is None else mqm.score(rating)
        expected = of_spans if rating.estimate is None else rating.estimate.value
        assert expected is not None, "a rating has an estimate or spans"
        if rating.errors is None:
            return cls(expected, of_spans, None, bool(rating.all_errors))
        spans = tuple((span.start, span.end, _name(span.severity)) for span in rating.errors)
        return cls(expected, of_spans, spans, bool(rating.all_errors))

    def rating(self, segment: Segment) -> Rating:
        """Returns the rating of a segment with these spans."""
        if self.spans is None:
            return Rating(segment, None, None)
        return Rating(segment, None, tuple(ErrorSpan(start, end, Severity(name)) for start, end, name in self.spans))


def _name(severity: Severity | None) -> str:
    assert severity is not None, "a model decides the severity"
    return severity.value


Judgements = Mapping[Segment, Judgement]
"""By segments with only the texts that were read, see `bare`."""


def bare(segment: Segment, inputs: InputKind) -> Segment:
    """Returns only the texts that a model reads."""
    return replace(with_inputs(segment, inputs), key=None, extra=None)


def predict(annotator: Annotator, inputs: InputKind, segments: Iterable[Segment], *, cache: Path) -> Judgements:
    """Returns what the model says about each distinct segment; predictions in the cache are not made again."""
    path = cache / f"model-{_digest(annotator.signature(inputs))}.jsonl"
    wanted = {_digest(*texts): segment for segment in segments for texts in [_texts(bare(segment, inputs))]}
    predictions = _read(path)
    missing = [name for name in wanted if name not in predictions]
    for start in range(0, len(missing), _CHUNK):
        names = missing[start : start + _CHUNK]
        sys.stderr.write(f"{annotator.name} {inputs}: {start:,} of {len(missing):,}\n")
        ratings = annotator.annotate_segments(with_inputs(wanted[name], inputs) for name in names)
        new = dict(zip(names, map(Judgement.of, ratings), strict=True))
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab") as lines:
            lines.writelines(msgspec.json.encode(item) + b"\n" for item in new.items())
        predictions |= new
    return {bare(segment, inputs): predictions[name] for name, segment in wanted.items()}


def _read(path: Path) -> dict[str, Judgement]:
    """Returns the stored predictions, and removes a last line that was cut off from the file."""
    if not path.exists():
        return {}
    content = path.read_bytes()
    whole = content[: content.rfind(b"\n") + 1]
    if whole != content:
        path.write_bytes(whole)
    decoder = msgspec.json.Decoder(tuple[str, Judgement])
    return dict(map(decoder.decode, whole.splitlines()))


def score(metric: Callable[[], Baseline], signature: str, segments: Sequence[Segment], *, cache: Path) -> FloatArray:
    """Returns a baseline's score of each segment against its reference; the texts of a call are weighted together.

    The baseline is only loaded if the cache lacks these texts.
    """
    texts = [text for segment in segments for text in _texts(segment)]
    path = cache / f"baseline-{_digest(signature, *texts)}.json"
    if not path.exists():
        sys.stderr.write(f"{signature}: {len(segments):,}\n")
        # Equal pairs of texts are scored once. All are of one system, so that a reference counts once in the weights.
        distinct = {bare(segment, "reference"): number for number, segment in enumerate(segments)}
        numbers = {
            text: number for number, text in enumerate(dict.fromkeys(segment.references for segment in distinct))
        }
        keyed = [replace(segment, key=SegmentKey(index=numbers[segment.references])) for segment in distinct]
        (scores,) = metric().score({"all": keyed})
        by_segment = dict(zip(distinct, scores.segments["all"].tolist(), strict=True))
        values = [by_segment[bare(segment, "reference")] for segment in segments]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(msgspec.json.encode(values))
    return np.array(msgspec.json.decode(path.read_bytes(), type=list[float]))


def against_source(segments: Iterable[Segment]) -> list[Segment]:
    """Returns the segments with the source as the reference."""
    return [replace(segment, references=(segment.source or "",)) for segment in segments]


def _texts(segment: Segment) -> tuple[str, ...]:
    return (segment.hypothesis, segment.source or "", *segment.references)


def _digest(*texts: str) -> str:
    return hashlib.sha256(msgspec.json.encode(texts)).hexdigest()[:24]

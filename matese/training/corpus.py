"""Training data in memory: tokenised texts, their labels, and how they are read."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from matese.annotation import Rating
from matese.model.texts.encoding import Encoding, InputKind, IntArray, TextEncoder, Tokens
from matese.training.targets import IGNORED, Example

Ints = npt.NDArray[np.signedinteger[Any]]


@dataclass(frozen=True)
class Ragged:
    """Rows of different lengths, one after the other.

    Attributes:
        values: values of all rows, concatenated.
        starts: (rows + 1,), int64, index of each row's first value, and the number of values.
    """

    values: Ints
    starts: Ints

    @classmethod
    def of(cls, rows: Iterable[npt.ArrayLike], empty: Ints) -> Ragged:
        """Returns the rows; `empty` determines type and shape if there are no rows."""
        arrays = [empty, *(np.asarray(row, dtype=empty.dtype) for row in rows)]
        return cls(np.concatenate(arrays), np.array([len(array) for array in arrays], dtype=np.int64).cumsum())

    def __getitem__(self, row: int) -> Ints:
        return self.values[self.starts[row] : self.starts[row + 1]]

    @property
    def lengths(self) -> Ints:
        """Number of values of each row: (rows,)."""
        return np.diff(self.starts)


class Draw(NamedTuple):
    """How a drawn segment is read.

    Attributes:
        segment: number of the segment.
        inputs: index into the corpus' `inputs`.
        reference: index of the reference.
        window: which window of a long text, from 0 (the first) to less than 1 (the last).
        group: number shared by translations of one source that are drawn together; -1 for none.
    """

    segment: int
    inputs: int
    reference: int
    window: float
    group: int = -1


@dataclass(frozen=True)
class SegmentTexts:
    """The texts of segments; each distinct text is stored once.

    Attributes:
        ids: (tokens,) for each text, int32.
        ranges: (tokens, 2) for each text, int32.
        hypotheses: (segments,), text number of each hypothesis.
        sources: (segments,), text number of each source; -1 without a source.
        references: text numbers of each segment's references.
    """

    ids: Ragged
    ranges: Ragged
    hypotheses: Ints
    sources: Ints
    references: Ragged

    def tokens(self, text: int) -> Tokens:
        """Returns the tokens of a text."""
        return Tokens(self.ids[text], self.ranges[text])


@dataclass(frozen=True)
class SegmentLabels:
    """The labels of segments.

    Attributes:
        tag_ids: (tokens,) for each hypothesis.
        scores: (segments,), see `Labels.score`.
        rater_groups: (segments,), see `Example.rater_group`.
        omissions: result of `labels.omission_labels` by segment and number of the reference, or None for the source;
            without unknown entries.
        category_ids: (tokens,) for each hypothesis, see `Example.category_ids`; None if categories are not learned.
        meaning_ids: (tokens,) for each hypothesis, see `Example.meaning_ids`; None if not learned.
        has_meaning_error: (segments,), see `Example`; None if not learned.
    """

    tag_ids: Ragged
    scores: npt.NDArray[np.float32]
    rater_groups: Ints
    omissions: Mapping[tuple[int, int | None], npt.NDArray[np.int8]]
    category_ids: Ragged | None
    meaning_ids: Ragged | None = None
    has_meaning_error: npt.NDArray[np.float32] | None = None


@dataclass(frozen=True)
class Corpus:
    """Rated segments as arrays.

    Attributes:
        inputs: the kinds of input that the model reads.
        encoder: joins texts to a model input.
        texts: texts of the segments.
        labels: labels of the segments.
        groups: (segments,), number shared by translations of one source with the same references and raters.
        originals: (segments,), number shared, within a group, by a system's translation and its variants with injected
            errors.
        ratings: the ratings; empty if they were not kept.
        skipped: number of skipped ratings, and of errors whose category is not learned, by reason.
    """

    inputs: tuple[InputKind, ...]
    encoder: TextEncoder
    texts: SegmentTexts
    labels: SegmentLabels
    groups: Ints
    originals: Ints
    ratings: tuple[Rating, ...]
    skipped: Mapping[str, int]

    def __len__(self) -> int:
        return len(self.texts.hypotheses)

    @property
    def n_references(self) -> Ints:
        """Number of references of each segment: (segments,)."""
        return self.texts.references.lengths

    def usable(self) -> npt.NDArray[np.bool_]:
        """Returns whether each segment has the texts of each kind of input: (segments, inputs)."""
        has = {"source": self.texts.sources >= 0, "reference": self.n_references > 0}
        return np.stack([np.all([has[text] for text in kind.split("+")], axis=0) for kind in self.inputs], axis=1)

    def usable_inputs(self) -> tuple[InputKind, ...]:
        """Returns the kinds of input for which a segment has the texts."""
        usable = self.usable()
        return tuple(kind for number, kind in enumerate(self.inputs) if usable[:, number].any())

    def read(self, draw: Draw) -> list[int]:
        """Returns the number of each text that the model reads for a segment: hypothesis, source, reference."""
        kind, texts = self.inputs[draw.inputs], [self.texts.hypotheses[draw.segment]]
        if "source" in kind:
            texts.append(self.texts.sources[draw.segment])
        if "reference" in kind:
            texts.append(self.texts.references[draw.segment][draw.reference])
        return [int(text) for text in texts]

    def windows(self, draw: Draw) -> list[Encoding]:
        """Returns the model inputs of a segment; a long segment has several."""
        hypothesis, *contexts = map(self.texts.tokens, self.read(draw))
        return self.encoder.join(hypothesis, contexts, self.inputs[draw.inputs])

    def example(self, draw: Draw) -> Example:
        """Returns the training example of a segment; for a long text, a window of it without a score."""
        windows, labels = self.windows(draw), self.labels
        number = int(draw.window * len(windows))
        tag_ids = labels_of_windows(labels.tag_ids[draw.segment], windows)[number]
        rater_group, category_ids = int(labels.rater_groups[draw.segment]), None
        if labels.category_ids is not None:
            category_ids = labels_of_windows(labels.category_ids[draw.segment], windows)[number]
        meaning_ids = None
        if labels.meaning_ids is not None:
            meaning_ids = labels_of_windows(labels.meaning_ids[draw.segment], windows)[number]
        example = Example(
            windows[number], tag_ids, rater_group=rater_group, category_ids=category_ids, meaning_ids=meaning_ids
        )
        if len(windows) > 1:
            return example
        has_error = math.nan
        if labels.has_meaning_error is not None:
            has_error = float(labels.has_meaning_error[draw.segment])
        return replace(
            example,
            score=float(labels.scores[draw.segment]),
            group=draw.group,
            omissions=self._omissions(draw, windows[0]),
            has_meaning_error=has_error,
        )

    def _omissions(self, draw: Draw, encoding: Encoding) -> IntArray | None:
        reference = draw.reference if "reference" in self.inputs[draw.inputs] else None
        known, read = self.labels.omissions.get((draw.segment, reference)), encoding.context
        if known is None or read is None:
            return None
        # A context that is much longer than the hypothesis is cut.
        return known[read.start : read.start + len(read.ranges)].astype(np.int32)

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Returns texts, labels and groups by name, as `corpus_from_arrays` takes them."""
        texts, labels = self.texts, self.labels
        omissions = Ragged.of(labels.omissions.values(), np.zeros(0, np.int8))
        ragged = {"ids": texts.ids, "ranges": texts.ranges, "references": texts.references, "tag_ids": labels.tag_ids}
        ragged["omissions"] = omissions
        if labels.category_ids is not None:
            ragged["category_ids"] = labels.category_ids
        if labels.meaning_ids is not None:
            ragged["meaning_ids"] = labels.meaning_ids
        places = [(segment, -1 if reference is None else reference) for segment, reference in labels.omissions]
        arrays = {f"{name}.values": rows.values for name, rows in ragged.items()}
        arrays |= {f"{name}.starts": rows.starts for name, rows in ragged.items()}
        arrays |= {"hypotheses": texts.hypotheses, "sources": texts.sources, "rater_groups": labels.rater_groups}
        arrays |= {"groups": self.groups, "originals": self.originals}
        places_array = np.array(places, dtype=np.int64).reshape(-1, 2)
        known = {} if labels.has_meaning_error is None else {"has_meaning_error": labels.has_meaning_error}
        return {**arrays, **known, "scores": labels.scores, "omission_places": places_array}

    def fingerprint(self) -> str:
        """Returns a digest of all training data."""
        digest = hashlib.sha256(repr(self.inputs).encode())
        for name, array in self.arrays().items():
            digest.update(name.encode() + np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()[:16]


def corpus_from_arrays(
    arrays: Mapping[str, npt.NDArray[Any]],
    *,
    inputs: tuple[InputKind, ...],
    encoder: TextEncoder,
    skipped: Mapping[str, int],
) -> Corpus:
    """Returns the corpus with these arrays, see `Corpus.arrays`, without ratings."""

    def ragged(name: str) -> Ragged:
        return Ragged(arrays[f"{name}.values"], arrays[f"{name}.starts"])

    omissions, places = ragged("omissions"), arrays["omission_places"].tolist()
    texts = SegmentTexts(ragged("ids"), ragged("ranges"), arrays["hypotheses"], arrays["sources"], ragged("references"))
    labels = SegmentLabels(
        tag_ids=ragged("tag_ids"),
        scores=arrays["scores"],
        rater_groups=arrays["rater_groups"],
        omissions={
            (segment, None if reference < 0 else reference): omissions[row]
            for row, (segment, reference) in enumerate(places)
        },
        category_ids=ragged("category_ids") if "category_ids.values" in arrays else None,
        meaning_ids=ragged("meaning_ids") if "meaning_ids.values" in arrays else None,
        has_meaning_error=arrays.get("has_meaning_error"),
    )
    return Corpus(inputs, encoder, texts, labels, arrays["groups"], arrays["originals"], (), skipped)


def labels_of_windows(labels: Ints, windows: Sequence[Encoding]) -> list[IntArray]:
    """Returns the labels of each window's tokens, IGNORED for tokens whose labels are used in another window.

    The labels are those of the whole hypothesis, (tokens,).
    """
    window_labels, start = [], 0
    for window in windows:
        first, last = window.kept
        of_window = np.full(len(window.ranges), IGNORED, dtype=np.int32)
        of_window[first:last] = labels[start : start + last - first]
        window_labels.append(of_window)
        start += last - first
    return window_labels

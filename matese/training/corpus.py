"""Training data: tokenised texts, their labels, and how they are read.

They are tables with a row for each distinct text, for each rated segment, and for each text beside a segment whose
words may be missing. Large ones are those of a `datasets.Dataset` each, whose memory is that of their files
(`matese.training.corpus_cache`). Batches are made of arrays that are views of this memory: rows of a Dataset take
longer to fetch, see `benchmarks/training_rows.py`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from matese.annotation import Rating
from matese.model.arrays import Ints
from matese.model.config import ModelConfig
from matese.model.heads.learning import ExampleWindow, HeadTargets, LabelColumns, Ragged
from matese.model.texts.encoding import Encoding, InputKind, LanguageCodes, TextEncoder, Tokens
from matese.model.training_data import TestSetPlace
from matese.training.targets import Example

ANY = -1
"""See `Corpus.read_as`."""
NOT_YET = -2
"""See `Corpus.read_as`."""
_OF_SEGMENTS = ("languages", "rater_groups", "read_as", "groups", "originals")
"""Attributes of `Corpus` that are arrays."""
_OF_TEXTS = ("ids", "ranges")
"""Columns with a row for each distinct text."""


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
class Corpus:
    """Rated segments as arrays.

    Attributes:
        inputs: the kinds of input that the model reads.
        encoder: joins texts to a model input.
        texts: texts of the segments.
        heads: what the model learns.
        labels: labels of the segments, by name, see the `columns` of the heads.
        languages: (segments, 2), source's and target's code of a model that reads such codes, -1 for unknown ones;
            no row for other models.
        rater_groups: (segments,), see `Example.rater_group`.
        read_as: (segments,), ANY where any kind of input may be read; else the only kind that may be read, as an index
            into `inputs`, or NOT_YET for a translation that nobody rated and the model has not yet scored.
        groups: (segments,), number shared by translations of one source with the same references and raters.
        originals: (segments,), number shared, within a group, by a system's translation and its variants with injected
            errors.
        ratings: the ratings; empty if they were not kept.
        skipped: number of skipped ratings, and of errors whose category is not learned, by reason.
        places: test sets and language pairs of the segments, each with what is learned of it, in words.
        sources: hashes of the sources, see `matese.model.training_data`.
    """

    inputs: tuple[InputKind, ...]
    encoder: TextEncoder
    texts: SegmentTexts
    heads: tuple[HeadTargets, ...]
    labels: LabelColumns
    languages: Ints
    rater_groups: Ints
    read_as: Ints
    groups: Ints
    originals: Ints
    ratings: tuple[Rating, ...]
    skipped: Mapping[str, int]
    places: Mapping[TestSetPlace, str]
    sources: str

    def __len__(self) -> int:
        return len(self.texts.hypotheses)

    @property
    def n_references(self) -> Ints:
        """Number of references of each segment: (segments,)."""
        return self.texts.references.lengths

    def usable(self) -> npt.NDArray[np.bool_]:
        """Returns whether each segment may be read by each kind of input, and has its texts: (segments, inputs)."""
        has = {"source": self.texts.sources >= 0, "reference": self.n_references > 0}
        kinds = [np.all([has[text] for text in kind.split("+")], axis=0) for kind in self.inputs]
        may_read = [(self.read_as == ANY) | (self.read_as == number) for number in range(len(self.inputs))]
        usable: npt.NDArray[np.bool_] = np.stack(kinds, axis=1) & np.stack(may_read, axis=1)
        return usable

    def usable_inputs(self) -> tuple[InputKind, ...]:
        """Returns the kinds of input for which a segment has the texts."""
        usable = self.usable()
        return tuple(kind for number, kind in enumerate(self.inputs) if usable[:, number].any())

    def read(self, draw: Draw) -> list[int]:
        """Returns the number of each text that the model reads for a segment: hypothesis, source, reference."""
        kind = self.inputs[draw.inputs]
        texts = [self.texts.hypotheses[draw.segment]]
        if "source" in kind:
            texts.append(self.texts.sources[draw.segment])
        if "reference" in kind:
            texts.append(self.texts.references[draw.segment][draw.reference])
        return [int(text) for text in texts]

    def windows(self, draw: Draw) -> list[Encoding]:
        """Returns the model inputs of a segment; a long segment has several."""
        hypothesis, *contexts = map(self.texts.tokens, self.read(draw))
        codes = self.languages[draw.segment : draw.segment + 1].tolist()
        languages = LanguageCodes(*(None if code < 0 else code for code in codes[0])) if codes else None
        return self.encoder.join(hypothesis, contexts, self.inputs[draw.inputs], languages)

    @property
    def config(self) -> ModelConfig:
        """Settings of the model that learns from the corpus."""
        return self.heads[0].config

    def example(self, draw: Draw) -> Example:
        """Returns the training example of a segment; for a long text, of a window of it."""
        windows = self.windows(draw)
        return self._example(draw, windows, int(draw.window * len(windows)))

    def examples(self, draw: Draw) -> list[Example]:
        """Returns the examples of all windows of a segment."""
        windows = self.windows(draw)
        return [self._example(draw, windows, number) for number in range(len(windows))]

    def _example(self, draw: Draw, windows: Sequence[Encoding], number: int) -> Example:
        reference = draw.reference if "reference" in self.inputs[draw.inputs] else None
        place = ExampleWindow(draw.segment, reference, windows, number)
        labels: dict[str, Any] = {}
        for head in self.heads:
            labels |= head.example(self.labels, place)
        group = draw.group if place.is_whole else -1
        return Example(place.encoding, labels, group, int(self.rater_groups[draw.segment]))

    def tables(self) -> dict[str, pa.Table]:
        """Returns tables by the name of what a row stands for, as `corpus_from_tables` takes them."""
        columns = {field.name: getattr(self.texts, field.name) for field in fields(SegmentTexts)}
        columns |= {**{name: getattr(self, name) for name in _OF_SEGMENTS}, **self.labels}
        if not len(self.languages):
            del columns["languages"]
        tables: dict[str, dict[str, pa.Array]] = {}
        for name, column in columns.items():
            row = "text" if name in _OF_TEXTS else "segment" if len(column) == len(self) else "context"
            tables.setdefault(row, {})[name] = _to_arrow(column)
        return {row: pa.table(of_row) for row, of_row in tables.items()}

    def fingerprint(self) -> str:
        """Returns a digest of all training data."""
        digest = hashlib.sha256(repr(self.inputs).encode())
        for table in self.tables().values():
            for name in table.column_names:
                digest.update(name.encode())
                for buffer in table.column(name).chunk(0).buffers():
                    digest.update(buffer or b"")
        return digest.hexdigest()[:16]


def corpus_from_tables(
    tables: Iterable[pa.Table],
    *,
    inputs: tuple[InputKind, ...],
    encoder: TextEncoder,
    heads: Sequence[HeadTargets],
    skipped: Mapping[str, int],
    places: Mapping[TestSetPlace, str],
    sources: str,
) -> Corpus:
    """Returns the corpus of these tables, see `Corpus.tables`, without ratings; its arrays are views of them."""
    columns: dict[str, Any] = {"languages": np.zeros((0, 2), np.int64)}
    for table in tables:
        for name in table.column_names:
            parts = table.column(name)
            columns[name] = _from_arrow(parts.chunk(0) if parts.num_chunks else pa.array([], parts.type))
    return Corpus(
        inputs=inputs,
        encoder=encoder,
        texts=SegmentTexts(**{field.name: columns.pop(field.name) for field in fields(SegmentTexts)}),
        heads=tuple(heads),
        **{name: columns.pop(name) for name in _OF_SEGMENTS},
        labels=columns,
        ratings=(),
        skipped=skipped,
        places=places,
        sources=sources,
    )


def _to_arrow(column: Ragged | npt.NDArray[Any]) -> pa.Array:
    if isinstance(column, Ragged):
        return pa.LargeListArray.from_arrays(pa.array(column.starts), _to_arrow(column.values))
    if column.ndim > 1:
        return pa.FixedSizeListArray.from_arrays(pa.array(column.ravel()), column.shape[1])
    return pa.array(column)


def _from_arrow(column: pa.Array) -> Any:  # noqa: ANN401  (a Ragged or an array)
    """Returns a view of the column's memory: a `Ragged` of lists, an array of anything else."""
    if isinstance(column, pa.LargeListArray):
        return Ragged(_from_arrow(column.values), column.offsets.to_numpy())
    if isinstance(column, pa.FixedSizeListArray):
        return column.values.to_numpy().reshape(-1, column.type.list_size)
    return column.to_numpy()

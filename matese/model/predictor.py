"""Predict ratings with any model: tokens, windows, and work that runs ahead in threads."""

from __future__ import annotations

import threading
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import msgspec
import numpy as np

from matese.annotation import Rating
from matese.model.arrays import Floats
from matese.model.copy_and_blank import is_blank
from matese.model.decoding import Decoding
from matese.model.engines.engine import Engine
from matese.model.heads.quality.decoding import RowVector
from matese.model.interpreter import Interpreter
from matese.model.model_input import ModelInput, Row
from matese.model.prediction import Prediction, WindowOutput
from matese.model.texts import pieces
from matese.model.texts.encoding import Encoding, InputKind, TextEncoder
from matese.model.texts.pieces import LongText, SentenceStates

A = TypeVar("A")
B = TypeVar("B")

_BATCHES_PER_CHUNK = 16
"""Number of batches that are sorted by length together, after the first results."""
REMEMBERED = 2**27
"""Bytes of results to keep: systems share sources and references, and often translate a source alike."""
_MEASURED = 16
"""Results of which the size is measured, of those that are remembered together."""
_OF_OBJECTS = 950
"""Bytes that the objects of a result take besides what they hold."""


class PredictedRating(NamedTuple):
    """A segment's rating, and what it was made from.

    Attributes:
        model_input: the segment and the texts of it that were read.
        raw: what the network says of it.
        prediction: the same with what heads change in it, see `Interpreter.change`.
        rating: the rating.
    """

    model_input: ModelInput
    raw: Prediction
    prediction: Prediction
    rating: Rating


@dataclass(frozen=True, slots=True)
class Prepared:
    """Segments that are ready to be computed.

    Attributes:
        model_inputs: the segments, in order.
        remembered: rows that were computed before.
        rows: the other rows, except blank ones; a row is repeated for each of its encodings.
        compute: returns the engine's output for each of `rows`.
        long_texts: those of these rows whose pieces are only known when the whole has been read.
    """

    model_inputs: Sequence[ModelInput]
    remembered: Mapping[Row, Prediction]
    rows: Sequence[Row]
    compute: Callable[[], Sequence[WindowOutput]]
    long_texts: Mapping[Row, LongText]


class Predictor:
    """A model that predicts: text encoder, engine and interpreter.

    Attributes:
        interpreter: turns the engine's output into ratings.
        engine: computes encodings.
        text_encoder: turns texts into encodings.
        config: settings of the model.
        overrides: rules that override the model, see `matese.model.copy_and_blank`.
    """

    def __init__(self, interpreter: Interpreter, engine: Engine, text_encoder: TextEncoder) -> None:
        self.interpreter = interpreter
        self.engine = engine
        self.text_encoder = text_encoder
        self.config = interpreter.config
        self.overrides = interpreter.overrides
        self._memory = Memory()
        self._lock = threading.Lock()  # each stream has a thread, and a tokenizer serves one at a time

    @property
    def module(self) -> Any:  # noqa: ANN401  (torch is imported by models that need it)
        """The torch module; None if another library computes the model."""
        return self.engine.module

    @property
    def lowered_batch_tokens(self) -> int | None:
        """Most padded tokens of a batch since the device ran out of memory; None if it did not."""
        return self.engine.lowered_batch_tokens

    def settings(self, inputs: InputKind, decoding: Decoding) -> dict[str, str]:
        """Returns the fields of a signature for everything that ratings of segments with these inputs depend on."""
        return {
            "decode": self.interpreter.signature(inputs, decoding),
            "overrides": "+".join(self.overrides) or "none",
            **pieces.signature(self.config),
            "precision": self.engine.precision,
            "score": self.interpreter.scorer.scoring or "",
        }

    def annotate(self, model_inputs: Iterable[ModelInput], decoding: Decoding) -> Iterator[PredictedRating]:
        """Yields a rating for each segment, in order and lazily.

        Segments are read some batches ahead of the output; memory does not grow with their number.
        """
        first = self.engine.batch_tokens
        chunks = chunked(model_inputs, lambda read: read.n_tokens, first=first, largest=_BATCHES_PER_CHUNK * first)
        with closing(ahead(self.prepare, chunks)) as prepared:
            if not self.engine.is_async:
                for chunk in prepared:
                    yield from self._finish(chunk, self.compute(chunk), decoding)
                return
            # The device computes while its last results are decoded and used.
            with closing(ahead(lambda chunk: (chunk, self.compute(chunk)), prepared)) as computed:
                for chunk, rows in computed:
                    yield from self._finish(chunk, rows, decoding)

    def decode(
        self, model_inputs: Sequence[ModelInput], raw: Sequence[Prediction], decoding: Decoding
    ) -> Iterator[PredictedRating]:
        """Yields the rating for each prediction of the network."""
        for model_input, said in zip(model_inputs, raw, strict=True):
            changed = self.interpreter.change(model_input, said, decoding)
            rating = self.interpreter.decode(model_input, changed, decoding)
            yield PredictedRating(model_input, said, changed, rating)

    def prepare(self, model_inputs: Sequence[ModelInput]) -> Prepared:
        """Prepares tokens, windows and batches: the work that needs no device. Each distinct row is prepared once.

        Raises:
            InputError: if a text contains a lone surrogate.
        """
        layout = self.config.texts.layout
        readings = {reading for model_input in model_inputs for reading in model_input.readings}
        return self._prepare({row for reading in readings for row in reading.rows(layout)}, model_inputs)

    def _prepare(self, rows: Collection[Row], model_inputs: Sequence[ModelInput]) -> Prepared:
        distinct = sorted(rows, key=lambda row: (row.texts[0], row.texts[1:], row.inputs or "", str(row.languages)))
        texts = sorted({text for row in distinct for text in row.texts})
        with self._lock:
            tokens = dict(zip(texts, self.text_encoder.tokenize(texts), strict=True))
            remembered = self._memory.find(distinct)
        computed: list[Row] = []
        encodings: list[Encoding] = []
        long_texts: dict[Row, LongText] = {}
        for row in distinct:
            row_tokens = [tokens[text] for text in row.texts]
            is_skipped = "blank" in self.overrides and is_blank(row.texts[0], row_tokens[0])
            if row in remembered or is_skipped:
                continue
            long_text = LongText.of(self.config, self.text_encoder, row.texts, row_tokens, row.inputs, row.languages)
            if long_text is None:
                windows = self.text_encoder.join(row_tokens[0], row_tokens[1:], row.inputs, row.languages)
                read = self.interpreter.windows(windows)
            elif long_text.is_by_states:
                long_texts[row] = long_text
                read = long_text.whole()
            else:
                read = [*long_text.whole(), *long_text.pieces()]
            computed += [row] * len(read)
            encodings += read
        return Prepared(model_inputs, remembered, computed, self.engine.prepare(encodings), long_texts)

    def embed(self, texts: Sequence[str]) -> Floats:
        """Returns the embedding of each text, (texts, width), from a model that reads each text alone."""
        rows = [Row((text,)) for text in texts]
        computed = self.compute(self._prepare(set(rows), ()))
        return np.stack([computed[row].outputs[RowVector].values for row in rows])

    def compute(self, prepared: Prepared) -> dict[Row, Prediction]:
        """Returns the joint output for each row that is not blank.

        Raises:
            ModelError: if the model's output is NaN.
            torch.OutOfMemoryError: if the device cannot hold the longest row.
        """
        windows = defaultdict[Row, list[WindowOutput]](list)
        for row, output in zip(prepared.rows, prepared.compute(), strict=True):
            windows[row].append(output)
        later = [
            (row, piece)
            for row, long_text in prepared.long_texts.items()
            for piece in long_text.pieces(
                [(window.encoding, window.outputs.get(SentenceStates)) for window in windows[row]]
            )
        ]
        if later:
            read = self.engine.prepare([piece for _, piece in later])()
            for (row, _), output in zip(later, read, strict=True):
                windows[row].append(output)
        computed = self.interpreter.join(windows)
        with self._lock:
            self._memory.add(computed)
        return {**prepared.remembered, **computed}

    def _finish(
        self, prepared: Prepared, rows: Mapping[Row, Prediction], decoding: Decoding
    ) -> Iterator[PredictedRating]:
        predictions = self.interpreter.predict(prepared.model_inputs, rows, decoding, self.engine.combine)
        return self.decode(prepared.model_inputs, predictions, decoding)

    def forget(self) -> None:
        """Forgets earlier results, for a fair timing of the next run."""
        with self._lock:
            self._memory = Memory()


class Memory:
    """A cache of at most `REMEMBERED` bytes of results for rows; the oldest are forgotten first.

    Results that are added together count with the mean size of some of them, because measuring takes long.
    """

    def __init__(self) -> None:
        self._results: OrderedDict[Row, tuple[Prediction, int]] = OrderedDict()
        self.n_bytes = 0

    def find(self, rows: Iterable[Row]) -> dict[Row, Prediction]:
        """Returns the remembered results."""
        return {row: self._results[row][0] for row in rows if row in self._results}

    def add(self, results: Mapping[Row, Prediction]) -> None:
        """Remembers results, and forgets the oldest ones if there are too many."""
        added = [item for item in results.items() if item[0] not in self._results]
        if not added:
            return
        measured = added[:: len(added) // _MEASURED + 1]
        parts = [
            (row, result.hypothesis, result.ranges, [*result.outputs.by_type.values()]) for row, result in measured
        ]
        size = _OF_OBJECTS + len(msgspec.msgpack.encode(parts, enc_hook=bytes)) // len(measured)
        self._results.update((row, (result, size)) for row, result in added)
        self.n_bytes += size * len(added)
        while self.n_bytes > REMEMBERED:
            self.n_bytes -= self._results.popitem(last=False)[1][1]


def chunked(items: Iterable[A], size: Callable[[A], int], *, first: int, largest: int) -> Iterator[list[A]]:
    """Yields the items in lists; a list ends when the sizes of its items reach a limit.

    The limit of the first list is `first`; each next limit is twice as large, up to `largest`, so that the first
    results come early.

    >>> list(chunked("abcdefgh", lambda letter: 1, first=1, largest=3))
    [['a'], ['b', 'c'], ['d', 'e', 'f'], ['g', 'h']]
    """
    chunk: list[A] = []
    total = 0
    limit = first
    for item in items:
        chunk.append(item)
        total += size(item)
        if total >= limit:
            yield chunk
            chunk = []
            total = 0
            limit = min(2 * limit, largest)
    if chunk:
        yield chunk


def ahead(function: Callable[[A], B], items: Iterable[A]) -> Generator[B, None, None]:
    """Yields the function's result for each item, in order, while a thread computes the next one.

    Items are taken in the caller's thread, one ahead. An error of the items or of the function is raised after the
    results that precede it. The thread always ends before the generator does.
    """
    waiting: deque[Future[B]] = deque()
    failure: Exception | None = None
    stream: Iterator[A] | None = iter(items)
    executor = ThreadPoolExecutor(1, thread_name_prefix="matese-ahead")
    try:
        while stream is not None or waiting:
            while stream is not None and len(waiting) < 2:
                try:
                    waiting.append(executor.submit(function, next(stream)))
                except StopIteration:
                    stream = None
                except Exception as error:
                    stream = None
                    failure = error
            if waiting:
                yield waiting.popleft().result()
    finally:  # also after Ctrl-C and when the generator is closed
        executor.shutdown(cancel_futures=True)
    if failure is not None:
        raise failure

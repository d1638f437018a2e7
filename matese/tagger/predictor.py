"""Runs a tagger over rows of texts: tokens, windows, batches by token budget, and the joining of windows."""

from __future__ import annotations

import math
import threading
from collections import OrderedDict, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import torch

from matese.encoder.encoding import Encoding, Inputs, TextEncoder, Tokens
from matese.encoder.hardware import return_freed_memory
from matese.tagger.batch import Batch, Example, by_length, collate
from matese.tagger.decoding import FloatArray
from matese.tagger.lexical import match_kinds
from matese.tagger.model import LOWEST_SCORE, TaggerOutput

_BETWEEN_TRIMS = 4
"""Batches on a CPU after which freed memory goes back to the system: the next ones use other pieces of it."""
REMEMBERED = 2**19
"""Tokens of the hypotheses whose results are kept, 40 bytes each: systems often say the same of one source."""


class Engine(Protocol):
    """What computes a batch: torch, or the runtime that a model was exported for.

    Attributes:
        is_apart: whether it computes beside the processor that does all else.
    """

    is_apart: bool

    def __call__(self, batch: Batch) -> TaggerOutput:
        """Returns the output, perhaps before it is computed."""


@dataclass(frozen=True, slots=True, order=True)
class Row:
    """A hypothesis, its contexts, and which these are."""

    hypothesis: str
    contexts: tuple[str, ...]
    inputs: Inputs


@dataclass(frozen=True, slots=True)
class Scored:
    """Log-probabilities (tokens, tags) of one hypothesis and its expected score."""

    log_probabilities: FloatArray
    score: float | None
    is_windowed: bool


@dataclass(frozen=True, slots=True)
class Prepared:
    """Rows that are ready to be computed.

    Attributes:
        tokens: of every text of the rows.
        known: the rows whose result is remembered.
        rows: the others, without those that have nothing to tag; one is named once for each of its windows.
        encodings: of each of `rows`.
        batches: numbers of `encodings`, and their batch.
    """

    tokens: Mapping[str, Tokens]
    known: Mapping[Row, Scored]
    rows: Sequence[Row]
    encodings: Sequence[Encoding]
    batches: Sequence[tuple[list[int], Batch]]


class Predictor:
    """A tagger, with what turns texts into its input."""

    def __init__(self, engine: Engine, texts: TextEncoder, *, batch_tokens: int, has_lexical_match: bool) -> None:
        """Takes what computes, and the padded tokens of a batch at most."""
        self.batch_tokens = batch_tokens
        """Becomes less where the device has not the memory."""
        self.is_apart = engine.is_apart
        self._engine, self._texts, self._has_lexical_match = engine, texts, has_lexical_match
        self._known: OrderedDict[Row, Scored] = OrderedDict()
        self._n_known = 0
        self._lock = threading.Lock()
        """Several streams may be annotated in turn, each with a thread of its own; a tokenizer takes one at a time."""

    def knows(self, text: str | None) -> bool:
        """Whether the vocabulary has the script of a text, if there is one."""
        return text is None or self._texts.knows(text)

    def prepare(self, rows: Iterable[Row]) -> Prepared:
        """Does what needs no device, each distinct row once.

        Raises:
            ValueError: if a text holds half of a surrogate pair, which is no character.
        """
        distinct = sorted(set(rows))
        texts = sorted({text for row in distinct for text in (row.hypothesis, *row.contexts)})
        with self._lock:
            tokens = dict(zip(texts, self._texts.tokenize(texts), strict=True))
            known = {row: self._known[row] for row in distinct if row in self._known}
        named: list[Row] = []
        encodings: list[Encoding] = []
        for row in distinct:
            own = tokens[row.hypothesis]
            if row not in known and row.hypothesis.strip() and len(own.ids):
                windows = self._texts.join(own, [tokens[text] for text in row.contexts], row.inputs)
                named += [row] * len(windows)
                encodings += windows
        batches = self._batches(encodings, range(len(encodings)))
        return Prepared(tokens, known, named, encodings, batches)

    def score(self, prepared: Prepared) -> dict[Row, Scored]:
        """Returns what the model says of each row that has something to tag.

        Raises:
            torch.OutOfMemoryError: if the device cannot hold the longest row.
        """
        grouped: dict[Row, list[tuple[Encoding, FloatArray, float | None]]] = {}
        results = self._run(prepared)
        for number, (row, encoding) in enumerate(zip(prepared.rows, prepared.encodings, strict=True)):
            grouped.setdefault(row, []).append((encoding, *results[number]))
        scored = {row: join_windows(windows) for row, windows in grouped.items()}
        self._remember(scored)
        if len(prepared.batches) > 1:  # one batch frees little, and who sent it may be waiting
            return_freed_memory()
        return {**prepared.known, **scored}

    def _batches(self, encodings: Sequence[Encoding], numbers: Sequence[int]) -> list[tuple[list[int], Batch]]:
        """Returns the batches of the encodings with these numbers, within the budget."""
        found = []
        for places in by_length([encodings[number] for number in numbers], self.batch_tokens):
            chosen = [numbers[place] for place in places]
            examples = [Example(encodings[number]) for number in chosen]
            batch = collate(examples, pad_id=self._texts.pad_id, share_contexts=True)
            if self._has_lexical_match:
                kinds = match_kinds(batch.ids.numpy(), batch.roles.numpy())
                batch = replace(batch, matches=torch.from_numpy(np.stack(kinds)))
            found.append((chosen, batch))
        return found

    def _run(self, prepared: Prepared) -> dict[int, tuple[FloatArray, float | None]]:
        """Returns log-probabilities (tokens, tags) and score of each encoding, by its number."""
        outputs: list[tuple[list[int], TaggerOutput]] = []
        waiting = deque(prepared.batches)
        while waiting:
            numbers, batch = waiting.popleft()
            output = self._try(batch)
            if output is not None:
                outputs.append((numbers, output))
                if not self.is_apart and len(outputs) % _BETWEEN_TRIMS == 0:
                    return_freed_memory()
                continue
            n_tokens = batch.mask.numel() + (0 if batch.decoder_mask is None else batch.decoder_mask.numel())
            self.batch_tokens = max(1, min(self.batch_tokens, n_tokens) // 2)
            left = [number for numbers, _ in [(numbers, batch), *waiting] for number in numbers]
            waiting = deque(self._batches(prepared.encodings, left))
        # Read only now: a GPU is given all of its work before anybody waits for the first result.
        results = {}
        for numbers, output in outputs:
            log_probabilities = torch.log_softmax(output.tag_logits.cpu().double(), -1).numpy()
            scores = [None] * len(numbers) if output.score is None else output.score.tolist()
            for row, (number, score) in enumerate(zip(numbers, scores, strict=True)):
                results[number] = (log_probabilities[row, : len(prepared.encodings[number].ranges)], score)
        return results

    def _try(self, batch: Batch) -> TaggerOutput | None:
        """Returns what the engine says; None where the memory does not hold a batch that can be halved."""
        try:
            return self._engine(batch)
        except torch.OutOfMemoryError:
            if len(batch.positions) == 1:
                raise
        # Behind the handler, whose traceback holds the tensors of the batch.
        if torch.cuda.is_available():
            torch.cuda.empty_cache()
        return None

    def forget(self) -> None:
        """Forgets the results of earlier rows, as a measurement of speed asks."""
        with self._lock:
            self._known.clear()
            self._n_known = 0

    def _remember(self, scored: Mapping[Row, Scored]) -> None:
        with self._lock:
            for row, result in scored.items():
                if row not in self._known:
                    self._known[row] = result
                    self._n_known += len(result.log_probabilities)
            while self._n_known > REMEMBERED:
                _, oldest = self._known.popitem(last=False)
                self._n_known -= len(oldest.log_probabilities)


def join_windows(windows: Sequence[tuple[Encoding, FloatArray, float | None]]) -> Scored:
    """Joins the kept parts; a window's score counts by the share of it that is kept."""
    joined = np.concatenate([rows[slice(*encoding.kept)] for encoding, rows, _ in windows])
    if len(windows) == 1:
        return Scored(joined, windows[0][2], is_windowed=False)
    shares = [(encoding.kept[1] - encoding.kept[0]) / len(encoding.ranges) for encoding, _, _ in windows]
    scores = [score for _, _, score in windows if score is not None]
    total = math.fsum(score * share for score, share in zip(scores, shares, strict=True)) if scores else None
    return Scored(joined, None if total is None else max(total, LOWEST_SCORE), is_windowed=True)

"""From requests to predictions: tokens, windows, batches by token budget, and work that runs ahead in threads."""

from __future__ import annotations

import threading
from collections import OrderedDict, deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeVar

import torch

from matese.annotation import Segment
from matese.encoder.encoding import Encoding, TextEncoder
from matese.encoder.hardware import return_freed_memory
from matese.tagger import policies as rules
from matese.tagger.associations import Associations
from matese.tagger.batch import Batch, Example, by_length, collate
from matese.tagger.config import TaggerConfig
from matese.tagger.engine import Engine
from matese.tagger.model import TaggerOutput, find_matches
from matese.tagger.prediction import FloatArray, Prediction, combine, join_missing, join_windows
from matese.tagger.request import Request, contexts, inputs_of

A = TypeVar("A")
B = TypeVar("B")

_BATCHES_PER_TRIM = 4
"""Batches on a CPU after which freed memory is returned to the system; the next batches use other block sizes."""
_BATCHES_PER_CHUNK = 16
"""How many batches are sorted by length together, once the first results have come."""
REMEMBERED = 2**19
"""Tokens whose predictions are kept, about 50 bytes each: systems often translate a source alike."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """Requests that are ready to be computed.

    Attributes:
        requests: in order.
        remembered: predictions for readings that were computed before.
        readings: the other readings, except blank ones; a reading is repeated for each of its windows.
        encodings: one for each of `readings`.
        batches: indices into `encodings`, and the batch of these encodings.
    """

    requests: Sequence[Request]
    remembered: Mapping[Segment, Prediction]
    readings: Sequence[Segment]
    encodings: Sequence[Encoding]
    batches: Sequence[tuple[list[int], Batch]]


class WindowOutput(NamedTuple):
    """What the model computes for an encoding.

    Attributes:
        encoding: what was read.
        log_probabilities: (hypothesis tokens, tags).
        score: of the score head; None without one.
        lacking: (tokens of the last context,), probability that the hypothesis lacks the token; None without a head.
    """

    encoding: Encoding
    log_probabilities: FloatArray
    score: float | None
    lacking: FloatArray | None


class Predictor:
    """A tagger that predicts: engine, tokenizer, settings and policies.

    Attributes:
        associations: the table of associated words; None for a model without one.
        batch_tokens: most padded tokens of a batch, as asked for.
        lowered_batch_tokens: the same since the device ran out of memory; None if it did not.
        policies: rules that override the model, see `matese.tagger.policies`.
    """

    def __init__(
        self,
        engine: Engine,
        text_encoder: TextEncoder,
        config: TaggerConfig,
        *,
        batch_tokens: int,
        policies: Iterable[str] = rules.POLICIES,
        associations: Associations | None = None,
    ) -> None:
        """Raises UsageError for an unknown policy."""
        self.engine, self.text_encoder, self.config = engine, text_encoder, config
        self.associations, self.batch_tokens, self.policies = associations, batch_tokens, rules.check(policies)
        self.lowered_batch_tokens: int | None = None
        self._memory = _Memory()
        self._lock = threading.Lock()  # streams have threads of their own, and a tokenizer takes one at a time

    def stream(self, requests: Iterable[Request]) -> Iterator[list[tuple[Request, Prediction]]]:
        """Yields the requests with their predictions, in order and lazily, in lists of growing length.

        Requests are taken some batches ahead of what is yielded; memory does not grow with their number.
        """
        largest = _BATCHES_PER_CHUNK * self.batch_tokens
        chunks = chunked(requests, lambda one: one.n_tokens, first=self.batch_tokens, largest=largest)
        with closing(ahead(self.prepare, chunks)) as prepared:
            if not self.engine.is_async:
                for one in prepared:
                    yield self._finish(one, self.compute(one))
                return
            # The device computes while its last results are decoded and used.
            with closing(ahead(lambda one: (one, self.compute(one)), prepared)) as computed:
                for one, found in computed:
                    yield self._finish(one, found)

    def prepare(self, requests: Sequence[Request]) -> Prepared:
        """Returns tokens, windows and batches: the work that needs no device. Each distinct reading is prepared once.

        Raises:
            InputError: if a text holds half of a surrogate pair.
        """
        distinct = sorted(
            {reading for request in requests for reading in request.readings},
            key=lambda one: (one.hypothesis, contexts(one), inputs_of(one)),
        )
        texts = sorted({text for reading in distinct for text in (reading.hypothesis, *contexts(reading))})
        with self._lock:
            tokens = dict(zip(texts, self.text_encoder.tokenize(texts), strict=True))
            remembered = self._memory.find(distinct)
        readings: list[Segment] = []
        encodings: list[Encoding] = []
        for reading in distinct:
            own = tokens[reading.hypothesis]
            is_skipped = "blank" in self.policies and rules.is_blank(reading.hypothesis, own)
            if reading not in remembered and not is_skipped:
                windows = self.text_encoder.join(own, [tokens[text] for text in contexts(reading)], inputs_of(reading))
                readings += [reading] * len(windows)
                encodings += windows
        return Prepared(requests, remembered, readings, encodings, self._batches(encodings, range(len(encodings))))

    def compute(self, prepared: Prepared) -> dict[Segment, Prediction]:
        """Returns the prediction for each reading that is not blank.

        Raises:
            torch.OutOfMemoryError: if the device cannot hold the longest row.
        """
        windows: dict[Segment, list[WindowOutput]] = {}
        outputs = self._run(prepared)
        for number, reading in enumerate(prepared.readings):
            windows.setdefault(reading, []).append(outputs[number])
        found = {reading: _join(reading, own) for reading, own in windows.items()}
        with self._lock:
            self._memory.add(found)
        if len(prepared.batches) > 1:  # a single batch frees little, and its sender may be waiting
            return_freed_memory()
        return {**prepared.remembered, **found}

    def _finish(self, prepared: Prepared, found: Mapping[Segment, Prediction]) -> list[tuple[Request, Prediction]]:
        finished = []
        for request in prepared.requests:
            own = [found[reading] for reading in request.readings if reading in found]
            prediction = combine(request, own, self.config.blend(request.inputs)) if own else rules.for_blank(request)
            if own and "copy" in self.policies and rules.is_copy(request):
                prediction = rules.without_error(prediction)
            finished.append((request, prediction))
        return finished

    def _batches(self, encodings: Sequence[Encoding], numbers: Sequence[int]) -> list[tuple[list[int], Batch]]:
        """Returns the batches of the encodings with these indices, within the budget."""
        batches = []
        budget = self.lowered_batch_tokens or self.batch_tokens
        for places in by_length([encodings[number] for number in numbers], budget):
            chosen = [numbers[place] for place in places]
            examples = [Example(encodings[number]) for number in chosen]
            batch = collate(examples, pad_id=self.text_encoder.pad_id, share_contexts=True)
            if self.config.lexical_match:
                batch = replace(batch, matches=find_matches(batch, self.associations))
            batches.append((chosen, batch))
        return batches

    def _run(self, prepared: Prepared) -> dict[int, WindowOutput]:
        """Returns the output for each encoding, by its index."""
        outputs: list[tuple[list[int], TaggerOutput]] = []
        waiting = deque(prepared.batches)
        while waiting:
            numbers, batch = waiting.popleft()
            output = self._try(batch)
            if output is not None:
                outputs.append((numbers, output))
                if not self.engine.is_async and len(outputs) % _BATCHES_PER_TRIM == 0:
                    return_freed_memory()
                continue
            n_tokens = batch.mask.numel() + (0 if batch.decoder_mask is None else batch.decoder_mask.numel())
            self.lowered_batch_tokens = max(1, min(self.lowered_batch_tokens or self.batch_tokens, n_tokens) // 2)
            left = [number for numbers, _ in [(numbers, batch), *waiting] for number in numbers]
            waiting = deque(self._batches(prepared.encodings, left))
        # Outputs are read only now, so that a GPU has all its work before anybody waits for the first result.
        return {
            number: one
            for numbers, output in outputs
            for number, one in zip(numbers, _rows(output, [prepared.encodings[n] for n in numbers]), strict=True)
        }

    def _try(self, batch: Batch) -> TaggerOutput | None:
        """Returns the engine's output; None if a batch that can be halved does not fit into memory."""
        try:
            return self.engine(batch)
        except torch.OutOfMemoryError:
            if len(batch.positions) == 1:
                raise
        # After the handler, whose traceback holds the tensors of the batch.
        if torch.cuda.is_available():
            torch.cuda.empty_cache()
        return None

    def forget(self) -> None:
        """Forgets earlier predictions, so that the next run can be timed."""
        with self._lock:
            self._memory = _Memory()


def _rows(output: TaggerOutput, encodings: Sequence[Encoding]) -> Iterator[WindowOutput]:
    """Yields the output for each row of a batch, without padding."""
    log_probabilities = torch.log_softmax(output.tag_logits.cpu().double(), -1).numpy()
    scores = [None] * len(encodings) if output.score is None else output.score.tolist()
    lacking = None if output.omission_logits is None else output.omission_logits.cpu().sigmoid().numpy()
    for row, (encoding, score) in enumerate(zip(encodings, scores, strict=True)):
        part, own = encoding.context, None
        if lacking is not None and part is not None:
            own = lacking[row, part.first : part.first + len(part.ranges)]
        yield WindowOutput(encoding, log_probabilities[row, : len(encoding.ranges)], score, own)


def _join(reading: Segment, windows: Sequence[WindowOutput]) -> Prediction:
    joined = join_windows(reading.hypothesis, [(one.encoding, one.log_probabilities, one.score) for one in windows])
    lacking = [(one.encoding, one.lacking) for one in windows if one.lacking is not None]
    if not lacking:
        return joined
    return replace(joined, missing=join_missing(lacking, is_reference=bool(reading.references)))


class _Memory:
    """Predictions for readings, the oldest of which are forgotten: at most `REMEMBERED` tokens."""

    def __init__(self) -> None:
        self._found: OrderedDict[Segment, Prediction] = OrderedDict()
        self.n_tokens = 0

    def find(self, readings: Iterable[Segment]) -> dict[Segment, Prediction]:
        return {reading: self._found[reading] for reading in readings if reading in self._found}

    def add(self, found: Mapping[Segment, Prediction]) -> None:
        for reading, prediction in found.items():
            if reading not in self._found:
                self._found[reading] = prediction
                self.n_tokens += len(prediction.ranges)
        while self.n_tokens > REMEMBERED:
            _, oldest = self._found.popitem(last=False)
            self.n_tokens -= len(oldest.ranges)


def chunked(items: Iterable[A], size: Callable[[A], int], *, first: int, largest: int) -> Iterator[list[A]]:
    """Yields the items in lists; a list ends when the sizes of its items reach a limit.

    Args:
        items: any number of them.
        size: of an item.
        first: limit of the first list. Each next limit is twice as large, so that first results come soon.
        largest: highest limit.

    >>> list(chunked("abcdefgh", lambda letter: 1, first=1, largest=3))
    [['a'], ['b', 'c'], ['d', 'e', 'f'], ['g', 'h']]
    """
    chunk: list[A] = []
    total, limit = 0, first
    for item in items:
        chunk.append(item)
        total += size(item)
        if total >= limit:
            yield chunk
            chunk, total, limit = [], 0, min(2 * limit, largest)
    if chunk:
        yield chunk


def ahead(function: Callable[[A], B], items: Iterable[A]) -> Generator[B, None, None]:
    """Yields the function's result for each item, in order, while a thread computes the next one.

    Items are taken in the caller's thread, one ahead. An error of the items or of the function is raised after the
    results that precede it. However the generator ends, its thread ends first.
    """
    waiting: deque[Future[B]] = deque()
    failure: Exception | None = None
    stream = iter(items)
    is_open = True
    executor = ThreadPoolExecutor(1, thread_name_prefix="matese")
    try:
        while is_open or waiting:
            while is_open and len(waiting) < 2:
                try:
                    waiting.append(executor.submit(function, next(stream)))
                except StopIteration:
                    is_open = False
                except Exception as error:
                    is_open, failure = False, error
            if waiting:
                yield waiting.popleft().result()
    finally:  # also after Ctrl-C and when the generator is closed
        executor.shutdown(cancel_futures=True)
    if failure is not None:
        raise failure

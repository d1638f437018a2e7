"""Computes encodings in batches of similar length, within a budget of padded tokens."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Generic

import torch

from matese.encoder.encoding import Encoding
from matese.encoder.hardware import return_freed_memory
from matese.tagger.associations import Associations
from matese.tagger.batch import Batch, Example, by_length, collate
from matese.tagger.engine import Job, Output
from matese.tagger.model import TaggerOutput, find_matches
from matese.tagger.runners import OutputT, Runner

_BATCHES_PER_TRIM = 4
"""Batches on a CPU after which freed memory is returned to the system; the next batches use other block sizes."""
Batches = Sequence[tuple[list[int], Batch]]
"""Indices of encodings, and the batch of these encodings."""


class BatchRunner(Generic[OutputT]):
    """Computes encodings with a runner, within its budget of tokens.

    Attributes:
        runner: computes a batch.
        batch_tokens: most padded tokens of a batch, as asked for.
        lowered_batch_tokens: the same since the device ran out of memory; None if it did not.
    """

    def __init__(
        self,
        runner: Runner[OutputT],
        *,
        pad_id: int,
        batch_tokens: int,
        complete: Callable[[Batch], Batch] = lambda batch: batch,
    ) -> None:
        """Takes what computes a batch.

        Args:
            runner: computes a batch.
            pad_id: id of padding.
            batch_tokens: most padded tokens of a batch.
            complete: adds to a batch what the model needs besides its texts.
        """
        self.runner, self.batch_tokens = runner, batch_tokens
        self.lowered_batch_tokens: int | None = None
        self._pad_id, self._complete = pad_id, complete

    def batches(self, encodings: Sequence[Encoding], numbers: Sequence[int]) -> Batches:
        """Returns the batches of the encodings with these indices, within the budget."""
        batches = []
        budget = self.lowered_batch_tokens or self.batch_tokens
        for places in by_length([encodings[number] for number in numbers], budget):
            chosen = [numbers[place] for place in places]
            examples = [Example(encodings[number]) for number in chosen]
            batches.append((chosen, self._complete(collate(examples, pad_id=self._pad_id, share_contexts=True))))
        return batches

    def run(self, encodings: Sequence[Encoding], batches: Batches) -> list[tuple[list[int], OutputT]]:
        """Returns the outputs of the batches, with the indices of their encodings.

        A GPU may still be computing them, so that it has all its work before anybody waits for the first result.

        Raises:
            torch.OutOfMemoryError: if the device cannot hold the longest row.
        """
        outputs: list[tuple[list[int], OutputT]] = []
        waiting = deque(batches)
        while waiting:
            numbers, batch = waiting.popleft()
            output = self._try(batch)
            if output is not None:
                outputs.append((numbers, output))
                if not self.runner.is_async and len(outputs) % _BATCHES_PER_TRIM == 0:
                    return_freed_memory()
                continue
            n_tokens = batch.mask.numel() + (0 if batch.decoder_mask is None else batch.decoder_mask.numel())
            self.lowered_batch_tokens = max(1, min(self.lowered_batch_tokens or self.batch_tokens, n_tokens) // 2)
            left = [number for numbers, _ in [(numbers, batch), *waiting] for number in numbers]
            waiting = deque(self.batches(encodings, left))
        return outputs

    def _try(self, batch: Batch) -> OutputT | None:
        """Returns the runner's output; None if a batch that can be halved does not fit into memory."""
        try:
            return self.runner(batch)
        except torch.OutOfMemoryError:
            if len(batch.positions) == 1:
                raise
        # After the handler, whose traceback holds the tensors of the batch.
        if torch.cuda.is_available():
            torch.cuda.empty_cache()
        return None


class BatchEngine(BatchRunner[TaggerOutput]):
    """Computes what a tagger says of encodings. Attributes are also those of `Engine`."""

    def __init__(
        self,
        runner: Runner[TaggerOutput],
        *,
        pad_id: int,
        batch_tokens: int,
        has_matches: bool = False,
        associations: Associations | None = None,
    ) -> None:
        """Takes what computes a batch.

        Args:
            runner: computes a batch.
            pad_id: id of padding.
            batch_tokens: most padded tokens of a batch.
            has_matches: whether the model reads which tokens match, see `matches.find`.
            associations: the model's table of associated words; None for a model without one.
        """

        def with_matches(batch: Batch) -> Batch:
            return replace(batch, matches=find_matches(batch, associations)) if has_matches else batch

        super().__init__(runner, pad_id=pad_id, batch_tokens=batch_tokens, complete=with_matches)
        self.precision, self.is_async = runner.precision, runner.is_async

    def prepare(self, encodings: Sequence[Encoding]) -> Job:
        """Returns what computes the encodings.

        Raises:
            torch.OutOfMemoryError: in the job, if the device cannot hold the longest row.
        """
        batches = self.batches(encodings, range(len(encodings)))
        return lambda: self._compute(encodings, batches)

    def _compute(self, encodings: Sequence[Encoding], batches: Batches) -> list[Output]:
        results = dict(_read(self.run(encodings, batches), encodings))
        if len(batches) > 1:  # a single batch frees little, and its sender may be waiting
            return_freed_memory()
        return [results[number] for number in range(len(encodings))]


def _read(
    outputs: Iterable[tuple[list[int], TaggerOutput]], encodings: Sequence[Encoding]
) -> Iterator[tuple[int, Output]]:
    """Yields the index of each encoding and what the model says of it.

    The outputs are read only when all batches are launched, so that a GPU has all its work before anybody waits.
    """
    for numbers, output in outputs:
        yield from zip(numbers, _rows(output, [encodings[number] for number in numbers]), strict=True)


def _rows(output: TaggerOutput, encodings: Sequence[Encoding]) -> Iterator[Output]:
    """Yields the output for each row of a batch, without padding."""
    log_probabilities = torch.log_softmax(output.tag_logits.cpu().double(), -1).numpy()
    scores = [None] * len(encodings) if output.score is None else output.score.tolist()
    lacking = None if output.omission_logits is None else output.omission_logits.cpu().sigmoid().numpy()
    categories = None if output.category_logits is None else output.category_logits.cpu().numpy()
    for row, (encoding, score) in enumerate(zip(encodings, scores, strict=True)):
        part, own = encoding.context, None
        if lacking is not None and part is not None:
            own = lacking[row, part.first : part.first + len(part.ranges)]
        n_tokens = len(encoding.ranges)
        of_errors = None if categories is None else categories[row, :n_tokens]
        yield Output(encoding, log_probabilities[row, :n_tokens], score, own, of_errors)

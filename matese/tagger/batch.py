"""Examples and batches of a tagger."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from matese.encoder.encoding import Encoding, IntArray

FloatArray = npt.NDArray[np.float32]

IGNORED = -100
"""Tag id where there is none to learn: the default of torch's cross-entropy."""


@dataclass(frozen=True, slots=True)
class Example:
    """A row to learn from or to tag.

    Attributes:
        encoding: of one segment or window.
        tag_ids: (hypothesis tokens,); None to tag.
        score: MQM score of the segment; nan for none.
        doubts: (hypothesis tokens,), share of other translations that do not hold each, nan where it is not known;
            None for none.
        group: segments of one number are translations of one source, read alike; -1 for none.
        habit: number of the raters' habits, 0 for the usual ones.
    """

    encoding: Encoding
    tag_ids: IntArray | None = None
    score: float = math.nan
    doubts: FloatArray | None = None
    group: int = -1
    habit: int = 0


@dataclass(frozen=True, slots=True)
class Batch:
    """Tensors of some examples, padded on the right.

    Attributes:
        ids: (batch, tokens), int64, what the encoder reads; (contexts, tokens) where contexts are shared.
        roles: as `ids`, int64, see `encoding.ROLES`.
        mask: as `ids`, True where there is a token.
        decoder_ids: (batch, decoder tokens), int64; None for a model without decoder.
        decoder_mask: (batch, decoder tokens).
        positions: (batch, hypothesis tokens), int64, places of the hypothesis' tokens in `ids` or `decoder_ids`.
        hypothesis_mask: (batch, hypothesis tokens), True where there is a token.
        tag_ids: (batch, hypothesis tokens), int64, IGNORED where there is none; None to tag.
        scores: (batch,), float32, nan where there is none.
        doubts: (batch, hypothesis tokens), float32, nan where there is none; None if there are none.
        groups: (batch,), int64, see `Example`.
        habits: (batch,), int64, see `Example`.
        contexts: (batch,), int64, which row of `ids` goes with each row of `decoder_ids`, where contexts are shared;
            None where each row has its own.
        matches: (relations, batch, tokens), int64, see `lexical.match_kinds`; None to leave it to the model.
        places: (tokens of all rows,), int64, see `packed`; None where padding is computed too.
    """

    ids: Tensor
    roles: Tensor
    mask: Tensor
    decoder_ids: Tensor | None
    decoder_mask: Tensor | None
    positions: Tensor
    hypothesis_mask: Tensor
    tag_ids: Tensor | None
    scores: Tensor
    doubts: Tensor | None
    groups: Tensor
    habits: Tensor
    contexts: Tensor | None = None
    matches: Tensor | None = None
    places: Tensor | None = None

    def packed(self) -> Batch:
        """Returns the batch with the places of its tokens, counted through the rows of `ids`."""
        return dataclasses.replace(self, places=self.mask.flatten().nonzero().squeeze(1))

    def to(self, device: torch.device) -> Batch:
        """Returns the batch on a device."""
        return self._mapped(lambda tensor: tensor.to(device, non_blocking=True))

    def pin_memory(self) -> Batch:
        """Returns the batch in page-locked memory, as torch's data loader asks."""
        return self._mapped(Tensor.pin_memory)

    def _mapped(self, function: Callable[[Tensor], Tensor]) -> Batch:
        tensors = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        return dataclasses.replace(
            self, **{name: function(tensor) for name, tensor in tensors.items() if tensor is not None}
        )


def collate(examples: Sequence[Example], *, pad_id: int, share_contexts: bool = False) -> Batch:
    """Returns the batch of some examples, of which all or none have a decoder's input and tags.

    Args:
        examples: of one form.
        pad_id: what ids are filled up with.
        share_contexts: let a decoder's rows of one context share one row of the encoder.
    """
    encodings = [example.encoding for example in examples]
    decoder_ids = decoder_mask = contexts = tag_ids = doubts = None
    read = encodings
    if encodings[0].decoder_ids is not None:
        if share_contexts:
            read, contexts = _distinct_contexts(encodings)
        decoder_ids, decoder_mask = _padded([_present(encoding.decoder_ids) for encoding in encodings], pad_id)
    if examples[0].tag_ids is not None:
        tag_ids, _ = _padded([_present(example.tag_ids) for example in examples], IGNORED)
    if any(example.doubts is not None for example in examples):
        doubts = torch.full(tag_ids.shape if tag_ids is not None else (0, 0), math.nan)
        for row, example in enumerate(examples):
            if example.doubts is not None:
                doubts[row, : len(example.doubts)] = torch.from_numpy(example.doubts)
    ids, mask = _padded([encoding.ids for encoding in read], pad_id)
    roles, _ = _padded([encoding.roles for encoding in read], 0)
    starts = [np.arange(encoding.first, encoding.first + len(encoding.ranges)) for encoding in encodings]
    positions, hypothesis_mask = _padded(starts, 0)
    scores = torch.tensor([example.score for example in examples], dtype=torch.float32)
    groups = torch.tensor([example.group for example in examples])
    habits = torch.tensor([example.habit for example in examples])
    return Batch(
        ids,
        roles,
        mask,
        decoder_ids,
        decoder_mask,
        positions,
        hypothesis_mask,
        tag_ids,
        scores,
        doubts,
        groups,
        habits,
        contexts,
    )


def _distinct_contexts(encodings: Sequence[Encoding]) -> tuple[list[Encoding], Tensor]:
    """Returns one encoding for each context, and the number of each encoding's context among them."""
    distinct = {encoding.ids.tobytes(): encoding for encoding in encodings}
    numbers = {ids: number for number, ids in enumerate(distinct)}
    return list(distinct.values()), torch.tensor([numbers[encoding.ids.tobytes()] for encoding in encodings])


_ENOUGH, _PADDING = 0.25, 0.1
"""Share of the budget that keeps a processor busy, and of padding from which the rest is better computed apart."""


def by_length(encodings: Sequence[Encoding], batch_tokens: int) -> Iterator[list[int]]:
    """Yields the numbers of the encodings of each batch, longest first, padded tokens within the budget.

    Those of one context stand side by side, so that they can share it. One that is longer than the budget is alone. A
    batch of a quarter of the budget ends where padding would begin to cost more than another batch.
    """
    batch: list[int] = []
    longest = longest_decoded = 0

    def key(number: int) -> tuple[int, bytes, int]:
        encoding = encodings[number]
        return len(encoding.ids), encoding.ids.tobytes(), _decoder_length(encoding)

    for number in sorted(range(len(encodings)), key=key, reverse=True):
        n_decoded = _decoder_length(encodings[number])
        longest_decoded = max(longest_decoded, n_decoded)
        width = longest + longest_decoded
        is_enough = width * len(batch) > _ENOUGH * batch_tokens
        is_shorter = len(encodings[number].ids) + n_decoded < (1 - _PADDING) * width
        if batch and (width * (len(batch) + 1) > batch_tokens or (is_enough and is_shorter)):
            yield batch
            batch, longest_decoded = [], n_decoded
        if not batch:
            longest = len(encodings[number].ids)
        batch.append(number)
    if batch:
        yield batch


def _decoder_length(encoding: Encoding) -> int:
    return 0 if encoding.decoder_ids is None else len(encoding.decoder_ids)


def _present(row: IntArray | None) -> IntArray:
    if row is None:
        raise ValueError("a row that the others have is None: all examples of a batch must be of one form")
    return row


def _padded(rows: Sequence[npt.NDArray[np.signedinteger]], filler: int) -> tuple[Tensor, Tensor]:
    """Returns the rows as one (batch, longest) int64 tensor and where it is not filled up."""
    longest = max(len(row) for row in rows)
    padded = np.full((len(rows), longest), filler, dtype=np.int64)
    mask = np.zeros((len(rows), longest), dtype=bool)
    for number, row in enumerate(rows):
        padded[number, : len(row)] = row
        mask[number, : len(row)] = True
    return torch.from_numpy(padded), torch.from_numpy(mask)

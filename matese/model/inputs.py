"""Turn encodings into tensors, and divide them into batches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from matese.model.arrays import Int32Array
from matese.model.texts.encoding import Encoding


class Inputs(NamedTuple):
    """A model's input for some encodings, padded on the right.

    Attributes:
        ids: (batch, tokens), int64, input of the encoder.
        roles: as `ids`, int64, see `encoding.ROLES`.
        mask: as `ids`, True for tokens.
        decoder_ids: (batch, decoder tokens), int64; None for a model without a decoder.
        decoder_mask: (batch, decoder tokens).
        positions: (batch, hypothesis tokens), int64, positions of the hypothesis' tokens in `ids` or `decoder_ids`.
        hypothesis_mask: (batch, hypothesis tokens), True for tokens.
        places: (tokens of all rows,), int64, see `packed`; None to compute padding too.
        text_positions: (batch, tokens), int64, see `Encoding`; None for a model that reads all texts together from the
            first layer on.
        texts: (tokens of the distinct texts,), int64, for a model with `text_positions`, the ids of the distinct texts
            of all rows, concatenated, so that a CPU computes each of them once; None to compute them in their rows.
        text_starts: (distinct texts + 1,), int32, start of each text in `texts`, and the end.
        text_places: (batch, tokens), int64, place of each token in `texts`; 0 for padding.
        sentences: (batch, tokens), int64, number of the sentence of each token in `Encoding.sentences`, from 1, or 0;
            None if no row has any.
    """

    ids: Tensor
    roles: Tensor
    mask: Tensor
    decoder_ids: Tensor | None
    decoder_mask: Tensor | None
    positions: Tensor
    hypothesis_mask: Tensor
    places: Tensor | None = None
    text_positions: Tensor | None = None
    texts: Tensor | None = None
    text_starts: Tensor | None = None
    text_places: Tensor | None = None
    sentences: Tensor | None = None

    def to(self, device: torch.device) -> Inputs:
        """Returns the inputs on a device."""
        return Inputs._make(None if tensor is None else tensor.to(device, non_blocking=True) for tensor in self)

    def pin_memory(self) -> Inputs:
        """Returns the inputs in page-locked memory, for asynchronous copying."""
        return Inputs._make(None if tensor is None else tensor.pin_memory() for tensor in self)

    def packed(self) -> Inputs:
        """Returns the inputs with the positions of their tokens in the flattened `ids`, so that padding is skipped."""
        return self._replace(places=self.mask.flatten().nonzero().squeeze(1))


def collate(encodings: Sequence[Encoding], *, pad_id: int) -> Inputs:
    """Returns the inputs of a batch.

    All or none of the encodings must have a decoder input.
    """
    decoder_ids = decoder_mask = None
    if encodings[0].decoder_ids is not None:
        decoder_ids, decoder_mask = padded([encoding.decoder_ids for encoding in encodings], pad_id)
    ids, mask = padded([encoding.ids for encoding in encodings], pad_id)
    roles, _ = padded([encoding.roles for encoding in encodings], 0)
    starts = [np.arange(encoding.first, encoding.first + len(encoding.ranges)) for encoding in encodings]
    positions, hypothesis_mask = padded(starts, 0)
    sentences = None
    if any(encoding.sentences is not None for encoding in encodings):
        sentences, _ = padded([_sentence_numbers(encoding) for encoding in encodings], 0)
    return Inputs(
        ids,
        roles,
        mask,
        decoder_ids,
        decoder_mask,
        positions,
        hypothesis_mask,
        **_separate(encodings),
        sentences=sentences,
    )


def _sentence_numbers(encoding: Encoding) -> Int32Array:
    """Returns the number of each token's sentence, from 1, or 0: (tokens,)."""
    numbers = np.zeros(len(encoding.ids), np.int32)
    for number, (start, end) in enumerate([] if encoding.sentences is None else encoding.sentences.tolist(), start=1):
        numbers[start:end] = number
    return numbers


def _separate(encodings: Sequence[Encoding]) -> dict[str, Tensor]:
    """Returns the fields of `Inputs` for a model that reads each text alone; none for other models."""
    if encodings[0].text_positions is None:
        return {}
    ids = np.concatenate([encoding.ids for encoding in encodings])
    positions, mask = padded([encoding.text_positions for encoding in encodings], 0)
    begins = np.flatnonzero(positions[mask].numpy() == 0)
    lengths = np.diff(begins, append=len(ids))
    texts: dict[bytes, Int32Array] = {}
    starts: dict[bytes, int] = {}
    end = 0
    places = []  # of each text in those that differ
    for begin, length in zip(begins.tolist(), lengths.tolist(), strict=True):
        text = ids[begin : begin + length]
        key = text.tobytes()
        if key not in texts:
            texts[key] = text
            starts[key] = end
            end += length
        places.append(starts[key])
    of_tokens = np.repeat(places - begins, lengths) + np.arange(len(ids))
    return {
        "text_positions": positions,
        "texts": torch.from_numpy(np.concatenate(list(texts.values()), dtype=np.int64)),
        "text_starts": torch.tensor([*starts.values(), end], dtype=torch.int32),
        "text_places": torch.zeros_like(positions).masked_scatter_(mask, torch.from_numpy(of_tokens)),
    }


_ENOUGH = 0.25
_PADDING = 0.1
"""Share of the budget that keeps a processor busy, and share of padding that is slower than a further batch."""


def by_length(encodings: Sequence[Encoding], batch_tokens: int) -> Iterator[list[int]]:
    """Yields the indices of the encodings of each batch, longest first, with padded tokens within the budget.

    An encoding that is longer than the budget
    gets a batch to itself. Once a batch fills a quarter of the budget, it ends where padding would cost more than
    another batch.
    """
    batch: list[int] = []
    longest = longest_decoded = 0

    def key(number: int) -> tuple[int, bytes, int]:
        encoding = encodings[number]
        return len(encoding.ids), encoding.ids.tobytes(), encoding.n_decoded

    for number in sorted(range(len(encodings)), key=key, reverse=True):
        n_decoded = encodings[number].n_decoded
        longest_decoded = max(longest_decoded, n_decoded)
        width = longest + longest_decoded
        is_enough = width * len(batch) > _ENOUGH * batch_tokens
        is_shorter = len(encodings[number].ids) + n_decoded < (1 - _PADDING) * width
        if batch and (width * (len(batch) + 1) > batch_tokens or (is_enough and is_shorter)):
            yield batch
            batch = []
            longest_decoded = n_decoded
        if not batch:
            longest = len(encodings[number].ids)
        batch.append(number)
    if batch:
        yield batch


def padded(rows: Sequence[npt.NDArray[np.signedinteger] | None], filler: int) -> tuple[Tensor, Tensor]:
    """Returns the padded rows as one int64 tensor, and the mask of their tokens: both (batch, longest).

    Raises:
        ValueError: if a row is None: all or no encodings of a batch have it.
    """
    present = [row for row in rows if row is not None]
    if len(present) < len(rows):
        raise ValueError("some examples of the batch lack a row that others have; all must have the same rows")
    lengths = np.array([len(row) for row in present])
    mask = np.arange(lengths.max()) < lengths[:, None]
    padded = np.full(mask.shape, filler, dtype=np.int64)
    padded[mask] = np.concatenate(present)
    return torch.from_numpy(padded), torch.from_numpy(mask)

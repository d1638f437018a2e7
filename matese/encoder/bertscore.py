"""BERTScore with any encoder of transformers: Zhang et al. 2020, as the package `bert_score` computes it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from matese.encoder import checkpoint
from matese.encoder.encoder import load_encoder
from matese.encoder.tokenizer import load_tokenizer
from matese.errors import ModelError

_BATCH = 64
"""Texts that are embedded together."""
_FALLBACK_LENGTH = 512
_LARGEST_LENGTH = 100_000
"""Tokenizers that know no longest text say a huge number."""
Embedded = tuple[Tensor, Tensor]
"""Normalised states of a text's tokens, (tokens, width), and their ids, (tokens,)."""


class BertScore:
    """An encoder, one layer of which is compared."""

    def __init__(self, directory: Path, *, layer: int | None = None) -> None:
        """Loads an encoder.

        Args:
            directory: as transformers saves a model and its tokenizer.
            layer: whose states are compared, 0 for the embeddings; None for the last one.

        Raises:
            ModelError: if it cannot be loaded, or has no such layer.
        """
        with checkpoint.explaining(f"{directory} is no encoder of transformers"):
            self._encoder: Any = load_encoder(directory)
            torch.nn.Module.eval(self._encoder)
            self._tokenizer: Any = load_tokenizer(directory)
            n_layers = int(self._encoder.config.num_hidden_layers)
        self._layer = n_layers if layer is None else layer
        if not 0 <= self._layer <= n_layers:
            raise ModelError(f"layer {layer}: must be from 0 to {n_layers}, the layers of {directory}")
        given = int(self._tokenizer.model_max_length)
        self._longest = given if given < _LARGEST_LENGTH else _FALLBACK_LENGTH
        self._unweighted = {self._tokenizer.cls_token_id, self._tokenizer.sep_token_id}
        self._name = f"{directory.name}@{checkpoint.fingerprint(directory)}"

    def signature(self, *, has_idf: bool) -> str:
        """Returns what the scores depend on."""
        return f"bertscore|model:{self._name}|layer:{self._layer}|idf:{'yes' if has_idf else 'no'}"

    def score(
        self, systems: Mapping[str, Sequence[str]], references: Sequence[Sequence[str]], *, has_idf: bool
    ) -> npt.NDArray[np.float64]:
        """Returns the F1 of each hypothesis: (systems, segments). Of several references, the best one counts.

        A text that is longer than the encoder is cut, and the score of an empty text is 0, both as in `bert_score`.

        Args:
            systems: lines of each system's output.
            references: lines of each reference.
            has_idf: whether tokens are weighted by their inverse document frequency in the references; otherwise all
                but the special tokens around a text have the same weight.
        """
        known = self._embed([line for lines in references for line in lines])
        weights = self._idf([known[line][1].tolist() for lines in references for line in lines]) if has_idf else None
        rows = []
        for lines in systems.values():
            own = self._embed(list(lines))
            columns = [
                [self._f1(own[line], known[other], weights) for line, other in zip(lines, reference, strict=True)]
                for reference in references
            ]
            rows.append(np.max(columns, axis=0))
        return np.array(rows, dtype=np.float64)

    @torch.inference_mode()
    def _embed(self, texts: Sequence[str]) -> dict[str, Embedded]:
        """Returns the states of each distinct text."""
        distinct = sorted(dict.fromkeys(texts), key=len)
        found = {}
        for start in range(0, len(distinct), _BATCH):
            batch = distinct[start : start + _BATCH]
            ids = [
                self._tokenizer.encode(text.strip(), add_special_tokens=True, truncation=True, max_length=self._longest)
                for text in batch
            ]
            lengths = [len(own) for own in ids]
            padded = torch.full((len(batch), max(lengths)), self._tokenizer.pad_token_id)
            mask = torch.zeros_like(padded)
            for row, own in enumerate(ids):
                padded[row, : len(own)] = torch.tensor(own)
                mask[row, : len(own)] = 1
            states = self._encoder(input_ids=padded, attention_mask=mask, output_hidden_states=True).hidden_states
            normalised = torch.nn.functional.normalize(states[self._layer].float(), dim=-1)
            for row, text in enumerate(batch):
                found[text] = normalised[row, : lengths[row]].clone(), padded[row, : lengths[row]]
        return found

    @staticmethod
    def _idf(documents: Sequence[Sequence[int]]) -> Mapping[int, float]:
        """Returns the inverse document frequency of each id, with the one of unknown ids at -1."""
        counts = Counter(number for document in documents for number in set(document))
        weights = {number: math.log((len(documents) + 1) / (count + 1)) for number, count in counts.items()}
        return weights | {-1: math.log(len(documents) + 1)}

    def _weights(self, ids: Tensor, idf: Mapping[int, float] | None) -> Tensor:
        """Returns the weight of each token; they add up to 1, or are NaN if all are 0."""
        if idf is None:
            weights = torch.tensor([0.0 if number in self._unweighted else 1.0 for number in ids.tolist()])
        else:
            weights = torch.tensor([idf.get(number, idf[-1]) for number in ids.tolist()])
        return weights / weights.sum()

    def _f1(self, hypothesis: Embedded, reference: Embedded, idf: Mapping[int, float] | None) -> float:
        """Returns the F1 of greedy matching: equations 1 to 3 of the paper; special tokens can be matched, too."""
        similarities = hypothesis[0] @ reference[0].T  # (hypothesis tokens, reference tokens)
        if min(similarities.shape) <= 2:  # only special tokens
            return 0.0
        precision = float(similarities.amax(1) @ self._weights(hypothesis[1], idf))
        recall = float(similarities.amax(0) @ self._weights(reference[1], idf))
        f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
        return 0.0 if math.isnan(f1) else f1

"""BERTScore and a metric like YiSi-1, with any encoder of transformers or the encoder of a matese model.

BERTScore (Zhang et al. 2020) is computed as in the package `bert_score`. torchmetrics gives other figures: there, no
token can match a special token, and documents are counted for one system at a time.

YiSi-1 is from Lo 2019, "YiSi - a unified semantic MT quality evaluation and estimation metric",
https://aclanthology.org/W19-5358; weights and F follow the authors' code, https://github.com/chikiulo/yisi. Ours
compares single tokens of the encoder, without words, n-grams and semantic roles.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from matese.annotation import Segment, SegmentKey
from matese.errors import ModelError
from matese.evaluation.statistics.arrays import FloatArray
from matese.model.encoder.loading import encoder_of_model, load_encoder
from matese.model.engines.hardware import multiply_with_onednn
from matese.model.storage import checkpoint
from matese.model.texts.tokenizer import load_tokenizer

if TYPE_CHECKING:
    from transformers import PreTrainedModel

_BATCH = 64
"""Texts embedded at a time."""
_FALLBACK_LENGTH = 512
_ALPHA = 0.8
"""Weight of recall in YiSi: the setting for YiSi-1 in the README of the authors' code."""
_LARGEST_LENGTH = 100_000
"""Tokenizers without a length limit report a huge number."""
BertscoreVariant = Literal["bertscore", "bertscore-idf", "yisi"]
Embedded = tuple[Tensor, Tensor]
"""Normalised states of a text's tokens, (tokens, width), and their ids, (tokens,)."""


class BertScore:
    """An encoder with the layer whose states are compared."""

    def __init__(self, directory: Path, *, layer: int | None = None) -> None:
        """Loads an encoder.

        Args:
            directory: a model and its tokenizer as saved by transformers, or a model directory, to use its encoder.
            layer: number of the layer, 0 for the embeddings; None for the highest layer that reads each text alone in a
                model directory with `separate_layers`, otherwise the last layer.

        Raises:
            ModelError: if the encoder cannot be loaded or has no such layer.
        """
        with checkpoint.raising_model_errors(f"{directory} is not an encoder of transformers"):
            self._encoder: Any
            self._encoder, default = _load(directory)
            if self._encoder.config.is_encoder_decoder:
                raise ModelError("it is an encoder-decoder; must be an encoder without a decoder")
            torch.nn.Module.eval(self._encoder)
            multiply_with_onednn(self._encoder.modules())
            self._tokenizer: Any = load_tokenizer(directory)
            n_layers = int(self._encoder.config.num_hidden_layers)
        self._layer = (default or n_layers) if layer is None else layer
        if not 0 <= self._layer <= n_layers:
            raise ModelError(f"layer {layer}: must be from 0 to {n_layers}, the layers of {directory}")
        max_length = int(self._tokenizer.model_max_length)
        self._longest = max_length if max_length < _LARGEST_LENGTH else _FALLBACK_LENGTH
        self._unweighted = {self._tokenizer.cls_token_id, self._tokenizer.sep_token_id}
        self._name = f"{directory.name}@{checkpoint.fingerprint(directory)}"

    @property
    def states(self) -> str:
        """Names the encoder and the layer, as in signatures."""
        return f"model:{self._name}|layer:{self._layer}"

    def signature(self, variant: BertscoreVariant) -> str:
        """Returns everything that the scores depend on."""
        name, _, idf = variant.partition("-")
        how = f"alpha:{_ALPHA}" if name == "yisi" else f"idf:{'yes' if idf else 'no'}"
        return f"{name}|{self.states}|{how}"

    def score(
        self, systems: Mapping[str, Sequence[Segment]], variants: Sequence[BertscoreVariant]
    ) -> dict[BertscoreVariant, dict[str, FloatArray]]:
        """Returns the scores by variant and system, (segments,). With several references, the best score counts.

        `bertscore-idf` and `yisi` weight tokens by their inverse document frequency in the references; otherwise all
        tokens except the special tokens around a text have the same weight. A text that is too long for the encoder is
        cut, and an empty text scores 0, both as in `bert_score`.
        """
        # A reference of the same segment in several systems is one document.
        places = (
            (_place(segment, number), segment.references)
            for segments in systems.values()
            for number, segment in enumerate(segments)
        )
        references = [text for _, texts in dict.fromkeys(places) for text in texts]
        embedded_references = self._embed(references)
        documents = [embedded_references[text][1].tolist() for text in references]
        weights = {
            name: None if name == "bertscore" else self._idf(documents, offset=1 if name == "yisi" else 0)
            for name in variants
        }
        by_variant: dict[BertscoreVariant, dict[str, FloatArray]] = {name: {} for name in variants}
        for system, segments in systems.items():
            hypotheses = self._embed([segment.hypothesis for segment in segments])
            pairs = [
                [(hypotheses[segment.hypothesis], embedded_references[text]) for text in segment.references]
                for segment in segments
            ]
            for name in variants:
                scores = [max(self._f(name, *pair, weights[name]) for pair in of_segment) for of_segment in pairs]
                by_variant[name][system] = np.array(scores, dtype=np.float64)
        return by_variant

    def mean_states(self, texts: Sequence[str]) -> FloatArray:
        """Returns the mean of the normalised states of each text's tokens, (texts, width)."""
        embedded = self._embed(texts)
        return np.stack([embedded[text][0].mean(dim=0).numpy() for text in texts]).astype(np.float64)

    @torch.inference_mode()
    def _embed(self, texts: Sequence[str]) -> dict[str, Embedded]:
        """Returns the states of each distinct text."""
        distinct = sorted(dict.fromkeys(texts), key=len)
        embedded = {}
        for start in range(0, len(distinct), _BATCH):
            batch = distinct[start : start + _BATCH]
            ids = [
                self._tokenizer.encode(text.strip(), add_special_tokens=True, truncation=True, max_length=self._longest)
                for text in batch
            ]
            rows = [torch.tensor(text_ids) for text_ids in ids]
            padded = pad_sequence(rows, batch_first=True, padding_value=self._tokenizer.pad_token_id)
            mask = pad_sequence([torch.ones_like(row) for row in rows], batch_first=True)
            states = self._encoder(input_ids=padded, attention_mask=mask, output_hidden_states=True).hidden_states
            normalised = torch.nn.functional.normalize(states[self._layer].float(), dim=-1)
            for text, row, of_text in zip(batch, rows, normalised, strict=True):
                embedded[text] = of_text[: len(row)].clone(), row
        return embedded

    @staticmethod
    def _idf(documents: Sequence[Sequence[int]], *, offset: int) -> Mapping[int, float]:
        """Returns log(offset + (N + 1) / (n + 1)) for each id, which is in n of N documents; key -1: unknown ids."""
        counts = Counter(number for document in documents for number in set(document))
        counts[-1] = 0
        return {number: math.log(offset + (len(documents) + 1) / (count + 1)) for number, count in counts.items()}

    def _weights(self, ids: Tensor, idf: Mapping[int, float] | None) -> Tensor:
        """Returns the weight of each token; the weights add up to 1, or are NaN if all are 0."""
        if idf is None:
            weights = self._is_inner(ids).float()
        else:
            weights = torch.tensor([idf.get(number, idf[-1]) for number in ids.tolist()])
        return weights / weights.sum()

    def _is_inner(self, ids: Tensor) -> Tensor:
        """Returns whether each token is not one of the special tokens around a text."""
        return torch.tensor([number not in self._unweighted for number in ids.tolist()])

    def _without_special(self, text: Embedded) -> Embedded:
        states, ids = text
        is_inner = self._is_inner(ids)
        return states[is_inner], ids[is_inner]

    def _f(
        self, variant: BertscoreVariant, hypothesis: Embedded, reference: Embedded, idf: Mapping[int, float] | None
    ) -> float:
        """Returns the F of greedy matching: equations 1 to 3 of BERTScore; or of YiSi, which weights recall more.

        In BERTScore, special tokens can be matched too; in YiSi they are left out, and similarities are at least 0.
        """
        alpha, n_special, lowest = (_ALPHA, 0, 0.0) if variant == "yisi" else (0.5, 2, -math.inf)
        if variant == "yisi":
            hypothesis = self._without_special(hypothesis)
            reference = self._without_special(reference)
        similarities = (hypothesis[0] @ reference[0].T).clamp(min=lowest)  # (hypothesis tokens, reference tokens)
        if min(similarities.shape) <= n_special:
            return 0.0
        precision = float(similarities.amax(1) @ self._weights(hypothesis[1], idf))
        recall = float(similarities.amax(0) @ self._weights(reference[1], idf))
        mean = alpha * precision + (1 - alpha) * recall
        f = precision * recall / mean if mean else 0.0
        return 0.0 if math.isnan(f) else f


def _place(segment: Segment, number: int) -> SegmentKey | int:
    """Returns the key that a segment shares with its translations by other systems: its place, or its number."""
    is_known = segment.key is not None and segment.key.index is not None
    return replace(segment.key, system=None) if is_known and segment.key is not None else number


def _load(directory: Path) -> tuple[PreTrainedModel, int]:
    """Returns the encoder of a transformers directory or a model directory, and its `separate_layers`."""
    if not checkpoint.has_format(directory):
        return load_encoder(directory), 0
    config = checkpoint.read_config(directory)
    return encoder_of_model(directory), config.model.texts.separate_layers

"""First embeddings for an encoder that is trained from scratch: words that translate one another are similar.

Pieces that stand in translations of the same sources get similar embeddings, whatever their language (Levy et al. 2017,
"sentence ids"): the pointwise mutual information of pieces and sources is reduced by a singular value decomposition. So
the encoder need not learn from ratings what words mean.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import numpy as np
import torch
from torch import Tensor
from transformers import PreTrainedTokenizerBase

from matese.annotation import Rating

_CHUNK = 20_000
"""Texts that are tokenised at once."""
_CERTAIN = 1 / 3
"""Share of a source's texts that must hold a piece for it to count fully."""
_STD = 0.03
"""Root mean square of each embedding; the other embeddings of a new encoder have 0.02."""
_N_ITERATIONS = 4


def make(ratings: Iterable[Rating], tokenizer: PreTrainedTokenizerBase, width: int) -> Tensor:
    """Returns an embedding of each piece: (pieces, width).

    Args:
        ratings: of translations; those without a source are left out.
        tokenizer: the model's.
        width: of the encoder.
    """
    information = _information(_shares(ratings, tokenizer))
    indices, values = torch.from_numpy(np.stack(information.nonzero())), torch.from_numpy(information.data)
    matrix = torch.sparse_coo_tensor(indices, values, information.shape, check_invariants=False).coalesce()
    rank = min(width, *information.shape)
    left, strengths, _ = torch.svd_lowrank(matrix, rank, niter=_N_ITERATIONS)
    found = left * strengths.sqrt()
    is_known = torch.from_numpy(np.asarray(information.sum(1)).ravel() > 0)
    found -= found[is_known].mean(0)
    made = torch.randn(len(tokenizer), width)
    made[is_known, :rank] = found[is_known]
    made[is_known, rank:] = 0
    scaled: Tensor = made * (_STD * width**0.5 / made.norm(dim=1, keepdim=True).clamp(min=1e-9))
    return scaled


def _shares(ratings: Iterable[Rating], tokenizer: PreTrainedTokenizerBase) -> Any:  # noqa: ANN401  (scipy has no types)
    """Returns the share of the texts of each source that hold a piece, its translations apart: (pieces, sources)."""
    import scipy.sparse

    translations: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for rating in ratings:
        if rating.segment.source:
            translations[rating.segment.source] |= dict.fromkeys(
                [rating.segment.hypothesis, *rating.segment.references]
            )
    sides = [side for source, texts in translations.items() for side in ([source], list(texts))]
    texts = [text for side in sides for text in side]
    columns = np.repeat(np.arange(len(sides)) // 2, [len(side) for side in sides])
    weights = np.repeat([1 / len(side) for side in sides], [len(side) for side in sides])
    shape, parts = (len(tokenizer), len(translations)), []
    for start in range(0, len(texts), _CHUNK):
        part = slice(start, start + _CHUNK)
        tokens = tokenizer(texts[part], add_special_tokens=False)["input_ids"]
        lengths = [len(ids) for ids in tokens]
        rows = np.fromiter(itertools.chain.from_iterable(tokens), np.int64, sum(lengths))
        values, places = np.repeat(weights[part], lengths), np.repeat(columns[part], lengths)
        parts.append(scipy.sparse.csr_matrix((values, (rows, places)), shape=shape))
    shares = sum(parts, scipy.sparse.csr_matrix(shape))
    shares.data = np.minimum(shares.data, 1.0)
    return shares


def _information(shares: Any) -> Any:  # noqa: ANN401  (scipy has no types)
    """Returns the positive pointwise mutual information, less for pieces that few texts of a source hold."""
    found = shares.tocoo()
    of_pieces, of_sources = (np.asarray(shares.sum(axis)).ravel() for axis in (1, 0))
    expected = of_pieces[found.row] * of_sources[found.col] / shares.sum()
    certain = (found.data / _CERTAIN).clip(max=1)
    found.data = (np.log(found.data / expected).clip(0) * certain).astype(np.float32)
    made = found.tocsr()
    made.eliminate_zeros()
    return made

"""Translations that nobody rated: the model scores them by the reference, and then learns from its scores."""

from __future__ import annotations

import zlib
from dataclasses import replace

import numpy as np
import torch

from matese.model.arrays import Floats
from matese.model.heads.score.network import ScoreTensor
from matese.model.network import Network
from matese.model.texts.encoding import InputKind
from matese.training import batching
from matese.training.batching import BatchLimits
from matese.training.config import UnratedData
from matese.training.corpus import NOT_YET, Corpus

_TEACHER: InputKind = "reference"


def scores(network: Network, corpus: Corpus, limits: BatchLimits, device: torch.device) -> Floats:
    """Returns the score of each translation that nobody rated, by its first reference: (translations,), MQM points."""
    is_unrated = corpus.read_as == NOT_YET
    values = np.empty(len(corpus), np.float32)
    was_training = network.training
    network.eval()
    with torch.no_grad():
        for draws in batching.draws_by_length(corpus, _TEACHER, is_unrated, limits):
            score = network(batching.make_batch(corpus, draws).inputs.to(device))[ScoreTensor]
            values[[draw.segment for draw in draws]] = score.values.float().cpu().numpy()
    network.train(was_training)
    return values[np.flatnonzero(is_unrated)]


def learned(corpus: Corpus, own_scores: Floats, unrated: UnratedData) -> Corpus:
    """Returns the corpus in which the translations that nobody rated have the model's scores.

    Those of some sources are read by the source alone, which a hash of the source decides, the others by the reference.
    """
    is_unrated = corpus.read_as == NOT_YET
    sources = corpus.texts.sources[is_unrated]
    hashes = {source: zlib.crc32(corpus.texts.ids[source].tobytes()) for source in np.unique(sources).tolist()}
    by_source = np.array([hashes[source] < unrated.by_source * 2**32 for source in sources.tolist()])
    read_as = corpus.read_as.copy()
    read_as[is_unrated] = corpus.inputs.index(_TEACHER)
    if by_source.any():
        read_as[np.flatnonzero(is_unrated)[by_source]] = corpus.inputs.index("source")
    labels = dict(corpus.labels)
    labels["scores"] = labels["scores"].copy()
    labels["scores"][is_unrated] = own_scores
    return replace(corpus, labels=labels, read_as=read_as)

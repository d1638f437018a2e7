"""Pairs of translations that humans ranked (daRR), and the scores of metrics for both: one column a pair."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np

from matese.errors import InputError, near_miss
from matese.evaluation.metrics import score_arrays
from matese.evaluation.metrics.score_arrays import RANKED_ROWS, LangPairScores, Scores
from matese.evaluation.statistics.arrays import FloatArray
from matese.formats.corpora import score_files
from matese.formats.corpora.relative_ranks import RankedPair, RelativeRanks
from matese.formats.corpora.score_files import MetricScores, SegmentName


def lang_pair_scores(
    ranks: RelativeRanks, files: Sequence[MetricScores], *, name: str, without: Collection[str] = ()
) -> LangPairScores:
    """Returns the ranks of a language pair, and the scores of metrics for them.

    Args:
        ranks: of humans.
        files: scores of segments by metrics.
        name: of the human ranks.
        without: systems whose pairs are left out.

    Raises:
        InputError: if a metric lacks a translation that humans ranked, counts segments from elsewhere, or a system to
            leave out does not exist.
    """
    systems = list(dict.fromkeys(system for pair in ranks.pairs for system in (pair.better, pair.worse)))
    for system in without:
        if system not in systems:
            raise InputError(f"--without {system}: unknown system{near_miss(system, systems)} must be in {name}")
    kept = [at for at, pair in enumerate(ranks.pairs) if {pair.better, pair.worse}.isdisjoint(without)]
    if not kept:
        raise InputError(f"{name}: no pair is left; leave out fewer systems")
    pairs = [ranks.pairs[at] for at in kept]
    verdicts = {
        metric: _scores(metric, np.array([agrees, np.logical_not(agrees)], dtype=np.float64)[:, kept])
        for metric, agrees in ranks.verdicts.items()
    }
    title = ranks.lang_pair or "all"
    return LangPairScores(
        title,
        replace(
            _scores(name, np.repeat([[1.0], [0.0]], len(pairs), axis=1)),
            numbers=tuple(f"{pair.document or 'none'}/{pair.index}" for pair in pairs),
        ),
        verdicts | {file.name: _of_file(file, pairs, name) for file in files},
        left_out=dict.fromkeys(without, "was left out by --without"),
        ranked=tuple(system for system in systems if system not in without),
        ranked_pairs=tuple((pair.better, pair.worse) for pair in pairs),
    )


def _of_file(file: MetricScores, pairs: Sequence[RankedPair], name: str) -> Scores:
    has_documents = any(isinstance(segment, str) for scores in file.segments.values() for segment in scores)

    def segment_of(pair: RankedPair) -> SegmentName:
        return f"{pair.document or 'none'}/{pair.index}" if has_documents else pair.index

    judged = MetricScores(name, segments={"": {segment_of(pair): None for pair in pairs}})
    score_arrays.check_same_segments(file, judged)
    table = np.empty((2, len(pairs)))
    for column, pair in enumerate(pairs):
        segment = segment_of(pair)
        for row, system in enumerate((pair.better, pair.worse)):
            score = file.segments.get(system, {}).get(segment)
            if score is None:
                ranked = "must score every translation that humans ranked"
                raise InputError(f"{file.name} lacks {score_files.label(segment)} of system {system}: {ranked}")
            table[row, column] = score
    return _scores(file.name, table)


def _scores(name: str, table: FloatArray) -> Scores:
    return Scores(name, RANKED_ROWS, np.full(len(RANKED_ROWS), np.nan), table)

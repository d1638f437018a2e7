"""Metrics that are computed from the translations themselves: those of sacrebleu and torchmetrics."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from matese.annotation import Segment
from matese.errors import InputError
from matese.evaluation.alignment import describe_segment
from matese.evaluation.metrics import chrf
from matese.evaluation.metrics.correlation_options import EDIT_BASELINES, SACREBLEU_BASELINES, EditName, SacrebleuName
from matese.evaluation.statistics import bootstrap
from matese.evaluation.statistics.arrays import FloatArray
from matese.evaluation.statistics.bootstrap import AdditiveStatistic
from matese.text import east_asian_target

if TYPE_CHECKING:
    from sacrebleu.metrics.base import Metric

SCORE = "score"
"""The only figure of the statistics here."""
Language = Literal["zh", "ja", "ko"] | None
"""A target language with a tokenizer of its own; None for all others."""
Systems = Mapping[str, Sequence[Segment]]
"""The segments of each system."""


@dataclass(frozen=True, slots=True, eq=False)
class BaselineScores:
    """What a metric, computed by a package, gives to systems and to their segments, (segments,); higher is better.

    `statistics` are the scores of the systems as functions of sums over their segments.
    """

    name: str
    package: str
    signature: str
    segments: Mapping[str, FloatArray]
    statistics: Mapping[str, AdditiveStatistic]

    @property
    def systems(self) -> dict[str, float]:
        """The score of each system."""
        return {
            system: float(statistic.figures(bootstrap.whole_sample(len(statistic.table)))[SCORE][0])
            for system, statistic in self.statistics.items()
        }

    @classmethod
    def of_means(cls, name: str, signature: str, segments: Mapping[str, FloatArray]) -> BaselineScores:
        """Returns the scores of a metric of ours, whose score of a system is the mean of its segments."""
        means = {system: AdditiveStatistic.of_means({SCORE: scores}) for system, scores in segments.items()}
        return cls(name, "matese", signature, segments, means)


@dataclass(frozen=True, slots=True)
class Baseline:
    """A metric, or several that are computed together: a title for messages, and the scores of systems."""

    title: str
    score: Callable[[Systems], Sequence[BaselineScores]]


def of_sacrebleu(name: SacrebleuName) -> Baseline:
    """Returns BLEU, chrF or TER.

    The score of a system is its corpus score, not the mean of its segments. TER is an error rate, so its scores are
    negated. Segment BLEU uses the effective order. The target language of a segment's key determines the tokenizer.

    Raises:
        InputError: when it scores, if a segment has no reference, or sacrebleu or its tokenizer is not installed.
    """
    title = SACREBLEU_BASELINES[name]
    return Baseline(title, lambda systems: [_score_by_sacrebleu(name, title, systems)])


def check_references(title: str, systems: Systems) -> None:
    """Raises an InputError if a segment has no reference."""
    for segment in chain.from_iterable(systems.values()):
        if not segment.references:
            lacking = f"{title} needs references: {describe_segment(segment)} has none"
            raise InputError(f"{lacking}; give --ref or ratings with references")


def _score_by_sacrebleu(name: SacrebleuName, title: str, systems: Systems) -> BaselineScores:
    check_references(title, systems)
    metrics: dict[Language, Metric] = {}
    signatures: dict[str, None] = {}
    statistics, segments = {}, {}
    for system, translated in systems.items():
        rows, counts = [], defaultdict[Language, set[int]](set)
        for segment in translated:
            language = east_asian_target(segment.key)
            if language not in metrics:
                metrics[language] = _metric(name, language, effective_order=True)
            rows.append(_summands(name, metrics[language], segment))
            counts[language].add(len(segment.references))
        for language, n_references in counts.items():
            signature = _signature(_metric(name, language), sorted(n_references))
            signatures[f"{signature}{'|negated:yes' * (name == 'ter')}"] = None
        table = np.array(rows, dtype=np.float64)
        segments[system] = _of_sums(name, table, effective_order=True)[SCORE]
        statistics[system] = AdditiveStatistic(table, lambda sums: _of_sums(name, sums))
    return BaselineScores(title, "sacrebleu", " ".join(signatures), segments, statistics)


def _summands(name: SacrebleuName, metric: Metric, segment: Segment) -> Sequence[float] | FloatArray:
    """Returns what a segment adds to the counts that the score of a corpus is computed from."""
    hypothesis, references = segment.hypothesis, list(segment.references)
    if name == "chrf":  # sacrebleu shows no counts of it
        return chrf.statistics(hypothesis, references)
    score = metric.sentence_score(hypothesis, references)
    if name == "ter":
        return [score.num_edits, score.ref_length]
    return [score.sys_len, score.ref_len, *score.counts, *score.totals]


def _of_sums(name: SacrebleuName, sums: FloatArray, *, effective_order: bool = False) -> Mapping[str, FloatArray]:
    """Returns the scores of sums of `_summands`, which no longer depend on the language."""
    if name == "chrf":
        return {SCORE: chrf.of_sums(sums)}
    if name == "ter":
        edits, words = sums.T
        rate = np.divide(edits, words, out=(edits > 0) * 1.0, where=words > 0)
        return {SCORE: 0 - 100 * rate}  # never -0
    from sacrebleu.metrics.bleu import BLEU

    scores = []
    for length, reference_length, *counts in sums.astype(np.int64).tolist():
        matched, total = counts[: len(counts) // 2], counts[len(counts) // 2 :]
        lengths = length, reference_length
        scores.append(BLEU.compute_bleu(matched, total, *lengths, "exp", None, effective_order).score)
    return {SCORE: np.array(scores, dtype=np.float64)}


def _signature(metric: Metric, n_references: Sequence[int]) -> str:
    """Returns the signature of a metric, which names the numbers of references of the segments that it has scored."""
    streams: Any = [["a" if number < n else None for n in n_references] for number in range(n_references[-1])]
    metric.corpus_score(["a"] * len(n_references), streams)
    return str(metric.get_signature())


def of_torchmetrics(name: EditName) -> Baseline:
    """Returns WER or EED. Both are error rates, so that scores are negated.

    WER is that of the words and marks that sacrebleu's tokenizer separates (13a; zh for Chinese, characters for
    Japanese), case-sensitive; the score of a system is its edits divided by its reference words. EED (Stanchev et al.
    2019) is the mean of the segments, as its authors submitted it to WMT19. The best of several references counts.

    Raises:
        InputError: when it scores, if a segment has no reference, or torchmetrics or sacrebleu is not installed.
    """
    title = EDIT_BASELINES[name]
    return Baseline(title, lambda systems: [_score_by_torchmetrics(name, title, systems)])


def _score_by_torchmetrics(name: EditName, title: str, systems: Systems) -> BaselineScores:
    check_references(title, systems)
    try:
        import sacrebleu
        import torchmetrics
    except ImportError:
        raise InputError(f"{title} needs sacrebleu and torchmetrics: pip install 'matese[test-sets]'") from None
    rate = _word_edits if name == "wer" else _extended_edit_distance
    tables = {system: np.array([rate(segment) for segment in translated]) for system, translated in systems.items()}
    statistics = {
        system: AdditiveStatistic(-table * [1, -1], lambda sums: {SCORE: sums[:, 0] / sums[:, 1]})
        for system, table in tables.items()
    }
    segments = {system: -table[:, 0] / table[:, 1] for system, table in tables.items()}
    packages = f"torchmetrics:{torchmetrics.__version__}|sacrebleu:{sacrebleu.__version__}"
    return BaselineScores(title, "torchmetrics", f"{name}|{packages}|negated:yes", segments, statistics)


def _word_edits(segment: Segment) -> tuple[float, float]:
    """Returns the edits and the words of the reference with the lowest rate; the words are at least 1."""
    from sacrebleu.metrics.bleu import BLEU
    from torchmetrics.functional.text import word_error_rate

    language = east_asian_target(segment.key)
    tokenize = BLEU(tokenize={"zh": "zh", "ja": "char"}.get(language or "", "13a")).tokenizer
    hypothesis = tokenize(segment.hypothesis)
    counts = []
    for reference in map(tokenize, segment.references):
        n_words = len(reference.split())
        n_edits = float(word_error_rate(hypothesis, reference)) * n_words if n_words else len(hypothesis.split())
        counts.append((float(round(n_edits)), float(max(1, n_words))))
    return min(counts, key=lambda edits_and_words: edits_and_words[0] / edits_and_words[1])


def _extended_edit_distance(segment: Segment) -> tuple[float, float]:
    from torchmetrics.functional.text import extended_edit_distance

    language: Literal["en", "ja"] = "ja" if east_asian_target(segment.key) == "ja" else "en"
    rate = extended_edit_distance([segment.hypothesis], [segment.references], language)
    assert not isinstance(rate, tuple)  # a tuple would also hold the scores of sentences
    return float(rate), 1.0


def _metric(name: SacrebleuName, language: Language, *, effective_order: bool = False) -> Metric:
    """Returns the metric; the effective order is that of BLEU of a segment."""
    try:
        from sacrebleu.metrics.bleu import BLEU
        from sacrebleu.metrics.chrf import CHRF
        from sacrebleu.metrics.ter import TER
    except ImportError:
        raise InputError(
            "sacrebleu is not installed: BLEU, chrF and TER need pip install 'matese[test-sets]'"
        ) from None
    if name == "bleu":
        try:
            return BLEU(trg_lang=language or "", effective_order=effective_order)
        except (ImportError, RuntimeError) as error:
            problem = f"sacrebleu lacks its tokenizer of {language} ({error})"
            raise InputError(f"{problem}; install it") from None
    # Without `normalized`, sacrebleu ignores `asian_support`, although its signature names it.
    separates_characters = language in ("zh", "ja")
    return CHRF() if name == "chrf" else TER(normalized=separates_characters, asian_support=separates_characters)

"""Metrics that are computed from the translations themselves: those of sacrebleu, torchmetrics and cer, and ours."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from matese.annotation import Segment, is_blank
from matese.errors import InputError, check_installed, one_of, unknown
from matese.evaluation.alignment import describe_segment
from matese.evaluation.metrics import chrf, word_metrics
from matese.evaluation.metrics.correlation_options import (
    EDIT_BASELINES,
    SACREBLEU_BASELINES,
    SENTINEL_BASELINES,
    EditName,
    FittedName,
    MetricSentinel,
    SacrebleuName,
)
from matese.evaluation.statistics.arrays import FloatArray
from matese.evaluation.statistics.bootstrap import AdditiveStatistic
from matese.text.languages import east_asian_target
from matese.text.whole_numbers import parse_whole_number

if TYPE_CHECKING:
    from sacrebleu.metrics.base import Metric
    from sacrebleu.metrics.bleu import BLEU

_HIGHEST = 20
"""Highest order of n-grams and highest beta."""
SCORE = "score"
"""The only figure of the statistics here."""
Language = Literal["zh", "ja", "ko"] | None
"""A target language with a tokenizer of its own; None for all others."""
SystemTexts = Mapping[str, Sequence[Segment]]
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
        return {system: statistic.measure()[SCORE].value for system, statistic in self.statistics.items()}

    @classmethod
    def of_means(cls, name: str, signature: str, segments: Mapping[str, FloatArray]) -> BaselineScores:
        """Returns the scores of a metric of ours, whose score of a system is the mean of its segments."""
        means = {system: AdditiveStatistic.of_means({SCORE: scores}) for system, scores in segments.items()}
        return cls(name, "matese", signature, segments, means)


@dataclass(frozen=True, slots=True)
class Baseline:
    """A metric, or several that are computed together.

    Attributes:
        title: for messages.
        score: returns the scores of systems. Raises an InputError if a segment lacks a text that the metric reads.
        can_read: whether a segment has the texts that the metric reads; a blank one is missing.
    """

    title: str
    score: Callable[[SystemTexts], Sequence[BaselineScores]]
    can_read: Callable[[Segment], bool] = lambda _: True


def make(name: Any, parameters: str = "") -> Baseline:  # noqa: ANN401  (a name of three literals)
    """Returns the metric of a name; only those of sacrebleu have parameters, see `of_sacrebleu`."""
    if name in SENTINEL_BASELINES:
        return of_length(name)
    if name in EDIT_BASELINES:
        return of_words(name)
    return of_sacrebleu(name, parameters)


@dataclass(frozen=True, slots=True)
class FittedBaseline:
    """As `Baseline`, but fitted to the human scores of the segments, (segments,), NaN where missing."""

    title: str
    score: Callable[[SystemTexts, Mapping[str, FloatArray]], Sequence[BaselineScores]]
    can_read: Callable[[Segment], bool]


def of_length(name: MetricSentinel) -> Baseline:
    """Returns the metric that is minus the number of characters of the source or of the translation.

    It knows nothing about quality (Perrella et al. 2024, "Guardians of the Machine Translation Meta-Evaluation", arXiv
    2408.13831): a figure in which it does well rewards something else.
    """

    def length(segment: Segment) -> float:
        return -float(len(text_of(segment, name)))

    def score(systems: SystemTexts) -> list[BaselineScores]:
        lengths = {system: np.array([length(segment) for segment in segments]) for system, segments in systems.items()}
        return [BaselineScores.of_means(name, f"matese|metric:{name}", lengths)]

    return Baseline(SENTINEL_BASELINES[name], score, lambda segment: has_text(segment, name))


def has_text(segment: Segment, name: MetricSentinel | FittedName) -> bool:
    """Whether a segment has the only text that a sentinel reads; a blank source is missing."""
    return name.startswith("sentinel-mt") or not is_blank(segment.source or "")


def text_of(segment: Segment, name: MetricSentinel | FittedName) -> str:
    """Returns the only text that a sentinel reads.

    Raises:
        InputError: if it is the source, and there is none.
    """
    if not has_text(segment, name):
        raise InputError(f"{name}: {describe_segment(segment)} has no source; it needs one")
    return segment.hypothesis if name.startswith("sentinel-mt") else segment.source or ""


@dataclass(frozen=True, slots=True)
class _Variant:
    """A metric of sacrebleu, and arguments of its class other than the defaults."""

    name: SacrebleuName
    title: str
    arguments: Mapping[str, Any]

    @property
    def chrf(self) -> chrf.ChrfVariant:
        """The variant of chrF; it has the names of the arguments."""
        return chrf.ChrfVariant(**self.arguments)


_PARAMETERS: Mapping[SacrebleuName, Mapping[str, str]] = {
    "bleu": {"tok": "tokenize", "smooth": "smooth_method", "lc": "lowercase"},
    "chrf": {"beta": "beta", "nc": "char_order", "nw": "word_order", "lc": "lowercase"},
    "ter": {"norm": "normalized", "nopunct": "no_punct", "asian": "asian_support", "cs": "case_sensitive"},
}
"""Arguments of sacrebleu's classes by the names of parameters, which are those of its signatures where it has some."""
_NUMBERS = {"beta": 1, "nc": 1, "nw": 0}
"""The lowest values of parameters that are whole numbers."""
_CHOICES = {"tok": "TOKENIZERS", "smooth": "SMOOTH_DEFAULTS"}
"""Attributes of sacrebleu's BLEU with the values of parameters that are names. All other parameters have no value."""


def of_sacrebleu(name: SacrebleuName, parameters: str = "") -> Baseline:
    """Returns BLEU, chrF or TER.

    The score of a system is its corpus score, not the mean of its segments. TER is an error rate, so its scores are
    negated. Segment BLEU uses the effective order. The target language of a segment's key determines the tokenizer.

    Args:
        name: of the metric.
        parameters: as in "tok=intl,lc" or "beta=3", see `_PARAMETERS`; they stand in the name of the metric.

    Raises:
        InputError: if there is no such parameter or value; when it scores, if a segment has no reference, or sacrebleu
            or its tokenizer is not installed.

    >>> of_sacrebleu("chrf", "beta=3,nw=2").title
    'chrF:beta=3,nw=2'
    """
    title = f"{SACREBLEU_BASELINES[name]}{':' * bool(parameters)}{parameters}"
    arguments = dict(_argument(name, parameter) for parameter in parameters.split(",")) if parameters else {}
    variant = _Variant(name, title, arguments)
    return Baseline(title, lambda systems: [_score_by_sacrebleu(variant, systems)], has_reference)


def _argument(name: SacrebleuName, parameter: str) -> tuple[str, object]:
    """Returns an argument of a class of sacrebleu, and its value."""
    arguments = _PARAMETERS[name]
    key, is_set, value = parameter.partition("=")
    if key not in arguments:
        allowed = one_of([f"{key}=..." if key in _NUMBERS or key in _CHOICES else key for key in arguments])
        raise InputError(unknown(f"parameter of {name}", key, arguments, allowed=allowed))
    if key in _NUMBERS:
        number = parse_whole_number(value)
        if number is None or not _NUMBERS[key] <= number <= _HIGHEST:
            allowed = f"must be a whole number from {_NUMBERS[key]} to {_HIGHEST}"
            raise InputError(f"{parameter!r} of {name}: {allowed}, as in {name}:{key}=3")
        return arguments[key], number
    if key in _CHOICES:
        choices = list(getattr(_bleu(), _CHOICES[key]))
        if value not in choices:
            raise InputError(f"{parameter!r} of {name}: {key} must be {one_of(choices)}")
        return arguments[key], value
    if is_set:
        raise InputError(f"{parameter!r} of {name}: {key} has no value; write {name}:{key}")
    return arguments[key], True


def has_reference(segment: Segment) -> bool:
    """Whether a segment has a reference that is not blank."""
    return not all(map(is_blank, segment.references))


def with_references(title: str, systems: SystemTexts) -> dict[str, list[Segment]]:
    """Returns the segments without blank references. Raises an InputError if one has no other."""

    def without_blanks(segment: Segment) -> Segment:
        if not has_reference(segment):
            lacking = f"{title} needs references: {describe_segment(segment)} has none"
            remedy = "give --ref with texts; ratings get references by matese convert RATINGS NEW.jsonl --ref FILE"
            raise InputError(f"{lacking}; {remedy}")
        return replace(segment, references=tuple(text for text in segment.references if not is_blank(text)))

    return {system: list(map(without_blanks, segments)) for system, segments in systems.items()}


def _score_by_sacrebleu(variant: _Variant, systems: SystemTexts) -> BaselineScores:
    metrics: dict[Language, Metric] = {}
    signatures: dict[str, None] = {}
    statistics = {}
    segments = {}
    for system, translated in with_references(variant.title, systems).items():
        rows = []
        counts = defaultdict[Language, set[int]](set)
        for segment in translated:
            language = east_asian_target(segment.key)
            if language not in metrics:
                metrics[language] = _metric(variant, language, effective_order=True)
            rows.append(_summands(variant, metrics[language], segment))
            counts[language].add(len(segment.references))
        for language, n_references in counts.items():
            signature = _signature(_metric(variant, language), sorted(n_references))
            # sacrebleu's own signature lacks beta.
            beta = f"|beta:{variant.chrf.beta:g}" if "beta" in variant.arguments else ""
            signatures[f"{signature}{beta}{'|negated:yes' * (variant.name == 'ter')}"] = None
        table = np.array(rows, dtype=np.float64)
        segments[system] = _of_sums(variant, table, effective_order=True)[SCORE]
        statistics[system] = AdditiveStatistic(table, lambda sums: _of_sums(variant, sums))
    return BaselineScores(variant.title, "sacrebleu", " ".join(signatures), segments, statistics)


def _summands(variant: _Variant, metric: Metric, segment: Segment) -> Sequence[float] | FloatArray:
    """Returns what a segment adds to the counts that the score of a corpus is computed from."""
    hypothesis = segment.hypothesis
    references = list(segment.references)
    if variant.name == "chrf":  # sacrebleu shows no counts of it
        return chrf.statistics(hypothesis, references, variant.chrf)
    score = metric.sentence_score(hypothesis, references)
    if variant.name == "ter":
        return [score.num_edits, score.ref_length]
    return [score.sys_len, score.ref_len, *score.counts, *score.totals]


def _of_sums(variant: _Variant, sums: FloatArray, *, effective_order: bool = False) -> Mapping[str, FloatArray]:
    """Returns the scores of sums of `_summands`, which no longer depend on the language."""
    if variant.name == "chrf":
        return {SCORE: chrf.of_sums(sums, variant.chrf)}
    if variant.name == "ter":
        edits, words = sums.T
        rate = np.divide(edits, words, out=(edits > 0) * 1.0, where=words > 0)
        return {SCORE: 0 - 100 * rate}  # never -0
    bleu = _bleu()
    smoothing = variant.arguments.get("smooth_method", "exp")
    scores = []
    for length, reference_length, *counts in sums.astype(np.int64).tolist():
        matched = counts[: len(counts) // 2]
        total = counts[len(counts) // 2 :]
        lengths = length, reference_length
        scores.append(bleu.compute_bleu(matched, total, *lengths, smoothing, None, effective_order).score)
    return {SCORE: np.array(scores, dtype=np.float64)}


def _signature(metric: Metric, n_references: Sequence[int]) -> str:
    """Returns the signature of a metric, which names the numbers of references of the segments that it has scored."""
    streams: Any = [["a" if number < n else None for n in n_references] for number in range(n_references[-1])]
    metric.corpus_score(["a"] * len(n_references), streams)
    return str(metric.get_signature())


def of_words(name: EditName) -> Baseline:
    """Returns WER, EED, PER, CDER, CharacTER or NIST. All but NIST are error rates, so that scores are negated.

    Words are those that sacrebleu's tokenizer separates (13a; zh for Chinese, characters for Japanese), case-sensitive;
    the score of a system is its edits divided by its reference words. EED (Stanchev et al. 2019) and CharacTER (Wang et
    al. 2016) are means of the segments, as their authors submitted them. The best of several references counts. NIST
    weighs n-grams by the references of all segments.

    Raises:
        InputError: when it scores, if a segment has no reference, or a package is not installed.
    """
    title = EDIT_BASELINES[name]
    return Baseline(title, lambda systems: [_score_words(name, title, systems)], has_reference)


def _score_words(name: EditName, title: str, systems: SystemTexts) -> BaselineScores:
    readable = with_references(title, systems)
    package = {"character": "cer", "wer": "torchmetrics", "eed": "torchmetrics"}.get(name, "sacrebleu")
    packages = dict.fromkeys((package, "sacrebleu"))
    for installed in packages:
        check_installed(title, installed, extra="test-sets")
    if name == "nist":
        every = (words for segments in readable.values() for segment in segments for words in _words(segment)[1])
        weights = word_metrics.information(every)
        tables = {
            system: np.array([word_metrics.nist_sums(*_words(segment), weights) for segment in segments])
            for system, segments in readable.items()
        }
        of_sums = word_metrics.nist
    else:
        rate = {"eed": _extended_edit_distance, "character": _character_rate}.get(name) or partial(_word_rate, name)
        tables = {system: np.array([rate(segment) for segment in segments]) for system, segments in readable.items()}
        of_sums = _negated_rates
    statistics = {
        system: AdditiveStatistic(table, lambda sums: {SCORE: of_sums(sums)}) for system, table in tables.items()
    }
    segments = {system: of_sums(table) for system, table in tables.items()}
    versions = "|".join(f"{installed}:{version(installed)}" for installed in packages)
    signature = f"{name}|{versions}{'' if name == 'nist' else '|negated:yes'}"
    return BaselineScores(title, "matese" if package == "sacrebleu" else package, signature, segments, statistics)


def _negated_rates(sums: FloatArray) -> FloatArray:
    rates: FloatArray = 0 - sums[:, 0] / sums[:, 1]  # never -0
    return rates


def _words(segment: Segment) -> tuple[list[str], list[list[str]]]:
    """Returns the words of the hypothesis and of each reference."""
    tokenize = _tokenizer(east_asian_target(segment.key))
    return tokenize(segment.hypothesis).split(), [tokenize(text).split() for text in segment.references]


@cache
def _tokenizer(language: Language) -> Callable[[str], str]:
    tokenize: Callable[[str], str] = _bleu()(tokenize={"zh": "zh", "ja": "char"}.get(language or "", "13a")).tokenizer
    return tokenize


def _word_rate(name: EditName, segment: Segment) -> tuple[float, float]:
    """Returns the edits and the words of the reference with the lowest rate; the words are at least 1."""
    edits = {"per": word_metrics.position_independent_edits, "cder": word_metrics.block_edits}.get(name, _word_edits)
    hypothesis, references = _words(segment)
    counts = [(float(edits(hypothesis, words)), float(max(1, len(words)))) for words in references]
    return min(counts, key=lambda edits_and_words: edits_and_words[0] / edits_and_words[1])


def _word_edits(hypothesis: Sequence[str], reference: Sequence[str]) -> int:
    from torchmetrics.functional.text import word_error_rate

    if not reference:
        return len(hypothesis)
    return round(float(word_error_rate(" ".join(hypothesis), " ".join(reference))) * len(reference))


def _character_rate(segment: Segment) -> tuple[float, float]:
    from cer import calculate_cer

    hypothesis, references = _words(segment)
    return min(float(calculate_cer(hypothesis, words)) if hypothesis else 1.0 for words in references), 1.0


def _extended_edit_distance(segment: Segment) -> tuple[float, float]:
    from torchmetrics.functional.text import extended_edit_distance

    language: Literal["en", "ja"] = "ja" if east_asian_target(segment.key) == "ja" else "en"
    rate = extended_edit_distance([segment.hypothesis], [segment.references], language)
    assert not isinstance(rate, tuple)  # a tuple would also hold the scores of sentences
    return float(rate), 1.0


def _metric(variant: _Variant, language: Language, *, effective_order: bool = False) -> Metric:
    """Returns the metric; the effective order is that of BLEU of a segment."""
    bleu = _bleu()
    arguments = variant.arguments
    from sacrebleu.metrics.chrf import CHRF
    from sacrebleu.metrics.ter import TER

    if variant.name == "bleu":
        tokenizer = arguments.get("tokenize") or f"its tokenizer of {language}"
        try:
            # A language beside a stated tokenizer would only make sacrebleu recommend another one.
            target = "" if "tokenize" in arguments else language or ""
            return bleu(**arguments, trg_lang=target, effective_order=effective_order)
        except (ImportError, RuntimeError, OSError) as error:  # some tokenizers are downloaded
            raise InputError(f"sacrebleu lacks {tokenizer} ({error}); install it") from None
    if variant.name == "chrf":
        return CHRF(**arguments)
    # Without `normalized`, sacrebleu ignores `asian_support`, although its signature names it.
    separates_characters = language in ("zh", "ja")
    return TER(**{"normalized": separates_characters, "asian_support": separates_characters, **arguments})


def _bleu() -> type[BLEU]:
    """Returns sacrebleu's class of BLEU; raises an InputError if sacrebleu is not installed."""
    try:
        from sacrebleu.metrics.bleu import BLEU
    except ImportError:
        raise InputError(
            "sacrebleu is not installed: BLEU, chrF and TER need pip install 'matese[test-sets]'"
        ) from None
    return BLEU

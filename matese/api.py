"""Functions for files and lists of Ratings, such as `matese.read`, `matese.evaluate` and `matese.compare`.

Wherever Ratings are expected, the path of a file in any format that can be read will do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from matese import mqm
from matese.annotation import Rating
from matese.errors import UsageError, check_list, shortened
from matese.evaluation.metrics.correlation_options import DEFAULTS
from matese.evaluation.metrics.correlation_options import CorrelationOptions as CorrelationOptions
from matese.evaluation.metrics.correlation_options import ScoreSelection as ScoreSelection
from matese.files import short_names
from matese.ratings import read as read
from matese.ratings import read_tokens as read_tokens

if TYPE_CHECKING:
    from matese import merging
    from matese.evaluation.metrics.lexical_metrics import Baseline
    from matese.evaluation.metrics.meta_evaluation import MetaEvaluation
    from matese.evaluation.metrics.score_arrays import LangPairScores
    from matese.evaluation.spans.evaluation import Evaluation, Grouping, NamedRatings
    from matese.evaluation.systems.agreement import RaterAgreement
    from matese.evaluation.systems.comparison import SystemComparison
    from matese.evaluation.systems.gate import GateResult
    from matese.evaluation.systems.quality import Basis
    from matese.evaluation.systems.segment_filters import Filter

    RatingsOrFile = str | PathLike[str] | Iterable[Rating] | NamedRatings
    """A file of ratings, or the ratings themselves, perhaps with a name for messages and results."""
    Systems = Mapping[str, RatingsOrFile] | Sequence[str | PathLike[str] | Sequence[Rating]]
    """Ratings by the name of their system, or a list of files or of lists of ratings, whose keys name the systems."""


def evaluate(
    gold: RatingsOrFile,
    predicted: RatingsOrFile,
    *,
    versus: RatingsOrFile | None = None,
    by: Sequence[Grouping] = (),
    rater: str | None = None,
    merge: merging.Method | None = None,
    unit: str = "word",
    weights: mqm.AnyWeights = "matese",
    severity_penalty: float = 0.0,
    severity_weights: bool = False,
    n_resamples: int = 0,
    seed: int = 0,
    interval_scale: float = 1.0,
    good: float | None = None,
    common: bool = False,
    sentinels: bool = False,
) -> Evaluation:
    """Compares predicted ratings with gold ones; `figures` of the result has all figures by name.

    Args:
        gold: ratings that count as true, one per segment.
        predicted: ratings of the same segments.
        versus: another prediction, which `predicted` is compared with.
        by: "severity", "category", "lang-pair", "system", "domain" and "length": figures of these groups.
        rater: the gold rater to take, if a segment has several.
        merge: how to merge several gold raters of a segment; each one against the others is then the human ceiling.
            With `rater` and `merge`, ratings of an edited text are moved to the text of the prediction.
        unit: of tags: "word", "character", or a model whose tokens are the units.
        weights: penalties for the MQM scores, or the name of a preset.
        severity_penalty: share of the credit that a matched pair of different severities loses, 0 to 1.
        severity_weights: in matching, count a span as many times as its penalty.
        n_resamples: bootstrap resamples for 95% intervals; 0 for none.
        seed: of the bootstrap.
        interval_scale: factor of the intervals of expected scores in the figures `uncertainty.*`.
        good: least human score of a good translation, for `pass_curves`: precision and recall at every threshold.
        common: compare only the segments that all sides have; without it, a side that lacks some is an error.
        sentinels: also compute the figures of predictions that are bad by construction, see `span_sentinels`.

    Raises:
        InputError: if the ratings cannot be compared.

    >>> from matese import ErrorSpan, Segment, Severity
    >>> gold, other = ([Rating(Segment("Das Haus"), None, (ErrorSpan(4, end, Severity.MAJOR),))] for end in (8, 6))
    >>> round(evaluate(gold, other).figures["mpp.micro.f1"].value, 3)
    0.667
    """
    from matese import tag_units
    from matese.evaluation.spans import evaluation
    from matese.evaluation.spans.pair_statistics import FigureOptions
    from matese.evaluation.systems import raters

    check_list(by=by)
    rated = _named(gold, "gold")
    tagging = tag_units.tagging(unit)
    penalties = mqm.find_weights(weights)
    options = FigureOptions(
        tagging, penalties, severity_penalty, severity_weights, n_resamples, seed, interval_scale, good
    )
    prediction = _named(predicted, "prediction")
    other = None if versus is None else _named(versus, "other prediction")
    if common:
        rated, prediction, *others = evaluation.common([rated, prediction, *([other] if other else [])])
        other = others[0] if others else None
    golds = _one_per_segment(rated, rater, merge, rated.name, predicted=prediction.ratings)
    if rater is not None or merge is not None:
        prediction = raters.on_texts_of(golds.ratings, prediction)
        other = None if other is None else raters.on_texts_of(golds.ratings, other)
    return evaluation.evaluate(
        golds,
        prediction,
        options,
        by=by,
        versus=other,
        sentinels=sentinels,
        humans=_ceiling(rated.ratings, merge),
    )


def agreement(
    ratings: RatingsOrFile,
    *,
    unit: str = "word",
    weights: mqm.AnyWeights = "matese",
    severity_penalty: float = 0.0,
    severity_weights: bool = False,
    n_resamples: int = 0,
    seed: int = 0,
) -> RaterAgreement:
    """Compares the ratings of two raters or more with each other; the options are those of `evaluate`.

    Raises:
        InputError: if a rating has no rater, or no segment has two raters.

    >>> from matese import ErrorSpan, Segment, Severity
    >>> segment = Segment("Das Haus ist alt.")
    >>> span = ErrorSpan(4, 8, Severity.MAJOR)
    >>> result = agreement([Rating(segment, "anna", (span,)), Rating(segment, "ben", (span,))])
    >>> result.pooled["mpp.micro.f1"].value, result.alpha["alpha.severity"].value
    (1.0, 1.0)
    """
    from matese import tag_units
    from matese.evaluation.spans.pair_statistics import FigureOptions
    from matese.evaluation.systems import agreement

    tagging = tag_units.tagging(unit)
    penalties = mqm.find_weights(weights)
    options = FigureOptions(tagging, penalties, severity_penalty, severity_weights, n_resamples, seed)
    return agreement.measure(_named(ratings, "ratings").ratings, options)


def correlate(
    gold: str | PathLike[str] | Iterable[Rating],
    metrics: Mapping[str, str | PathLike[str] | Iterable[Rating]] | Sequence[str | PathLike[str]] = (),
    *,
    selection: ScoreSelection | None = None,
    options: CorrelationOptions | None = None,
) -> MetaEvaluation:
    """Compares the scores of metrics with those of humans; `figures` of the result has all figures by name.

    Args:
        gold: a test set directory of mt-metrics-eval, or human scores: a file or ratings. Baselines need ratings.
        metrics: score files, or files and ratings by the name of the metric.
        selection: which language pairs, metrics and systems are compared, and which baselines are computed; None for
            all, without baselines.
        options: how figures and rankings are computed; None for the defaults.

    Raises:
        InputError: if the scores cannot be compared.

    >>> from matese import ErrorSpan, Segment, SegmentKey, Severity
    >>> def ratings(n_errors):
    ...     segments = [Segment("Hallo", key=SegmentKey(system=name, index=0)) for name in "ABC"]
    ...     span = ErrorSpan(0, 5, Severity.MINOR)
    ...     return [Rating(segment, None, (span,) * n) for segment, n in zip(segments, n_errors, strict=True)]
    >>> result = correlate(ratings([0, 1, 2]), {"bad": ratings([4, 2, 0])})
    >>> {metric: round(figures["system.pearson"].value, 3) for metric, figures in result.figures["all"].items()}
    {'bad': -1.0}
    """
    from matese.evaluation.metrics import meta_evaluation

    return meta_evaluation.correlate(read_scores(gold, metrics, selection=selection), options or DEFAULTS)


def read_scores(
    gold: str | PathLike[str] | Iterable[Rating],
    metrics: Mapping[str, str | PathLike[str] | Iterable[Rating]] | Sequence[str | PathLike[str]] = (),
    *,
    selection: ScoreSelection | None = None,
    report: Callable[[str], None] | None = None,
) -> list[LangPairScores]:
    """Returns the scores that `correlate` compares, with those of the baselines; takes its arguments.

    `report` is called with what is computed and with counts of skipped or repaired rows; None refuses such rows.
    """
    from matese import baselines
    from matese.evaluation.metrics import evaluation_sets
    from matese.formats import detection
    from matese.formats.corpora.mt_metrics_eval import TestSet

    check_list(metrics=metrics)
    selected = selection or ScoreSelection()
    made = baselines.make_for_correlation(
        selected.baselines, encoder=selected.encoder, layer=selected.layer, weights=mqm.GOOGLE
    )
    is_folder = isinstance(gold, str | PathLike) and Path(gold).is_dir()
    if not metrics and is_folder and not detection.holds_ratings(str(gold)):
        notify = report or (lambda _: None)
        return evaluation_sets.from_test_set(TestSet(Path(str(gold))), selected, notify, baselines=made)
    named = metrics.items() if isinstance(metrics, Mapping) else [(None, path) for path in metrics]
    return evaluation_sets.from_files(gold, list(named), selected, baselines=made, report=report)


def compare(
    systems: Systems,
    *,
    weights: mqm.AnyWeights = "matese",
    filters: Sequence[Filter | str] = (),
    rater: str | None = None,
    merge: merging.Method | None = None,
    n_resamples: int = 1000,
    n_permutations: int = 1000,
    seed: int = 0,
    by: Basis | None = None,
    baseline: str | None = None,
    metrics: Sequence[str | Baseline] = (),
    device: str = "auto",
) -> SystemComparison:
    """Compares systems that translated the same segments: all others with a baseline, or any two.

    Args:
        systems: ratings of two systems or more, one rating per segment.
        weights: penalties of errors, or the name of a preset.
        filters: select the segments to compare: texts as in `matese compare --help-all`, or filters of
            `evaluation.systems.segment_filters`.
        rater: the rater to take, if a segment has several.
        merge: how to merge several raters of a segment.
        n_resamples: of the bootstrap; 0 for no intervals.
        n_permutations: of the permutation test.
        seed: of both.
        by: the score that decides, "spans" or "expected"; None for "expected" if all ratings have it.
        baseline: the name of the system that all others are compared with; None to compare any two.
        metrics: other metrics whose scores are compared, too: names, or what `baselines.make_baselines` returns.
        device: of the metrics' models, as in `matese.load`.

    Raises:
        InputError: if the systems cannot be compared.
    """
    from matese import baselines
    from matese.evaluation.systems import comparison
    from matese.evaluation.systems.differences import ResamplingOptions

    check_list(filters=filters)
    every = _by_system(systems, untranslated=True)
    return comparison.compare(
        {name: _one_per_segment(ratings, rater, merge, name).ratings for name, ratings in every.items()},
        weights=mqm.find_weights(weights),
        selected_by=filters,
        sampling=ResamplingOptions(n_resamples, n_permutations, seed),
        basis=by,
        baseline=baseline,
        metrics=baselines.make_baselines(metrics, weights=weights, loading={"device": device}),
    )


def gate(
    ratings: RatingsOrFile,
    *,
    max_major_per_1k: float | None = None,
    max_errors_per_1k: float | None = None,
    min_score: float | None = None,
    min_error_free: float | None = None,
    baseline: RatingsOrFile | None = None,
    alpha: float = 0.05,
    rater: str | None = None,
    merge: merging.Method | None = None,
    weights: mqm.AnyWeights = "matese",
    by: Basis | None = None,
    max_blank: int | None = 0,
    require_same_signature: bool = False,
) -> GateResult:
    """Checks the ratings of one system against limits; `passed` of the result says whether all are kept.

    Args:
        ratings: one per segment.
        max_major_per_1k: most Major and Critical errors per 1,000 words.
        max_errors_per_1k: most errors per 1,000 words.
        min_score: lowest mean score.
        min_error_free: least share of segments that are decided to be free of errors, 0 to 1.
        baseline: another system on the same segments, which must not be significantly better.
        alpha: significance level.
        rater: the rater to take, if a segment has several.
        merge: how to merge several raters of a segment.
        weights: what scores are computed with, or the name of a preset.
        by: the score that is limited and compared, as in `compare`.
        max_blank: most blank translations of a text; None for no limit.
        require_same_signature: refuse another system that another model or other settings have rated.

    Raises:
        InputError: if there is no limit, or one cannot be checked.

    >>> from matese import ErrorSpan, Segment, Severity
    >>> gate([Rating(Segment("Der Tag"), "A", (ErrorSpan(0, 3, Severity.MAJOR),))], min_score=-3).passed
    False
    """
    from matese.evaluation.systems import gate

    other = None
    if baseline is not None:
        other = _one_per_segment(_named(baseline, "the baseline", untranslated=True), rater, merge, "the baseline")
    system = _one_per_segment(_named(ratings, "the system", untranslated=True), rater, merge, "the system")
    limits = gate.GateLimits(max_major_per_1k, max_errors_per_1k, min_score, alpha, max_blank, min_error_free)
    return gate.check(
        system,
        limits,
        baseline=other,
        weights=mqm.find_weights(weights),
        basis=by,
        require_same_signature=require_same_signature,
    )


def report(systems: Systems, *, title: str | None = None, weights: mqm.AnyWeights = "matese") -> str:
    """Returns ratings as one HTML page, which needs no other file and no network.

    Args:
        systems: ratings of one system or several.
        title: heading of the page; None for the names of the systems.
        weights: what scores are computed with, or the name of a preset.

    Raises:
        InputError: if a file cannot be read.
    """
    from matese.render import report_page

    named = _by_system(systems)
    return report_page.render(title or ", ".join(named), named, weights=mqm.find_weights(weights))


def summary(systems: Systems, *, title: str | None = None, lang: str = "en", weights: mqm.AnyWeights = "matese") -> str:
    """Returns one page to print for a customer: a verdict, counts, the five worst segments, and what was checked.

    Args:
        systems: ratings of one system, one for each segment.
        title: what was checked; None for the name of the system.
        lang: language of the page: "en", "de", "es", "fr" or "zh".
        weights: what scores are computed with, or the name of a preset.

    Raises:
        InputError: if a file cannot be read or has no marks, or there are several systems.
    """
    from matese.render import summary_page

    named = _by_system(systems)
    if len(named) > 1:
        raise UsageError(
            f"a summary of {len(named)} systems ({', '.join(named)}): must be one; use compare for several"
        )
    (name, ratings), *_ = named.items()
    return summary_page.render(ratings, title=title or name, language=lang, weights=mqm.find_weights(weights))


def _ceiling(ratings: Sequence[Rating], merge: merging.Method | None) -> tuple[Sequence[Rating], Sequence[Rating]]:
    from matese.evaluation.systems import raters

    return raters.against_others(ratings, merge)


def _one_per_segment(
    ratings: RatingsOrFile,
    rater: str | None,
    merge: merging.Method | None,
    otherwise: str,
    *,
    predicted: Sequence[Rating] = (),
) -> NamedRatings:
    from matese.evaluation.systems import raters

    named = _named(ratings, otherwise)
    chosen = raters.one_per_segment(named.ratings, name=named.name, rater=rater, merge=merge, predicted=predicted)
    return replace(named, ratings=chosen.ratings)


def _named(ratings: RatingsOrFile, otherwise: str, *, untranslated: bool = False) -> NamedRatings:
    from matese.evaluation.spans.evaluation import NamedRatings

    if isinstance(ratings, NamedRatings):
        return ratings
    if isinstance(ratings, str | PathLike):
        return NamedRatings(str(ratings), read(ratings, untranslated=untranslated), read_tokens(ratings))
    if not isinstance(ratings, Iterable):
        raise UsageError(f"{otherwise} is a {type(ratings).__name__}: must be a file or a list of ratings")
    given = list(ratings)
    if others := [value for value in given if not isinstance(value, Rating)]:
        raise UsageError(f"{otherwise} holds {shortened(others[0])}: must be ratings")
    return NamedRatings(otherwise, given)


def _by_system(systems: Systems, *, untranslated: bool = False) -> dict[str, tuple[Rating, ...]]:
    from matese.evaluation import alignment

    if isinstance(systems, str | PathLike):
        raise UsageError(f"{systems} is one file: give a list of files, or of lists of ratings")
    given = systems if isinstance(systems, Mapping) else list(systems)
    if not given:
        raise UsageError("no system is given: must be one or more")
    if isinstance(given, Mapping):
        return {
            name: tuple(_named(ratings, name, untranslated=untranslated).ratings) for name, ratings in given.items()
        }
    paths = [str(path) for path in given if isinstance(path, str | PathLike)]
    if several := next((path for path in paths if paths.count(path) > 1), None):
        raise UsageError(f"{several} is given {paths.count(several)} times; give it once")
    names = dict(zip(paths, short_names(paths), strict=True))
    named = [_named(ratings, f"system {n}", untranslated=untranslated) for n, ratings in enumerate(given, start=1)]
    return alignment.by_system({names.get(system.name, system.name): system.ratings for system in named})

"""The scores of metrics, compared with those of people."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TextIO, TypeAlias, cast

from matese import mqm
from matese.errors import UsageError
from matese.evaluation.metrics.correlation_options import (
    DEFAULTS,
    CorrelationFigures,
    ScoreSelection,
)
from matese.tasks import annotators, baselines, learned, notices, sinks
from matese.tasks.rated import ratings_given
from matese.tasks.request import function
from matese.tasks.tables import Tables
from matese.tasks.texts import require
from matese.validation.options import CountOrZero, Folder, Options, group, option

if TYPE_CHECKING:
    from matese.evaluation.metrics.meta_evaluation import MetaEvaluation
    from matese.evaluation.metrics.score_arrays import LangPairScores
    from matese.tasks.files import RatingsLike

    Scored: TypeAlias = RatingsLike
    """A file of scores or ratings, or ratings in any form."""


def _first_segment(value: object) -> str:
    """Returns the number of the first segment, 0 or 1, of all files or of one: "1" or "FILE=1"."""
    file, is_named, number = str(value).rpartition("=")
    if number not in ("0", "1") or (is_named and not file):
        raise UsageError(f"{value!r}: must be 0 or 1, or FILE=0 or FILE=1")
    return str(value)


def _scores_of_metrics(metrics: object) -> Mapping[str, object] | tuple[str, ...]:
    """Returns files of scores, or files and ratings by the name of the metric."""
    if isinstance(metrics, Mapping):
        return {name: ratings_given(scores) for name, scores in metrics.items()}
    metrics = ratings_given(metrics)
    files = [metrics] if isinstance(metrics, str) or not isinstance(metrics, Iterable) else list(metrics)
    if not all(isinstance(file, str | PathLike) for file in files):
        raise UsageError('ratings without a name: must be files, or ratings by the name of a metric: {"mine": ...}')
    return tuple(map(str, files))


@dataclass(frozen=True, kw_only=True)
class MetricSelection(Options):
    """Which scores are compared.

    Attributes:
        lang_pairs: language pairs (default: all).
        metrics: metrics, or primary (default: all).
        human_metric: show people as metrics, to see what metrics can reach: other human scores of TESTSET, or, of
            ratings, one rater or any, who is compared with the other raters.
        ref: the reference (default: as in mt-metrics-eval, or the one that most metrics used).
        first_segment: number of the first segment in JSONL and CSV, or in FILE: 0 or 1 (default: 0, if texts or a 0
            show it).
        with_human: include human translations as systems (default: where the official task of TESTSET did).
        without_human: leave out human translations.
        without: systems to leave out.
        without_outliers: leave out systems far from the median (MAD).
        with_outliers: keep the systems that mt-metrics-eval leaves out as outliers.
        by: also show figures of each domain.
    """

    lang_pairs: Sequence[str] = option((), metavar="LP")
    metrics: Sequence[str] = ()
    human_metric: Sequence[str] = ()
    ref: str | None = None
    first_segment: Sequence[str] = option((), take=_first_segment, metavar="[FILE=]N", is_repeated=True)
    with_human: bool = False
    without_human: bool = False
    without: Sequence[str] = option((), metavar="SYSTEM")
    without_outliers: bool = False
    with_outliers: bool = False
    by: Literal["domain"] | None = option(None, metavar="domain")

    def __post_init__(self) -> None:
        super().__post_init__()
        require(not (self.with_human and self.without_human), "--with-human and --without-human are both given")
        outliers = self.with_outliers and self.without_outliers
        require(not outliers, "--with-outliers and --without-outliers are both given")


@dataclass(frozen=True, kw_only=True)
class CorrelationOutput(Tables):
    """How figures are written.

    Attributes:
        plot: write LP.systems.svg and LP.top-n.svg here; of relative ranks, the latter alone.
    """

    plot: Folder | None = None


@dataclass(frozen=True)
class Request(Options):
    """Compare metrics with people.

    Attributes:
        test_set: directory of mt-metrics-eval.
        gold: human scores: a file, or their name in TESTSET (default: as in mt-metrics-eval, or mqm, or esa).
        metric: scores of a metric.
        baseline: compute metrics from the texts: bleu, chrf or ter with sacrebleu, also with parameters
            (bleu:tok=intl,lc or chrf:beta=3); wer or eed with torchmetrics; bertscore, bertscore-idf or yisi with an
            encoder; sentinel-src or sentinel-mt, the length of one text; sentinel-src-fit or sentinel-mt-fit, a
            regression on it (correlate only); or any model that scores (embedded, a directory or a hub id).
        encoder: encoder of bertscore, yisi and the fitted sentinels: a model directory, a directory that transformers
            can load, or a hub id (default: mini).
        layer: layer of the encoder, 0 for its embeddings (default: the highest that reads each text alone, else the
            last).
    """

    test_set: str | PathLike[str] | None = option(None, take=os.fspath, metavar="TESTSET")
    _: KW_ONLY
    gold: Scored | None = option(None, take=ratings_given, metavar="NAME|FILE")
    metric: Mapping[str, Scored] | Sequence[str | PathLike[str]] = option(
        (), take_all=_scores_of_metrics, metavar="FILE"
    )
    baseline: Sequence[str] = ()
    encoder: str | None = option(None, metavar="DIR")
    layer: CountOrZero | None = None
    selection: MetricSelection = group(MetricSelection)
    figures: CorrelationFigures = group(CorrelationFigures)
    output: CorrelationOutput = group(CorrelationOutput)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.test_set is None:
            has_metrics = any((self.metric, self.baseline, self.selection.human_metric))
            has_files = self.gold is not None and (has_metrics or _holds_verdicts(self.gold))
            require(has_files, "nothing to compare: give TESTSET, or --gold with --metric files or --baseline")
            for name in ("ref", "with_outliers"):
                require(not getattr(self.selection, name), f"--{name.replace('_', '-')} is for a TESTSET only")
            return
        require(not self.metric, "--metric is for single files; leave out TESTSET")
        require(not self.selection.first_segment, "--first-segment is for single files; leave out TESTSET")
        is_directory = Path(self.test_set).is_dir()
        require(is_directory, f"{self.test_set}: no such directory; give the directory of a test set")

    @property
    def files(self) -> list[str]:
        """The files of scores."""
        metrics = self.metric.values() if isinstance(self.metric, Mapping) else self.metric
        return [scores for scores in (self.gold, *metrics) if isinstance(scores, str)] if self.test_set is None else []

    def selected(self) -> ScoreSelection:
        """Returns which scores are compared."""
        selection = self.selection
        numbers = [text.rpartition("=") for text in selection.first_segment]
        general = [int(number) for file, _, number in numbers if not file]
        return ScoreSelection(
            lang_pairs=tuple(dict.fromkeys(selection.lang_pairs)),
            metrics=tuple(selection.metrics),
            gold=self.gold if isinstance(self.gold, str) else None,
            human_metrics=tuple(selection.human_metric),
            reference=selection.ref,
            with_human=True if selection.with_human else False if selection.without_human else None,
            without=tuple(selection.without),
            baselines=tuple(self.baseline),
            encoder=self.encoder,
            layer=self.layer,
            first_segment=general[-1] if general else None,
            first_segments={file: int(number) for file, _, number in numbers if file},
            by_domain=selection.by == "domain",
            without_outliers=selection.without_outliers,
            with_outliers=selection.with_outliers,
        )


def run(request: Request, stream: TextIO | None = None) -> MetaEvaluation:
    """Compares the scores of metrics with those of people; `figures` of the result has all figures by name.

    The tables are written to `stream`, if there is one.

    Raises:
        InputError: if the scores cannot be compared.

    >>> from matese import ErrorSpan, Rating, Segment, SegmentKey, Severity
    >>> def ratings(n_errors):
    ...     segments = [Segment("Hallo", key=SegmentKey(system=name, index=0)) for name in "ABC"]
    ...     span = ErrorSpan(0, 5, Severity.MINOR)
    ...     return [Rating(segment, None, (span,) * n) for segment, n in zip(segments, n_errors, strict=True)]
    >>> result = correlate(gold=ratings([0, 1, 2]), metric={"bad": ratings([4, 2, 0])})
    >>> {metric: round(figures["system.pearson"].value, 3) for metric, figures in result.figures["all"].items()}
    {'bad': -1.0}
    """
    output = request.output
    if output.plot is not None:
        _check_plot(output.plot)
    with sinks.results(output.json, request.files, stream=stream) as outputs:
        from matese.evaluation.metrics import meta_evaluation
        from matese.render import correlation_report, plots

        with annotators.scoring(request.baseline):
            pairs = read_scores(request)
        options = replace(request.figures, rank_by=request.figures.rank_by or _rank_by(pairs))
        with notices.bar(2 * sum(len(pair.metrics) for pair in pairs), "metrics") as bar:

            def report(evaluation: MetaEvaluation, lang_pair: str) -> None:
                bar.make_way()
                for part in correlation_report.text(evaluation, lang_pair):
                    is_said = isinstance(part, str)
                    outputs.write_text(part, *(["\n"] if is_said and output.markdown else []), look=output.look)

            evaluation = meta_evaluation.correlate(pairs, options, advance=bar.advance, report=report)
        outputs.write_text(correlation_report.signatures(evaluation), look=output.look)
        notices.info(*correlation_report.undefined(evaluation))
        sources: dict[str | None, frozenset[str]] = {}
        for pair in pairs:
            for rater in pair.signatures.values():
                sources[rater] = sources.get(rater, frozenset()) | pair.sources
        learned.tell(sources, models=filter(baselines.is_model, request.baseline))
        outputs.write_json(correlation_report.to_json(evaluation))
    if output.plot is not None:
        Path(output.plot).mkdir(exist_ok=True)
        for name, panels in correlation_report.plots(evaluation).items():
            plots.save(panels, Path(output.plot) / f"{name}.svg")
    return evaluation


correlate = function(Request, run)


def read_scores(request: Request) -> list[LangPairScores]:
    """Returns the scores that are compared, with those of the baselines; reports what is computed or repaired."""
    from matese.evaluation.metrics import evaluation_sets
    from matese.formats import detection
    from matese.formats.corpora.mt_metrics_eval import TestSet

    selected = request.selected()
    made = baselines.make_for_correlation(
        selected.baselines, encoder=selected.encoder, layer=selected.layer, weights=mqm.GOOGLE
    )
    if request.test_set is not None and not detection.holds_ratings(str(request.test_set)):
        return evaluation_sets.from_test_set(TestSet(Path(request.test_set)), selected, notices.info, baselines=made)
    gold = request.gold if request.test_set is None else request.test_set
    assert gold is not None  # as the request has checked
    metric = request.metric
    named = list(metric.items()) if isinstance(metric, Mapping) else [(None, path) for path in metric]
    rated = cast("evaluation_sets.ScoresOrRatings", gold)
    return evaluation_sets.from_files(rated, named, selected, baselines=made, report=notices.info)


def _rank_by(pairs: Sequence[LangPairScores]) -> str:
    """Returns the figure that orders the metrics by default: one of segments where those of systems are undefined."""
    from matese.evaluation.metrics.score_arrays import MIN_SYSTEMS

    if all(pair.ranked is not None for pair in pairs):
        return "segment.darr"
    if max(len(pair.gold.systems) for pair in pairs) >= MIN_SYSTEMS:
        return DEFAULTS.ranked_by
    figure = "segment.kendall_b"
    notices.info(f"fewer than three systems have no {DEFAULTS.ranked_by}: metrics are ordered by {figure} (--rank-by)")
    return figure


def _holds_verdicts(gold: object) -> bool:
    """Whether a file of relative ranks has the verdicts of metrics, too."""
    from matese.formats.corpora import relative_ranks

    return isinstance(gold, str) and relative_ranks.holds_verdicts(gold)


def _check_plot(folder: str) -> None:
    """Raises a UsageError if plots cannot be written to a folder."""
    from matese.render import plots

    plots.check_installed()
    parent = Path(folder).absolute().parent
    require(parent.is_dir(), f"--plot {folder}: {parent} does not exist; create it first")
    require(not Path(folder).is_file(), f"--plot {folder} is a file; give a directory")

"""The scores of metrics, compared with those of people."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from matese import mqm
from matese.annotation import Rating
from matese.errors import UsageError
from matese.evaluation.metrics.correlation_options import (
    RANKED_FIGURES,
    TESTS,
    TIE_RULES,
    CorrelationOptions,
    ScoreSelection,
    Test,
    TieRule,
)
from matese.tasks import annotators, notices, sinks
from matese.tasks.rated import OneFile
from matese.tasks.request import function, option
from matese.tasks.tables import Tables
from matese.tasks.texts import require
from matese.tasks.values import FINITE, PROBABILITY, File, OneOf, Several, Text, Whole

if TYPE_CHECKING:
    from matese.evaluation.metrics.meta_evaluation import MetaEvaluation
    from matese.evaluation.metrics.score_arrays import LangPairScores

    Scored = str | PathLike[str] | Iterable[Rating]
    """A file of scores or ratings, or ratings."""

_DEFAULT = CorrelationOptions()


@dataclass(frozen=True, slots=True)
class FirstSegment:
    """The number of the first segment, 0 or 1, of all files or of one: "1" or "FILE=1"."""

    metavar: str = "[FILE=]N"

    def take(self, given: object) -> str:
        """Returns the text."""
        file, is_named, number = str(given).rpartition("=")
        if number not in ("0", "1") or (is_named and not file):
            raise UsageError(f"{given!r}: must be 0 or 1, or FILE=0 or FILE=1")
        return str(given)


@dataclass(frozen=True, slots=True)
class ScoresOfMetrics(Several):
    """Files of scores; from Python also files and ratings by the name of the metric."""

    def take(self, given: object) -> Any:  # noqa: ANN401
        """Returns the files, or files and ratings by name."""
        if isinstance(given, Mapping):
            return dict(given)
        several = [given] if isinstance(given, str) or not isinstance(given, Iterable) else list(given)
        if any(isinstance(one, Iterable | Rating) and not isinstance(one, str | PathLike) for one in several):
            raise UsageError('ratings without a name: must be files, or ratings by the name of a metric: {"mine": ...}')
        return Several.take(self, several)


@dataclass(frozen=True)
class Request(Tables):
    """Compare metrics with people.

    Attributes:
        test_set: directory of mt-metrics-eval.
        gold: human scores: a file, or their name in TESTSET (default: as in mt-metrics-eval, or mqm, or esa).
        metric: scores of a metric.
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
        baseline: compute metrics from the texts: bleu, chrf or ter with sacrebleu, also with parameters
            (bleu:tok=intl,lc or chrf:beta=3); wer or eed with torchmetrics; bertscore, bertscore-idf or yisi with an
            encoder; sentinel-src or sentinel-mt, the length of one text; sentinel-src-fit or sentinel-mt-fit, a
            regression on it (correlate only); or any model that scores (embedded, a directory or a hub id).
        encoder: encoder of bertscore, yisi and the fitted sentinels: a model directory, a directory that transformers
            can load, or a hub id (default: mini).
        layer: layer of the encoder, 0 for its embeddings (default: the highest that reads each text alone, else the
            last).
        rank_by: figure that orders the metrics (default: system.pearson; segment.kendall_b of fewer than three systems,
            segment.darr of relative ranks).
        significance: permutation, bootstrap, williams or none (default: permutation).
        samples: most permutations of a test, and random sign flips of spa (default: 1000).
        good: least human score of a good translation: precision and recall of good translations at every threshold of
            each metric, in --json and --plot.
        by: also show figures of each domain.
        bootstrap: compute 95% intervals from N bootstrap resamples of the segments.
        seed: of all random numbers.
        alpha: significance level of clusters.
        darr_threshold: a pair of translations in daRR has human scores that differ by more than this.
        darr_ties: what a tie of the metric is in daRR: discordant, or neither.
        plot: write LP.systems.svg and LP.top-n.svg here; of relative ranks, the latter alone.
    """

    test_set: str | PathLike[str] | None = option(None, File("TESTSET"))
    _: KW_ONLY
    gold: Scored | None = option(None, OneFile("NAME|FILE"))
    metric: Mapping[str, Scored] | Sequence[str | PathLike[str]] = option((), ScoresOfMetrics())
    lang_pairs: Sequence[str] = option((), Several(Text("LP")))
    metrics: Sequence[str] = option((), Several(Text()))
    human_metric: Sequence[str] = option((), Several(Text()))
    ref: str | None = option(None, Text())
    first_segment: Sequence[str] = option((), Several(FirstSegment(), is_repeated=True))
    with_human: bool = False
    without_human: bool = False
    without: Sequence[str] = option((), Several(Text("SYSTEM")))
    without_outliers: bool = False
    with_outliers: bool = False
    baseline: Sequence[str] = option((), Several(Text()))
    encoder: str | None = option(None, Text("DIR"))
    layer: int | None = option(None, Whole(0))
    rank_by: str | None = option(None, OneOf("figure", RANKED_FIGURES, metavar="FIGURE"))
    significance: Test = option(_DEFAULT.test, OneOf("test", TESTS, metavar="TEST"))
    samples: int = option(_DEFAULT.n_samples, Whole(1))
    good: float | None = option(None, FINITE)
    by: str | None = option(None, OneOf("group", ("domain",), metavar="domain"))
    bootstrap: int | None = option(None, Whole(1))
    seed: int = option(0, Whole(0))
    alpha: float = option(_DEFAULT.alpha, PROBABILITY)
    darr_threshold: float = option(_DEFAULT.darr_threshold, FINITE)
    darr_ties: TieRule = option(_DEFAULT.darr_ties, OneOf("rule of ties", TIE_RULES))
    plot: str | None = option(None, File("DIR"))

    def __post_init__(self) -> None:
        super().__post_init__()
        require(not (self.with_human and self.without_human), "--with-human and --without-human are both given")
        outliers = self.with_outliers and self.without_outliers
        require(not outliers, "--with-outliers and --without-outliers are both given")
        if self.test_set is None:
            has_metrics = any((self.metric, self.baseline, self.human_metric))
            has_files = self.gold is not None and (has_metrics or _holds_verdicts(self.gold))
            require(has_files, "nothing to compare: give TESTSET, or --gold with --metric files or --baseline")
            for name in ("ref", "with_outliers"):
                require(not getattr(self, name), f"--{name.replace('_', '-')} is for a TESTSET only")
            return
        require(not self.metric, "--metric is for single files; leave out TESTSET")
        require(not self.first_segment, "--first-segment is for single files; leave out TESTSET")
        is_directory = Path(self.test_set).is_dir()
        require(is_directory, f"{self.test_set}: no such directory; give the directory of a test set")

    @property
    def files(self) -> list[str]:
        """The files of scores."""
        given = self.metric.values() if isinstance(self.metric, Mapping) else self.metric
        return [one for one in (self.gold, *given) if isinstance(one, str)] if self.test_set is None else []

    @property
    def selection(self) -> ScoreSelection:
        """Which scores are compared."""
        numbers = [one.rpartition("=") for one in self.first_segment]
        general = [int(number) for file, _, number in numbers if not file]
        return ScoreSelection(
            lang_pairs=tuple(dict.fromkeys(self.lang_pairs)),
            metrics=tuple(self.metrics),
            gold=self.gold if isinstance(self.gold, str) else None,
            human_metrics=tuple(self.human_metric),
            reference=self.ref,
            with_human=True if self.with_human else False if self.without_human else None,
            without=tuple(self.without),
            baselines=tuple(self.baseline),
            encoder=self.encoder,
            layer=self.layer,
            first_segment=general[-1] if general else None,
            first_segments={file: int(number) for file, _, number in numbers if file},
            by_domain=self.by == "domain",
            without_outliers=self.without_outliers,
            with_outliers=self.with_outliers,
        )

    def options(self, pairs: Sequence[LangPairScores]) -> CorrelationOptions:
        """Returns how figures and rankings are computed; tells if they cannot be those of systems."""
        return CorrelationOptions(
            n_flips=self.samples,
            seed=self.seed,
            darr_threshold=self.darr_threshold,
            darr_ties=self.darr_ties,
            alpha=self.alpha,
            rank_by=self.rank_by or _rank_by(pairs),
            test=self.significance,
            n_samples=self.samples,
            n_bootstrap=self.bootstrap,
            good=self.good,
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
    if request.plot is not None:
        _check_plot(request.plot)
    with sinks.results(request.json, request.files, stream=stream) as outputs:
        from matese.evaluation.metrics import meta_evaluation
        from matese.render import correlation_report, plots

        with annotators.scoring(request.baseline):
            pairs = read_scores(request)
        options = request.options(pairs)
        with notices.bar(2 * sum(len(pair.metrics) for pair in pairs), "metrics") as bar:

            def report(evaluation: MetaEvaluation, lang_pair: str) -> None:
                bar.make_way()
                for part in correlation_report.text(evaluation, lang_pair):
                    is_said = isinstance(part, str)
                    outputs.write_text(part, *(["\n"] if is_said and request.markdown else []), look=request.look)

            evaluation = meta_evaluation.correlate(pairs, options, advance=bar.advance, report=report)
        outputs.write_text(correlation_report.signatures(evaluation), look=request.look)
        notices.info(*correlation_report.undefined(evaluation))
        outputs.write_json(correlation_report.to_json(evaluation))
    if request.plot is not None:
        Path(request.plot).mkdir(exist_ok=True)
        for name, panels in correlation_report.plots(evaluation).items():
            plots.save(panels, Path(request.plot) / f"{name}.svg")
    return evaluation


correlate = function(Request, run)


def read_scores(request: Request) -> list[LangPairScores]:
    """Returns the scores that are compared, with those of the baselines; reports what is computed or repaired."""
    from matese.evaluation.metrics import evaluation_sets
    from matese.formats import detection
    from matese.formats.corpora.mt_metrics_eval import TestSet
    from matese.tasks import baselines

    selected = request.selection
    made = baselines.make_for_correlation(
        selected.baselines, encoder=selected.encoder, layer=selected.layer, weights=mqm.GOOGLE
    )
    if request.test_set is not None and not detection.holds_ratings(str(request.test_set)):
        return evaluation_sets.from_test_set(TestSet(Path(request.test_set)), selected, notices.info, baselines=made)
    gold = request.gold if request.test_set is None else request.test_set
    assert gold is not None  # as the request has checked
    metric = request.metric
    named = list(metric.items()) if isinstance(metric, Mapping) else [(None, path) for path in metric]
    return evaluation_sets.from_files(gold, named, selected, baselines=made, report=notices.info)


def _rank_by(pairs: Sequence[LangPairScores]) -> str:
    """Returns the figure that orders the metrics by default: one of segments where those of systems are undefined."""
    from matese.evaluation.metrics.score_arrays import MIN_SYSTEMS

    if all(pair.ranked is not None for pair in pairs):
        return "segment.darr"
    if max(len(pair.gold.systems) for pair in pairs) >= MIN_SYSTEMS:
        return _DEFAULT.rank_by
    figure = "segment.kendall_b"
    notices.info(f"fewer than three systems have no {_DEFAULT.rank_by}: metrics are ordered by {figure} (--rank-by)")
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

"""`matese correlate`: compare metric scores with human scores."""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import TYPE_CHECKING

from matese.cli import messages, model, options, output
from matese.errors import one_of
from matese.evaluation.metrics.correlation_options import (
    POOLED,
    RANKED_FIGURES,
    TESTS,
    CorrelationOptions,
    ScoreSelection,
)

if TYPE_CHECKING:
    from matese.evaluation.metrics.meta_evaluation import MetaEvaluation

_FIGURES = ("rank_by", "test", "n_samples", "n_bootstrap", "good")
SUMMARY = "compare the scores of metrics with those of humans"
USUAL = ("lang-pairs", "metrics", "gold", "metric", "baseline", "rank-by", "significance", "json")
EPILOG = """TESTSET is a directory of mt-metrics-eval. Without it, --gold and --metric are files: SYSTEM SCORE lines,
WMT submissions of 2019 or 2022, MQM averages (system mqm_avg_score seg_id), CSV (system,segment,score), or JSONL of
ratings, whose MQM scores are used. --gold can also be relative ranks of WMT (RR-seglevel.csv), whose only figure is
segment.darr. Baselines are computed from the texts of TESTSET, or of the ratings of --gold.

figures (docs/research/correlate.md defines all of them, and the keys of --json):
  system    pearson, accuracy (pairwise), spa (soft pairwise accuracy)
  segment   pearson, kendall_b and kendall_c, each also _by_item and _by_system; pdp, darr, acc_eq
  average   wmt23, wmt24 (the same as in WMT25), over the language pairs

  Metrics with the same cluster number do not differ significantly.

examples:
  matese correlate wmt22 --lang-pairs en-de zh-en --baseline bleu chrf --json figures.json
  matese correlate wmt22 --rank-by average.wmt24 --by domain
  matese correlate --gold newstest2020.avg_seg_scores.tsv --metric BLEU.seg.score mini.jsonl
  matese correlate --gold ratings.jsonl --baseline chrf yisi mini Unbabel/wmt22-comet-da
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("test_set", metavar="TESTSET", nargs="?", help="directory of mt-metrics-eval")
    _add_input(parser.add_argument_group("scores"))
    _add_figures(parser.add_argument_group("figures"))
    group = parser.add_argument_group("output")
    options.add_json(group)
    group.add_argument("--plot", metavar="DIR", help="write LP.systems.svg and LP.top-n.svg here")


def _add_input(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--lang-pairs", nargs="+", default=[], metavar="LP", help="language pairs (default: all)")
    group.add_argument("--metrics", nargs="+", default=[], metavar="NAME", help="metrics, or primary (default: all)")
    text = "human scores: a file, or their name in TESTSET (default: as in mt-metrics-eval, or mqm)"
    group.add_argument("--gold", metavar="NAME|FILE", help=text)
    group.add_argument("--metric", nargs="+", action="extend", default=[], metavar="FILE", help="scores of a metric")
    text = (
        "show people as metrics, to see what metrics can reach: other human scores of TESTSET, or, of ratings, one "
        "rater or any, who is compared with the other raters"
    )
    group.add_argument("--human-metric", nargs="+", default=[], metavar="NAME", help=text)
    text = "the reference (default: as in mt-metrics-eval, or the one that most metrics used)"
    group.add_argument("--ref", metavar="NAME", help=text)
    text = "number of the first segment in JSONL and CSV, or in FILE: 0 or 1 (default: 0, if texts or a 0 show it)"
    group.add_argument(
        "--first-segment", type=_first_segment, action="append", default=[], metavar="[FILE=]N", help=text
    )
    humans = group.add_mutually_exclusive_group()
    text = "include human translations as systems (default: where the official task of TESTSET did)"
    humans.add_argument("--with-human", action="store_true", default=None, help=text)
    text = "leave out human translations"
    humans.add_argument("--without-human", dest="with_human", action="store_false", default=None, help=text)
    group.add_argument("--without", nargs="+", default=[], metavar="SYSTEM", help="systems to leave out")
    outliers = group.add_mutually_exclusive_group()
    outliers.add_argument("--without-outliers", action="store_true", help="leave out systems far from the median (MAD)")
    text = "keep the systems that mt-metrics-eval leaves out as outliers"
    outliers.add_argument("--with-outliers", action="store_true", help=text)
    model.add_metrics(group, "--baseline")
    model.add_encoder(group)


def _first_segment(text: str) -> tuple[str | None, int]:
    """Returns a file, None for all, and the number of its first segment."""
    file, is_named, number = text.rpartition("=")
    if number not in ("0", "1") or (is_named and not file):
        raise argparse.ArgumentTypeError(f"{text!r}: must be 0 or 1, or FILE=0 or FILE=1")
    return file or None, int(number)


def _add_figures(group: argparse._ArgumentGroup) -> None:
    default = CorrelationOptions()
    whole = options.whole_number(1)
    for option, name, kind, metavar, text in (
        ("--rank-by", "rank_by", options.OneOf("figure", RANKED_FIGURES), "FIGURE", "figure that orders the metrics"),
        ("--significance", "test", options.OneOf("test", TESTS), "TEST", one_of(TESTS)),
        ("--samples", "n_samples", whole, "N", "most permutations of a test, and random sign flips of spa"),
    ):
        value = getattr(default, name)
        shown = f"{text} (default: {value})"
        group.add_argument(option, dest=name, type=kind, default=value, metavar=metavar, help=shown)
    text = (
        "least human score of a good translation: precision and recall of good translations at every threshold of each "
        "metric, in --json and --plot"
    )
    group.add_argument("--good", type=options.number("", math.isfinite), metavar="X", help=text)
    group.add_argument("--by", choices=("domain",), metavar="domain", help="also show figures of each domain")
    text = "compute 95%% intervals from N bootstrap resamples of the segments"
    group.add_argument("--bootstrap", dest="n_bootstrap", type=whole, metavar="N", help=text)


def run(args: argparse.Namespace) -> None:
    _check(args)
    inputs = [] if args.gold is None or args.test_set is not None else [args.gold, *args.metric]
    how = CorrelationOptions(n_flips=args.n_samples, **{name: getattr(args, name) for name in _FIGURES})
    names = ("with_human", "without_outliers", "with_outliers", "encoder", "layer", "gold")
    selection = ScoreSelection(
        lang_pairs=tuple(dict.fromkeys(args.lang_pairs)),
        metrics=tuple(args.metrics),
        human_metrics=tuple(args.human_metric),
        reference=args.ref,
        without=tuple(args.without),
        baselines=tuple(args.baseline),
        by_domain=args.by == "domain",
        first_segment=dict(args.first_segment).get(None),
        first_segments={file: number for file, number in args.first_segment if file is not None},
        **{name: getattr(args, name) for name in names},
    )
    with output.results(args.json, inputs) as outputs:
        from matese import api
        from matese.evaluation.metrics import meta_evaluation
        from matese.render import correlation_report, plots

        with model.scoring(args.baseline):
            pairs = api.read_scores(args.test_set or args.gold, args.metric, selection=selection, report=messages.info)
        with messages.bar(2 * sum(len(pair.metrics) for pair in pairs), "metrics") as bar:

            def report(evaluation: MetaEvaluation, lang_pair: str) -> None:
                bar.make_way()
                table = correlation_report.table(evaluation, lang_pair)
                outputs.write_text(f"{table.caption}\n", table)
                macro = correlation_report.macro_table(evaluation) if lang_pair == POOLED else None
                if macro is not None:
                    outputs.write_text(f"{macro.caption}\n", macro)
                if (passed := correlation_report.pass_table(evaluation, lang_pair)) is not None:
                    outputs.write_text(f"{passed.caption}\n", passed)

            evaluation = meta_evaluation.correlate(pairs, how, advance=bar.advance, report=report)
        outputs.write_text(correlation_report.signatures(evaluation))
        messages.info(*correlation_report.undefined(evaluation))
        outputs.write_json(correlation_report.to_json(evaluation))
    if args.plot is not None:
        Path(args.plot).mkdir(exist_ok=True)
        for name, panels in correlation_report.plots(evaluation).items():
            plots.save(panels, Path(args.plot) / f"{name}.svg")


def _holds_verdicts(path: str) -> bool:
    """Whether a file of relative ranks has the verdicts of metrics, too."""
    from matese.formats.corpora import relative_ranks

    return relative_ranks.holds_verdicts(path)


def _check(args: argparse.Namespace) -> None:
    if args.test_set is None:
        has_metrics = any((args.metric, args.baseline, args.human_metric))
        has_files = args.gold is not None and (has_metrics or _holds_verdicts(args.gold))
        options.require(has_files, "nothing to compare: give TESTSET, or --gold with --metric files or --baseline")
        for name in ("ref", "with_outliers"):
            options.require(not getattr(args, name), f"--{name.replace('_', '-')} is for a TESTSET only")
    else:
        options.require(args.metric == [], "--metric is for single files; leave out TESTSET")
        options.require(args.first_segment == [], "--first-segment is for single files; leave out TESTSET")
        is_directory = Path(args.test_set).is_dir()
        options.require(is_directory, f"{args.test_set}: no such directory; give the directory of a test set")
    if args.plot is not None:
        from matese.render import plots

        plots.check_installed()
        parent = Path(args.plot).absolute().parent
        options.require(parent.is_dir(), f"--plot {args.plot}: {parent} does not exist; create it first")
        options.require(not Path(args.plot).is_file(), f"--plot {args.plot} is a file; give a directory")

"""`matese compare`: compare two or more systems."""

from __future__ import annotations

import argparse

from matese.cli import inputs, messages, model, options, output
from matese.errors import one_of
from matese.severities import COUNTED

_TOP = 10
"""Segments with the largest differences that are listed."""
_SEVERITIES = one_of([severity.value for severity in COUNTED])
SUMMARY = "compare systems by the errors in their translations"
USUAL = ("hyp", "src", "ref", "input", "baseline", "filter", "html", "json", "metrics")
EPILOG = f"""RATINGS are files with ratings of the same segments by the same rater or model. A file holds one or several
systems. The model marks translations (--hyp, --input) first. Rating i of each system must be of the same segment; if
the order differs, segments are matched by their keys.

The report has a verdict for each other system against --baseline, or for any two systems; their scores and error rates;
their differences with the paired bootstrap and the paired permutation test; how many errors are fixed, introduced,
less severe, more severe and unchanged; and the segments with the largest differences. docs/compare.md defines all
figures and the keys of --json. The score is minus the penalties of the marked errors, the expected score the model's
estimate of the score that people would give. Systems are compared by the expected score if all ratings have one, or as
--by says.

filters (--filter):
  length=MIN:MAX     sources of MIN to MAX words; either number may be omitted
  errors=MIN:MAX     segments in which a system has MIN to MAX errors
  severity=NAME,...  segments in which a system has an error of this severity: {_SEVERITIES}; none: no error
  number, name       sources with a digit; with a capitalised word that does not begin a sentence
  glossary=FILE      sources with a term of this file, one per line
  unique             the first segment of each source in each language pair

examples:
  matese compare old.jsonl new.jsonl
  matese compare --hyp a.txt b.txt c.txt --ref ref.txt --baseline b.txt
  matese compare --input data.csv --columns hypothesis=mtA,mtB
  matese compare old.jsonl new.jsonl --metrics bleu chrf bertscore Unbabel/wmt22-comet-da
  matese compare old.jsonl new.jsonl --filter length=20: number --html compare.html --json compare.json
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    inputs.add_rated(parser)
    group = parser.add_argument_group("figures")
    text = "compare all others with this system, a name or a file (default: compare any two systems)"
    group.add_argument("--baseline", metavar="SYSTEM", help=text)
    options.add_basis(group)
    options.add_number(group, "--bootstrap", 0, 1000, "resamples of the bootstrap; 0 for none")
    text = "compare only the segments that pass all these filters, listed below"
    group.add_argument("--filter", nargs="+", action="extend", default=[], metavar="FILTER", help=text)
    group = parser.add_argument_group("output")
    options.add_json(group)
    group.add_argument("--html", metavar="FILE", help="write a page with charts and all segments")
    group = parser.add_argument_group("metrics", "other metrics, as rows beside the scores of the ratings")
    model.add_metrics(group, "--metrics")


def run(args: argparse.Namespace) -> None:
    args = inputs.with_baseline(args)
    files = inputs.given_files(args)
    with output.results(args.json, files, args.html) as outputs:
        from matese import api
        from matese.evaluation.systems import segment_filters
        from matese.render import comparison_page, comparison_report

        chosen = [segment_filters.parse(text) for text in args.filter]  # before the model works for an hour
        rated = inputs.rated(args)
        with model.scoring(args.metrics):
            comparison = api.compare(
                rated.systems,
                weights=args.weights,
                filters=chosen,
                n_resamples=args.bootstrap,
                by=args.by,
                baseline=rated.baseline,
                metrics=args.metrics,
                device=args.device,
            )
        messages.info(*comparison_report.notices(comparison))
        outputs.write_text(*comparison_report.text(comparison, _TOP))
        outputs.write_json(comparison_report.to_json(comparison, files))
        if outputs.html is not None:
            outputs.html.write(comparison_page.render(comparison, files, notes=rated.warnings))

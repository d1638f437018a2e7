"""`matese compare`: compare two or more systems."""

from __future__ import annotations

import argparse
import re
from typing import TYPE_CHECKING

from matese.cli import inputs, messages, model, options, output
from matese.errors import UsageError, near_miss, one_of

if TYPE_CHECKING:
    from matese.evaluation.systems.filters import Filter

_TOP = 10
"""Segments with the largest differences that are listed."""
_CONTENTS = ("number", "name", "unique")
SUMMARY = "compare systems by the errors in their translations, without a gold standard"
EPILOG = """RATINGS are files with ratings of the same segments by the same rater or model. A file holds one or several
systems. The model marks translations (--hyp, --input) first. Rating i of each system must be of the same segment; if
the order differs, segments are matched by their keys.

output:
  verdict      which of two systems is better, and by how much: each other system against --baseline, or any two
  systems      mean scores with 95% intervals, errors per 1,000 words and characters, segments by most severe error
  differences  each system minus the other: score, errors and Major errors per segment, with the interval of the
               paired bootstrap and the p-value of the paired permutation test; share of resamples that each system
               wins; errors fixed, introduced, softened, worsened and kept (spans are matched as in matese evaluate)
  segments     segments with the largest score differences, and whether each error was fixed, introduced or kept
  docs/compare.md defines all figures and the keys of --json.

  score: minus the penalties of the marked errors; expected score: the model's estimate of the score that people would
  give. Systems are compared by the expected score if all ratings have one, or as --by says.

filters (--filter):
  length=MIN:MAX     sources of MIN to MAX words; either number may be omitted
  errors=MIN:MAX     segments in which a system has MIN to MAX errors
  severity=NAME,...  segments in which a system has an error of this severity: minor, major or critical; none: no error
  number, name       sources with a digit; with a capitalised word that does not begin a sentence
  glossary=FILE      sources with a term of this file, one per line
  unique             the first segment of each source

examples:
  matese compare old.jsonl new.jsonl
  matese compare --hyp a.txt b.txt c.txt --ref ref.txt --baseline b.txt
  matese compare --input data.csv --columns hypothesis=mtA,mtB
  matese compare old.jsonl new.jsonl --metrics bleu chrf bertscore Unbabel/wmt22-comet-da
  matese compare old.jsonl new.jsonl --filter length=20: number --html compare.html --json compare.json
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Adds the command's options."""
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
    """Runs the command."""
    args = inputs.with_baseline(args)
    given = inputs.given_files(args)
    options.require(args.json != "-" or args.html != "-", "--json and --html are both -; only one can be")
    weights = options.weights(args.weights)
    with output.results(args.json, given, args.html) as outputs:
        from matese import api
        from matese.render import comparison_page, comparison_report

        chosen = [_filter(text) for text in args.filter]
        systems, baseline = inputs.rated(args, weights)
        metrics = model.load_metrics(args, args.metrics, weights)
        with model.quiet():
            found = api.compare(
                systems,
                weights=weights,
                filters=chosen,
                n_resamples=args.bootstrap,
                by=args.by,
                baseline=baseline,
                metrics=metrics,
            )
        for notice in comparison_report.notices(found):
            messages.info(notice)
        outputs.write_text(*comparison_report.text(found, _TOP))
        outputs.write_json(comparison_report.to_json(found, given))
        if outputs.html is not None:
            outputs.html.write(comparison_page.render(found, given))


def _filter(text: str) -> Filter:
    """Returns the filter that `--filter` names.

    Raises:
        UsageError: if there is no such filter.
        InputError: if its glossary cannot be read.
    """
    from matese.evaluation.systems import filters
    from matese.formats import glossary

    name, _, value = text.partition("=")
    if text in _CONTENTS:
        return {"number": filters.with_number, "name": filters.with_name, "unique": filters.without_duplicates}[text]()
    if name in ("length", "errors"):
        return (filters.by_length if name == "length" else filters.by_errors)(*_bounds(text, value))
    if name == "glossary" and value:
        return filters.with_terms(glossary.read(value))
    if name == "severity":
        severities = value.split(",")
        unknown = next((one for one in severities if one not in filters.SEVERITIES), None)
        allowed = f"must be {one_of(filters.SEVERITIES)}, or several with commas between them"
        options.require(unknown is None, f"--filter {text}: unknown severity {unknown!r}: {allowed}")
        return filters.with_severity(*severities)
    known = (*_CONTENTS, "length=MIN:MAX", "errors=MIN:MAX", "severity=NAME", "glossary=FILE")
    hint = near_miss(name, [one.partition("=")[0] for one in known])
    raise UsageError(f"--filter {text}: unknown filter{hint} must be {one_of(known)}")


def _bounds(text: str, value: str) -> tuple[int, int | None]:
    """Returns the lowest and the highest number of a filter; None for no upper limit."""
    match = re.fullmatch(r"([0-9]{0,9}):([0-9]{0,9})", value)
    low, high = (int(match[1] or 0), int(match[2]) if match[2] else None) if match else (1, 0)
    if match is None or value == ":" or (high is not None and low > high):
        raise UsageError(f"--filter {text}: {value!r} must be MIN:MAX, MIN: or :MAX, whole numbers, MIN up to MAX")
    return low, high

"""`matese convert`: convert ratings from one format to another, and count everything that is lost."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from matese.annotation import Placed, Rating
from matese.cli import inputs, messages, options, output
from matese.errors import one_of
from matese.formats import detection
from matese.formats.file_endings import ENDINGS
from matese.formats.format import ReadOptions, WriteOptions
from matese.formats.registry import BY_NAME, TABLE, WRITTEN

SUMMARY = "convert ratings between the formats of tools and shared tasks"
_FORMATS = "\n".join(
    f"  {'r' if form.read else '-'}{'w' if form.writes else '-'} {form.name:<16} {form.title}" for form in TABLE
)
USUAL = ("to", "from", "lang-pair", "strict", "columns", "rater", "before", "template")
EPILOG = f"""formats (r: can be read, w: can be written):
{_FORMATS}

  The format of IN, also on standard input (-), is detected from its beginning unless --from is given. What the format
  of OUT cannot hold is left out, and reported by kind and count. docs/formats.md describes what each format can hold.

examples:
  matese convert spans.jsonl spans.csv
  matese convert spans.jsonl ted.tsv --to mqm-tsv
  matese convert spans.jsonl tasks --to label-studio
  matese convert ted.tsv ted.jsonl --src ted.en --ref ted.de       the references of raw MQM ratings
  matese convert export.json corrected.jsonl --before spans.jsonl
  matese convert submission.jsonl predicted.jsonl --texts mteval-test26.jsonl
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("input", metavar="IN", help="ratings; - is standard input")
    parser.add_argument("output", metavar="OUT", help="file or folder to write; - is standard output")
    formats = options.OneOf("format", WRITTEN)
    text = "format of the output (default: from the ending of OUT)"
    parser.add_argument("--to", type=formats, metavar="FORMAT", help=text)
    inputs.add_from(parser)
    reading = parser.add_argument_group("reading")
    inputs.add_lang_pair(reading)
    text = "number of the first segment in the file (default: as its format counts)"
    reading.add_argument("--first-segment", type=int, choices=(0, 1), help=text)
    text = "stop at the first faulty row, and write nothing if the format cannot hold everything (default: count both)"
    reading.add_argument("--strict", action="store_true", help=text)
    text = "error-span TSV: add N to every end"
    reading.add_argument("--end-shift", type=int, default=0, metavar="N", help=text)
    text = "error-span TSV: an end equal to its start marks a character"
    reading.add_argument("--single-characters", action="store_true", help=text)
    text = "Label Studio: read the marks of models instead of people's annotations"
    reading.add_argument("--predictions", action="store_true", help=text)
    reading.add_argument("--test-set", metavar="NAME", help="test set, for files that do not state it")
    reading.add_argument("--texts", metavar="FILE", help="submissions of WMT 2026: the test set, which has the texts")
    inputs.add_columns(reading)
    text = "rater of all ratings, instead of the raters in IN, whose confidences and expected scores are left out"
    reading.add_argument("--rater", metavar="NAME", help=text)
    inputs.add_test_set_texts(reading)
    text = "the marks that the raters saw: report how many they kept, changed, removed and added"
    reading.add_argument("--before", metavar="FILE", help=text)
    writing = parser.add_argument_group("writing")
    options.add_weights(writing)
    text = "name of the submission or campaign (default: matese)"
    writing.add_argument("--method", default="matese", metavar="NAME", help=text)
    text = "wmt-scores, mtme-scores: spans or expected (default: expected if all ratings have an expected score)"
    writing.add_argument("--score", type=options.OneOf("score", ("spans", "expected")), metavar="NAME", help=text)
    text = "name of the system, in place of the one that IN states"
    writing.add_argument("--system", metavar="NAME", help=text)
    writing.add_argument("--template", type=Path, metavar="FILE", help="xliff, po: the file that the texts come from")


def run(args: argparse.Namespace) -> None:
    others = [path for path in (args.before, args.src, args.texts, *args.ref) if path is not None]
    inputs.check_stdin([args.input, *others])
    output.check_apart(args.output, [args.input, *others])
    form = output.format_of(args.output, args.to, ENDINGS, option="--to")
    options.require(form is not None, f"no output format: give --to, one of {one_of(WRITTEN)}")
    with inputs.read_options(args) as how:
        ratings: Iterable[Rating] = detection.read(args.input, how, name=args.from_)
        ratings = inputs.with_texts(ratings, args)
        if args.rater is not None:
            ratings = (_by(args.rater, rating) for rating in ratings)
        if args.before is not None:
            form_of_input = args.from_ or detection.detect(args.input)
            ratings = _with_edits(ratings, args.before, how, form=form_of_input)
        table = output.table_style(args.input, args.from_, form or "", args.columns)
        writing = WriteOptions(args.weights, args.method, args.template, args.score, table)
        output.write_ratings(ratings, args.output, form or "", writing, strict=args.strict)


def _by(rater: str, rating: Rating) -> Rating:
    """Returns the rating as that of a rater; the confidences and the expected score of another one are left out."""
    if rating.rater in (None, rater):
        return replace(rating, rater=rater)
    return replace(
        rating,
        rater=rater,
        errors=None if rating.errors is None else tuple(map(_sure, rating.errors)),
        source_errors=tuple(map(_sure, rating.source_errors)),
        omissions=tuple(map(_sure, rating.omissions)),
        estimate=None,
        error_free=None,
    )


def _sure(error: Placed) -> Placed:
    return replace(error, confidence=None)


def _with_edits(ratings: Iterable[Rating], before: str, how: ReadOptions, *, form: str) -> Iterator[Rating]:
    """Yields the ratings; reports at the end how they differ from those in a file, as their format can hold these."""
    from matese.evaluation.spans import annotation_changes
    from matese.formats.capabilities import Reducer

    after = list(ratings)
    reducer = Reducer(BY_NAME[form].capabilities, adapt=BY_NAME[form].adapt)
    given = detection.read(before, replace(how, columns={}, first_segment=None))
    shown = (held for rating in given if (held := reducer.reduce(rating)) is not None)
    changes = annotation_changes.measure(shown, after)
    yield from after
    messages.info(str(changes))

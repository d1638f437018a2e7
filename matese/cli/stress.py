"""`matese stress`: measure whether a model notices injected errors."""

from __future__ import annotations

import argparse
from itertools import chain, islice

from matese.cli import inputs, messages, model, options, output
from matese.formats.file_endings import ENDINGS

_OF_MARKS = ("recall", "elsewhere")
SUMMARY = "inject errors into translations, and report which are noticed"
USUAL = ("hyp", "src", "ref", "lang-pair", "kinds", "limit", "json", "output", "model")
EPILOG = """Each kind of error is injected once into each translation where it finds a place: negation, number, entity,
antonym, word, hallucination (inserted words), omission, untranslated, repetition, order, form, typo, casing,
punctuation, truncated. The kinds that begin with reference- damage all references instead: omission, word, truncated,
ambiguous ("several" for a number, "someone" for a name of two words), poor (an error in one of five words) and
unrelated (another translation of the file). The translation is as good as before: a robust model's score hardly drops.

The figures are the recall (share of the corrupted words, or of the omissions, that the model marks), the share of the
other words that it marks (elsewhere), the mean drop of the score with a 95 % interval, and the share of translations
whose score is lower than before, in which ties count half (lower).

--lang-pair, or a table that states language pairs, lets word lists apply (negation, antonym, reference-ambiguous). The
injected errors are drawn from other translations in the same file, so use 50 translations or more.

examples:
  matese stress --src src.txt --ref ref.txt --hyp mt.txt --lang-pair en-de
  matese stress --ref ref.txt --hyp mt.txt --kinds number omission --limit 200 --json stress.json
  matese stress --ref ref.txt --hyp mt.txt --model your-organisation/your-model --output corrupted.jsonl
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    inputs.add_texts(parser)
    group = parser.add_argument_group("errors")
    group.add_argument("--kinds", nargs="+", default=[], metavar="KIND", help="kinds of errors (default: all)")
    options.add_limit(group, "use only the first N segments of each system")
    group = parser.add_argument_group("output")
    options.add_json(group)
    text = "write the ratings of the corrupted translations as JSONL; their system is the kind of error"
    group.add_argument("--output", metavar="FILE", help=text)
    model.add_options(parser, with_weights=False)


def run(args: argparse.Namespace) -> None:
    from matese import stress
    from matese.render import json_objects, tables

    kinds = stress.check_kinds(args.kinds)
    files = inputs.given_files(args)
    output.check_apart(args.output, files)
    output.check_distinct(args.json, args.output, "--output")
    output.format_of(args.output, "jsonl", ENDINGS)
    with output.results(args.json, files) as outputs:
        systems, _ = inputs.segments(args)
        segments = list(chain.from_iterable(islice(system.read(), args.limit) for system in systems))
        cases = stress.corrupt(segments, kinds)
        with model.loaded(args, n_segments=len(segments) + len(cases)) as annotator:
            results, ratings = stress.measure(cases, annotator)
            messages.info(*annotator.counts.notices)
        rows = [
            [
                result.kind,
                f"{result.n:,}",
                *(f"{result.figures[name].value:.3f}" if name in result.figures else "" for name in _OF_MARKS),
                tables.bounded(result.figures["drop"], "{:.3f}".format),
                f"{result.figures['lower'].value:.3f}",
            ]
            for result in results
        ]
        outputs.write_text(tables.Table(["kind", "n", *_OF_MARKS, "drop", "lower"], rows))
        figures_of_kind = {
            result.kind: json_objects.nest_figures(result.figures, with_intervals=True) for result in results
        }
        messages.info(
            *(f"{kind}: no place found in these translations" for kind in kinds if kind not in figures_of_kind)
        )
        figures = [{"kind": result.kind, "n": result.n, **figures_of_kind[result.kind]} for result in results]
        outputs.write_json({"signature": ratings[0].rater, "kinds": figures})
        if args.output is not None:
            from matese.formats.format import WriteOptions

            output.write_ratings(ratings, args.output, "jsonl", WriteOptions())

"""`matese evaluate`: compare predicted spans and scores with gold ones."""

from __future__ import annotations

import argparse
import math
from typing import Any

from matese.cli import inputs, messages, model, options, output
from matese.errors import counted

SUMMARY = "compare predicted errors with those that humans marked"
USUAL = ("versus", "weights", "bootstrap", "by", "json", "common", "rater", "merge")
EPILOG = """GOLD and PRED hold ratings of the same segments. Rating i of both must be of the same hypothesis; if the
order differs, ratings are matched by their keys. Neutral and undecided spans do not count, and Critical spans count as
Major.

figures:
  mpp, mp, em      spans matched one to one: with partial credit (report mpp micro F1), with any overlap, exactly
  char_wmt23, ...  precision, recall and F1 of marked characters, as in the WMT tasks of 2023 and 2025
  soft             SoftF1: as characters, but a prediction near the gold one earns something, too
  hsh, tsh         share of the predicted spans (hsh) and of the gold spans (tsh) that overlap one of the other side
  exact, tags      spans with equal units and severity (exact); tags compared unit by unit (tags)
  category         agreement on the main MQM categories of matched spans; --by category adds precision, recall and F1
  score            correlation and error of the MQM scores; expected_score: the same for the model's expected scores
  calibration      how well confidences match precision
  error_free       labels of segments as free of errors; needs files written with --error-free. mcc is 1 if all labels
                   are right and 0 if they are as good as chance; error_free.unmarked takes segments without marks for
                   those free of errors
  pass             precision and recall of good translations at every threshold of a score; needs --good
  uncertainty      how well the intervals of expected scores fit the human scores; needs matese tag --uncertainty
  localisation     how well token scores find erroneous tokens; needs files written with --tokens
  --rater and --merge apply to GOLD. With --merge, segments with several raters have a human ceiling: each rater against
  the others, merged.
  docs/research/evaluation.md defines all of them, and the keys of --json.

examples:
  matese evaluate gold.jsonl spans.jsonl
  matese evaluate gold.jsonl new.jsonl --versus old.jsonl --bootstrap 1000
  matese evaluate ted.tsv spans.jsonl --by severity system --json figures.json
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("gold", metavar="GOLD", help="human ratings, which count as correct")
    parser.add_argument("pred", metavar="PRED", help="predicted ratings of the same segments")
    parser.add_argument("--versus", metavar="FILE", help="another prediction, to compare PRED with")
    group = parser.add_argument_group("figures")
    add_figures(group)
    model.add_interval_scale(group)
    names = options.OneOf("group", ("severity", "category", "lang-pair", "system", "domain", "length"))
    text = "also show figures of each severity, category, lang-pair, system, domain or length"
    group.add_argument("--by", nargs="+", default=[], type=names, metavar="NAME", help=text)
    text = "least human score of a good translation: precision and recall at every threshold of the predicted scores"
    group.add_argument("--good", type=options.number("", math.isfinite), metavar="X", help=text)
    text = (
        "also show figures of predictions that are bad by construction: all, none, random, extended and dropped spans"
    )
    group.add_argument("--sentinels", action="store_true", help=text)
    options.add_json(parser.add_argument_group("output"))
    text = "compare only the segments that all files have, and report how many of each file are left out"
    parser.add_argument("--common", action="store_true", help=text)
    inputs.add_rater_choice(parser)
    inputs.add_lang_pair(parser)
    inputs.add_test_set_texts(parser.add_argument_group("texts of GOLD, if its file lacks them"))


def add_figures(group: argparse._ArgumentGroup) -> None:
    """Adds the options for computing figures; see `figures`."""
    text = "units of tags: words, characters, or the tokens of a model (default: word)"
    group.add_argument("--unit", default="word", metavar="word|character|MODEL", help=text)
    options.add_weights(group)
    options.add_number(group, "--bootstrap", 0, 0, "resamples of the bootstrap for 95%% intervals")


def figures(args: argparse.Namespace) -> dict[str, Any]:
    """Returns the arguments of `api.evaluate` and `api.agreement` from the options of `add_figures`."""
    if args.unit not in ("word", "character"):
        with messages.undisturbed():  # torch is imported here
            from matese.model import loading  # noqa: F401
    return {"unit": args.unit, "weights": args.weights, "n_resamples": args.bootstrap}


def run(args: argparse.Namespace) -> None:
    paths = [args.gold, args.pred, *([args.versus] if args.versus else [])]
    inputs.check_stdin([*paths, *args.ref, *([args.src] if args.src else [])])
    with output.results(args.json, paths) as outputs:
        from matese import api
        from matese.evaluation.spans.evaluation import NamedRatings, common
        from matese.evaluation.systems import raters
        from matese.render import evaluation_report, tables

        how = figures(args)
        rated = list(inputs.with_texts(inputs.ratings(args.gold, args), args))
        predicted, *versus = (
            NamedRatings(path, inputs.ratings(path, args), api.read_tokens(path)) for path in paths[1:]
        )
        if args.common:
            every = [NamedRatings(args.gold, rated), predicted, *versus]
            golds_in_common, predicted, *versus = common(every)
            for given, kept in zip(every, (golds_in_common, predicted, *versus), strict=True):
                n_kept = len(kept.ratings)
                messages.info(f"{given.name}: {n_kept:,} of {counted(len(given.ratings), 'rating')} compared")
            rated = list(golds_in_common.ratings)
        golds = inputs.one_per_segment(rated, args.gold, args, predicted.ratings)  # reports what was moved
        if args.rater is not None or args.merge is not None:
            for named in (predicted, *versus):
                n_others = len(named.ratings) - len(raters.on_texts_of(golds, named).ratings)
                if n_others:
                    messages.info(f"{named.name}: {counted(n_others, 'rating')} of another rater's text left out")
        evaluation = api.evaluate(
            NamedRatings(args.gold, rated),
            predicted,
            versus=versus[0] if versus else None,
            by=args.by,
            rater=args.rater,
            merge=args.merge,
            interval_scale=args.interval_scale,
            good=args.good,
            sentinels=args.sentinels,
            **how,
        )
        outputs.write_text(*evaluation_report.text(evaluation))
        messages.info(*tables.undefined(evaluation.figures))
        outputs.write_json(evaluation_report.to_json(evaluation))

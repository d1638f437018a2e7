"""`matese rerank`: choose the best candidate of each source with a reference-free model, and fit feature weights."""

from __future__ import annotations

import argparse
from argparse import Namespace
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING

from matese.annotation import Rating
from matese.cli import inputs, messages, model, options, output
from matese.errors import FormatError, UsageError, counted

if TYPE_CHECKING:
    from matese.choosing.reranking import FeatureWeights
    from matese.formats.candidates import Candidates

Rated = tuple["Candidates", list[Rating]]
SUMMARY = "choose the best translation of each source among candidates"
USUAL = ("nbest", "hyp", "src", "format", "output", "feature-weights", "tune", "model")
EPILOG = f"""{inputs.CANDIDATES}
  RATINGS  files of ratings of several systems, which are used as they are, without a model

  The score of a candidate is the weighted sum of its features: expected_score (of the model), minor (Minor errors),
  major (Major and Critical errors), model_score (of the n-best list) and length (words). By default it is the expected
  score or, for ratings without one, the score of the errors.

  --tune fits the weights on development data, so that the better of two candidates has the higher score: by chrF with
  the references of --ref, or by human ratings of the candidates (--gold). It then reports
  the mean chrF or human score of the first candidates, of the candidates chosen with the default and the new weights,
  and of the best candidates.

examples:
  matese rerank --nbest samples.txt --src src.txt
  matese rerank --hyp a.txt b.txt --src src.txt --feature-weights expected_score=1 major=-0.5
  matese rerank --nbest dev.nbest --src dev.src --ref dev.ref --tune weights.yaml
  matese rerank --nbest test.nbest --src test.src --feature-weights weights.yaml
  matese rerank a.jsonl b.jsonl --format jsonl
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("ratings", nargs="*", metavar="RATINGS", help="files of ratings, instead of candidates")
    inputs.add_candidates(parser)
    group = parser.add_argument_group("weights")
    text = "a YAML file of weights, or NAME=WEIGHT for some features (default: the expected score alone)"
    group.add_argument("--feature-weights", nargs="+", metavar="FILE|NAME=WEIGHT", help=text)
    group.add_argument("--tune", metavar="FILE", help="fit weights and write them to a YAML file; choose nothing")
    text = "--tune: a reference for chrF; it is never used to choose; repeatable"
    group.add_argument("-r", "--ref", action="append", metavar="FILE", help=text)
    group.add_argument("--gold", metavar="RATINGS", help="--tune: human ratings of the candidates")
    model.add_options(parser, with_weights=False)


def run(args: Namespace) -> None:
    options.require(bool(args.tune) or not (args.ref or args.gold), "--ref and --gold are for --tune only")
    for option, path in (("--output", args.output), ("--tune", args.tune)):
        output.check_apart(path, inputs.given_files(args), option)
    if args.tune:
        unused = args.output or args.feature_weights or args.format
        options.require(not unused, "--tune writes weights: leave out --output, --format and --feature-weights")
        _tune(args)
        return
    output.check_text_format(args)
    weights = None if args.feature_weights is None else _weights(args.feature_weights)
    with output.opened(args.output) as results, _rated(args) as (rated, n_sources, signature):
        from matese.choosing import reranking

        used = {} if weights is None else {key: value for key, value in asdict(weights).items() if value}
        name = "+".join(f"{key}*{value:g}" for key, value in used.items()) or "default"
        choices = (reranking.choose(candidates, ratings, weights) for candidates, ratings in rated)
        signature = f"{signature}|choice:rerank|features:{name}"
        output.write_choices(choices, n_sources, results, args.format, signature)


@contextmanager
def _rated(args: Namespace) -> Iterator[tuple[Iterator[Rated], int, str]]:
    """Yields candidates with their ratings, the number of sources, and the signature of the ratings."""
    if args.ratings:
        is_alone = not any((args.nbest, args.hyp, args.src, args.input))
        options.require(is_alone, "RATINGS are used as they are: give them without texts")
        from matese.choosing import choice

        rated = choice.of_ratings(inputs.systems(args.ratings, args))
        yield iter(rated), len(rated), rated[0][1][0].rater or "matese"
        return
    lists = inputs.candidates(args)
    no_source = "the candidates have no sources; give --src FILE, or `source` in JSON"
    options.require(all(candidates.source is not None for candidates in lists), no_source)
    n_texts = sum(len(candidates.texts) for candidates in lists)
    with model.loaded(args, n_segments=n_texts) as annotator:
        from matese.choosing import reranking

        signature = annotator.signature(annotator.choose_inputs(lists[0].segments()[0]))
        yield reranking.rated(lists, annotator.annotate_segments), len(lists), signature
        messages.info(*annotator.counts.notices)


def _weights(values: Sequence[str]) -> FeatureWeights:
    """Returns the weights in a file, or the weights given by name."""
    from matese.choosing.reranking import FeatureWeights, make_weights
    from matese.formats import settings

    if len(values) == 1 and "=" not in values[0]:
        return settings.read(values[0], FeatureWeights)
    weights = {}
    for item in values:
        name, _, value = item.partition("=")
        try:
            weights[name] = float(value)
        except ValueError:
            allowed = "must be a YAML file, or NAME=WEIGHT with a number"
            raise UsageError(f"--feature-weights {item}: {allowed}") from None
    return make_weights(weights)


def _tune(args: Namespace) -> None:
    options.require(bool(args.ref or args.gold), "--tune needs --ref FILE or --gold RATINGS")
    with output.opened(args.tune, "--tune") as results, _rated(args) as (rated, n_sources, _):
        from matese.choosing import reranking

        pairs = list(messages.progress(rated, n_sources, "sources"))
        lists = [candidates for candidates, _ in pairs]
        if args.gold:
            gold = reranking.scores_of(lists, inputs.ratings(args.gold, args))
            _check_gold(args.gold, [value for values in gold for value in values])
        else:
            gold = reranking.chrf_of(lists)
        weights = reranking.tune(reranking.features(pairs), gold)
        results.write("".join(f"{name}: {value:g}\n" for name, value in asdict(weights).items() if value))
        n_counted, means = reranking.mean_gold(pairs, gold, weights)
        what = "score of the ratings" if args.gold else "chrF"
        shown = ", ".join(f"{name} {value:.4g}" for name, value in means.items())
        messages.info(f"mean {what} of the candidates chosen for {counted(n_counted, 'source')}: {shown}")


def _check_gold(path: str, values: Sequence[float | None]) -> None:
    """Reports candidates without a rating; raises a FormatError if none has one."""
    n_missing = values.count(None)
    if n_missing == len(values):
        raise FormatError(path, None, "rates none of the candidates; it needs their sources and translations")
    if n_missing:
        messages.info(f"{path} does not rate {n_missing:,} of {len(values):,} candidates: not used")

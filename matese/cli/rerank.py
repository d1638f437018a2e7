"""`matese rerank`: choose the best candidate of each source with a reference-free model, and fit feature weights."""

from __future__ import annotations

import argparse

from matese.cli import fields, groups
from matese.tasks import rerank
from matese.tasks.rerank import Request

USUAL = ("nbest", "hyp", "src", "format", "output", "feature-weights", "tune", "model", "more-models")
EPILOG = f"""{groups.CANDIDATES}
  RATINGS  files of ratings of several systems, which are used as they are, without a model

  The score of a candidate is the weighted sum of its features: expected_score (of the model), minor (Minor errors),
  major (Major and Critical errors), model_score (of the n-best list) and length (words). By default it is the expected
  score or, for ratings without one, the score of the errors. With --more-models, expected_score_2, minor_2 and major_2
  are those of the second model, and so on.

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
    fields.add_positional(parser, Request, "ratings", metavar="RATINGS")
    groups.add_candidates(parser, Request)
    group = parser.add_argument_group("weights")
    fields.add(group, Request, "more_models")
    fields.add(group, Request, "feature_weights", "tune")
    fields.add(group, Request, "ref", flags=("-r",))
    fields.add(group, Request, "gold")
    groups.add_model(parser, Request, has_weights=False)


def request(args: argparse.Namespace) -> Request:
    return fields.make(args, Request)


def run(request: Request) -> None:
    rerank.run(request, groups.standard_output())

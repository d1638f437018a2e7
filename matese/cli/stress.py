"""`matese stress`: measure whether a model notices injected errors."""

from __future__ import annotations

import argparse

from matese.cli import fields, groups
from matese.tasks import stress
from matese.tasks.stress import Request

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
    groups.add_texts(parser, Request)
    fields.add(parser.add_argument_group("errors"), Request, "kinds", "limit")
    fields.add(parser.add_argument_group("output"), Request, "json", "output")
    groups.add_model(parser, Request, has_weights=False)


def request(args: argparse.Namespace) -> Request:
    return fields.make(args, Request)


def run(request: Request) -> None:
    stress.run(request, groups.standard_output())

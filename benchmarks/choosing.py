r"""Measure the quality of translations chosen among the outputs of many systems, according to people and metrics.

    python -m benchmarks.choosing --data data/prepared/dev.jsonl --every 3 --json benchmarks/results/choosing-mini.json

The candidates of a source are the outputs of all systems with MQM ratings, without human translations. Each row is a
way to choose. Each column is a judge: the raters' mean MQM score, with the 95 % interval of its difference from the
average system (paired bootstrap over sources); chrF and the model's expected score, both with the reference; and the
model's expected score with the source. The weights of `tuned` are fitted on the MQM scores of the other half of the
sources.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from statistics import fmean
from typing import Any

import numpy as np

import matese
from benchmarks import markdown
from benchmarks.quality import choose
from matese import mqm
from matese.annotation import Rating, Segment
from matese.choosing import mbr, reranking, utilities
from matese.choosing.choice import make_candidates
from matese.evaluation.metrics import chrf
from matese.formats.candidates import Candidates
from matese.formats.tables import jsonl

HUMAN = ("human", "ref")
JUDGES = ("MQM", "chrF, reference", "model, reference", "model, source")
Judged = dict[str, list[list[float]]]
"""By judge, the values of each source's candidates."""


def main() -> None:
    """Prints the table in Markdown and writes all figures as JSON."""
    arguments = markdown.parser(__doc__, "--model", "--data", "--every", "--json").parse_args()
    groups = by_source(choose(jsonl.read(arguments.data), arguments.every))
    annotator = matese.load(arguments.model, precision="float32")
    judged, ratings, lists = judge(groups, annotator)
    n_candidates = fmean(len(candidates.texts) for candidates in lists)
    print(f"Model `{annotator.name}`: {len(lists)} sources, {n_candidates:.1f} candidates each.\n")
    choosers = ways(groups, lists, ratings, judged, annotator)
    figures = {name: measure(judged, choose_candidates()) for name, choose_candidates in choosers.items()}
    rows = [[name, *(f"{row[judge]:.2f}" for judge in JUDGES), _interval(row)] for name, row in figures.items()]
    print(*markdown.table(["chosen by", *JUDGES, "MQM minus the average system"], rows), sep="\n")
    summary = {"model": annotator.name, "sources": len(lists), "candidates": n_candidates, "figures": figures}
    markdown.write_json(arguments.json, summary)


def by_source(golds: Sequence[Rating]) -> list[list[Rating]]:
    """Returns the ratings of each source's translations by systems, for sources with at least two."""
    by_place: dict[tuple[str | None, ...], list[Rating]] = {}
    for gold in golds:
        key = gold.segment.key
        assert key is not None
        if not (key.system or "").lower().startswith(HUMAN):
            by_place.setdefault((key.test_set, key.lang_pair, gold.segment.source), []).append(gold)
    return [ratings for ratings in by_place.values() if len(ratings) > 1]


def judge(
    groups: Sequence[Sequence[Rating]], annotator: matese.Annotator
) -> tuple[Judged, list[list[Rating]], list[Candidates]]:
    """Returns the judges' values, the model's ratings with the source, and the candidates."""
    translations = [[gold.segment.hypothesis for gold in golds] for golds in groups]
    lists = make_candidates(translations, [golds[0].segment.source or "" for golds in groups])
    ratings = [rated for _, rated in reranking.rated(lists, annotator)]
    segments = [
        Segment(gold.segment.hypothesis, None, gold.segment.references[:1]) for gold in chain.from_iterable(groups)
    ]
    expected = iter([mqm.expected_score(rating) or 0.0 for rating in annotator.annotate_segments(segments)])
    judged = {
        "MQM": [list(map(mqm.score, golds)) for golds in groups],
        "chrF, reference": [[_chrf(gold.segment) for gold in golds] for golds in groups],
        "model, reference": [[next(expected) for _ in golds] for golds in groups],
        "model, source": [[mqm.expected_score(rating) or 0.0 for rating in rated] for rated in ratings],
    }
    return judged, ratings, lists


def ways(
    groups: Sequence[Sequence[Rating]],
    lists: Sequence[Candidates],
    ratings: Sequence[Sequence[Rating]],
    judged: Judged,
    annotator: matese.Annotator,
) -> dict[str, Callable[[], list[list[int]]]]:
    """Returns, by the name of the way, a function that chooses candidates of each source; their values are averaged."""

    def risk(utility: utilities.Utility, n_kept: int | None = None) -> list[list[int]]:
        pruned = mbr.without_pruning(lists) if n_kept is None else mbr.pruning(lists, annotator, n_kept)
        return [[choice.index] for choice in mbr.choose(pruned, utility)]

    model = utilities.of_model(annotator)
    return {
        "average system": lambda: [list(range(len(golds))) for golds in groups],
        "best system of each test set": lambda: best_systems(groups),
        "rerank": lambda: [
            [reranking.choose(candidates, [rated]).index] for candidates, rated in zip(lists, ratings, strict=True)
        ],
        "rerank, tuned": lambda: _tuned(lists, ratings, judged["MQM"]),
        "mbr, chrF": lambda: risk(utilities.of_chrf()),
        "mbr, chrF, --aggregate": lambda: risk(utilities.of_chrf(is_aggregated=True)),
        "mbr, model": lambda: risk(model),
        "mbr, model, --prune 4": lambda: risk(model, 4),
        "best by MQM (bound)": lambda: [[int(np.argmax(scores))] for scores in judged["MQM"]],
    }


def best_systems(groups: Sequence[Sequence[Rating]]) -> list[list[int]]:
    """Returns the output of the system with the best mean MQM score among the systems that translated each source."""
    scores: dict[object, list[float]] = defaultdict(list)
    for gold in chain.from_iterable(groups):
        scores[_system(gold)].append(mqm.score(gold))
    return [[int(np.argmax([fmean(scores[_system(gold)]) for gold in golds]))] for golds in groups]


def _system(gold: Rating) -> object:
    """Returns the system in its test set and language pair."""
    return gold.segment.key and (gold.segment.key.test_set, gold.segment.key.lang_pair, gold.segment.key.system)


def _tuned(
    lists: Sequence[Candidates], ratings: Sequence[Sequence[Rating]], gold: Sequence[Sequence[float]]
) -> list[list[int]]:
    features = [[reranking.features_of([rating]) for rating in rated] for rated in ratings]
    halves = [reranking.tune(features[start::2], gold[start::2]) for start in (0, 1)]
    return [
        [reranking.choose(candidates, [rated], halves[1 - number % 2]).index]
        for number, (candidates, rated) in enumerate(zip(lists, ratings, strict=True))
    ]


def measure(judged: Judged, indices: Sequence[Sequence[int]]) -> dict[str, Any]:
    """Returns the mean of each judge, and the interval of the MQM difference from the average system."""
    by_judge = {
        name: [fmean(scores[number] for number in numbers) for scores, numbers in zip(values, indices, strict=True)]
        for name, values in judged.items()
    }
    figures: dict[str, Any] = {name: fmean(values) for name, values in by_judge.items()}
    differences = np.array(by_judge["MQM"]) - np.array([fmean(scores) for scores in judged["MQM"]])
    random = np.random.default_rng(0)
    means = [differences[random.integers(len(differences), size=len(differences))].mean() for _ in range(1000)]
    figures["difference"] = [float(differences.mean()), *map(float, np.quantile(means, (0.025, 0.975)))]
    return figures


def _interval(figures: Mapping[str, Any]) -> str:
    value, low, high = figures["difference"]
    return f"{value:+.2f} ({low:+.2f} to {high:+.2f})"


def _chrf(segment: Segment) -> float:
    """Returns chrF against the first reference."""
    return float(chrf.pairwise([segment.hypothesis, segment.references[0]])[0, 1])


if __name__ == "__main__":
    main()

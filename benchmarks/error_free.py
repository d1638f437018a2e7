"""Measure how well a model finds translations that are free of errors, beside two baselines.

    python -m benchmarks.error_free --model runs/NAME/calibrated --dev data/prepared/esa-dev.jsonl \
        --test data/prepared/esa-test.jsonl --json benchmarks/results/error-free-NAME.json

The model must have been calibrated (`matese calibrate`) on ratings other than TEST; the threshold on the length is
chosen on DEV by the same rule as the model's: as many segments reach it as people found free of errors. DEV should be
the ratings to which the model's detection was fitted. Segments are read without
references. The table shows the Matthews correlation coefficient (MCC), precision, recall and F1 over all segments, the
mean MCC over language pairs, and the standard error of the difference in MCC to the model, by the bootstrap over
sources: systems that translated the same source are drawn together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

import matese
from benchmarks import markdown
from matese.annotation import Segment
from matese.evaluation.spans import error_free_agreement as agreement
from matese.evaluation.statistics.arrays import FloatArray
from matese.model.model_input import with_inputs
from matese.text.words import count_words

COLUMNS = ("MCC", "precision", "recall", "F1", "MCC by pair", "model minus", "standard error")
FIGURES = ("mcc", "precision", "recall", "f1")
N_RESAMPLES = 1000
LENGTH = "length alone"
UNMARKED = "no error marked"
MODEL = "model"


def labelled(path: Path, every: int) -> tuple[list[Segment], FloatArray]:
    """Returns the segments of every K-th source that have a gold label, without references, and labels: (segments,)."""
    ratings = matese.read(path)
    taken = set(list(dict.fromkeys(rating.segment.source for rating in ratings))[::every])
    segments = []
    labels = []
    for rating in ratings:
        label = agreement.gold_label(rating)
        if label is not None and rating.segment.source is not None and rating.segment.source in taken:
            segments.append(with_inputs(rating.segment, "source"))
            labels.append(float(label))
    return segments, np.array(labels)


def by_length(segments: Sequence[Segment], golds: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Returns the lengths of the hypotheses in words, negative, since short ones have fewer errors, and the labels."""
    return np.array([-float(count_words(segment.hypothesis)) for segment in segments]), golds


def measure(decisions: Mapping[str, Sequence[bool]], segments: Sequence[Segment], golds: FloatArray) -> dict[str, Any]:
    """Returns the figures of each row of the table, by name."""
    pairs = np.array([(segment.key and segment.key.lang_pair) or "" for segment in segments])
    _, sources = np.unique([segment.source or "" for segment in segments], return_inverse=True)
    rng = np.random.default_rng(0)
    n_sources = int(sources.max()) + 1
    drawn = rng.integers(n_sources, size=(N_RESAMPLES, n_sources))
    counts = [np.bincount(sample, minlength=n_sources)[sources] for sample in drawn]
    weights = np.array([np.ones(len(segments)), *counts], dtype=np.float64)
    figures_of: dict[str, dict[str, Any]] = {}
    samples = {}
    for name, decided in decisions.items():
        statistic = agreement.statistic("x", [bool(gold) for gold in golds], decided)
        figures = statistic.figures(weights)
        samples[name] = figures["x.mcc"]
        names = sorted(set(pairs.tolist()))
        members = np.array([pairs == pair for pair in names], dtype=np.float64)
        of_pairs = dict(zip(names, statistic.figures(members)["x.mcc"].tolist(), strict=True))
        figures_of[name] = {figure: float(figures[f"x.{figure}"][0]) for figure in FIGURES}
        figures_of[name] |= {"mcc_by_pair": of_pairs, "mcc_macro": fmean(of_pairs.values())}
    for name, row in figures_of.items():
        difference = samples[MODEL] - samples[name]
        row |= {"model_minus": float(difference[0]), "standard_error": float(difference[1:].std(ddof=1))}
    return {"segments": len(segments), "sources": n_sources, "error_free": float(golds.mean()), "rows": figures_of}


def rows(measured: Mapping[str, Any]) -> list[list[str]]:
    """Returns the cells of the table."""
    keys = (*FIGURES, "mcc_macro", "model_minus", "standard_error")
    return [[name, *(markdown.shown(row[key]) for key in keys)] for name, row in measured["rows"].items()]


def main() -> None:
    """Prints the table and writes all figures as JSON."""
    parser = markdown.parser(__doc__, "--model", "--dev", "--test", "--every", "--json")
    arguments = parser.parse_args()
    segments, golds = labelled(arguments.test, arguments.every)
    threshold = agreement.threshold(*by_length(*labelled(arguments.dev, arguments.every)))
    annotator = matese.load(arguments.model, choice=matese.DecodingChoice(error_free=True))
    ratings = list(annotator.annotate_segments(segments))
    decisions = {
        MODEL: [rating.error_free is not None and rating.error_free.label for rating in ratings],
        UNMARKED: [not rating.all_errors for rating in ratings],
        LENGTH: (by_length(segments, golds)[0] >= threshold).tolist(),
    }
    measured = {"model": annotator.name, **measure(decisions, segments, golds)}
    print(f"{measured['segments']:,} segments of {measured['sources']:,} sources; {annotator.name}")
    print(*markdown.table(["", *COLUMNS], rows(measured)), sep="\n")
    markdown.write_json(arguments.json, measured)


if __name__ == "__main__":
    main()

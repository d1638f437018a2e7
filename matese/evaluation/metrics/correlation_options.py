"""Options of `correlate`, and the names of its figures. Loads neither numpy nor scipy, so that `--help` is quick."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from matese.validation.options import Count, CountOrZero, Finite, InnerShare, Options, option

Coefficient = Literal["pearson", "b", "c"]
"""Pearson's correlation, Kendall's tau-b or tau-c."""
Averaging = Literal["none", "item", "system"]
"""All segments of all systems as one vector; the mean over source segments; the mean over systems."""
Test = Literal["permutation", "perm-both", "williams", "bootstrap", "none"]
"""`permutation` swaps what a figure is computed from, as mt-metrics-eval does: system scores for figures of systems,
segment scores for figures of segments, verdicts on pairs for soft pairwise accuracy and acc-eq. `perm-both` swaps
segment scores for figures of systems too, whose scores are then means (Deutsch et al. 2021)."""
TieRule = Literal["discordant", "neither", "excluded"]
"""A tie of the metric in daRR is discordant (WMT16 and later), a pair that is neither but counts in the denominator
(WMT14 and WMT15), or no pair at all (WMT13)."""
SacrebleuName = Literal["bleu", "chrf", "ter"]
EditName = Literal["wer", "eed", "per", "cder", "character", "nist"]
MetricSentinel = Literal["sentinel-src", "sentinel-mt"]
FittedName = Literal["sentinel-src-fit", "sentinel-mt-fit"]
EmbeddingName = Literal["bertscore", "bertscore-idf", "yisi"]

SACREBLEU_BASELINES: Mapping[SacrebleuName, str] = {"bleu": "BLEU", "chrf": "chrF", "ter": "TER"}
EDIT_BASELINES: Mapping[EditName, str] = {
    "wer": "WER",
    "eed": "EED",
    "per": "PER",
    "cder": "CDER",
    "character": "CharacTER",
    "nist": "NIST",
}
SENTINEL_BASELINES: Mapping[MetricSentinel, str] = {
    "sentinel-src": "length of the source",
    "sentinel-mt": "length of the translation",
}
"""Metrics that read one text only, so that a fair meta-evaluation ranks them last (Perrella et al. 2024)."""
FITTED_BASELINES: Mapping[FittedName, str] = {
    "sentinel-src-fit": "regression on the source",
    "sentinel-mt-fit": "regression on the translation",
}
"""Sentinels that need an encoder, and human scores of other documents, which they are fitted to."""
EMBEDDING_BASELINES: Mapping[EmbeddingName, str] = {
    "bertscore": "BERTScore",
    "bertscore-idf": "BERTScore-idf",
    "yisi": "YiSi-like",
}
"""Baselines that need an encoder."""
BASELINES: tuple[str, ...] = (
    *SACREBLEU_BASELINES,
    *EDIT_BASELINES,
    *SENTINEL_BASELINES,
    *FITTED_BASELINES,
    *EMBEDDING_BASELINES,
)
"""Baselines that are not models; `matese.tasks.baselines` makes them."""


def base_name(metric: str) -> str:
    """Returns the name of a baseline without parameters of sacrebleu's metrics; other names stay.

    >>> base_name("chrf:beta=3"), base_name("runs/a:b")
    ('chrf', 'runs/a:b')
    """
    name = metric.partition(":")[0]
    return name if name in SACREBLEU_BASELINES else metric


SYSTEM_FIGURES = ("system.pearson", "system.accuracy", "system.spa")
CORRELATIONS: Mapping[str, tuple[Coefficient, Averaging]] = {
    "segment.pearson": ("pearson", "none"),
    "segment.pearson_by_item": ("pearson", "item"),
    "segment.pearson_by_system": ("pearson", "system"),
    "segment.kendall_b": ("b", "none"),
    "segment.kendall_b_by_item": ("b", "item"),
    "segment.kendall_b_by_system": ("b", "system"),
    "segment.kendall_c": ("c", "none"),
    "segment.kendall_c_by_item": ("c", "item"),
    "segment.kendall_c_by_system": ("c", "system"),
}
SEGMENT_FIGURES = (
    *CORRELATIONS,
    "segment.pdp",
    "segment.darr",
    "segment.acc_eq",
    "segment.epsilon",
    "segment.acc_eq_held_out",
)
WITHOUT_TEST = ("segment.epsilon", "segment.acc_eq_held_out")
"""Figures that no test compares, which therefore order no metrics and have no intervals."""
POOLED = "pooled"
"""Name of the figures of all language pairs together, beside the names of language pairs."""
POOLED_FIGURES = ("system.accuracy", "average.wmt23", "average.wmt24")
RANKED_FIGURES = (
    *SYSTEM_FIGURES,
    *(name for name in SEGMENT_FIGURES if name not in WITHOUT_TEST),
    *POOLED_FIGURES[1:],
)
"""Figures that metrics can be ranked by; `docs/research/correlate.md` defines them."""

DARR_THRESHOLD = 25.0
"""Points of a direct assessment by which two translations must differ: Bojar et al. 2017."""
ANY_RATER = "any"
"""Name for one rater of each segment, whoever that is."""
PRIMARY = "primary"
"""Name for all metrics that mt-metrics-eval lists as primary submissions or baselines of a test set."""


@dataclass(frozen=True, kw_only=True)
class CorrelationFigures(Options):
    """How figures and rankings are computed.

    Attributes:
        rank_by: figure that orders the metrics (default: system.pearson; segment.kendall_b of fewer than three systems,
            segment.darr of relative ranks).
        significance: permutation, bootstrap, williams or none (default: permutation).
        samples: most permutations of a test, and random sign flips of spa (default: 1000).
        good: least human score of a good translation: precision and recall of good translations at every threshold of
            each metric, in --json and --plot.
        bootstrap: compute 95% intervals from N bootstrap resamples of the segments.
        seed: of all random numbers.
        alpha: significance level of clusters.
        darr_threshold: a pair of translations in daRR has human scores that differ by more than this.
        darr_ties: what a tie of the metric is in daRR: discordant, or neither.
    """

    rank_by: str | None = option(None, names=lambda: RANKED_FIGURES, metavar="FIGURE")
    significance: Test = option("permutation", metavar="TEST")
    samples: Count = 1000
    good: Finite | None = None
    bootstrap: Count | None = None
    seed: CountOrZero = 0
    alpha: InnerShare = 0.05
    darr_threshold: Finite = DARR_THRESHOLD
    darr_ties: TieRule = "discordant"

    @property
    def ranked_by(self) -> str:
        """The figure that orders the metrics."""
        return self.rank_by or SYSTEM_FIGURES[0]


DEFAULTS = CorrelationFigures()


@dataclass(frozen=True, slots=True)
class ScoreSelection:
    """Which scores are compared.

    Attributes:
        lang_pairs: of a test set; empty for all.
        metrics: their names, with or without the reference in them, or "primary"; empty for all.
        gold: name of the human scores of a test set; None for those of mt-metrics-eval, or "mqm", or "esa".
        human_metrics: people whose scores are compared as those of a metric, see `human_metrics`: names of other human
            scores of a test set, or, of ratings with several raters, one rater or "any".
        reference: whose metrics are compared; None for that of mt-metrics-eval, or the one that most metrics used.
        with_human: whether human translations are systems: those of a test set other than the standard reference, and
            in ratings those that are a reference. None for as in the official task of a test set of mt-metrics-eval,
            which scored them in some language pairs only, and for False otherwise.
        without: systems to leave out.
        baselines: metrics to compute: `BASELINES`, those of sacrebleu also with parameters ("chrf:beta=3"), or models
            that score.
        encoder: of the baselines that need one: a model directory or a hub id; None for the embedded model.
        layer: of the encoder; None for the highest that reads each text alone, else the last.
        first_segment: number of the first segment in JSONL, CSV and ratings; None for 0, which texts or a segment 0
            must then confirm.
        first_segments: numbers of the first segments of single files, by their paths as given, and of ratings, by the
            name of the metric or "gold"; they precede `first_segment` and what a format says.
        by_domain: whether to compute the figures of each domain, too.
        without_outliers: whether to leave out systems far from the median human score.
        with_outliers: whether to keep the systems of a test set that mt-metrics-eval leaves out as outliers.
    """

    lang_pairs: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    gold: str | None = None
    human_metrics: tuple[str, ...] = ()
    reference: str | None = None
    with_human: bool | None = None
    without: tuple[str, ...] = ()
    baselines: tuple[str, ...] = ()
    encoder: str | None = None
    layer: int | None = None
    first_segment: int | None = None
    first_segments: Mapping[str, int] = field(default_factory=dict)
    by_domain: bool = False
    without_outliers: bool = False
    with_outliers: bool = False

    def __post_init__(self) -> None:
        for name in ("lang_pairs", "metrics", "human_metrics", "without", "baselines"):
            if isinstance(getattr(self, name), str):
                raise TypeError(f"{name} is a str: must be a sequence of strings")

"""The keys of the JSON that `matese gate` and `matese compare` write; `results.schema.json` is generated from them.

Figures have dotted names, which are nested objects here; docs/compare.md defines them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import msgspec

from matese import mqm
from matese.annotation import Rating
from matese.version import __version__


class ResultKeys(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=False):
    """A result, and what made it.

    Attributes:
        version: of the package that computed the figures.
        signature: of the models, or the names of the people, that rated; of several, with a space between; null if
            nobody is named.
        model: name and fingerprint of the model in the signature; of several, with a space between; null if no model
            rated.
    """

    version: str
    signature: str | None
    model: str | None


class BlamedSegmentKeys(msgspec.Struct, frozen=True, kw_only=True):
    """A segment that is responsible for a violated limit.

    Attributes:
        number: its place among the ratings, from 0 as `index` in JSONL.
        segment: its place in words, from 1 as in all messages, or its text.
        errors: in words.
    """

    number: int
    segment: str
    errors: str


class CheckKeys(msgspec.Struct, frozen=True, kw_only=True):
    """The result for one limit.

    Attributes:
        check: name of the option, such as min-score.
        value: what was measured; null if it is infinite.
        limit: what it is compared with.
        passed: whether the limit is kept.
        p: p-value of the permutation test, for baseline only.
        n_blamed: number of segments that are responsible.
        segments: the worst of them.
    """

    check: str
    value: float | None
    limit: float
    passed: bool
    p: float | None
    n_blamed: int
    segments: list[BlamedSegmentKeys]


class GateKeys(ResultKeys, frozen=True, kw_only=True):
    """What `matese gate --json` writes.

    Attributes:
        ratings: name of the system.
        baseline: name of the other system; null without one.
        weights: name of the penalties.
        segments: their number; of those that are new or changed, with --since.
        undecided: number of errors whose severity is undecided, which count in no score.
        accepted: number of findings that were accepted.
        score: mean score of the marked errors.
        score_interval: its 95% interval.
        expected_score: mean of the scores that the model expects.
        expected_score_interval: its 95% interval.
        passed: whether all limits are kept.
        checks: the limits.
    """

    ratings: str
    baseline: str | None
    weights: str
    segments: int
    undecided: int
    accepted: int
    score: float | msgspec.UnsetType | None = msgspec.UNSET
    score_interval: tuple[float, float] | msgspec.UnsetType | None = msgspec.UNSET
    expected_score: float | msgspec.UnsetType | None = msgspec.UNSET
    expected_score_interval: tuple[float, float] | msgspec.UnsetType | None = msgspec.UNSET
    passed: bool
    checks: list[CheckKeys]


class GatesKeys(ResultKeys, frozen=True, kw_only=True):
    """What `matese gate --json` writes of several systems, or of none.

    Attributes:
        passed: whether all systems keep all limits.
        systems: the result of each.
    """

    passed: bool
    systems: list[GateKeys]


class SamplingKeys(msgspec.Struct, frozen=True, kw_only=True):
    """How scores, intervals and p-values were computed.

    Attributes:
        weights: name of the penalties.
        bootstrap: number of resamples.
        permutations: of the permutation test.
        seed: of both.
    """

    weights: str
    bootstrap: int
    permutations: int
    seed: int


class FilterKeys(msgspec.Struct, frozen=True, kw_only=True):
    """The part of the segments that a filter selects.

    Attributes:
        filter: its name; all for all segments.
        segments: their number.
        share: of all segments.
        scores: mean score of each system.
    """

    filter: str
    segments: int
    share: float
    scores: dict[str, float]


class MetricKeys(msgspec.Struct, frozen=True, kw_only=True):
    """Scores of another metric.

    Attributes:
        signature: of the metric.
        left_out: number of segments that it cannot read.
        systems: its figures by system.
        versus: its differences by the first system and the second.
    """

    signature: str | None
    left_out: int
    systems: dict[str, dict[str, Any]]
    versus: dict[str, dict[str, dict[str, Any]]]


class ComparisonKeys(ResultKeys, frozen=True, kw_only=True):
    """What `matese compare --json` writes.

    Attributes:
        ratings: the files that were read.
        verdict: sentences.
        ranked_by: the score that decides.
        signature_warning: how the signatures of the systems differ; null if they do not.
        settings: how figures were computed.
        segments: number of segments that all filters select.
        filters: all segments, and what each filter selects.
        systems: figures by system.
        versus: differences by the first system and the second.
        metrics: other metrics by name.
        preferences: what a language model says, by the first system and the second; empty without one.
        differences: all segments, the largest difference first.
    """

    ratings: list[str]
    verdict: list[str]
    ranked_by: Literal["spans", "expected"]
    signature_warning: str | None
    settings: SamplingKeys
    segments: int
    filters: list[FilterKeys]
    systems: dict[str, dict[str, Any]]
    versus: dict[str, dict[str, dict[str, Any]]]
    metrics: dict[str, MetricKeys]
    preferences: dict[str, dict[str, dict[str, Any]]]
    differences: list[dict[str, Any]]


def origin(ratings: Iterable[Rating], weights: mqm.Weights) -> dict[str, str | None]:
    """Returns the values of `ResultKeys` for ratings.

    >>> from matese.annotation import Segment
    >>> origin([Rating(Segment("h"), "matese|model:mini@1|weights:google", ())], mqm.MATESE)["signature"]
    'matese|model:mini@1|weights:matese'
    """
    names = [name for name in dict.fromkeys(mqm.signatures(ratings, weights)) if name]
    fields = [field.partition(":") for name in names if mqm.is_signature(name) for field in name.split("|")]
    models = dict.fromkeys(value for name, _, value in fields if name == "model")
    return {"version": __version__, "signature": " ".join(names) or None, "model": " ".join(models) or None}

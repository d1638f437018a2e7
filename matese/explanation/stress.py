"""Stress tests: does a model notice an error that is injected into a translation?

Each kind of error is injected once into each segment where it finds a place, in the manner of SMAUG (Alves et al. 2022)
and DEMETR (Karpinska et al. 2022), by the functions of `matese.corruption`. Other kinds damage the references instead:
the translation is as good as before, so that a robust model's score hardly changes.

The embedded model was trained on other texts with errors of the same functions, which makes these tests easier for it.
"""

from __future__ import annotations

import math
import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from matese import mqm
from matese.annotation import Rating, Segment, SegmentKey
from matese.corruption import meaning_errors, pools, reference_damage, wording_errors
from matese.corruption.edits import DrawEdit, Edit, Setting
from matese.errors import InputError, UsageError, unknown
from matese.evaluation.statistics import bootstrap
from matese.evaluation.statistics.arrays import FloatArray, divide
from matese.evaluation.statistics.bootstrap import AdditiveStatistic, Figure
from matese.text.languages import languages_of
from matese.text.words import word_ranges

HYPOTHESIS: Mapping[str, DrawEdit] = {
    "negation": meaning_errors.negation,
    "number": meaning_errors.number,
    "entity": meaning_errors.entity,
    "antonym": meaning_errors.antonym,
    "word": meaning_errors.word,
    "hallucination": wording_errors.addition,
    "omission": wording_errors.omission,
    "untranslated": wording_errors.untranslated,
    "repetition": wording_errors.repetition,
    "order": wording_errors.order,
    "form": meaning_errors.form,
    "typo": wording_errors.typo,
    "casing": wording_errors.casing,
    "punctuation": wording_errors.punctuation,
    "truncated": wording_errors.truncated,
}
"""Kinds of errors in a translation."""
REFERENCE: Mapping[str, DrawEdit] = {
    "reference-omission": wording_errors.omission,
    "reference-word": meaning_errors.word,
    "reference-truncated": wording_errors.truncated,
    "reference-ambiguous": reference_damage.ambiguous,
    "reference-poor": reference_damage.poor,
    "reference-unrelated": reference_damage.unrelated,
}
"""Kinds of damage of all references; the translation stays."""
KINDS = (*HYPOTHESIS, *REFERENCE)
_N_TRIES = 4
_RESAMPLES = 1000


@dataclass(frozen=True, slots=True)
class Case:
    """A segment and its corrupted copy.

    Attributes:
        kind: of the error.
        original: the segment.
        corrupted: the same with one error; the system of its key is the kind.
        marked: range of the error in the corrupted hypothesis; None for an omission, and for damage of references.
    """

    kind: str
    original: Segment
    corrupted: Segment
    marked: tuple[int, int] | None


@dataclass(frozen=True, slots=True)
class KindResult:
    """How a model reacts to one kind of error, in `n` cases.

    The figures that are defined, by name:

    - recall: share of the corrupted words that are marked; of omissions, share of the cases with more omissions than
      before. It is undefined for damage of references, and for a model that marks no errors.
    - elsewhere: share of the other words that are marked, all words if the references are damaged; a model that marks
      everything has a high recall, too. It is undefined for a model that marks no errors.
    - drop: mean of the score before minus the score after.
    - lower: share of the cases whose score is lower than before; equal scores count half.
    """

    kind: str
    n: int
    figures: Mapping[str, Figure]


def check_kinds(names: Sequence[str]) -> tuple[str, ...]:
    """Returns the kinds; all if none is named.

    Raises:
        UsageError: if one is unknown.
    """
    for name in names:
        if name not in KINDS:
            raise UsageError(unknown("kind", name, KINDS))
    return tuple(dict.fromkeys(names)) or KINDS


def corrupt(segments: Sequence[Segment], kinds: Sequence[str] = (), *, seed: int = 0) -> list[Case]:
    """Returns the cases, kind by kind.

    Args:
        segments: translations. The language pairs of their keys decide how words are found and which word lists apply.
        kinds: of errors; empty for all.
        seed: of the draws; those for a segment depend on nothing else but the texts of its language.

    Raises:
        UsageError: if a kind is unknown.
    """
    by_language = pools.build_all(segments)  # without a language pair, the language is unknown
    settings = [Setting(by_language[languages_of(segment.key)[1]], segment.source) for segment in segments]
    cases = []
    for kind in check_kinds(kinds):
        for number, (segment, setting) in enumerate(zip(segments, settings, strict=True)):
            case = _case(kind, segment, setting, random.Random(f"stress|{seed}|{kind}|{number}"))
            if case is not None:
                cases.append(case)
    return cases


def measure(
    cases: Sequence[Case], rate: Callable[[Iterable[Segment]], Iterable[Rating]]
) -> tuple[list[KindResult], list[Rating]]:
    """Returns the figures of each kind, with 95 % intervals, and the ratings of the corrupted segments.

    `rate` yields a rating for each segment, in order.

    Raises:
        InputError: if there are no cases, or the model gives no score.
    """
    if not cases:
        problem = "no kind of error finds a place in the translations; give their language pair, more or longer ones"
        raise InputError(f"{problem}, or references for the kinds that begin with reference-")
    originals = list(dict.fromkeys(case.original for case in cases))
    ratings = iter(rate([*originals, *(case.corrupted for case in cases)]))
    before = {original: next(ratings) for original in originals}
    after = list(ratings)
    rows: dict[str, list[tuple[float, ...]]] = defaultdict(list)
    for case, rating in zip(cases, after, strict=True):
        rows[case.kind].append(_row(case, before[case.original], rating))
    return [_result(kind, np.array(of_kind)) for kind, of_kind in rows.items()], after


def _case(kind: str, segment: Segment, setting: Setting, rng: random.Random) -> Case | None:
    key = replace(segment.key or SegmentKey(), system=kind)
    if kind in REFERENCE:
        edits = [_draw(REFERENCE[kind], text, setting, rng) for text in segment.references]
        damaged = [edit.apply(text) for edit, text in zip(edits, segment.references, strict=True) if edit is not None]
        if not damaged or len(damaged) < len(segment.references):
            return None
        return Case(kind, segment, replace(segment, references=tuple(damaged), key=key), None)
    edit = _draw(HYPOTHESIS[kind], segment.hypothesis, setting, rng)
    if edit is None:
        return None
    corrupted = replace(segment, hypothesis=edit.apply(segment.hypothesis), key=key)
    return Case(kind, segment, corrupted, edit.marked)


def _draw(kind: DrawEdit, text: str, setting: Setting, rng: random.Random) -> Edit | None:
    if not text.strip():
        return None
    for _ in range(_N_TRIES):
        edit = kind(text, rng, setting)
        if edit is not None and edit.apply(text).strip() not in ("", text.strip()):
            return edit
    return None


def _row(case: Case, before: Rating, after: Rating) -> tuple[float, ...]:
    """Returns 1, found and all corrupted words, marked and all other words, drop of the score, and 1 if it is lower."""
    drop = _score(before) - _score(after)
    lower = 0.5 if drop == 0 else float(drop > 0)
    return 1.0, *_count_words(case, before, after), drop, lower


def _score(rating: Rating) -> float:
    score = mqm.expected_score(rating)
    if score is None:
        raise InputError("the model gives no score; use one that does")
    return score


def _count_words(case: Case, before: Rating, after: Rating) -> tuple[float, float, float, float]:
    """Returns found and all corrupted words, then marked and all other words."""
    if after.errors is None:
        return 0.0, 0.0, 0.0, 0.0
    errors = after.errors
    corrupted: list[bool] = []
    intact: list[bool] = []
    for first, last in word_ranges(case.corrupted.hypothesis):
        is_marked = any(error.start < last and first < error.end for error in errors)
        is_corrupted = case.marked is not None and first < case.marked[1] and case.marked[0] < last
        (corrupted if is_corrupted else intact).append(is_marked)
    if case.marked is None and case.kind not in REFERENCE:
        corrupted = [len(after.omissions) > len(before.omissions)]
    return float(sum(corrupted)), float(len(corrupted)), float(sum(intact)), float(len(intact))


def _result(kind: str, rows: FloatArray) -> KindResult:
    table = AdditiveStatistic(
        rows,
        lambda totals: {
            "recall": divide(totals[:, 1], totals[:, 2]),
            "elsewhere": divide(totals[:, 3], totals[:, 4]),
            "drop": totals[:, 5] / totals[:, 0],
            "lower": totals[:, 6] / totals[:, 0],
        },
    )
    figures = table.measure(bootstrap.resamples(_RESAMPLES if len(rows) > 1 else 0, np.zeros(len(rows)), seed=0))
    return KindResult(
        kind, len(rows), {name: figure for name, figure in figures.items() if math.isfinite(figure.value)}
    )

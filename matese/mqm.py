"""From errors to scores: what an error costs and how costs make a segment's and a corpus' score.

A *penalty* is 0 or more and belongs to an error; a *score* is 0 or less and belongs to a segment or a system.
"""

from __future__ import annotations

import math
import re
from array import array
from collections.abc import Iterable
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from typing import Literal

from matese.annotation import AnyError, Omission, Rating, Segment, Severity, UnplacedError, severities
from matese.annotation.severities import COUNTED
from matese.errors import InputError, UsageError, one_of, unknown
from matese.text.words import count_words

Basis = Literal["spans", "expected"]
"""What systems are ranked by: the `score` of the spans, or the `expected score`, which the model predicts."""
LOWEST_SCORE = -25.0
"""The floor of a segment's score, which models learn too: Perrella et al. 2022, section 2."""
_LARGEST = 1e9
_MOST_CATEGORIES = 2**10
"""Pairs of categories whose comparison is remembered: a file has few categories."""


def _check_penalty(name: str, penalty: float) -> None:
    if not isinstance(penalty, int | float) or not 0 <= penalty <= _LARGEST:
        raise InputError(f"{name} {penalty}: must be a penalty, 0 or more, and {_LARGEST:g} at most")


@dataclass(frozen=True, slots=True)
class CategoryPenalty:
    """A special penalty for one category.

    Attributes:
        category: a category or the beginning of one up to a slash or its end, without regard to case or a final
            "!" ("Non-translation" is also "Non-translation!"; "Fluency" is also "Fluency/Grammar").
        severity: the only severity it holds for; None for every one.
        penalty: what such an error costs.
    """

    category: str
    severity: Severity | None
    penalty: float

    def __post_init__(self) -> None:
        if not self.category:
            raise InputError("category is empty: must be a name such as Fluency/Punctuation")
        _check_penalty("penalty", self.penalty)

    def matches(self, error: AnyError) -> bool:
        """Whether the error costs this penalty."""
        if error.category is None or (self.severity is not None and self.severity is not error.severity):
            return False
        return _is_within(error.category, self.category)


@lru_cache(_MOST_CATEGORIES)
def _is_within(category: str, parent: str) -> bool:
    """Whether a category is another one or begins with it."""
    name = category.casefold().rstrip("!")
    parent_name = parent.casefold().rstrip("!")
    return name == parent_name or name.startswith(parent_name + "/")


@dataclass(frozen=True, slots=True)
class Weights:
    """A way to count errors.

    Attributes:
        name: stands in signatures; by default, what differs from the weights "matese" ("minor=2,major=10").
        neutral: penalty of a Neutral error. Each severity has its own; an undecided one costs nothing.
        minor: of a Minor error.
        major: of a Major error.
        critical: of a Critical error.
        categories: penalties by category, which precede those by severity; the first that matches counts.
        floor: the lowest score of a segment; None for none.
        cap: the most that the errors of a segment cost together, before any division by words; None for no limit.
        per_words: None for the plain sum; otherwise the sum is divided by the hypothesis' words, unless it has none,
            and multiplied by this number.
        omissions: whether omissions (`Rating.omissions`) cost anything.
    """

    name: str = ""
    neutral: float = 0.0
    minor: float = 1.0
    major: float = 5.0
    critical: float = 5.0
    categories: tuple[CategoryPenalty, ...] = ()
    floor: float | None = LOWEST_SCORE
    cap: float | None = None
    per_words: float | None = None
    omissions: bool = True

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise InputError(f"name {self.name!r}: must be a text; name the penalties, such as minor={self.name!r}")
        for name in severities.NAMES:
            _check_penalty(name, getattr(self, name))
        if self.floor is not None and not (math.isfinite(self.floor) and self.floor <= 0):
            raise InputError(f"floor {self.floor}: must be 0 or less, or null for none")
        if self.cap is not None:
            _check_penalty("cap", self.cap)
        if self.per_words is not None and not 0 < self.per_words <= _LARGEST:
            allowed = f"must be greater than 0 and {_LARGEST:g} at most, or null for the plain sum"
            raise InputError(f"per_words {self.per_words}: {allowed}")
        if not self.name:
            settings = ((setting, getattr(self, setting.name)) for setting in fields(self))
            differing = [f"{setting.name}={_as_text(value)}" for setting, value in settings if value != setting.default]
            object.__setattr__(self, "name", ",".join(differing) or "equal-to-matese")

    def of(self, severity: Severity | None) -> float:
        """Returns the penalty of a severity, whatever the category; 0 for an undecided one."""
        return 0.0 if severity is None else float(getattr(self, severity.value))


def _as_text(value: object) -> str:
    """Returns a setting as the names of weights have it."""
    if isinstance(value, tuple):
        named = ((special, "" if special.severity is None else f" {special.severity.value}") for special in value)
        return "+".join(f"{special.category}{severity} {special.penalty:g}" for special, severity in named)
    return f"{value:g}" if isinstance(value, int | float) and not isinstance(value, bool) else str(value)


NON_TRANSLATION = UnplacedError(Severity.MAJOR, "Non-translation")
"""The error of a blank translation; see `is_untranslated`."""
_NON_TRANSLATION_PENALTIES = tuple(
    CategoryPenalty("Non-translation", severity, 25.0)
    for severity, counts_as in COUNTED.items()
    if counts_as is Severity.MAJOR
)
"""A Neutral or Minor Non-translation costs no more than any other Neutral or Minor error."""

MATESE = Weights("matese", categories=_NON_TRANSLATION_PENALTIES)
"""-1 a Minor, -5 a Major (a Critical counts as one), floor -25: Perrella et al. 2022, section 2. A Major
Non-translation costs 25, as in `GOOGLE`."""

GOOGLE = Weights(
    "google",
    categories=(*_NON_TRANSLATION_PENALTIES, CategoryPenalty("Fluency/Punctuation", Severity.MINOR, 0.1)),
    floor=None,
)
"""The default weights of `converters/score_mqm.py` of mt-metrics-eval: Major 5, Minor 1, Neutral 0, Major
Non-translation 25, Minor Fluency/Punctuation 0.1 (Freitag et al. 2021, table 12). That script knows no Critical, which
would cost nothing; here it counts as a Major."""

UNBABEL = Weights("unbabel", critical=10.0, categories=_NON_TRANSLATION_PENALTIES, floor=-100.0, per_words=100.0)
"""1/5/10 over the number of words, times 100, cut at -100: 100 less than the MQM of Rei et al. 2020, section 3. A Major
or Critical Non-translation costs 25, as in `GOOGLE`."""

NO_OMISSIONS = replace(MATESE, name="no-omissions", omissions=False)
"""As `MATESE`, without omissions, which the paper's models do not find."""

CATEGORIES = ("Accuracy", "Fluency", "Terminology", "Style", "Locale convention", "Other")
"""The main categories of errors: Freitag et al. 2021, table 10, without Non-translation, which is counted as Other."""
_MAIN_CATEGORIES = {name.casefold(): name for name in CATEGORIES} | {
    # MQM 2.0 (themqm.org) and the biomedical ratings.
    "linguistic conventions": "Fluency",
    "locale conventions": "Locale convention",
    "locale": "Locale convention",
    "audience appropriateness": "Style",
    "design and markup": "Other",
    "unintelligible": "Other",
    "non-translation": "Other",
    "source error": "Other",
    "source issue": "Other",
}

PRESETS = {weights.name: weights for weights in (MATESE, GOOGLE, UNBABEL, NO_OMISSIONS)}
AnyWeights = Weights | str
"""Weights, or the name of a preset."""


def find_weights(weights: AnyWeights) -> Weights:
    """Returns the preset with a name; weights are returned as they are.

    Raises:
        UsageError: if there is no such preset.

    >>> find_weights("google") is GOOGLE
    True
    """
    if isinstance(weights, Weights):
        return weights
    if not isinstance(weights, str) or weights not in PRESETS:
        allowed = one_of([*PRESETS, "a matese.Weights"])
        raise UsageError(unknown("weights", str(weights), PRESETS, allowed=allowed))
    return PRESETS[weights]


def penalty(error: AnyError, weights: AnyWeights = "matese") -> float:
    """Returns what one error costs, 0 or more.

    >>> penalty(UnplacedError(Severity.MINOR, "Fluency/Punctuation"), "google")
    0.1
    """
    weights = find_weights(weights)
    severity = error.severity
    if error.category is not None:
        for special in weights.categories:
            if (special.severity is None or special.severity is severity) and special.matches(error):
                return special.penalty
    return weights.of(severity)


def main_category(category: str | None) -> str | None:
    """Returns the one of `CATEGORIES` that a category belongs to; None without a category, or for an unknown one.

    >>> main_category("Accuracy/Mistranslation"), main_category("Linguistic_conventions/Spelling"), main_category("bad")
    ('Accuracy', 'Fluency', None)
    """
    name = (category or "").partition("/")[0].strip().rstrip("!").replace("_", " ")
    return _MAIN_CATEGORIES.get(name.casefold())


def count(errors: Iterable[AnyError]) -> tuple[int, int]:
    """Returns the number of Minor errors, and that of Major and Critical ones."""
    n_minor = 0
    n_major = 0
    for error in errors:
        counts_as = None if error.severity is None else COUNTED.get(error.severity)
        n_minor += counts_as is Severity.MINOR
        n_major += counts_as is Severity.MAJOR
    return n_minor, n_major


def score(rating: Rating, weights: AnyWeights = "matese") -> float:
    """Returns the segment's score, 0 or less: minus the penalties of all errors.

    Errors in the source and without a place count too, and so do omissions unless `weights.omissions` is off.

    Args:
        rating: of the segment.
        weights: the penalties, or the name of a preset.

    Raises:
        InputError: if spans were not annotated (`errors` is None).

    >>> score(Rating(Segment(""), None, (), unplaced=(NON_TRANSLATION,)))
    -25.0
    """
    weights = find_weights(weights)
    if rating.errors is None:
        raise InputError("rating without spans (errors is None): only a rating of spans has an MQM score")
    counted = rating.all_errors
    if not weights.omissions:
        counted = tuple(error for error in counted if not isinstance(error, Omission))
    # fsum is exact, so that the order of the errors cannot matter.
    total = math.fsum([penalty(error, weights) for error in counted])
    if weights.cap is not None:
        total = min(total, weights.cap)
    if weights.per_words is not None and (n_words := count_words(rating.segment.hypothesis)):
        total *= weights.per_words / n_words
    lowest = -math.inf if weights.floor is None else weights.floor
    # 0.0 - x instead of -x: an error-free segment scores 0, not -0.
    return max(0.0 - total, lowest)


def expected_score(rating: Rating) -> float | None:
    """Returns a model's estimate of the whole segment: on the MQM scale, or a COMET model's own value.

    A person's judgement is no expected score, whatever its scale.

    >>> from matese.annotation import Estimate, Overall
    >>> expected_score(Rating(Segment("Gut"), None, None, estimate=Estimate(0.5, "comet")))
    0.5
    >>> expected_score(Rating(Segment("Gut"), None, None, overall=Overall(-1, "mqm")))
    """
    estimate = rating.estimate
    return estimate.value if estimate is not None and estimate.scale in ("mqm", "comet") else None


def ranking_score(rating: Rating, weights: AnyWeights = "matese") -> float:
    """Returns the score that ranks translations: the expected score if there is one, else the score of the errors."""
    expected = expected_score(rating)
    return score(rating, weights) if expected is None else expected


def worst_first(ratings: Iterable[Rating], weights: AnyWeights = "matese") -> list[Rating]:
    """Returns ratings in ascending order of their expected scores, or of their scores if one has no expected score.

    >>> ratings = [Rating(Segment("Gut"), None, ()), Rating(Segment(""), None, (), unplaced=(NON_TRANSLATION,))]
    >>> worst_first(ratings)[-1].segment.hypothesis
    'Gut'
    """
    rated = list(ratings)
    expected = [expected_score(rating) for rating in rated]
    scores = [score(rating, weights) for rating in rated] if None in expected else expected
    return [rated[number] for number in sorted(range(len(rated)), key=lambda number: scores[number] or 0.0)]


def is_untranslated(segment: Segment) -> bool:
    """Returns whether the hypothesis is blank although there is something to translate, as far as is known.

    >>> is_untranslated(Segment(" ", "Text")), is_untranslated(Segment("", "", ("",))), is_untranslated(Segment(""))
    (True, False, True)
    """
    contexts = [text for text in (segment.source, *segment.references) if text is not None]
    has_text = not contexts or any(text.strip() for text in contexts)
    return has_text and not segment.hypothesis.strip()


def corpus_score(scores: Iterable[float]) -> float:
    """Returns the mean of segment scores.

    Raises:
        InputError: if there are none, or they are too large.

    >>> corpus_score([0.0, -25.0])
    -12.5
    """
    numbers = list(scores)
    if not numbers:
        raise InputError("no segment scores: the score of a corpus is the mean of one or more")
    try:
        return math.fsum(numbers) / len(numbers)
    except OverflowError:
        raise InputError(f"segment scores up to {max(map(abs, numbers)):g}: must be smaller") from None


def n_undecided(ratings: Iterable[Rating]) -> int:
    """Returns the number of errors whose severity is undecided, which no score counts."""
    return sum(error.severity is None for rating in ratings for error in rating.all_errors)


def is_signature(rater: str | None) -> bool:
    """Whether a rater is named by a signature, as every model and check is that we run.

    >>> is_signature("matese|model:mini@1|version:1"), is_signature("anna"), is_signature(None)
    (True, False, False)
    """
    return rater is not None and rater.startswith("matese|")


def signatures(ratings: Iterable[Rating], weights: Weights) -> list[str]:
    """Returns the signature or name of the rater of each rating, with the weights that its score is computed with."""
    names = [rating.rater or "" for rating in ratings]
    return [
        re.sub(r"\|weights:[^|]*", lambda _: f"|weights:{weights.name}", name) if is_signature(name) else name
        for name in names
    ]


@dataclass
class SystemSummary:
    """Counts and mean scores of the segments of one system, added one by one.

    Attributes:
        system: its name.
        weights: what scores are computed with.
        n_segments: number of segments.
        n_with_errors: segments in which at least one rater marked an error.
        n_minor: Minor errors of all raters.
        n_major: Major and Critical errors.
        n_blank: hypotheses that are empty or only white space.
        signatures: of the raters, in the order of their first rating; a model has several if the texts of a segment
            decide which of them are read.
        scores: of each segment whose errors were asked for, the mean over its raters.
        expected_scores: that the model expects of each segment, as far as it does.
        lang_pairs: of all segments; "" where it is not known.
        lows: lower ends of the intervals of these scores, if a segment has several predictions.
        highs: upper ends.
        esa_scores: a model's estimates from 0 to 100, as far as it makes such.
        n_source_words: words of the sources, if someone has counted them.
    """

    system: str
    weights: Weights = MATESE
    n_segments: int = 0
    n_with_errors: int = 0
    n_minor: int = 0
    n_major: int = 0
    n_blank: int = 0
    signatures: list[str] = field(default_factory=list)
    scores: array[float] = field(default_factory=lambda: array("d"))
    expected_scores: array[float] = field(default_factory=lambda: array("d"))
    lang_pairs: list[str] = field(default_factory=list)
    lows: array[float] = field(default_factory=lambda: array("d"))
    highs: array[float] = field(default_factory=lambda: array("d"))
    esa_scores: array[float] = field(default_factory=lambda: array("d"))
    n_source_words: int = 0
    _raters: set[str | None] = field(default_factory=set, repr=False)

    def add(self, *ratings: Rating) -> None:
        """Counts a segment by the ratings of all its raters."""
        segment = ratings[0].segment
        errors = [error for rating in ratings for error in rating.all_errors]
        n_minor, n_major = count(errors)
        self.n_segments += 1
        self.lang_pairs.append((segment.key and segment.key.lang_pair) or "")
        self.n_with_errors += bool(errors)
        self.n_minor += n_minor
        self.n_major += n_major
        self.n_blank += not segment.hypothesis.strip()
        for rating in ratings:
            if rating.rater not in self._raters:
                self._raters.add(rating.rater)
                self.signatures = [*dict.fromkeys((*self.signatures, *signatures((rating,), self.weights)))]
        scores = [score(rating, self.weights) for rating in ratings if rating.errors is not None]
        if len(scores) == len(ratings):
            self.scores.append(corpus_score(scores))
        expected = [value for rating in ratings if (value := expected_score(rating)) is not None]
        if len(expected) == len(ratings):
            self.expected_scores.append(corpus_score(expected))
        estimates = [rating.estimate for rating in ratings if rating.estimate is not None]
        esa = [estimate.value for estimate in estimates if estimate.scale == "esa"]
        if len(esa) == len(ratings):
            self.esa_scores.append(corpus_score(esa))
        estimate = estimates[0] if estimates and len(ratings) == 1 else None
        if estimate is not None and estimate.low is not None and estimate.high is not None:
            self.lows.append(estimate.low)
            self.highs.append(estimate.high)

    @property
    def signature(self) -> str:
        """The signatures, separated by spaces."""
        return " ".join(self.signatures)

    @property
    def score(self) -> float | None:
        """The mean of the segments' scores, None if the errors of a segment were not annotated."""
        return corpus_score(self.scores) if self.has_spans else None

    @property
    def score_100(self) -> float | None:
        """The score from 0 to 100: a model's own, or else that of MQM, whose lowest score, -25, is 0."""
        if self.n_segments and len(self.esa_scores) == self.n_segments:
            return corpus_score(self.esa_scores)
        score = self.score
        return None if score is None else 100 * max(0.0, 1 - score / LOWEST_SCORE)

    @property
    def penalty_per_1000_words(self) -> float | None:
        """The penalties of all errors, for a thousand words of the source; None if these are not counted."""
        return -1000 * sum(self.scores) / self.n_source_words if self.has_spans and self.n_source_words else None

    @property
    def has_spans(self) -> bool:
        """Whether the errors of all segments were annotated."""
        return len(self.scores) == self.n_segments

    @property
    def expected_score(self) -> float | None:
        """The mean of the scores that the model expects, None if it expects none."""
        return corpus_score(self.expected_scores) if self.expected_scores else None

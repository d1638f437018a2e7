"""Counts and mean scores of one system's Ratings."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field

from matese import mqm
from matese.annotation import ErrorSpan, Rating, Severity, UnplacedError


@dataclass
class Tally:
    """What was found in the hypotheses of a system so far.

    Attributes:
        system: its name.
        weights: what its scores are made with.
        n_segments: ratings that were added.
        n_with_errors: those with at least one marked error.
        n_minor: errors that are Minor; n_major alike.
        n_blank: hypotheses that are empty or only white space.
        signatures: of what made the ratings, in the order of their first; one, save where the texts of a segment decide
            which of them are read.
    """

    system: str
    weights: mqm.Weights
    n_segments: int = 0
    n_with_errors: int = 0
    n_minor: int = 0
    n_major: int = 0
    n_blank: int = 0
    signatures: list[str] = field(default_factory=list)
    _scores: array[float] = field(default_factory=lambda: array("d"))
    _expected: array[float] = field(default_factory=lambda: array("d"))

    def add(self, rating: Rating) -> None:
        """Counts a rating."""
        self.n_segments += 1
        self.n_with_errors += has_errors(rating)
        self.n_minor += count(rating, Severity.MINOR)
        self.n_major += count(rating, Severity.MAJOR)
        self.n_blank += not rating.segment.hypothesis.strip()
        if (signature := rating.rater or "") not in self.signatures:
            self.signatures.append(signature)
        self._scores.append(mqm.score(rating, self.weights))
        if rating.overall is not None:
            self._expected.append(rating.overall.value)

    @property
    def signature(self) -> str:
        """The signatures, with spaces between them."""
        return " ".join(self.signatures)

    @property
    def score(self) -> float:
        """The mean of the segments' scores."""
        return mqm.corpus_score(self._scores)

    @property
    def expected_score(self) -> float | None:
        """The mean of the scores that the model expects, None where it expects none."""
        return mqm.corpus_score(self._expected) if self._expected else None


def has_errors(rating: Rating) -> bool:
    """Whether anything is marked, wherever it stands."""
    return bool(rating.errors or rating.source_errors or rating.unplaced)


def count(rating: Rating, severity: Severity) -> int:
    """Returns how many errors have a severity, wherever they stand."""
    errors: tuple[ErrorSpan | UnplacedError, ...] = (
        *(rating.errors or ()),
        *rating.source_errors,
        *rating.unplaced,
    )
    return sum(error.severity is severity for error in errors)

"""What a person says of marks: a model's mark is a person's only if its row was reviewed, or changed.

Files that go to people and come back hold ratings that nobody has looked at beside those that somebody has. As on the
page, a row counts as reviewed if its column `reviewed` says so, or if the person has changed it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace

from matese import mqm
from matese.annotation import AnyError, Placed, Rating, Segment, UnplacedError
from matese.errors import counted
from matese.formats import corrections

REVIEWED = "reviewed"
"""The column in which people tick the rows that they have looked at."""
_NO = {"", "0", "no", "false", "none", "-", "n", "nein", "non"}


@dataclass(slots=True)
class Reviewed:
    """Ratings of a person, without those that only a model has made; counts these.

    Attributes:
        rater: the person.
        shown: what the person was shown, by segment and system; None if that is not known.
        is_all: whether every rating was reviewed.
        n_left_out: number of ratings that nobody has reviewed.
    """

    rater: str
    shown: Callable[[Rating], Rating | None] = lambda rating: None
    is_all: bool = False
    n_left_out: int = field(default=0, init=False)

    def of(self, ratings: Iterable[Rating]) -> Iterator[Rating]:
        """Yields the ratings that are the person's, under the person's name."""
        for rating in ratings:
            if not is_of_model(rating) or self.is_all or is_ticked(rating.segment) or self._is_changed(rating):
                yield corrections.marked(by(self.rater, rating))
            else:
                self.n_left_out += 1

    def _is_changed(self, rating: Rating) -> bool:
        if corrections.corrected(rating.segment) is not None:
            return True
        before = self.shown(rating)
        return before is not None and marks(before) != marks(rating)

    @property
    def notice(self) -> str | None:
        """What was left out, for the user; None if nothing was."""
        if not self.n_left_out:
            return None
        way = f"tick them in a column {REVIEWED!r}, name what was shown with --before, or count all with --all-reviewed"
        return f"left out: {counted(self.n_left_out, 'rating')} of a model that nobody has reviewed or changed ({way})"


def is_of_model(rating: Rating) -> bool:
    """Whether a model or check of ours made a rating, and no person."""
    return mqm.is_signature(rating.rater)


def is_ticked(segment: Segment) -> bool:
    """Whether a person says in a column that the row was reviewed.

    >>> [is_ticked(Segment("a", extra={"reviewed": value})) for value in ("x", "No", None, True)]
    [True, False, False, True]
    """
    value = (segment.extra or {}).get(REVIEWED)
    return value is not None and str(value).strip().casefold() not in _NO


def by(rater: str | None, rating: Rating) -> Rating:
    """Returns the rating as that of a rater; the confidences and the expected score of another one are left out."""
    if rating.rater in (None, rater):
        return replace(rating, rater=rater)
    return replace(
        rating,
        rater=rater,
        errors=None if rating.errors is None else tuple(map(_sure, rating.errors)),
        source_errors=tuple(map(_sure, rating.source_errors)),
        omissions=tuple(map(_sure, rating.omissions)),
        estimate=None,
        error_free=None,
    )


def marks(rating: Rating) -> tuple[object, ...]:
    """Returns what a person can change of a rating, in a form that can be compared."""
    errors: tuple[AnyError, ...] = rating.all_errors
    return rating.segment.hypothesis, rating.errors is None, frozenset(map(str, map(_plain, errors)))


def _plain(error: AnyError) -> AnyError:
    return error if isinstance(error, UnplacedError) else replace(error, confidence=None)


def _sure(error: Placed) -> Placed:
    return replace(error, confidence=None)

"""Our JSONL of ratings as score files: a segment's score is the mean over its raters.

Systems of different test sets are never compared: where a file holds several, each of its language pairs is one of a
test set ("wmt22/en-de").
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from matese import mqm
from matese.annotation import Rating, SegmentKey
from matese.formats import jsonl
from matese.formats.lines import FormatError, name_of
from matese.formats.score_file import ScoreFile, SegmentName, stem

_Place = tuple[str | None, int]
"""A document and a segment's number, which counts through the test set or in each document."""


@dataclass(slots=True)
class _Collected:
    """What was read of one test set and language pair.

    Attributes:
        errors: scores of the errors, by system and segment, one a rater.
        overall: overall scores alike.
        rated: by whom and where, so that nothing counts twice.
        n_ratings: how many ratings there are, with errors or without.
        n_errors: those with errors.
        n_overall: those with an overall score.
    """

    errors: dict[str, dict[_Place, list[float]]] = field(default_factory=dict)
    overall: dict[str, dict[_Place, list[float]]] = field(default_factory=dict)
    rated: set[tuple[str, _Place, str | None]] = field(default_factory=set)
    n_ratings: int = 0
    n_errors: int = 0
    n_overall: int = 0

    def add(self, rating: Rating, weights: mqm.Weights) -> None:
        """Takes a rating in.

        Raises:
            ValueError: if it does not say of which segment and system it is, or its rater has rated that already.
        """
        key = rating.segment.key
        if key is None or key.system is None or key.index is None:
            raise ValueError("no system or no index: must have both to be compared")
        place = key.document, key.index
        if (key.system, place, rating.rater) in self.rated:
            raise ValueError(
                f"segment {key.index} of system {key.system} is rated twice by one rater: must be rated once"
            )
        self.rated.add((key.system, place, rating.rater))
        self.n_ratings += 1
        for scores in (self.errors, self.overall):
            scores.setdefault(key.system, {}).setdefault(place, [])
        if rating.errors is not None:
            self.n_errors += 1
            self.errors[key.system][place].append(mqm.score(rating, weights))
        if rating.overall is not None:
            self.n_overall += 1
            self.overall[key.system][place].append(rating.overall.value)

    def names(self) -> dict[_Place, SegmentName]:
        """Returns what each segment is called: its number, with its document where numbers begin anew in each."""
        places = {place for _, place, _ in self.rated}
        if len({index for _, index in places}) == len(places):
            return {place: place[1] for place in places}
        return {place: f"{place[0] or 'none'}/{place[1]}" for place in places}


def read(path: str | Path, *, weights: mqm.Weights = mqm.GOOGLE) -> list[ScoreFile]:
    """Returns the MQM scores of ratings, and as NAME.expected their overall scores where every rating has one.

    Args:
        path: our JSONL, of one language pair or several, one test set or several.
        weights: what errors cost.

    Raises:
        FormatError: if a rating does not say of which segment and system it is, or a rater rates one twice.
        OSError: if it cannot be read.
    """
    collected: dict[tuple[str | None, str | None], _Collected] = {}
    for number, rating in enumerate(jsonl.read(path), start=1):
        key = rating.segment.key or SegmentKey()
        try:
            collected.setdefault((key.test_set, key.lang_pair), _Collected()).add(rating, weights)
        except ValueError as error:
            raise FormatError(name_of(path), number, str(error)) from None
    lang_pairs = {lang_pair for _, lang_pair in collected}
    if len(lang_pairs) > 1 and None in lang_pairs:
        raise FormatError(name_of(path), None, "some ratings have a language pair and some none: must be alike")
    is_one = len({test_set for test_set, _ in collected}) == 1
    return [
        made
        for (test_set, lang_pair), one in collected.items()
        for made in _score_files(path, lang_pair if is_one else f"{test_set or 'none'}/{lang_pair or 'all'}", one)
    ]


def _score_files(path: str | Path, lang_pair: str | None, one: _Collected) -> list[ScoreFile]:
    name, names = stem(path), one.names()
    found = [ScoreFile(name, lang_pair, segments=_means(one.errors, names))] if one.n_errors == one.n_ratings else []
    if one.n_overall == one.n_ratings:
        found.append(ScoreFile(f"{name}.expected" if found else name, lang_pair, segments=_means(one.overall, names)))
    if not found:
        raise FormatError(name_of(path), None, "some ratings have errors and some overall scores only: must be alike")
    return found


def _means(
    scores: Mapping[str, Mapping[_Place, list[float]]], names: Mapping[_Place, SegmentName]
) -> dict[str, dict[SegmentName, float | None]]:
    return {
        system: {names[place]: mqm.corpus_score(values) for place, values in of_system.items()}
        for system, of_system in scores.items()
    }

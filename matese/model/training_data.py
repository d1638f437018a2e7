"""The test sets that a model has learned from: its figures on them are too good.

A model directory names them in `training_data.json`, which is apart from `config.json` because no prediction depends on
it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

TestSetPlace = tuple[str | None, str | None]
"""Test set and language pair of segments, as their keys name them."""


@dataclass(frozen=True)
class LearnedTestSet:
    """A test set, or a part of it, that a model has learned from.

    Attributes:
        names: of the test set in the keys of segments; files of other origins call it otherwise. Case does not matter.
        lang_pairs: that were learned; none for all.
        learned: what was learned of it, such as "ratings".
        held_out: the part that was not learned; None for none.
    """

    names: tuple[str, ...]
    lang_pairs: tuple[str, ...] = ()
    learned: str = "ratings"
    held_out: str | None = None


@dataclass(frozen=True)
class TrainingData:
    """What a model has learned from.

    Attributes:
        test_sets: those whose names are known; of several that cover a segment, the first counts.
    """

    test_sets: tuple[LearnedTestSet, ...] = ()

    def with_segments(self, places: Mapping[TestSetPlace, str], *, held_out: str | None) -> TrainingData:
        """Returns these data and further segments; `places` says what is learned of each test set and language pair."""
        pairs: dict[tuple[str, str], list[str]] = {}
        for (test_set, lang_pair), learned in places.items():
            if test_set is not None:
                pairs.setdefault((test_set, learned), []).extend([] if lang_pair is None else [lang_pair])
        added = (
            LearnedTestSet((test_set,), tuple(of_set), learned, held_out)
            for (test_set, learned), of_set in pairs.items()
        )
        return replace(self, test_sets=(*self.test_sets, *added))


UNKNOWN = TrainingData()

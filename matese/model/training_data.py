"""The test sets that a model has learned from: its figures on them are too good.

A model directory names them in `training_data.json`, which is apart from `config.json` because no prediction depends on
it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from matese.text.languages import agree

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

    def covers(self, place: TestSetPlace) -> bool:
        """Whether the model has learned from segments of a test set and language pair; None is any language pair."""
        test_set, lang_pair = place
        if test_set is None or test_set.lower() not in map(str.lower, self.names):
            return False
        return lang_pair is None or not self.lang_pairs or any(agree(lang_pair, known) for known in self.lang_pairs)


@dataclass(frozen=True)
class TrainingData:
    """What a model has learned from.

    Attributes:
        test_sets: those whose names are known; of several that cover a segment, the first counts.
    """

    test_sets: tuple[LearnedTestSet, ...] = ()

    def about(self, places: Iterable[TestSetPlace]) -> tuple[str, ...]:
        """Returns what was learned of these test sets and language pairs, in words for `note`.

        >>> data = TrainingData((LearnedTestSet(("wmt20",), ("en-de", "zh-en"), held_out="a tenth of the sources"),))
        >>> data.about([("WMT20", "zh-en"), ("WMT20", "en-de"), ("WMT20", "en-ja"), ("wmt21", "en-de")])
        ('ratings of WMT20 en-de and zh-en (held out: a tenth of the sources)',)
        """
        pairs: dict[tuple[LearnedTestSet, str], list[str]] = {}
        for test_set, lang_pair in sorted(set(places), key=str):
            known = next((one for one in self.test_sets if one.covers((test_set, lang_pair))), None)
            if known is not None and test_set is not None:
                pairs.setdefault((known, test_set), []).extend([] if lang_pair is None else [lang_pair])
        sets: dict[tuple[str, str | None], list[str]] = {}
        for (known, test_set), of_set in pairs.items():
            named = f"{test_set} {' and '.join(of_set)}" if of_set else test_set
            sets.setdefault((known.learned, known.held_out), []).append(named)
        return tuple(_in_words(learned, named, held_out) for (learned, held_out), named in sets.items())

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


def _in_words(learned: str, named: Sequence[str], held_out: str | None) -> str:
    return f"{learned} of {', '.join(named)}{f' (held out: {held_out})' if held_out else ''}"


def note(model: str, learned: Sequence[str]) -> str:
    """Returns a sentence about what `TrainingData.about` has returned."""
    return f"{model} has learned from {'; '.join(learned)}: its figures there are too good"

"""What a model has learned from: its figures there are too good.

A model directory names test sets in `training_data.json`, beside hashes by which texts are recognised. It is apart from
`config.json` because no prediction depends on it.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from matese.errors import ModelError
from matese.preparation import normalise

TestSetPlace = tuple[str | None, str | None]
"""Test set and language pair of segments, as their keys name them."""
_N_BITS = 24
"""Of a hash: of other texts, one in 170 has a hash of 100,000 sources."""


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
        sources: hashes of the sources, see `hashed`; "" if they are unknown.
    """

    test_sets: tuple[LearnedTestSet, ...] = ()
    sources: str = ""

    def with_segments(
        self, places: Mapping[TestSetPlace, str], sources: str = "", *, held_out: str | None
    ) -> TrainingData:
        """Returns these data and further segments.

        Args:
            places: what is learned of each test set and language pair.
            sources: hashes of the sources.
            held_out: the part that is not learned; None for none.
        """
        pairs: dict[tuple[str, str], list[str]] = {}
        for (test_set, lang_pair), learned in places.items():
            if test_set is not None:
                pairs.setdefault((test_set, learned), []).extend([] if lang_pair is None else [lang_pair])
        added = (
            LearnedTestSet((test_set,), tuple(of_set), learned, held_out)
            for (test_set, learned), of_set in pairs.items()
        )
        return TrainingData((*self.test_sets, *added), hashed((), self.sources, sources))

    def learned(self, texts: Iterable[str]) -> list[str]:
        """Returns the texts that are among the sources; few others are returned, too."""
        bits = _bits(self.sources)
        return [text for text in texts if bits[_hash(text)]]


UNKNOWN = TrainingData()


def hashed(sources: Iterable[str], *hash_sets: str) -> str:
    """Returns a set of hashes as text: a bit for each possible hash, compressed.

    Args:
        sources: texts, of which case, white space and punctuation do not count.
        hash_sets: further sets of hashes.

    >>> data = TrainingData(sources=hashed(["The house."], hashed(["A tree"])))
    >>> data.learned(["the house", "A tree", "A house"])
    ['the house', 'A tree']
    """
    bits = _bits("")
    bits[np.fromiter(map(_hash, sources), np.int64)] = True
    for hash_set in hash_sets:
        bits |= _bits(hash_set)
    return base64.b64encode(zlib.compress(np.packbits(bits).tobytes(), 9)).decode() if bits.any() else ""


def _hash(text: str) -> int:
    return zlib.crc32(normalise(text).encode("utf-8", "surrogatepass")) >> (32 - _N_BITS)


def _bits(hashes: str) -> npt.NDArray[np.bool_]:
    """Returns whether a text has each hash."""
    if not hashes:
        return np.zeros(1 << _N_BITS, bool)
    try:
        packed = np.frombuffer(zlib.decompress(base64.b64decode(hashes)), np.uint8)
        return np.unpackbits(packed).astype(bool).reshape(1 << _N_BITS)
    except (ValueError, zlib.error) as error:
        raise ModelError(f"the hashes of training sources are corrupt ({error}): fetch the model again") from None

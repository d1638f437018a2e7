"""Translations of WMT that nobody rated, for a training in which the model scores them itself (`data.unrated`)."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

from data_prep.store import Store
from data_prep.translations import TEST_SETS, Item, is_usable, items
from matese.annotation import Rating, Segment, SegmentKey


def build(
    store: Store, *, n_sources: int, n_systems: int, seed: int, progress: Callable[[str], None]
) -> Iterator[Rating]:
    """Yields translations of some sources, each with one reference, and without spans or a judgement.

    Args:
        store: the raw files.
        n_sources: sources of each test set and language pair.
        n_systems: most translations of a source.
        seed: of the draw.
        progress: called with the test set and language pair that is read.
    """
    for test_set in TEST_SETS:
        by_pair: dict[str, list[Item]] = {}
        for item in items(store, test_set):
            if is_usable(item) and item.references:
                by_pair.setdefault(item.lang_pair, []).append(item)
        for pair, usable in by_pair.items():
            progress(f"{test_set} {pair}")
            rng = random.Random(f"unrated|{seed}|{test_set}|{pair}")
            for item in rng.sample(usable, min(n_sources, len(usable))):
                yield from (Rating(segment, None, None) for segment in _segments(item, n_systems, rng))


def _segments(item: Item, n_systems: int, rng: random.Random) -> Iterator[Segment]:
    """Yields some systems' translations of a source, with one of its references; a copy of it teaches nothing."""
    distinct = {text: system for system, text in item.hypotheses.items() if text.strip()}
    reference = rng.choice(item.references)
    distinct.pop(reference, None)
    for text in rng.sample(list(distinct), min(n_systems, len(distinct))):
        key = SegmentKey(item.test_set, item.lang_pair, distinct[text], None, item.index)
        yield Segment(text, item.source, (reference,), key)

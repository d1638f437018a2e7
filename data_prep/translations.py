"""Make error-free ratings of human translations for error injection, including languages without rated data.

The references of the WMT test sets become the rated texts, and translations by systems become their references.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Collection, Iterator

from data_prep import splits
from data_prep.store import Store
from data_prep.wmt_translations import LANGUAGES, TEST_SETS, Item, items
from matese.annotation import Overall, Rating, Segment, SegmentKey
from matese.choosing import chrf
from matese.errors import UsageError

HELD_OUT_PAIRS = frozenset({("wmt24", "en-hi"), ("wmt24", "en-zh")})
"""Language pairs that are not used for training, to measure generalisation to another language."""

RATER = "human"
_MIN_SYSTEMS, _MAX_CHARACTERS = 5, 400


def is_usable(item: Item) -> bool:
    """Whether a source can be used for training: no text is held out, and enough systems translated it."""
    texts = (item.source, *item.references)
    return (
        (item.test_set, item.lang_pair) not in HELD_OUT_PAIRS
        and len(distinct_hypotheses(item)) >= _MIN_SYSTEMS
        and bool(item.source.strip())
        and max(map(len, texts)) <= _MAX_CHARACTERS
        and not any(text in splits.committed() for text in texts if text.strip())
    )


def distinct_hypotheses(item: Item) -> list[str]:
    """Returns the distinct translations that are neither blank nor too long."""
    texts = dict.fromkeys(item.hypotheses.values())
    return [text for text in texts if text.strip() and len(text) <= _MAX_CHARACTERS]


def ratings(item: Item, *, most: int) -> list[Rating]:
    """Returns the first reference rated as error-free, each time with a typical system translation as reference."""
    text = next((text for text in item.references if text.strip()), None)
    if text is None:
        return []
    hypotheses = distinct_hypotheses(item)
    similarities = chrf.pairwise(hypotheses).sum(1)
    best = [hypothesis for _, hypothesis in sorted(zip(-similarities, hypotheses, strict=True))][:most]
    key = SegmentKey(item.test_set, item.lang_pair, RATER, None, item.index)
    # The model cannot learn to read other languages.
    source = item.source if item.lang_pair.split("-")[0] in LANGUAGES else None
    segments = [Segment(text, source, (hypothesis,), key) for hypothesis in best if hypothesis != text]
    return [Rating(segment, RATER, (), overall=Overall(0.0, "mqm")) for segment in segments]


def build(
    store: Store,
    *,
    lang_pairs: Collection[str] | None = None,
    n_sources: int = 900,
    most: int = 5,
    seed: int = 0,
    progress: Callable[[str], None],
) -> Iterator[Rating]:
    """Yields up to `most` ratings of each of the drawn sources, for each test set and language pair.

    Raises:
        InputError: if the files of a pair are not parallel, or a requested pair has no usable source.
    """
    unseen = set(lang_pairs or ())
    for test_set in TEST_SETS:
        all_items = items(store, test_set, lang_pairs=lang_pairs)
        for pair, of_pair in itertools.groupby(all_items, key=lambda item: item.lang_pair):
            progress(f"{test_set} {pair}")
            usable = list(filter(is_usable, of_pair))
            if usable:
                unseen.discard(pair)
            rng = random.Random(f"{seed} {test_set} {pair}")
            for item in rng.sample(usable, min(n_sources, len(usable))):
                yield from ratings(item, most=most)
    if unseen:
        names = ", ".join(TEST_SETS)
        raise UsageError(f"--lang-pairs {' '.join(sorted(unseen))}: must be language pairs of {names} and not held out")

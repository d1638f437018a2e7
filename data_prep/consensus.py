"""What the systems of a shared task agree upon, as training data without a human label.

Some fifteen systems translate the same source. How many of the *other* translations hold a word says what the word is
worth, and how alike a translation is to the others says what it is worth: minimum Bayes risk (Kumar and Byrne 2004)
taken as a label. A model that sees the source or one reference, and must say both, learns paraphrase and translation.

A Rating holds it: spans of undecided severity, whose confidence is the share of the other translations that do not
hold the words, and an overall value from 0 to 1.

Of a language for which there is nothing else, `human` gives what errors can be injected into: the references, each
beside translations by systems as if those were the references.
"""

from __future__ import annotations

import itertools
import random
import re
import zlib
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from data_prep import splits
from data_prep.lexicon import LETTER
from data_prep.store import Store
from data_prep.systems import LANGUAGES, TEST_SETS, Item, items
from matese.annotation import ErrorSpan, Overall, Rating, Segment, SegmentKey

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

HELD_OUT_PAIRS = frozenset({("wmt24", "en-hi"), ("wmt24", "en-zh")})
"""Kept for generalisation: no translation of these pairs is learnt from. Their English sources are those of the other
pairs from English, which may be."""

RATER, HUMAN = "consensus", "human"
_MIN_SYSTEMS, _MAX_CHARACTERS = 5, 400
_WORD = re.compile(rf"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]|[{LETTER}]+|[^{LETTER}\s]")
"""A word, a character of a script without spaces, or a punctuation mark."""
_BUCKETS = 1 << 13
"""Into which character n-grams are hashed."""


def is_usable(item: Item) -> bool:
    """Whether a source may be learnt from: not held out, nor are its references, and enough systems translated it."""
    texts = (item.source, *item.references)
    return (
        (item.test_set, item.lang_pair) not in HELD_OUT_PAIRS
        and len(_kept(item)) >= _MIN_SYSTEMS
        and bool(item.source.strip())
        and max(map(len, texts)) <= _MAX_CHARACTERS
        and not any(text in splits.committed() for text in texts if text.strip())
    )


def _kept(item: Item) -> dict[str, str]:
    """Returns the distinct translations that are neither blank nor endless."""
    firsts: dict[str, str] = {}
    for system, text in item.hypotheses.items():
        if text.strip() and len(text) <= _MAX_CHARACTERS:
            firsts.setdefault(text, system)
    return {system: text for text, system in firsts.items()}


def _readable(item: Item) -> str | None:
    """Returns the source; None where its language is not learned."""
    return item.source if item.lang_pair.split("-")[0] in LANGUAGES else None


def ratings(item: Item, *, most: int, rng: random.Random) -> list[Rating]:
    """Returns the consensus on some translations of a source, drawn at random.

    Args:
        item: one that is usable.
        most: translations that are rated; all others still vote.
        rng: draws.
    """
    hypotheses = _kept(item)
    voters = [*hypotheses.values(), *(text for text in item.references if text.strip())]
    counts = [_grams(text) for text in voters]
    total = Counter(itertools.chain.from_iterable(counts))
    similar = _similarities(voters)
    chosen = sorted(rng.sample(range(len(hypotheses)), min(most, len(hypotheses))))
    references = tuple(text for text in item.references if text.strip())
    made = []
    for number, (system, text) in enumerate(hypotheses.items()):
        if number not in chosen:
            continue
        key = SegmentKey(item.test_set, item.lang_pair, system, None, item.index)
        segment = Segment(text, _readable(item), references, key)
        value = float(similar[number].sum() - similar[number, number]) / (len(voters) - 1)
        overall = Overall(round(value, 4), "unit")
        made.append(Rating(segment, RATER, _doubts(text, counts[number], total, len(voters) - 1), overall=overall))
    return made


def human(item: Item, *, most: int) -> list[Rating]:
    """Returns the first reference as a translation without an error, beside systems' translations as references.

    Args:
        item: one that is usable.
        most: translations that stand as the reference, those first that are most alike to all others.
    """
    text = next((text for text in item.references if text.strip()), None)
    if text is None:
        return []
    hypotheses = _kept(item)
    alike = _similarities([*hypotheses.values()]).sum(1)
    best = [name for _, name in sorted(zip(-alike, hypotheses, strict=True))][:most]
    key = SegmentKey(item.test_set, item.lang_pair, HUMAN, None, item.index)
    segments = [Segment(text, _readable(item), (hypotheses[name],), key) for name in best if hypotheses[name] != text]
    return [Rating(segment, HUMAN, (), overall=Overall(0.0, "mqm")) for segment in segments]


def _words(text: str) -> list[tuple[str, int, int]]:
    return [(match[0].casefold(), *match.span()) for match in _WORD.finditer(text)]


def _pairs(words: Sequence[str]) -> list[tuple[str, str]]:
    return list(itertools.pairwise(["", *words, ""]))


def _grams(text: str) -> set[object]:
    words = [word for word, _, _ in _words(text)]
    return {*words, *_pairs(words)}


def _doubts(text: str, own: Collection[object], total: Counter[object], n_others: int) -> tuple[ErrorSpan, ...]:
    """Returns a span for each word, sure to the extent that the others do not hold it, alone and beside its neighbours.

    Half of the support is that of the word itself, a quarter that of it with each of its neighbours.
    """
    words = _words(text)
    pairs = _pairs([word for word, _, _ in words])
    spans = []
    for number, (word, start, end) in enumerate(words):
        held = 2 * total[word] + total[pairs[number]] + total[pairs[number + 1]] - 4  # without the word's own vote
        doubt = 1 - held / (4 * n_others)
        if doubt > 0.01:
            spans.append(ErrorSpan(start, end, None, confidence=round(doubt, 2)))
    return tuple(spans)


def _similarities(texts: Sequence[str]) -> npt.NDArray[np.float32]:
    """Returns the F1 over character 2- to 5-grams, hashed, of each text with each: (texts, texts)."""
    import numpy as np

    profiles = np.zeros((len(texts), _BUCKETS), dtype=np.float32)
    for row, text in enumerate(texts):
        squeezed = "".join(text.split())
        for n in (2, 3, 4, 5):
            for start in range(len(squeezed) - n + 1):
                profiles[row, zlib.crc32(squeezed[start : start + n].encode()) % _BUCKETS] += 1
    used = profiles.any(0)
    profiles = profiles[:, used]
    sizes = profiles.sum(1)
    common = np.stack([np.minimum(profiles, row).sum(1) for row in profiles])
    return np.asarray(2 * common / np.maximum(sizes[:, None] + sizes[None, :], 1), dtype=np.float32)


@dataclass(frozen=True, slots=True)
class Options:
    """What is drawn.

    Attributes:
        lang_pairs: those wanted, whatever their source's language; None for all between two of LANGUAGES.
        n_sources: of each test set and pair, drawn at random from those that are usable.
        most: translations of a source that are rated, or stand as the reference.
        seed: of all draws.
        human: whether the references are rated in place of the systems' translations, as by `human`.
    """

    lang_pairs: tuple[str, ...] | None = None
    n_sources: int = 900
    most: int = 5
    seed: int = 0
    human: bool = False


def build(store: Store, options: Options, progress: Callable[[str], None]) -> Iterator[Rating]:
    """Yields the consensus on some translations of some sources of each test set and language pair.

    Args:
        store: of the raw files.
        options: what to draw.
        progress: is told what is being done.

    Raises:
        OSError: where a test set's files cannot be read.
        ValueError: where two files of a pair differ in length, or there is nothing to learn from of a pair that is
            wanted.
    """
    unseen = set(options.lang_pairs or ())
    for test_set in TEST_SETS:
        found = items(store, test_set, lang_pairs=options.lang_pairs)
        for pair, of_pair in itertools.groupby(found, key=lambda item: item.lang_pair):
            progress(f"{test_set} {pair}")
            usable = list(filter(is_usable, of_pair))
            if usable:
                unseen.discard(pair)
            rng = random.Random(f"{options.seed} {test_set} {pair}")
            for item in rng.sample(usable, min(options.n_sources, len(usable))):
                if options.human:
                    yield from human(item, most=options.most)
                else:
                    yield from ratings(item, most=options.most, rng=rng)
    if unseen:
        names = ", ".join(TEST_SETS)
        raise ValueError(f"--lang-pairs {' '.join(sorted(unseen))}: must be pairs of {names} that are not held out")

"""Material for injected errors: the words, names and texts of a language, and the word ranges of a text."""

from __future__ import annotations

import math
import random
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar

from matese.annotation import Segment
from matese.corruption.lexicon import LETTER, UNSPACED_LANGUAGES
from matese.text.languages import languages_of
from matese.text.ranges import Range
from matese.text.words import UNSPACED, is_unspaced

K = TypeVar("K", bound=Hashable)

# A run of katakana is usually one word.
_PART = f"(?:(?![{UNSPACED}])[{LETTER}])+"
_WORD = re.compile(f"[\u30a1-\u30fa\u30fc]+|[{UNSPACED}]|\\d+(?:[.,:]\\d+)+|{_PART}(?:['’-]{_PART})*")
_IDEOGRAPHS = re.compile("[\u3400-\u9fff]{2,}")
_SENTENCE_START = re.compile(r"(?:^|[.!?:;…\"“„«»(\[\-–—'‘])\s*$")

_STEM = 4
"""Least number of initial letters that forms of a word share."""

N_FREQUENT = 120
"""Number of most frequent words that count as function words, at most a tenth of all words."""


@dataclass(frozen=True, slots=True)
class Pool:
    """Words and texts of one language.

    Attributes:
        language: code, "de".
        texts: hypotheses in the language.
        compounds: pairs of ideographs that are words.
        counts: frequency of each word in the texts.
        frequent: the most frequent words.
        words: content words by length, frequency and capitalisation.
        names: names by their last letter.
        is_name: all names.
        stems: words by their first letters, in lower case.
    """

    language: str
    texts: tuple[str, ...]
    compounds: frozenset[str]
    counts: Mapping[str, int]
    frequent: frozenset[str]
    words: Mapping[tuple[int, int, bool], tuple[str, ...]]
    names: Mapping[str, tuple[str, ...]]
    is_name: frozenset[str]
    stems: Mapping[str, tuple[str, ...]]

    @property
    def is_spaced(self) -> bool:
        """Whether the language puts spaces between words."""
        return self.language not in UNSPACED_LANGUAGES

    def is_content(self, word: str) -> bool:
        """Whether a word is long and rare enough to be a content word."""
        return _is_content(word, self.frequent, self.language)

    def other_word(self, word: str, rng: random.Random) -> str | None:
        """Returns a word of similar length and frequency, preferably with the same ending; None if there is none."""
        candidates = self.words.get(_bucket(word, self.counts.get(word, 1)), ())
        return _alike(word, candidates, rng)

    def other_form(self, word: str, rng: random.Random) -> str | None:
        """Returns a word with the same beginning and another ending, like an inflected form; None if there is none."""
        least = max(_STEM, math.ceil(0.6 * len(word)))
        begins = word[:least].lower()
        is_capital = word[0].isupper()
        forms = [
            form
            for form in self.stems.get(begins[:_STEM], ())
            if form.lower().startswith(begins)
            and form.lower() != word.lower()
            and len(form) <= len(word) + 3
            and form[0].isupper() == is_capital
        ]
        return rng.choice(forms) if forms else None

    def other_name(self, name: str, rng: random.Random) -> str | None:
        """Returns another name, preferably with the same ending; None if there is none."""
        return _alike(name, self.names.get(name[-1:], ()), rng)


def words_of(text: str, compounds: frozenset[str] = frozenset()) -> list[Range]:
    """Returns the ranges of the words; in scripts without spaces these are compounds and single characters.

    >>> text = "Don't pay 1,500 €!"
    >>> [text[start:end] for start, end in words_of(text)]
    ["Don't", 'pay', '1,500']
    >>> words_of("他喜欢你", frozenset({"喜欢"}))
    [(0, 1), (1, 3), (3, 4)]
    """
    words: list[Range] = []
    for match in _WORD.finditer(text):
        start, end = match.span()
        is_single = bool(words) and words[-1] == (start - 1, start) and end - start == 1
        if compounds and is_single and text[start - 1 : end] in compounds:
            words[-1] = (start - 1, end)
        else:
            words.append((start, end))
    return words


def is_sentence_start(text: str, place: int) -> bool:
    """Whether a capital at a place is due to the start of a sentence."""
    return _SENTENCE_START.search(text[max(0, place - 4) : place]) is not None or not text[:place].strip()


def build_all(segments: Iterable[Segment]) -> dict[str, Pool]:
    """Returns a pool for each target language."""
    by_language: dict[str, list[Segment]] = defaultdict(list)
    for segment in segments:
        by_language[languages_of(segment.key)[1]].append(segment)
    return {
        language: build(language, [segment.hypothesis for segment in same], [segment.source or "" for segment in same])
        for language, same in by_language.items()
    }


def build(language: str, texts: Iterable[str], sources: Iterable[str]) -> Pool:
    """Returns the pool of a language.

    Args:
        language: code.
        texts: hypotheses in the language; may repeat.
        sources: their sources. German capitalises all nouns, so a German name must also occur in a source.
    """
    unique = tuple(dict.fromkeys(text for text in texts if text.strip()))
    compounds = _compounds(unique) if language in UNSPACED_LANGUAGES else frozenset()
    counts: Counter[str] = Counter()
    amid: Counter[str] = Counter()
    for text in unique:
        for start, end in words_of(text, compounds):
            word = text[start:end]
            counts[word] += 1
            if word[0].isupper() and not is_sentence_start(text, start):
                amid[word] += 1
    is_german = language == "de"
    in_sources = {text[start:end] for text in set(sources) for start, end in words_of(text)} if is_german else set()
    is_name = frozenset(
        word
        for word, count in amid.items()
        if len(word) >= 3 and count > 2 * counts[word.lower()] and (not is_german or word in in_sources)
    )
    frequent = frozenset(sorted(counts, key=lambda word: (-counts[word], word))[: min(N_FREQUENT, len(counts) // 10)])
    content = (word for word in counts if _is_content(word, frequent, language))
    # A word that occurs once may be a typo.
    stems = (word for word in counts if len(word) > _STEM and counts[word] > 1 and word.isalpha())
    return Pool(
        language,
        unique,
        compounds,
        counts,
        frequent,
        words=_grouped(content, lambda word: _bucket(word, counts[word])),
        names=_grouped(is_name, lambda name: name[-1:]),
        is_name=is_name,
        stems=_grouped(stems, lambda word: word[:_STEM].lower()),
    )


def _is_content(word: str, frequent: frozenset[str], language: str) -> bool:
    if word in frequent or not word[0].isalpha():
        return False
    # Latin words in Chinese text are mostly names.
    return len(word) >= 2 and is_unspaced(word[0]) if language in UNSPACED_LANGUAGES else len(word) >= 4


def _bucket(word: str, count: int) -> tuple[int, int, bool]:
    return len(word) // 3, int(math.log(count, 5)), word[0].isupper()


def _grouped(words: Iterable[str], key: Callable[[str], K]) -> dict[K, tuple[str, ...]]:
    """Returns the sorted words by a key."""
    groups: dict[K, list[str]] = defaultdict(list)
    for word in sorted(words):
        groups[key(word)].append(word)
    return {group: tuple(group_words) for group, group_words in groups.items()}


def _alike(word: str, candidates: Sequence[str], rng: random.Random) -> str | None:
    drawn = [rng.choice(candidates) for _ in range(30)] if candidates else []
    different = [candidate for candidate in drawn if candidate.lower() != word.lower()]
    if not different:
        return None
    return next((candidate for candidate in different if candidate[-2:] == word[-2:]), different[0])


def _compounds(texts: Iterable[str], *, least: int = 5, bits: float = 4.0) -> frozenset[str]:
    """Returns the pairs of ideographs that co-occur far more often than by chance (mutual information)."""
    single: Counter[str] = Counter()
    pairs: Counter[str] = Counter()
    for text in texts:
        for run in _IDEOGRAPHS.findall(text):
            single.update(run)
            pairs.update(map("".join, pairwise(run)))
    total = sum(single.values())
    return frozenset(
        pair
        for pair, count in pairs.items()
        if count >= least and count * total >= 2**bits * single[pair[0]] * single[pair[1]]
    )

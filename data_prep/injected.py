"""Errors in good translations by systems and in right wordings, and cheats: texts that fool a metric.

Systems word a sentence differently from its reference, so that one wrong word in their translation is not told by
likeness; so do those who wrote a second right wording. A translation by a system counts as good if a strong metric
scores it high. Errors are wrong numbers, words that the lexicon of minimal pairs exchanges, and those of `synthesis`.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from data_prep import synthesis
from matese import mqm
from matese.annotation import ErrorSpan, Overall, Rating, Segment, Severity, UnplacedError
from matese.corruption import pools
from matese.corruption.edits import words_in
from matese.corruption.meaning_errors import NUMBER
from matese.corruption.pools import Pool, words_of
from matese.text.languages import languages_of

RATER = "contrasts"
_GOOD = 0.95
"""Least score of a good translation; about half of WMT22's have it."""
_MOST = 4
"""Most translations of a source that are damaged."""
_KINDS = {
    kind: weight * (3 if kind in ("negation", "role") else 1)
    for kind, (_, weight) in synthesis.KINDS.items()
    if kind in synthesis.MEANING
}
"""Weights of the injected kinds: negations and roles are rare otherwise."""
_WRONG_NUMBERS = 0.7
"""Share of the texts with a number in which a number is wrong."""
_N_SHORT = 12_000
"""Short translations with a number that are drawn."""
_LEAST_SHORT = 13
"""Least characters of these."""
_TIMES = 2
"""How often a right wording gets an error."""
_TWICE = -10.0
"""MQM score of a text that stands there twice."""
_PREAMBLES = (
    "Here is the translation:",
    "Translation:",
    "Sure! Here's the translation:",
    "The translation is:",
    "Output:",
)
_APPENDED = (
    "I hope this helps!",
    "Let me know if you need anything else.",
    "Note: this is a literal translation.",
    "(translated from the original)",
)


def build(
    ratings: Iterable[Rating], lexicon: Mapping[str, Mapping[str, Sequence[str]]], *, seed: int
) -> Iterator[Rating]:
    """Yields good translations unchanged and with one error of meaning each; see `beside_wrong`.

    Args:
        ratings: translations scored by a metric, from 0 to 1.
        lexicon: by target language, the words that may replace a word, see `short_texts.lexicon`.
        seed: of the draws.
    """
    yield from beside_wrong(list(_good(ratings, seed)), lexicon, seed=seed)


def varied(
    written: Iterable[Rating],
    short: Iterable[Rating],
    lexicon: Mapping[str, Mapping[str, Sequence[str]]],
    *,
    seed: int,
) -> Iterator[Rating]:
    """Yields written right wordings, and short translations with a number, beside the same with an error of meaning.

    Args:
        written: contrasts; the wrong ones are left out.
        short: right translations.
        lexicon: as in `build`.
        seed: of the draws.
    """
    right = [rating for rating in written if not rating.all_errors]
    numbers = [rating for rating in short if _has_number(rating) and len(rating.segment.hypothesis) >= _LEAST_SHORT]
    drawn = random.Random(f"varied|{seed}").sample(numbers, min(_N_SHORT, len(numbers)))
    yield from beside_wrong([*right, *drawn], lexicon, seed=seed, times=_TIMES)


def beside_wrong(
    right: Sequence[Rating], lexicon: Mapping[str, Mapping[str, Sequence[str]]], *, seed: int, times: int = 1
) -> Iterator[Rating]:
    """Yields right ratings, each before the same with one error of meaning.

    In most texts with a number the number is wrong. Of the others, half get a word of the lexicon.

    Args:
        right: ratings without errors.
        lexicon: by target language, the words that may replace a word, see `short_texts.lexicon`.
        seed: of the draws.
        times: how often each rating is drawn; its errors differ.
    """
    languages = pools.build_all(rating.segment for rating in right)
    wordings: dict[tuple[object, str | None], set[str]] = defaultdict(set)
    for rating in right:
        wordings[_place(rating)].add(rating.segment.hypothesis)
    for number, rating in enumerate([*right] * times):
        rng = random.Random(f"injected|{seed}|{number}")
        pair = languages_of(rating.segment.key)
        kinds = rng.choices(list(_KINDS), list(_KINDS.values()), k=2)
        wrong = None
        if _has_number(rating) and rng.random() < _WRONG_NUMBERS:
            kinds = ["number"]
        elif rng.random() < 0.5:
            wrong = exchanged(rating, lexicon.get(pair[1], {}), rng)
        if wrong is None:
            setting = synthesis.setting_of(pair, rating.segment.source, languages)
            made = synthesis.inject(rating, setting, rng, 1, kinds=kinds)
            wrong = made.rating if made else None
        if wrong is not None and wrong.segment.hypothesis not in wordings[_place(rating)]:
            yield rating
            yield replace(wrong, rater=RATER, overall=None, estimate=None)


def _place(rating: Rating) -> tuple[object, str | None]:
    """Returns what the right wordings of a text have in common."""
    segment = rating.segment
    return segment.key and segment.key.lang_pair, segment.source


def _has_number(rating: Rating) -> bool:
    return bool(NUMBER.search(rating.segment.hypothesis))


def _good(ratings: Iterable[Rating], seed: int) -> Iterator[Rating]:
    """Yields some good translations of each source, as free of errors."""
    by_source: dict[tuple[str, str | None], list[Segment]] = {}
    for rating in ratings:
        if rating.estimate is not None and rating.estimate.value >= _GOOD and rating.segment.key is not None:
            place = (str(rating.segment.key.lang_pair), rating.segment.source)
            by_source.setdefault(place, []).append(rating.segment)
    for place, segments in by_source.items():
        rng = random.Random(f"good|{seed}|{place}")
        distinct = list({segment.hypothesis: segment for segment in segments}.values())
        for segment in rng.sample(distinct, min(_MOST, len(distinct))):
            yield Rating(segment, RATER, ())


def exchanged(rating: Rating, words: Mapping[str, Sequence[str]], rng: random.Random) -> Rating | None:
    """Returns the rating with one word replaced by another of the lexicon; None if no word of the text has any."""
    text = rating.segment.hypothesis
    places = [place for place in words_of(text) if text[slice(*place)] in words]
    if not places:
        return None
    start, end = rng.choice(places)
    new = rng.choice(words[text[start:end]])
    if new.lower() in (rating.segment.source or "").lower() or new.lower() in text.lower():
        return None
    hypothesis = text[:start] + new + text[end:]
    span = ErrorSpan(start, start + len(new), Severity.MAJOR)
    return replace(rating, segment=replace(rating.segment, hypothesis=hypothesis), errors=(span,))


def cheats(ratings: Sequence[Rating], *, share: float, seed: int) -> Iterator[Rating]:
    """Yields right translations that were repeated, cut, shuffled, exchanged, or framed by other words.

    Args:
        ratings: right translations.
        share: share of them that becomes a cheat.
        seed: of the draws.
    """
    languages = pools.build_all(rating.segment for rating in ratings)
    for number, rating in enumerate(ratings):
        rng = random.Random(f"cheats|{seed}|{number}")
        if rng.random() < share:
            text = rating.segment.hypothesis
            pool = languages[languages_of(rating.segment.key)[1]]
            made = rng.choice((_twice, _half, _other, _shuffled, _copied, _framed))(rating.segment, pool, rng)
            if made is not None and made.segment.hypothesis.strip() not in ("", text.strip()):
                yield made


def _twice(segment: Segment, pool: Pool, rng: random.Random) -> Rating:
    text = segment.hypothesis
    space = rng.choice((" ", "\n")) if pool.is_spaced else ""
    start = len(text) + len(space)
    return _rated(segment, text + space + text, (start, start + len(text)), score=_TWICE)


def _half(segment: Segment, pool: Pool, rng: random.Random) -> Rating | None:
    words = words_in(segment.hypothesis, pool)
    if len(words) < 4:
        return None
    text = segment.hypothesis[: words[len(words) // 2 - 1][1]]
    missing = UnplacedError(Severity.MAJOR, "Accuracy/Omission")
    return Rating(replace(segment, hypothesis=text), RATER, (), unplaced=(missing, missing))


def _other(segment: Segment, pool: Pool, rng: random.Random) -> Rating:
    text = rng.choice(pool.texts)
    return _rated(segment, text, (0, len(text)))


def _shuffled(segment: Segment, pool: Pool, rng: random.Random) -> Rating | None:
    words = [segment.hypothesis[slice(*place)] for place in words_in(segment.hypothesis, pool)]
    if len(words) < 4:
        return None
    rng.shuffle(words)
    text = (" " if pool.is_spaced else "").join(words)
    return _rated(segment, text, (0, len(text)))


def _copied(segment: Segment, pool: Pool, rng: random.Random) -> Rating | None:
    source = segment.source or ""
    return _rated(segment, source, (0, len(source))) if len(words_of(source)) >= 3 else None


def _framed(segment: Segment, pool: Pool, rng: random.Random) -> Rating:
    text = segment.hypothesis
    if rng.random() < 0.5:
        preamble = rng.choice(_PREAMBLES)
        return _rated(segment, f"{preamble} {text}", (0, len(preamble)))
    appended = rng.choice((*_APPENDED, rng.choice(pool.texts)))
    return _rated(segment, f"{text} {appended}", (len(text) + 1, len(text) + 1 + len(appended)))


def _rated(segment: Segment, text: str, place: tuple[int, int], *, score: float | None = None) -> Rating:
    """Returns the rating of a text with a Major error; one that is wrong as a whole has the lowest score."""
    if score is None and place == (0, len(text)):
        score = mqm.LOWEST_SCORE
    start, end = place
    stripped = text[start:end]
    start += len(stripped) - len(stripped.lstrip())
    end -= len(stripped) - len(stripped.rstrip())
    errors = (ErrorSpan(start, end, Severity.MAJOR),) if start < end else ()
    overall = None if score is None else Overall(score, "mqm")
    return Rating(replace(segment, hypothesis=text), RATER, errors, overall=overall)

"""Build training data from ratings: each distinct text is tokenised once, and everything is stored as arrays."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from matese.annotation import Rating
from matese.errors import InputError
from matese.model.arrays import Ints
from matese.model.heads.learning import HeadTargets, Ragged
from matese.model.heads.meaning.targets import means_the_same
from matese.model.model_input import usable_inputs
from matese.model.texts.encoding import InputKind, TextEncoder, Tokens
from matese.model.training_data import TestSetPlace, hashed
from matese.training.config import DEFAULT_SUBJECTS
from matese.training.corpus import ANY, NOT_YET, Corpus, SegmentTexts
from matese.training.reading import texts_of

_CHUNK = 10_000
"""Texts tokenised at a time, which bounds the memory of the tokenizer's result."""


@dataclass(frozen=True, slots=True)
class Lesson:
    """A rating, and what is learned from it.

    Attributes:
        rating: the rating; of a segment that nobody rated, one without spans and judgement.
        teaches: see `matese.training.config.RatedFile`; None for its default.
        rater_group: number of the group of raters; 0 for none.
        is_unrated: whether the model itself will score the segment, see `matese.training.config.UnratedData`.
    """

    rating: Rating
    teaches: frozenset[str] | None = None
    rater_group: int = 0
    is_unrated: bool = False

    def of_head(self, name: str) -> Rating:
        """Returns the rating as a head learns from it; without spans and judgement if it teaches the head nothing.

        The head for errors of meaning takes every error for one, so Minor errors are left out where they are none.
        """
        rating = self.rating
        teaches = DEFAULT_SUBJECTS if self.teaches is None else self.teaches
        if name in teaches:
            return rating
        if name == "meaning" and "same_meaning" in teaches and means_the_same(rating):
            return replace(rating, errors=(), source_errors=(), omissions=(), unplaced=())
        return Rating(rating.segment, rating.rater, None)


def build(
    ratings: Iterable[Rating | Lesson],
    encoder: TextEncoder,
    inputs: tuple[InputKind, ...],
    heads: Sequence[HeadTargets],
    *,
    keep_ratings: bool = False,
    with_spans: bool = False,
    name: str = "ratings",
    if_none: str = "there are no ratings",
) -> Corpus:
    """Returns the corpus of all usable ratings; the others are counted.

    Args:
        ratings: ratings with spans, or with only a judgement of the whole segment, which becomes a score; or lessons,
            if not each rating teaches all that it can.
        encoder: the model's text encoder.
        inputs: the kinds of input that the model reads; a segment needs the texts of one of them.
        heads: what the model learns.
        keep_ratings: whether to keep the ratings in the corpus, for validation.
        with_spans: whether to skip ratings without spans.
        name: of the ratings in messages.
        if_none: why there are no ratings, if there are none.

    Raises:
        InputError: if no rating is usable.
    """
    skipped = Counter[str]()
    usable = list[Lesson]()
    for lesson in map(_without_blanks, ratings):
        if (reason := _reason_to_skip(lesson, inputs, heads, with_spans=with_spans)) is None:
            usable.append(lesson)
        else:
            skipped[reason] += 1
    distinct = list(dict.fromkeys(text for lesson in usable for text in texts_of(lesson.rating)))
    tokens = dict(zip(distinct, tokenize(distinct, encoder), strict=True))
    lessons = [lesson for lesson in usable if len(tokens[lesson.rating.segment.hypothesis].ids)]
    kept = [lesson.rating for lesson in lessons]
    # A tokenizer may drop control characters.
    skipped["without a token in the hypothesis"] += len(usable) - len(kept)
    if not kept:
        reasons = ", ".join(f"{n} {reason}" for reason, n in skipped.items() if n) or if_none
        raise InputError(f"{name}: no usable ratings to train or validate on ({reasons}); at least one is needed")
    texts = _segment_texts(kept, tokens)
    groups = _groups(lessons, texts)
    labels: dict[str, Any] = {}
    for head in heads:
        labels |= head.columns([lesson.of_head(head.name) for lesson in lessons], tokens, skipped)
    return Corpus(
        inputs=inputs,
        encoder=encoder,
        texts=texts,
        heads=tuple(heads),
        labels=labels,
        languages=_languages(kept, encoder),
        rater_groups=np.array([lesson.rater_group for lesson in lessons], dtype=np.int64),
        read_as=np.array([NOT_YET if lesson.is_unrated else ANY for lesson in lessons], dtype=np.int64),
        groups=groups,
        originals=_numbered(zip(groups.tolist(), map(_system, kept), strict=True)),
        ratings=tuple(kept) if keep_ratings else (),
        skipped={reason: number for reason, number in skipped.items() if number},
        places=_places(lessons),
        sources=hashed(dict.fromkeys(rating.segment.source or rating.segment.hypothesis for rating in kept)),
    )


def _places(lessons: Sequence[Lesson]) -> dict[TestSetPlace, str]:
    """Returns what is learned of each test set and language pair, ratings rather than translations."""
    places: dict[TestSetPlace, str] = {}
    for lesson in sorted(lessons, key=lambda lesson: lesson.is_unrated):
        key = lesson.rating.segment.key
        if key is not None and key.test_set is not None:
            places.setdefault((key.test_set, key.lang_pair), "unrated translations" if lesson.is_unrated else "ratings")
    return places


def _without_blanks(rating_or_lesson: Rating | Lesson) -> Lesson:
    """Returns the lesson of the segment without blank texts, which are missing; omissions count the references."""
    lesson = Lesson(rating_or_lesson) if isinstance(rating_or_lesson, Rating) else rating_or_lesson
    rating = lesson.rating
    segment = rating.segment.without_blanks()
    is_same = segment is rating.segment or any(omission.reference is not None for omission in rating.omissions)
    return lesson if is_same else replace(lesson, rating=replace(rating, segment=segment))


def _groups(lessons: Sequence[Lesson], texts: SegmentTexts) -> Ints:
    """Returns the group of each segment; scores by two groups of raters, or by the model, cannot be ranked."""
    read = enumerate(zip(lessons, texts.sources.tolist(), strict=True))
    return _numbered(
        (lesson.rater_group, lesson.is_unrated, source, *texts.references[row].tolist())
        for row, (lesson, source) in read
    )


def _segment_texts(ratings: Sequence[Rating], tokens: Mapping[str, Tokens]) -> SegmentTexts:
    segments = [rating.segment for rating in ratings]
    numbers = {text: number for number, text in enumerate(tokens)}
    sources = [-1 if segment.source is None else numbers[segment.source] for segment in segments]
    references = ([numbers[text] for text in segment.references] for segment in segments)
    return SegmentTexts(
        ids=Ragged.of((text.ids for text in tokens.values()), np.zeros(0, np.int32)),
        ranges=Ragged.of((text.ranges for text in tokens.values()), np.zeros((0, 2), np.int32)),
        hypotheses=np.array([numbers[segment.hypothesis] for segment in segments], dtype=np.int32),
        sources=np.array(sources, dtype=np.int32),
        references=Ragged.of(references, np.zeros(0, np.int32)),
    )


def tokenize(texts: Sequence[str], encoder: TextEncoder) -> list[Tokens]:
    """Returns the tokens of each text, in chunks that bound the memory of the tokenizer's result."""
    chunks = (texts[start : start + _CHUNK] for start in range(0, len(texts), _CHUNK))
    return [tokens for chunk in chunks for tokens in encoder.tokenize(chunk)]


def _numbered(values: Iterable[Hashable]) -> Ints:
    """Returns a number for each value, the same for equal values."""
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(value, len(numbers)) for value in values], dtype=np.int64)


def _languages(ratings: Sequence[Rating], encoder: TextEncoder) -> Ints:
    """Returns the codes of each segment's languages, see `Corpus.languages`."""
    of_segments = [encoder.languages(rating.segment) for rating in ratings]
    rows = [[-1 if code is None else code for code in codes] for codes in of_segments if codes is not None]
    return np.array(rows, dtype=np.int64).reshape(-1, 2)


def _system(rating: Rating) -> str:
    key = rating.segment.key
    return (key and key.system) or ""


def _reason_to_skip(
    lesson: Lesson,
    inputs: Sequence[InputKind],
    heads: Sequence[HeadTargets],
    *,
    with_spans: bool,
) -> str | None:
    """Returns why a rating is not usable; None if it is."""
    rating = lesson.rating
    segment = rating.segment
    teaches = lesson.is_unrated or any(head.judges(lesson.of_head(head.name)) for head in heads)
    if rating.errors is None and (with_spans or not teaches):
        return "without spans"
    if not segment.hypothesis.strip():
        return "with a blank hypothesis"
    if not usable_inputs(segment, inputs):
        return f"without the texts that the model reads ({', '.join(inputs)})"
    if lesson.is_unrated and (segment.source is None or not segment.references):
        return "unrated, without a source or a reference"
    return None

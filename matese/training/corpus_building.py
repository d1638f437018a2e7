"""Build training data from ratings: each distinct text is tokenised once, and everything is stored as arrays."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from matese.annotation import Rating
from matese.errors import InputError
from matese.model.heads.learning import HeadTargets, Ints, Ragged
from matese.model.model_input import usable_inputs
from matese.model.texts.encoding import InputKind, TextEncoder, Tokens
from matese.training.corpus import Corpus, SegmentTexts
from matese.training.reading import texts_of

_CHUNK = 10_000
"""Texts tokenised at a time, which bounds the memory of the tokenizer's result."""


def build(
    ratings: Iterable[Rating],
    encoder: TextEncoder,
    inputs: tuple[InputKind, ...],
    heads: Sequence[HeadTargets],
    *,
    keep_ratings: bool = False,
    with_spans: bool = False,
    rater_groups: Sequence[str] = (),
    needed: Sequence[HeadTargets] = (),
) -> Corpus:
    """Returns the corpus of all usable ratings; the others are counted.

    Args:
        ratings: ratings with spans, or with only a judgement of the whole segment, which becomes a score.
        encoder: the model's text encoder.
        inputs: the kinds of input that the model reads; a segment needs the texts of one of them.
        heads: what the model learns.
        keep_ratings: whether to keep the ratings in the corpus, for validation.
        with_spans: whether to skip ratings without spans.
        rater_groups: test sets and raters whose bias is learned.
        needed: of `heads`, those that are trained alone; a rating that teaches them nothing is skipped.

    Raises:
        InputError: if no rating is usable.
    """
    skipped = Counter[str]()
    usable = list[Rating]()
    for rating in map(_without_blanks, ratings):
        if (reason := _reason_to_skip(rating, inputs, heads, needed, with_spans=with_spans)) is None:
            usable.append(rating)
        else:
            skipped[reason] += 1
    distinct = list(dict.fromkeys(text for rating in usable for text in texts_of(rating)))
    tokens = dict(zip(distinct, tokenize(distinct, encoder), strict=True))
    kept = [rating for rating in usable if len(tokens[rating.segment.hypothesis].ids)]
    # A tokenizer may drop control characters.
    skipped["without a token in the hypothesis"] += len(usable) - len(kept)
    if not kept:
        raise _nothing_left(skipped)
    texts = _segment_texts(kept, tokens)
    raters = [_rater_group(rating, rater_groups) for rating in kept]
    groups = _groups(raters, texts)
    labels: dict[str, Any] = {}
    for head in heads:
        labels |= head.columns(kept, tokens, skipped)
    return Corpus(
        inputs=inputs,
        encoder=encoder,
        texts=texts,
        heads=tuple(heads),
        labels=labels,
        rater_groups=np.array(raters, dtype=np.int64),
        groups=groups,
        originals=_numbered(zip(groups.tolist(), map(_system, kept), strict=True)),
        ratings=tuple(kept) if keep_ratings else (),
        skipped={reason: number for reason, number in skipped.items() if number},
    )


def _without_blanks(rating: Rating) -> Rating:
    """Returns the rating of the segment without blank texts, which are missing; omissions count the references."""
    segment = rating.segment.without_blanks()
    is_same = segment is rating.segment or any(omission.reference is not None for omission in rating.omissions)
    return rating if is_same else replace(rating, segment=segment)


def _nothing_left(skipped: Counter[str]) -> InputError:
    reasons = ", ".join(f"{number} {reason}" for reason, number in skipped.items() if number) or "there are no ratings"
    return InputError(f"no usable ratings to train or validate on ({reasons}); at least one is needed")


def _groups(raters: Sequence[int], texts: SegmentTexts) -> Ints:
    """Returns the group of each segment; scores by two groups of raters cannot be ranked."""
    read = enumerate(texts.sources.tolist())
    return _numbered((raters[row], source, *texts.references[row].tolist()) for row, source in read)


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


def _system(rating: Rating) -> str:
    key = rating.segment.key
    return (key and key.system) or ""


def _rater_group(rating: Rating, rater_groups: Sequence[str]) -> int:
    """Returns the number of the rater's group, else of the test set's, else 0."""
    key = rating.segment.key
    names = (rating.rater, key.test_set if key is not None else None)
    return next((rater_groups.index(name) + 1 for name in names if name in rater_groups), 0)


def _reason_to_skip(
    rating: Rating,
    inputs: Sequence[InputKind],
    heads: Sequence[HeadTargets],
    needed: Sequence[HeadTargets],
    *,
    with_spans: bool,
) -> str | None:
    """Returns why a rating is not usable; None if it is."""
    segment = rating.segment
    if rating.errors is None and (with_spans or not any(head.judges(rating) for head in heads)):
        return "without spans"
    if not segment.hypothesis.strip():
        return "with a blank hypothesis"
    if not usable_inputs(segment, inputs):
        return f"without the texts that the model reads ({', '.join(inputs)})"
    reasons = [head.reason_to_skip(rating) for head in needed]
    return reasons[0] if reasons and None not in reasons else None

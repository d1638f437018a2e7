"""Build training data from ratings: each distinct text is tokenised once, and everything is stored as arrays."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from matese import mqm
from matese.annotation import Rating
from matese.encoder.encoding import InputKind, TextEncoder, Tokens
from matese.errors import InputError
from matese.training.corpus import Corpus, Ints, Ragged, SegmentLabels, SegmentTexts
from matese.training.labels import OF_TAGGER, Labels, omission_labels
from matese.training.reading import texts_of

_CHUNK = 10_000
"""Texts tokenised at a time, which bounds the memory of the tokenizer's result."""


def build(
    ratings: Iterable[Rating],
    encoder: TextEncoder,
    inputs: tuple[InputKind, ...],
    *,
    keep_ratings: bool = False,
    with_spans: bool = False,
    rater_groups: Sequence[str] = (),
    labels: Labels = OF_TAGGER,
) -> Corpus:
    """Returns the corpus of all usable ratings; the others are counted.

    Args:
        ratings: ratings with spans, or with only a judgement of the whole segment, which becomes a score.
        encoder: the model's text encoder.
        inputs: the kinds of input that the model reads; a segment needs the texts of one of them.
        keep_ratings: whether to keep the ratings in the corpus, for validation.
        with_spans: whether to skip ratings without spans.
        rater_groups: test sets and raters whose bias is learned.
        labels: what the model learns.

    Raises:
        InputError: if no rating is usable.
    """
    usable, skipped = _usable(ratings, inputs, labels, with_spans=with_spans)
    numbers = {text: number for number, text in enumerate(dict.fromkeys(_texts(usable)))}
    distinct = tokenize(list(numbers), encoder)

    def encoded(text: str) -> Tokens:
        return distinct[numbers[text]]

    kept = _with_tokens(usable, lambda text: len(encoded(text).ids) > 0, skipped)
    texts = _segment_texts(kept, numbers, distinct)
    raters = [_rater_group(rating, rater_groups) for rating in kept]
    groups = _groups(raters, texts)
    return Corpus(
        inputs=inputs,
        encoder=encoder,
        texts=texts,
        labels=_labels(kept, raters, encoded, labels, skipped),
        groups=groups,
        originals=_numbered(zip(groups.tolist(), map(_system, kept), strict=True)),
        ratings=tuple(kept) if keep_ratings else (),
        skipped={reason: number for reason, number in skipped.items() if number},
    )


def _labels(
    kept: Sequence[Rating],
    raters: Sequence[int],
    encoded: Callable[[str], Tokens],
    labels: Labels,
    skipped: Counter[str],
) -> SegmentLabels:
    tokens = [encoded(rating.segment.hypothesis) for rating in kept]
    return SegmentLabels(
        tag_ids=Ragged.of(map(labels.of_tokens, kept, tokens), np.zeros(0, np.int8)),
        scores=np.array(list(map(labels.score, kept)), dtype=np.float32),
        rater_groups=np.array(raters, dtype=np.int64),
        omissions=dict(_omissions(kept, encoded)),
        category_ids=_categories(kept, tokens, labels, skipped),
    )


def _groups(raters: Sequence[int], texts: SegmentTexts) -> Ints:
    """Returns the group of each segment; scores by two groups of raters cannot be ranked."""
    read = enumerate(texts.sources.tolist())
    return _numbered((raters[row], source, *texts.references[row].tolist()) for row, source in read)


def _segment_texts(ratings: Sequence[Rating], numbers: Mapping[str, int], tokens: Sequence[Tokens]) -> SegmentTexts:
    segments = [rating.segment for rating in ratings]
    sources = [-1 if segment.source is None else numbers[segment.source] for segment in segments]
    references = ([numbers[text] for text in segment.references] for segment in segments)
    return SegmentTexts(
        ids=Ragged.of((text.ids for text in tokens), np.zeros(0, np.int32)),
        ranges=Ragged.of((text.ranges for text in tokens), np.zeros((0, 2), np.int32)),
        hypotheses=np.array([numbers[segment.hypothesis] for segment in segments], dtype=np.int32),
        sources=np.array(sources, dtype=np.int32),
        references=Ragged.of(references, np.zeros(0, np.int32)),
    )


def tokenize(texts: Sequence[str], encoder: TextEncoder) -> list[Tokens]:
    """Returns the tokens of each text, in chunks that bound the memory of the tokenizer's result."""
    chunks = (texts[start : start + _CHUNK] for start in range(0, len(texts), _CHUNK))
    return [tokens for chunk in chunks for tokens in encoder.tokenize(chunk)]


def _categories(
    ratings: Sequence[Rating], tokens: Iterable[Tokens], labels: Labels, skipped: Counter[str]
) -> Ragged | None:
    """Returns `SegmentLabels.category_ids`, and counts the errors whose category is unknown."""
    if labels.of_categories is None:
        return None
    names = [span.category for rating in ratings for span in rating.errors or () if span.category]
    unknown = Counter(name for name in names if mqm.main_category(name) is None)
    for name, number in unknown.items():
        skipped[f"errors of the unknown category {name!r}"] += number
    return Ragged.of(map(labels.of_categories, ratings, tokens), np.zeros(0, np.int16))


def _omissions(
    ratings: Sequence[Rating], tokens: Callable[[str], Tokens]
) -> Iterator[tuple[tuple[int, int | None], npt.NDArray[np.int8]]]:
    """Yields the entries of `SegmentLabels.omissions`; none if no rating has an omission."""
    if not any(rating.omissions for rating in ratings):
        return
    for number, rating in enumerate(ratings):
        source = rating.segment.source
        texts: list[tuple[int | None, str]] = [] if source is None else [(None, source)]
        for reference, text in [*texts, *enumerate(rating.segment.references)]:
            missing = omission_labels(rating, reference, tokens(text))
            if missing is not None:
                yield (number, reference), missing


def _with_tokens(usable: Sequence[Rating], has_tokens: Callable[[str], bool], skipped: Counter[str]) -> list[Rating]:
    """Returns the ratings whose hypothesis has a token: a tokenizer may drop control characters."""
    kept = [rating for rating in usable if has_tokens(rating.segment.hypothesis)]
    skipped["without a token in the hypothesis"] += len(usable) - len(kept)
    if not kept:
        reasons = (
            ", ".join(f"{number} {reason}" for reason, number in skipped.items() if number) or "there are no ratings"
        )
        raise InputError(f"no usable ratings to train or validate on ({reasons}); at least one is needed")
    return kept


def _numbered(values: Iterable[Hashable]) -> Ints:
    """Returns a number for each value, the same for equal values."""
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(value, len(numbers)) for value in values], dtype=np.int64)


def _texts(ratings: Iterable[Rating]) -> Iterator[str]:
    return itertools.chain.from_iterable(map(texts_of, ratings))


def _system(rating: Rating) -> str:
    """Returns the system's name without the suffix of `data_prep synthesise` for errors ("Online-A+number")."""
    key = rating.segment.key
    return ((key and key.system) or "").partition("+")[0]


def _rater_group(rating: Rating, rater_groups: Sequence[str]) -> int:
    """Returns the number of the rater's group, else of the test set's, else 0."""
    key = rating.segment.key
    names = (rating.rater, key.test_set if key is not None else None)
    return next((rater_groups.index(name) + 1 for name in names if name in rater_groups), 0)


def _usable(
    ratings: Iterable[Rating], inputs: Sequence[InputKind], labels: Labels, *, with_spans: bool
) -> tuple[list[Rating], Counter[str]]:
    """Returns the usable ratings, and the number of the others by reason.

    Args:
        ratings: all ratings.
        inputs: the kinds of input that the model reads.
        labels: what the model learns.
        with_spans: whether to skip ratings without spans.
    """
    usable, skipped = [], Counter[str]()
    has_score = None if with_spans else labels.has_score
    for rating in ratings:
        reason = _reason_to_skip(rating, inputs, has_score)
        if reason is None and labels.needs_categories and not _has_category(rating):
            reason = "without an MQM main category"
        if reason is None:
            usable.append(rating)
        else:
            skipped[reason] += 1
    return usable, skipped


def _has_category(rating: Rating) -> bool:
    return any(mqm.main_category(span.category) for span in rating.errors or ())


def _reason_to_skip(
    rating: Rating, inputs: Sequence[InputKind], has_score: Callable[[Rating], bool] | None
) -> str | None:
    """Returns why a rating is not usable; None if it is."""
    segment = rating.segment
    if rating.errors is None and (has_score is None or not has_score(rating)):
        return "without spans"
    if not segment.hypothesis.strip():
        return "with a blank hypothesis"
    has = {"source": segment.source is not None, "reference": bool(segment.references)}
    if not any(all(has[text] for text in kind.split("+")) for kind in inputs):
        return f"without the texts that the model reads ({', '.join(inputs)})"
    return None

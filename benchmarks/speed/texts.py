"""Segments to measure on: from prepared ratings, or generated with the same distribution of lengths.

Uses the standard library only, because COMET's environment reads them too.
"""

from __future__ import annotations

import json
import math
import random
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

Text = dict[str, str]
"""`hypothesis`, `source` and `reference` of a segment."""

# Median and deviation of the logarithm of the number of mini's tokens in the hypotheses of dev.jsonl (`data_prep
# prepare`), its range, and the deviation of the logarithm of the ratio to the other texts.
_MEDIAN = 36
_DEVIATION = 0.75
_RANGE = (4, 308)
_RATIO = 0.3
_IN_COMMON = 0.6
"""Share of the words that hypothesis and reference have in common."""


def read(path: str | Path, limit: int | None = None) -> Iterator[Text]:
    """Yields the segments of a file written by `write`."""
    with open(path, encoding="utf-8") as file:
        for line in islice(file, limit):
            yield json.loads(line)


def write(path: Path, made: Iterable[Text]) -> None:
    """Writes one segment per line."""
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(json.dumps(text, ensure_ascii=False) + "\n" for text in made)


def of_ratings(path: Path, n_segments: int) -> list[Text]:
    """Returns segments with source and reference of a file of ratings, spread evenly over the file."""
    with open(path, encoding="utf-8") as file:
        rows: list[dict[str, Any]] = [json.loads(line) for line in file]
    segments = [
        {"hypothesis": row["hypothesis"], "source": row["source"], "reference": row["references"][0]}
        for row in rows
        if row["hypothesis"].strip() and row["source"] and row["references"]
    ]
    if len(segments) < n_segments:
        raise ValueError(f"{path} has {len(segments):,} segments with source and reference: must have {n_segments:,}")
    return [segments[number * len(segments) // n_segments] for number in range(n_segments)]


def generate(tokenizer: Path, n_segments: int, *, length: int = 0, seed: int = 1) -> Iterator[Text]:
    """Yields segments of words drawn by their frequency in a tokenizer.json with a unigram vocabulary.

    Each text has about `length` tokens, or as many as natural texts if it is 0.
    """
    vocabulary = json.loads(tokenizer.read_text(encoding="utf-8"))["model"]["vocab"]
    words = [(piece[1:], math.exp(score)) for piece, score in vocabulary if piece[:1] == "▁" and piece[1:].isalpha()]
    names = [name for name, _ in words]
    weights = [weight for _, weight in words]
    draw = random.Random(seed)

    def words_of(n_tokens: float) -> list[str]:
        return draw.choices(names, weights, k=max(1, round(n_tokens)))

    for _ in range(n_segments):
        n_tokens = length or min(max(draw.lognormvariate(math.log(_MEDIAN), _DEVIATION), _RANGE[0]), _RANGE[1])
        source_ratio, reference_ratio = (1.0 if length else draw.lognormvariate(0, _RATIO) for _ in range(2))
        hypothesis = words_of(n_tokens)
        reference = words_of(n_tokens * reference_ratio)
        # TER takes hours on texts without common words.
        reference[: len(hypothesis)] = [
            mine if draw.random() < _IN_COMMON else theirs for mine, theirs in zip(hypothesis, reference, strict=False)
        ]
        yield {
            "hypothesis": " ".join(hypothesis),
            "source": " ".join(words_of(n_tokens * source_ratio)),
            "reference": " ".join(reference),
        }


def systems(segments: Iterable[Text], n_systems: int, *, seed: int = 1) -> Iterator[Text]:
    """Yields the segments of each system in turn; hypotheses of a segment differ in one word."""
    listed = list(segments)
    draw = random.Random(seed)
    for _ in range(n_systems):
        for segment in listed:
            words = segment["hypothesis"].split(" ")
            place = draw.randrange(len(words))
            words[place] = words[draw.randrange(len(words))] + str(draw.randrange(10))
            yield {**segment, "hypothesis": " ".join(words)}

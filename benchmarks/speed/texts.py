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

# Percentiles 0, 5, ..., 100 of the number of mini's tokens in the hypotheses of dev.jsonl (`data_prep prepare`). For
# sources and references: the median of their ratio to the hypothesis and the standard deviation of its logarithm.
_LENGTHS = (4, 8, 12, 15, 18, 21, 24, 27, 30, 32, 36, 39, 42, 46, 50, 56, 62, 70, 82, 104, 308)
_SOURCE, _REFERENCE = (0.90, 0.22), (1.01, 0.34)
_IN_COMMON = 0.6
"""Share of the words that hypothesis and reference have in common."""


def read(path: str | Path, limit: int | None = None) -> Iterator[Text]:
    """Yields the segments of a file written by `write`."""
    with open(path, encoding="utf-8") as file:
        for line in islice(file, limit):
            yield json.loads(line)


def write(path: Path, made: Iterable[Text]) -> Path:
    """Writes one segment per line and returns the path."""
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(json.dumps(text, ensure_ascii=False) + "\n" for text in made)
    return path


def of_ratings(path: Path, n_segments: int) -> list[Text]:
    """Returns segments with source and reference of a file of ratings, spread evenly over the file."""
    with open(path, encoding="utf-8") as file:
        rows: list[dict[str, Any]] = [json.loads(line) for line in file]
    found = [
        {"hypothesis": row["hypothesis"], "source": row["source"], "reference": row["references"][0]}
        for row in rows
        if row["hypothesis"].strip() and row["source"] and row["references"]
    ]
    if len(found) < n_segments:
        raise ValueError(f"{path} has {len(found):,} segments with source and reference: must have {n_segments:,}")
    return [found[number * len(found) // n_segments] for number in range(n_segments)]


def generate(tokenizer: Path, n_segments: int, *, length: int = 0, seed: int = 1) -> Iterator[Text]:
    """Yields segments of words drawn by their frequency.

    Args:
        tokenizer: tokenizer.json with a unigram vocabulary, whose words are drawn.
        n_segments: number of segments.
        length: approximate number of tokens of each text; 0 for a natural distribution.
        seed: of all draws.
    """
    vocabulary = json.loads(tokenizer.read_text(encoding="utf-8"))["model"]["vocab"]
    words = [(piece[1:], math.exp(score)) for piece, score in vocabulary if piece[:1] == "▁" and piece[1:].isalpha()]
    names, weights = [name for name, _ in words], [weight for _, weight in words]
    draw = random.Random(seed)

    def words_of(n_tokens: float) -> list[str]:
        return draw.choices(names, weights, k=max(1, round(n_tokens)))

    for _ in range(n_segments):
        n_tokens = length or _drawn(draw)
        hypothesis = words_of(n_tokens)
        own, other = (1.0, 1.0) if length else (_spread(draw, *_SOURCE), _spread(draw, *_REFERENCE))
        reference = words_of(n_tokens * other)
        # TER takes hours on texts without common words.
        reference[: len(hypothesis)] = [
            mine if draw.random() < _IN_COMMON else theirs for mine, theirs in zip(hypothesis, reference, strict=False)
        ]
        yield {
            "hypothesis": " ".join(hypothesis),
            "source": " ".join(words_of(n_tokens * own)),
            "reference": " ".join(reference),
        }


def systems(segments: Iterable[Text], n_systems: int, *, seed: int = 1) -> Iterator[Text]:
    """Yields the segments of each system in turn; hypotheses of a segment differ in one word."""
    held, draw = list(segments), random.Random(seed)
    for _ in range(n_systems):
        for segment in held:
            words = segment["hypothesis"].split(" ")
            place = draw.randrange(len(words))
            words[place] = words[draw.randrange(len(words))] + str(draw.randrange(10))
            yield {**segment, "hypothesis": " ".join(words)}


def _drawn(draw: random.Random) -> float:
    place = draw.random() * (len(_LENGTHS) - 1)
    low = int(place)
    return _LENGTHS[low] + (place - low) * (_LENGTHS[low + 1] - _LENGTHS[low])


def _spread(draw: random.Random, median: float, deviation: float) -> float:
    return median * math.exp(draw.gauss(0, deviation))

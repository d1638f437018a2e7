"""Clean raw ratings of public corpora; what holds for all ratings is in `matese.preparation`."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from functools import partial
from typing import Literal

from data_prep.report import Count
from matese import preparation
from matese.annotation import Rating

Merge = Literal["union", "majority", "none"]


def prepare(
    raters: Sequence[Rating], drop: Count, count: Count, *, seed: Callable[[Rating], str], merge: Merge = "union"
) -> list[Rating]:
    """Returns the ratings of one segment, prepared for training and merged into one.

    Args:
        raters: the ratings of all raters.
        drop: called with the reason for each dropped error.
        count: called for each changed rating or error.
        seed: returns the seed of the choice between overlapping spans, from a rating with the texts of most raters.
        merge: see `matese.merging.merge`; "none" to prepare each rating alone.
    """
    unified = preparation.unify_texts(raters, count)
    leave_out = partial(_leave_out, drop)
    method = "union" if merge == "none" else merge
    return [
        preparation.prepare_segment(
            group, leave_out=leave_out, change=count, merge=method, rng=random.Random(seed(group[0]))
        )
        for group in ([[rating] for rating in unified] if merge == "none" else [unified])
    ]


def _leave_out(drop: Count, reason: str) -> None:
    drop(f"error: {reason}")


def undouble_quotes(text: str) -> str:
    r"""Returns a text without the doubled quotation marks of a CSV field that was read as plain text.

    >>> undouble_quotes('"He said ""no""."'), undouble_quotes('""Late Night"" host'), undouble_quotes('5" and 7""')
    ('He said "no".', '"Late Night" host', '5" and 7""')
    """
    if '""' not in text:
        return text
    # A quoted field has a quotation mark at both ends, and those between them are doubled.
    inner = text[1:-1] if len(text) > 2 and text[0] == text[-1] == '"' else text
    for candidate in (inner, text):
        if '"' not in candidate.replace('""', ""):
            return candidate.replace('""', '"')
    return text


def with_plain_quotes(rating: Rating, count: Count) -> Rating:
    """Returns the rating without doubled quotation marks in its texts; the offsets of the spans count both marks."""
    segment = rating.segment
    hypothesis = undouble_quotes(segment.hypothesis)
    source = None if segment.source is None else undouble_quotes(segment.source)
    if (hypothesis, source) == (segment.hypothesis, segment.source):
        return rating
    count("doubled quotation marks undone")
    return preparation.move(rating, hypothesis, source, count)

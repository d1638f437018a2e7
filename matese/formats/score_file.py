"""What a file of scores holds, whatever its form."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from matese.formats.lines import name_of

SegmentName = int | str
"""Its number, or where numbers begin anew in each document, DOCUMENT/NUMBER."""


@dataclass(frozen=True, slots=True)
class ScoreFile:
    """The scores of one metric, or of humans, in one language pair.

    Attributes:
        name: as the file says it, with the reference as last part where the file names one ("BLEU-refA"); otherwise
            the file's own name.
        lang_pair: None where the file does not say it.
        systems: the score of each system that has one of its own; None where it is missing.
        segments: of each system, the scores by the segment's name; None where one is missing.
        is_positional: whether segments are numbered from 1 by their place in the file, which then holds all of them.
    """

    name: str
    lang_pair: str | None = None
    systems: Mapping[str, float | None] = field(default_factory=dict)
    segments: Mapping[str, Mapping[SegmentName, float | None]] = field(default_factory=dict)
    is_positional: bool = False


def stem(path: str | Path) -> str:
    """Returns the name of a metric whose file does not say it.

    >>> stem("scores/BLEU-refA.seg.score"), stem("mini.jsonl.gz")
    ('BLEU-refA', 'mini')
    """
    return re.sub(r"(\.(sys|seg|score|jsonl|json|tsv|txt|gz))+$", "", Path(name_of(path)).name)

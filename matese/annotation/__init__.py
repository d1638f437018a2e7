"""What is annotated and how: segments, error spans, omissions, ratings, and the severities of errors."""

from __future__ import annotations

from matese.annotation.rating import (
    AnnotationError,
    AnyError,
    Codes,
    ErrorFree,
    ErrorSpan,
    Estimate,
    Explanation,
    InlineCode,
    Omission,
    Overall,
    Placed,
    Rating,
    Scale,
    Segment,
    SegmentKey,
    TextWeights,
    TokenScores,
    UnplacedError,
    Votes,
    WholeJudgement,
    is_blank,
)
from matese.annotation.severities import Severity

__all__ = [
    "AnnotationError",
    "AnyError",
    "Codes",
    "ErrorFree",
    "ErrorSpan",
    "Estimate",
    "Explanation",
    "InlineCode",
    "Omission",
    "Overall",
    "Placed",
    "Rating",
    "Scale",
    "Segment",
    "SegmentKey",
    "Severity",
    "TextWeights",
    "TokenScores",
    "UnplacedError",
    "Votes",
    "WholeJudgement",
    "is_blank",
]

"""Limits of quality that translations must keep, as options."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, cast, get_args

from matese.errors import UsageError, one_of
from matese.validation.options import CountOrZero, Finite, InnerShare, NonNegative, Options, option, share

CONSISTENCY = "consistency"
"""The rule of errors that are of a set of segments, and not of one; only `Maximum` counts them."""


Per = Literal["", "segment", "1k", "1k-characters"]
UNITS: tuple[Per, ...] = get_args(Per)
"""All together; in any one segment; per 1,000 words of the source; per 1,000 characters of the source."""


@dataclass(frozen=True, slots=True)
class Maximum:
    """The most errors of a kind: "errors" for all, the name of a severity, or that of a rule.

    >>> Maximum.parse("numbers=0"), Maximum.parse("errors=2.5/1k").unit
    (Maximum(kind='numbers', most=0.0, unit=''), '1k')
    """

    kind: str
    most: float
    unit: Per = ""

    @classmethod
    def parse(cls, value: object) -> Maximum:
        """Returns what a text says. Raises UsageError unless it is KIND=NUMBER or KIND=NUMBER/UNIT."""
        if isinstance(value, cls):
            return value
        text = str(value)
        match = re.fullmatch(r"([\w-]+)=([0-9]+(?:\.[0-9]+)?)(?:/([\w-]+))?", text)
        if match is None or (match[3] or "") not in UNITS:
            units = one_of(UNITS[1:])
            raise UsageError(f"{text!r}: must be KIND=N or KIND=N/UNIT, such as critical=0, with a unit of {units}")
        return cls(match[1], float(match[2]), cast(Per, match[3] or ""))

    @property
    def name(self) -> str:
        """What a result calls it, such as "max errors/1k"."""
        return f"max {self.kind}{f'/{self.unit}' if self.unit else ''}"

    @property
    def quantity(self) -> str:
        """What is limited, for readers."""
        errors = self.kind if self.kind == "errors" else f"{self.kind} errors"
        units = {
            "segment": " in a segment",
            "1k": " per 1,000 source words",
            "1k-characters": " per 1,000 source characters",
        }
        return f"{errors}{units.get(self.unit, '')}"


@dataclass(frozen=True, kw_only=True)
class GateLimits(Options):
    """What translations must keep.

    Attributes:
        max_major_per_1k: allow at most X Major and Critical errors per 1,000 words.
        max_errors_per_1k: allow at most X errors per 1,000 words.
        max: allow at most N errors of a kind: errors for all, a severity, a rule, or consistency; in all, or /segment,
            or per 1,000 source words (/1k) or characters (/1k-characters), such as critical=0 errors=2/segment.
        min_score: require a mean score of at least X (0 is best; COMET models have other scales).
        min_error_free: require at least this share of segments that are free of errors, such as 60%; see matese tag
            --error-free.
        max_blank: allow at most N blank translations of a text (default: 0).
        max_findings: allow at most N findings of rules (default: 0 with --since, else any number).
        alpha: significance level of the comparison with the baseline.
        require_same_signature: refuse a baseline that another model or other settings have rated.
    """

    max_major_per_1k: NonNegative | None = None
    max_errors_per_1k: NonNegative | None = None
    max: Sequence[Maximum | str] = option((), take=Maximum.parse, metavar="KIND=N")
    min_score: Finite | None = None
    min_error_free: float | str | None = option(None, take=share, metavar="P")
    max_blank: CountOrZero | None = None
    max_findings: CountOrZero | None = None
    alpha: InnerShare = option(0.05, metavar="P")
    require_same_signature: bool = False

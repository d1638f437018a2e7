"""Whole numbers in text files: offsets, and the numbers of segments."""

from __future__ import annotations

import re

_DIGITS = re.compile("[0-9]{1,18}")
"""As many as every signed 64-bit number has room for."""


def parse(text: str) -> int | None:
    """Returns the number that some digits spell; None for any other text.

    >>> parse("007"), parse("-1"), parse("²"), parse("1" * 19)
    (7, None, None, None)
    """
    return int(text) if _DIGITS.fullmatch(text) else None

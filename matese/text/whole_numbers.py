"""Whole numbers in files: one definition of what is one."""

from __future__ import annotations

import re

_DIGITS = re.compile("[0-9]{1,18}")


def parse_whole_number(digits: str) -> int | None:
    """Returns the number that some digits spell; None for any other text, and beyond signed 64-bit numbers.

    >>> parse_whole_number("007"), parse_whole_number("-1"), parse_whole_number("²"), parse_whole_number("1" * 19)
    (7, None, None, None)
    """
    return int(digits) if _DIGITS.fullmatch(digits) else None

"""Placeholders and tags that stand in a text: `%s`, `%(name)d`, `{0}`, `<b>`, `&amp;`."""

from __future__ import annotations

import re

_PLACEHOLDER = re.compile(
    # Behind a digit it is a per cent sign: "5% off".
    r"(?<![\d%])%(?:\(\w+\))?[-+#0]*\d*(?:\.\d+)?(?:\$[-+#0]*\d*)?(?:hh?|ll?|[jztL])?[diouxXeEfFgGaAcrspn@]"
    r"|\{[^{}]*\}|</?[a-zA-Z][^<>]*>|&(?:#\w+|[a-zA-Z]\w*);"
)


def find(text: str) -> list[tuple[int, int]]:
    """Returns the place of each, half-open, in code points.

    >>> find("%d of {n}, 5% off, 5 % zu, <b>x</b>")
    [(0, 2), (6, 9), (27, 30), (31, 35)]
    """
    return [match.span() for match in _PLACEHOLDER.finditer(text)]

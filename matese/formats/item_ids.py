"""Ids of items in WMT's files: parts of the key, joined by "_#_" (2024, 2025) or "_###_" (2026)."""

from __future__ import annotations

import re

from matese.annotation import SegmentKey
from matese.text import languages
from matese.text.whole_numbers import parse_whole_number

SEPARATOR = "_###_"
"""Of 2026."""
OLDER_SEPARATOR = "_#_"


def key_of(item_id: str) -> SegmentKey:
    """Returns what an id says: LANG_PAIR, DOMAIN, DOCUMENT and INDEX, as far as it has them.

    >>> key = key_of("en-de_DE_#_news_#_d1_#_0")
    >>> key.lang_pair, key.domain, key.document, key.index
    ('en-de_DE', 'news', 'd1', 0)
    >>> key_of("d1_###_4").document, key_of("d1").document
    ('d1', None)
    """
    separator = SEPARATOR if SEPARATOR in item_id else OLDER_SEPARATOR
    parts = item_id.split(separator)
    if len(parts) == 1:
        return SegmentKey()
    lang_pair = languages.parse_or_none(parts[0])
    index = parse_whole_number(parts[-1])
    names = parts[0 if lang_pair is None else 1 : None if index is None else -1]
    domain = names.pop(0) if len(names) > 1 else None
    return SegmentKey(None, lang_pair, None, separator.join(names) or None, index, domain)


def lang_pair_of(campaign: str | None) -> str | None:
    """Returns the language pair that the name of a campaign states, with its scripts.

    >>> lang_pair_of("eng_Latn---deu_Latn v3"), lang_pair_of("pilot")
    ('eng_Latn-deu_Latn', None)
    """
    match = re.match(r"([a-z]{2,3}\w*)---([a-z]{2,3}\w*)\b", campaign or "")
    return None if match is None else f"{match[1]}-{match[2]}"

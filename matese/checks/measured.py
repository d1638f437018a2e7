"""In which languages rules are sure, as `benchmarks.checks` measures it on 1,997 correct translations into each.

`docs/mark.md` has the figures. A language that is not listed was not measured, or its rules are as sure as in most.
"""

from __future__ import annotations

DOUBLING_IS_WRONG: frozenset[str] = frozenset(
    [
        "ar",
        "ba",
        "be",
        "bem",
        "bg",
        "bo",
        "bs",
        "ca",
        "cs",
        "cy",
        "da",
        "dz",
        "en",
        "es",
        "et",
        "eu",
        "fi",
        "fil",
        "fo",
        "gl",
        "ha",
        "he",
        "hmn",
        "hr",
        "hu",
        "hy",
        "id",
        "is",
        "it",
        "ja",
        "ka",
        "kk",
        "km",
        "ko",
        "ky",
        "lo",
        "lv",
        "mg",
        "mi",
        "mk",
        "ml",
        "ms",
        "mt",
        "my",
        "nb",
        "ne",
        "nl",
        "nn",
        "om",
        "pl",
        "pt",
        "ro",
        "ru",
        "si",
        "sk",
        "sl",
        "sq",
        "sr",
        "ss",
        "te",
        "th",
        "ti",
        "tk",
        "to",
        "tt",
        "ty",
        "ug",
        "uk",
        "yue",
        "zh",
    ]
)
"""Languages in whose texts a word is doubled in at most one of a thousand segments. Elsewhere, doubling is grammar."""
PHRASES_ARE_REPEATED: frozenset[str] = frozenset(
    (
        *(
            "fj",
            "hmn",
            "mi",
            "sd",
            "sm",
            "tn",
            "ty",
            "ve",
            "yo",
        ),
    )
)
"""Languages whose correct texts repeat words more often than that: `repetition` says nothing."""
NUMBERS_ARE_LEFT_OUT: frozenset[str] = frozenset(
    ["am", "ar", "cs", "dz", "ee", "fi", "kk", "lb", "my", "nd", "nn", "pl", "shi", "ss", "tg", "ug", "xh", "yo", "zu"]
)
"""Languages whose correct translations lack a number, or have words for it that are not known, in more than two of a
thousand segments: `numbers` does not say there that one is missing."""
NUMBERS_ARE_CHANGED: frozenset[str] = frozenset(
    (
        *(
            "am",
            "ar",
            "et",
            "km",
            "mg",
            "my",
            "shi",
            "sw",
            "ug",
            "uz",
            "wo",
        ),
    )
)
"""Languages whose translations have another number in the place of one in more than four of a thousand segments:
`numbers` says nothing."""

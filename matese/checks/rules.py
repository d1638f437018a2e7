"""All rules, in the order in which they are documented and run; and which of them can say nothing about some texts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from matese.annotation import Segment
from matese.checks import (
    addresses,
    blank,
    cldr,
    codes,
    copied,
    language,
    measured,
    numbers,
    placeholders,
    repetition,
    scripts,
)
from matese.checks.rule import Rule

TABLE: tuple[Rule, ...] = tuple(
    replace(rule, silent=measured.SILENT.get(rule.name, {}))
    for rule in (
        blank.RULE,
        copied.RULE,
        language.RULE,
        scripts.RULE,
        numbers.RULE,
        placeholders.RULE,
        codes.RULE,
        addresses.RULE,
        repetition.RULE,
    )
)
NAMES = tuple(rule.name for rule in TABLE)
"""The names of all rules."""


def idle(rules: Sequence[Rule], segments: Iterable[Segment]) -> tuple[Rule, ...]:
    """Returns the rules that can say nothing about any of the segments, or lack a package."""
    left = [rule for rule in rules if rule.is_installed()]
    for segment in segments:
        left = [rule for rule in left if not rule.can_run(segment)]
        if not left:
            break
    return tuple(rule for rule in rules if rule in left or not rule.is_installed())


def why_silent(rules: Sequence[Rule], lang: str) -> str:
    """Returns which rules do not run in a language, or only in part, because they were wrong there too often.

    >>> why_silent([repetition.RULE, TABLE[-1]], "fj"), why_silent(TABLE, "")
    ('repetition: not reliable in Fijian, not run', '')
    """
    names = []
    for rule in rules:
        if rule.is_silent(lang):
            names.append(rule.name)
        elif categories := rule.silent_categories(lang):
            names.append(f"{rule.name} ({', '.join(sorted(categories))})")
    english = cldr.locale("en")
    name = (english and english.languages.get(lang)) or lang
    return f"{', '.join(names)}: not reliable in {name}, not run" if names else ""


def why_idle(rules: Sequence[Rule]) -> str:
    """Returns what the rules need that can say nothing.

    >>> why_idle([numbers.RULE, addresses.RULE])
    'numbers, addresses need the source'
    """
    needs = {
        "the source": [rule.name for rule in rules if rule.needs_source],
        "--lang-pair": [rule.name for rule in rules if rule.needs_languages],
        "inline codes, which only XLIFF and TMX have": [rule.name for rule in rules if rule.needs_codes],
    }
    return "; ".join(
        f"{', '.join(names)} {'needs' if len(names) == 1 else 'need'} {what}" for what, names in needs.items() if names
    )

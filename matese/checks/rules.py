"""All rules, in the order in which they are documented and run; and which of them can say nothing about some texts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from matese.annotation import Segment
from matese.checks import (
    addresses,
    artefacts,
    blank,
    codes,
    copied,
    language,
    length,
    numbers,
    placeholders,
    repetition,
    scripts,
)
from matese.checks.rule import Rule

TABLE: tuple[Rule, ...] = (
    blank.RULE,
    copied.RULE,
    language.RULE,
    scripts.RULE,
    numbers.RULE,
    placeholders.RULE,
    codes.RULE,
    addresses.RULE,
    repetition.RULE,
    artefacts.RULE,
    length.RULE,
)
NAMES = tuple(rule.name for rule in TABLE)
"""The names of all rules."""


def idle(rules: Sequence[Rule], segments: Iterable[Segment]) -> tuple[Rule, ...]:
    """Returns the rules that can say nothing about any of the segments."""
    left = list(rules)
    for segment in segments:
        left = [rule for rule in left if not rule.can_run(segment)]
        if not left:
            break
    return tuple(left)


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

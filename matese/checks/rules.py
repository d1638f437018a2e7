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
from matese.checks.rule import Need, Rule

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
    return tuple(left)


def why_idle(rules: Sequence[Rule]) -> str:
    """Returns what the rules need that can say nothing.

    >>> why_idle([numbers.RULE, addresses.RULE])
    'numbers, addresses need the source'
    """
    lacking = {need: [rule.name for rule in rules if rule.needs is need] for need in Need}
    return "; ".join(
        f"{', '.join(names)} {'needs' if len(names) == 1 else 'need'} {need.value}"
        for need, names in lacking.items()
        if names
    )

"""All rules, in the order in which they are documented and run, and the choice of some of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

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
from matese.errors import UsageError, one_of

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
ALSO = "also"
ONLY = "only"
NONE = "none"


@dataclass(frozen=True, slots=True)
class ChosenRules:
    """The rules that run, and whether a model runs, too.

    Attributes:
        rules: in the order of the table; none if nothing is checked.
        has_model: whether they run beside a model.
    """

    rules: tuple[Rule, ...]
    has_model: bool = True


def choose(text: str) -> ChosenRules:
    """Returns the choice of an option or argument: words that are separated by commas.

    `also` and `only` stand for all rules, beside a model or without it; names of rules choose some of them, beside a
    model or, with `only`, without it; `none` for no rule.

    >>> [[rule.name for rule in choose(text).rules] for text in ("none", "codes,numbers", "only,blank")]
    [[], ['numbers', 'codes'], ['blank']]
    >>> choose("numbers").has_model, choose("only,numbers").has_model, len(choose("also").rules) == len(TABLE)
    (True, False, True)

    Raises:
        UsageError: at an unknown word, and at `none` or `also` beside others.
    """
    words = [word.strip() for word in text.split(",")]
    allowed = one_of((ALSO, ONLY, NONE, *NAMES))
    if unknown := [word for word in words if word not in (ALSO, ONLY, NONE, *NAMES)]:
        raise UsageError(f"unknown value {unknown[0]!r}, must be {allowed}; several are separated by commas")
    if NONE in words and len(words) > 1:
        raise UsageError("none stands alone")
    if ALSO in words and ONLY in words:
        raise UsageError("also (beside a model) or only (without it), not both")
    named = tuple(rule for rule in TABLE if rule.name in words)
    return ChosenRules(() if NONE in words else named or TABLE, ONLY not in words)


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

    >>> why_silent(choose("repetition,blank").rules, "fj"), why_silent(TABLE, "")
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

"""Which rules run, as users choose them; the rules themselves are imported where they run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from matese.errors import UsageError, one_of

if TYPE_CHECKING:
    from matese.checks.rule import Rule

ALSO = "also"
ONLY = "only"
NONE = "none"
WITH_PARAMETERS = ("terms",)
"""Rules beside those of the table, each of which needs a value that only the user has."""


@dataclass(frozen=True, slots=True)
class ChosenRules:
    """The rules that run, and whether a model runs, too.

    Attributes:
        names: of the rules; None for all.
        has_model: whether they run beside a model.
        terms: a list of terms that is checked beside them, on files of all formats.
        is_default: whether nobody chose: rules run on files for localisation, which people correct, and on no others.
    """

    names: tuple[str, ...] | None = None
    has_model: bool = True
    terms: str | None = None
    is_default: bool = False

    @property
    def rules(self) -> Sequence[Rule]:
        """The rules, in the order of the table, and that of the terms."""
        selected: list[Rule] = []
        if self.names != ():
            from matese.checks import rules

            selected += [rule for rule in rules.TABLE if self.names is None or rule.name in self.names]
        if self.terms is not None:
            from matese.checks import terms

            selected.append(terms.rule(self.terms))
        return selected

    def of(self, form: str | None) -> Sequence[Rule]:
        """Returns the rules that run on a file of a format; None for lines of text."""
        from matese.formats.registry import BY_NAME

        if not self.is_default or (form is not None and BY_NAME[form].is_for_localisation):
            return self.rules
        return replace(self, names=()).rules


DEFAULT = ChosenRules(is_default=True)


def as_text(rules: object) -> str:
    """Returns a choice of rules in the form of the command line: names that are separated by commas."""
    if isinstance(rules, Sequence) and not isinstance(rules, str):
        return ",".join(map(str, rules))
    return str(rules)


def choose(rules: str | Sequence[str]) -> ChosenRules:
    """Returns the choice of an option or argument: a list of words, or words that are separated by commas.

    `also` and `only` stand for all rules, beside a model or without it; names of rules choose some of them, beside a
    model or, with `only`, without it; `none` for no rule.

    >>> [[rule.name for rule in choose(text).rules] for text in ("none", "codes,numbers", "only,blank")]
    [[], ['numbers', 'codes'], ['blank']]
    >>> choose("numbers").has_model, choose("only,numbers").has_model, choose("also").names
    (True, False, None)

    Raises:
        UsageError: at an unknown word, and at `none` or `also` beside others.
    """
    from matese.checks.rules import NAMES

    words = [word.strip() for word in as_text(rules).split(",")]
    if unknown := [word for word in words if word not in (ALSO, ONLY, NONE, *NAMES)]:
        allowed = one_of((ALSO, ONLY, NONE, *NAMES))
        raise UsageError(f"unknown value {unknown[0]!r}, must be {allowed}; several are separated by commas")
    if NONE in words and len(words) > 1:
        raise UsageError("none stands alone")
    if ALSO in words and ONLY in words:
        raise UsageError("also (beside a model) or only (without it), not both")
    names = tuple(word for word in words if word in NAMES)
    return ChosenRules(names if names or NONE in words else None, ONLY not in words)

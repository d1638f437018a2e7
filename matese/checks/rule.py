"""What a rule is, and what it reads."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum
from functools import cache, cached_property
from importlib.util import find_spec

from matese.annotation import AnyError, Segment
from matese.text.languages import language_tags, languages_of


@dataclass(frozen=True)
class Texts:
    """What a rule reads: a segment, and what it knows of its languages.

    Attributes:
        segment: without blank sources and references.
    """

    segment: Segment

    @property
    def hypothesis(self) -> str:
        """The text that is checked; it has at least one word."""
        return self.segment.hypothesis

    @property
    def source(self) -> str:
        """The source; "" where there is none, which only rules see that do not need it."""
        return self.segment.source or ""

    @property
    def references(self) -> tuple[str, ...]:
        """What a reference has is right."""
        return self.segment.references

    @cached_property
    def tags(self) -> tuple[str, str]:
        """Source and target language with their scripts and regions, as the pair names them; "" for unknown."""
        pair = (self.segment.key and self.segment.key.lang_pair) or ""
        return language_tags(pair) if pair else ("", "")

    @cached_property
    def languages(self) -> tuple[str, str]:
        """Source and target language; "" for unknown."""
        return languages_of(self.segment.key)

    @property
    def source_lang(self) -> str:
        """The language of the source, as short as possible."""
        return self.languages[0]

    @property
    def target_lang(self) -> str:
        """The language that the hypothesis should be in, likewise."""
        return self.languages[1]


@cache
def is_installed(library: str) -> bool:
    """Whether a library that a rule can do without is installed."""
    return find_spec(library) is not None


class Need(Enum):
    """What a rule says nothing without, as users read it."""

    SOURCE = "the source"
    LANGUAGES = "--lang-pair"
    CODES = "inline codes, which only XLIFF and TMX have"


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule-based check.

    Attributes:
        name: as users choose it and as each finding has it.
        categories: of its findings.
        find: yields the findings; their field `rule` is set by the caller.
        needs: what it says nothing without; None for a rule that always runs.
        reads_blanks: whether it also reads a hypothesis without text.
        variant: what the findings depend on besides the rule, for signatures.
        library: which it reads more with, where it is installed.
        ends: whether nothing else is checked where it has found something, as in a text in the wrong language.
    """

    name: str
    categories: tuple[str, ...]
    find: Callable[[Texts], Iterable[AnyError]]
    needs: Need | None = None
    ends: bool = False
    reads_blanks: bool = False
    variant: str = ""
    library: str = ""

    def can_run(self, segment: Segment) -> bool:
        """Whether the rule can say anything about a segment."""
        if self.needs is None:
            return True
        inputs = {
            Need.SOURCE: segment.source,
            Need.LANGUAGES: segment.key and segment.key.lang_pair,
            Need.CODES: segment.codes,
        }
        return inputs[self.needs] is not None

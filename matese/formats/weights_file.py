"""Weights in YAML: the penalties of errors, for when no preset of `matese.mqm` fits; and what annotators are told.

A file with every key::

    minor: 1                # default: as in the preset `matese`; also for neutral, major and critical
    major: 5
    floor: null             # the lowest score of a segment; null for no limit
    cap: null               # the largest total penalty of a segment; null for no limit
    per_words: null         # 100: the penalty per 100 words; null: the plain sum
    omissions: true         # false: omissions cost nothing
    categories:             # precede the severities; the first match counts
      - category: Fluency/Punctuation
        severity: minor     # default: every severity
        penalty: 0.1        # default: that of the severity
        definition: a comma or full stop that is wrong or missing
    severities:             # what a language model is asked for; default: those of its prompt
      - name: serious
        severity: major     # what it is in ratings; default: as its name says
        definition: changes the meaning
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, cast, get_type_hints

import msgspec

from matese.annotation import Severity, severities
from matese.errors import FormatError
from matese.files import name_of
from matese.mqm import CategoryPenalty, Weights
from matese.validation import settings


@dataclass(frozen=True, slots=True)
class NamedSeverity:
    """A severity as annotators know it: its name, what it is in ratings, and its definition ("" for none)."""

    name: str
    severity: Severity
    definition: str = ""


@dataclass(frozen=True, slots=True)
class Scheme:
    """What annotators are told of errors.

    Attributes:
        categories: their definitions by name, "" for none; empty if no categories are wanted.
        severities: the most severe first.
    """

    categories: Mapping[str, str]
    severities: tuple[NamedSeverity, ...]


class _Category(msgspec.Struct, frozen=True):
    """An item of `categories`; see `CategoryPenalty`."""

    category: str
    penalty: float | None = None
    severity: Severity | None = None
    definition: str = ""

    def __post_init__(self) -> None:
        self.checked()

    def checked(self) -> CategoryPenalty:
        return CategoryPenalty(self.category, self.severity, 0.0 if self.penalty is None else self.penalty)


class _Severity(msgspec.Struct, frozen=True):
    """An item of `severities`; see `NamedSeverity`."""

    name: str
    severity: Severity | None = None
    definition: str = ""

    def __post_init__(self) -> None:
        self.checked()

    def checked(self) -> NamedSeverity:
        return NamedSeverity(self.name, self.severity or severities.parse(self.name), self.definition)


class _Checked(msgspec.Struct, frozen=True):
    """A file whose values are allowed."""

    def __post_init__(self) -> None:
        self.checked()

    def checked(self) -> Weights:
        values = msgspec.structs.asdict(self)
        del values["severities"]
        values["categories"] = tuple(
            category.checked() for category in values["categories"] if category.penalty is not None
        )
        return Weights("", **values)


_TYPES = get_type_hints(Weights) | {"categories": tuple[_Category, ...]}
_KEYS: list[tuple[str, Any, Any]] = [
    *((key.name, _TYPES[key.name], key.default) for key in fields(Weights) if key.name != "name"),
    ("severities", tuple[_Severity, ...], ()),
]
_File = cast(type[_Checked], msgspec.defstruct("_File", _KEYS, bases=(_Checked,), frozen=True))
"""The keys of a file: all attributes of `Weights` but its name, with their defaults, and the severities by name."""


def read(path: str | Path) -> Weights:
    """Returns the weights of a YAML file; the default of each key is its value in `mqm.MATESE`.

    Their name, which appears in signatures, is the file's name and a digest of the values: two different weights
    never share a name.

    Raises:
        FormatError: if the file is not YAML, a key is unknown or given twice, or a value is not allowed.
    """
    weights = settings.read(path, _File).checked()
    return replace(weights, name=f"{_name(path)}@{_digest(weights)}")


def read_scheme(path: str | Path) -> Scheme:
    """Returns what annotators are told by a file of weights: its categories, and its severities by name.

    Raises:
        FormatError: as `read`, or if it names no severity.
    """
    file: Any = settings.read(path, _File)
    if not file.severities:
        problem = "no severities: a scheme must have names and definitions, such as {name: major, definition: ...}"
        raise FormatError(name_of(path), None, problem)
    ordered = sorted(map(_Severity.checked, file.severities), key=lambda severity: severities.rank(severity.severity))
    return Scheme({category.category: category.definition for category in file.categories}, tuple(reversed(ordered)))


def _name(path: str | Path) -> str:
    """Returns the file's name without its last suffix and without the separators of a signature, "|" and ":"."""
    return re.sub(r"[^\w.-]+", "-", Path(path).stem)


def _digest(weights: Weights) -> str:
    """Returns 8 hexadecimal digits that depend on all values."""
    values = asdict(weights)
    if weights.omissions:  # as in versions that had no omissions
        del values["omissions"]
    text = json.dumps(values, default=lambda severity: severity.value)
    return hashlib.sha256(text.encode()).hexdigest()[:8]

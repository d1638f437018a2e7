"""Weights in YAML: the penalties of errors, for when no preset of `matese.mqm` fits.

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
        penalty: 0.1
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import cast, get_type_hints

import msgspec

from matese.annotation import Severity
from matese.mqm import CategoryPenalty, Weights
from matese.validation import settings


class _Category(msgspec.Struct, frozen=True):
    """An item of `categories`; see `CategoryPenalty`."""

    category: str
    penalty: float
    severity: Severity | None = None

    def __post_init__(self) -> None:
        self.checked()

    def checked(self) -> CategoryPenalty:
        return CategoryPenalty(self.category, self.severity, self.penalty)


class _Checked(msgspec.Struct, frozen=True):
    """A file whose values are allowed."""

    def __post_init__(self) -> None:
        self.checked()

    def checked(self) -> Weights:
        values = msgspec.structs.asdict(self)
        values["categories"] = tuple(category.checked() for category in values["categories"])
        return Weights("", **values)


_TYPES = get_type_hints(Weights) | {"categories": tuple[_Category, ...]}
_KEYS = [(key.name, _TYPES[key.name], key.default) for key in fields(Weights) if key.name != "name"]
_File = cast(type[_Checked], msgspec.defstruct("_File", _KEYS, bases=(_Checked,), frozen=True))
"""The keys of a file: all attributes of `Weights` but its name, with their defaults."""


def read(path: str | Path) -> Weights:
    """Returns the weights of a YAML file; the default of each key is its value in `mqm.MATESE`.

    Their name, which appears in signatures, is the file's name and a digest of the values: two different weights
    never share a name.

    Raises:
        FormatError: if the file is not YAML, a key is unknown or given twice, or a value is not allowed.
    """
    weights = settings.read(path, _File).checked()
    return replace(weights, name=f"{_name(path)}@{_digest(weights)}")


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

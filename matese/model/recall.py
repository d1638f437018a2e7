"""What a model finds of held-out errors, by kind of error, language and length: `recall.json` beside it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec

from matese.errors import FormatError

FILE = "recall.json"
"""Of a model directory; `python -m benchmarks.held_out --recall DIR` writes it."""
ENOUGH = 50
"""A language with fewer errors was not measured."""
WEAK = 0.2
"""A smaller share of the errors, beyond chance, is hardly any."""


class Found(msgspec.Struct, frozen=True):
    """How many errors were measured, and the share that a mark overlaps, with its 95 % interval (Wilson 1927)."""

    n: int
    share: float
    low: float
    high: float

    @property
    def is_weak(self) -> bool:
        """Whether hardly any errors are found."""
        return self.high < WEAK

    @classmethod
    def of(cls, n: int, n_found: int) -> Found:
        """Returns the share of the errors that were found.

        >>> Found.of(50, 10)
        Found(n=50, share=0.2, low=0.112, high=0.33)
        """
        z = 1.96
        middle = (n_found + z * z / 2) / (n + z * z)
        half = z / (n + z * z) * (n_found * (n - n_found) / n + z * z / 4) ** 0.5
        return cls(n, round(n_found / n, 3), round(middle - half, 3), round(middle + half, 3))


class OfInput(msgspec.Struct, frozen=True):
    """What is found from one kind of input.

    Attributes:
        kinds: by kind of error, such as "number".
        languages: by target language, such as "de".
        sentences: by the number of sentences of a text, of which one is wrong.
    """

    kinds: Mapping[str, Found]
    languages: Mapping[str, Found]
    sentences: Mapping[str, Found] = msgspec.field(default_factory=dict)

    def hardly_found(self) -> list[str]:
        """Returns the kinds of errors that are hardly found."""
        return [kind for kind, measured in self.kinds.items() if measured.is_weak]


class Recall(msgspec.Struct, frozen=True):
    """What a model finds, by kind of input; `model` is its name with the fingerprint of its weights."""

    model: str
    inputs: Mapping[str, OfInput]

    @property
    def languages(self) -> list[str]:
        """The target languages that were measured."""
        n_errors = {
            name: measured.n for of_input in self.inputs.values() for name, measured in of_input.languages.items()
        }
        return sorted(name for name, n in n_errors.items() if n >= ENOUGH)

    def is_weak(self, language: str, inputs: str) -> bool | None:
        """Whether hardly any errors are found in a target language; None if that was not measured."""
        of_input = self.inputs.get(inputs)
        measured = None if of_input is None else of_input.languages.get(language)
        return None if measured is None or measured.n < ENOUGH else measured.is_weak


def read(directory: Path) -> Recall | None:
    """Returns what the model in a directory finds; None if that was not measured.

    Raises:
        FormatError: if the file is damaged.
    """
    path = directory / FILE
    if not path.is_file():
        return None
    try:
        return msgspec.json.decode(path.read_bytes(), type=Recall)
    except msgspec.DecodeError as error:
        raise FormatError(str(path), None, str(error)) from None

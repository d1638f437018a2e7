"""The methods, and how they are named: METHOD, METHOD:LAYER or METHOD:LAYER:HEAD."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from matese.errors import UsageError, unknown

TAGS = "tags"
LEAVE_ONE_OUT = "leave-one-out"
BLACK_BOX = (LEAVE_ONE_OUT, "lime")
"""They need only the score, so that they work with every model."""
BY_HEAD = ("attention", "attention-norm", "attention-gradient", "attention-value-gradient")
BY_LAYER = ("gradient-norm", "gradient-hidden", "embed-align")
WHITE_BOX = (*BY_HEAD, *BY_LAYER, "integrated-gradients")
METHODS = (TAGS, *BLACK_BOX, *WHITE_BOX)


@dataclass(frozen=True, slots=True)
class Method:
    """A method.

    Attributes:
        name: one of `METHODS`.
        layer: of the encoder, from 1, 0 for the embeddings; None for the last one, for gradient-norm the embeddings.
        head: of its attention, from 0; None for the mean over all.
    """

    name: str
    layer: int | None = None
    head: int | None = None

    def __str__(self) -> str:
        parts = [self.name, *(str(part) for part in (self.layer, self.head) if part is not None)]
        return ":".join(parts)


def precision_for(methods: Iterable[Method]) -> Literal["auto", "float32"]:
    """Returns the precision to load a model in: white-box methods need the exact gradients of float32 weights."""
    return "float32" if any(method.name in WHITE_BOX for method in methods) else "auto"


def parse(text: str) -> Method:
    """Returns the method that a text such as "attention:3:0" names.

    Raises:
        UsageError: if it names none.

    >>> parse("attention:3:0")
    Method(name='attention', layer=3, head=0)
    """
    name, *numbers = text.split(":")
    if name not in METHODS:
        raise UsageError(unknown("method", name, METHODS))
    n_allowed = 2 if name in BY_HEAD else 1 if name in BY_LAYER else 0
    if len(numbers) > n_allowed or not all(number.isdecimal() for number in numbers):
        form = "".join([name, *(":LAYER", ":HEAD")[:n_allowed]])
        raise UsageError(f"method {text!r}: must be {form}{', with whole numbers' if n_allowed else ''}")
    layer, head = [*map(int, numbers), None, None][:2]
    if name in BY_HEAD and layer == 0:
        raise UsageError(f"method {text!r}: layer 0 is the embeddings, which have no attention; must be 1 or more")
    return Method(name, layer, head)

"""Requests: what is allowed, what becomes of it, and the functions made from them."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

import matese.tasks
from matese import mqm
from matese.errors import UsageError
from matese.tasks import tag
from matese.tasks.request import Checked, function, option, value_of
from matese.tasks.values import (
    FINITE,
    NOT_NEGATIVE,
    POSITIVE,
    PROBABILITY,
    Device,
    File,
    OneOf,
    Penalties,
    Several,
    Share,
    Text,
    Value,
    Whole,
)
from matese.validation.docstrings import attribute_docs

REQUESTS = {
    module.name: importlib.import_module(f"matese.tasks.{module.name}").Request
    for module in pkgutil.iter_modules(matese.tasks.__path__)
    if hasattr(importlib.import_module(f"matese.tasks.{module.name}"), "Request")
}


@pytest.mark.parametrize("request_type", REQUESTS.values(), ids=REQUESTS)
def test_every_field_is_documented_and_checked(request_type: type[Any]) -> None:
    documented = attribute_docs(request_type)
    for field in dataclasses.fields(request_type):
        assert documented.get(field.name), f"{field.name} has no help"
        assert field.default is False or value_of(field) is not None, f"{field.name} takes anything"


@pytest.mark.parametrize(
    ("value", "given", "taken"),
    [
        (Whole(0), 0, 0),
        (Whole(0), "12", 12),
        (Several(), "mt.txt", ("mt.txt",)),
        (Several(), [], ()),
        (Several(Whole(1)), ["1", 2], (1, 2)),
        (Share(), "60%", 0.6),
        (Share(), 1, 1.0),
        (PROBABILITY, "1e-3", 0.001),
        (Device(), "cuda:1", "cuda:1"),
        (Penalties(), "google", mqm.GOOGLE),
        (Penalties(), mqm.GOOGLE, mqm.GOOGLE),
        (tag.Shard(), "3/8", (3, 8)),
        (tag.Shard(), (3, 8), (3, 8)),
        (OneOf("order", ("file",), lambda: ("worst",)), "worst", "worst"),
    ],
)
def test_values(value: Value, given: object, taken: object) -> None:
    assert value.take(given) == taken
    assert value.take(taken) == taken


@pytest.mark.parametrize(
    ("value", "given"),
    [
        (Whole(1), 0),
        (Whole(0), -1),
        (Whole(0), True),
        (Whole(0), 1.5),
        (Whole(0), "1_0"),
        (Several(Whole(1)), [1, 0]),
        (Text(), 1),
        (File(), None),
        (Share(), 1.01),
        (Share(), "101%"),
        (PROBABILITY, 1),
        (PROBABILITY, "nan"),
        (POSITIVE, 0),
        (POSITIVE, float("inf")),
        (NOT_NEGATIVE, -0.1),
        (FINITE, "inf"),
        (FINITE, None),
        (Device(), "gpu"),
        (Penalties(), "googel"),
        (tag.Shard(), "0/2"),
        (tag.Shard(), (3, 2)),
        (OneOf("order", ("file", "worst")), "best"),
    ],
)
def test_values_that_are_not_allowed(value: Value, given: object) -> None:
    with pytest.raises(UsageError):
        value.take(given)


@dataclass(frozen=True)
class Sum(Checked):
    """Add numbers.

    Attributes:
        numbers: that are added.
        times: how often.
    """

    numbers: tuple[int, ...] = option((), Several(Whole(0)))
    times: int | None = option(None, Whole(1))


def add(request: Sum) -> int:
    """Returns a sum.

    Several times, on request.
    """
    return sum(request.numbers) * (request.times or 1)


def test_a_task_is_a_function_of_the_fields_of_its_request() -> None:
    called: Callable[..., int] = function(Sum, add)
    assert (called(), called((1, 2), times=3)) == (0, 9)
    assert list(inspect.signature(called).parameters) == ["numbers", "times"]
    assert called.__doc__ == (
        "Returns a sum.\n\nArgs:\n    numbers: that are added.\n    times: how often.\n\nSeveral times, on request."
    )
    with pytest.raises(UsageError, match=r"^times: 0 must be a whole number, 1 or more$"):
        called(times=0)
    with pytest.raises(TypeError, match="unexpected keyword argument 'time'"):
        called(time=1)

"""Requests of tasks, and the functions made from them."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any

import pytest

import matese
import matese.tasks
from matese import mqm
from matese.errors import UsageError
from matese.tasks import tag
from matese.tasks.annotators import Computing
from matese.tasks.request import function
from matese.tasks.weights import Weighted
from matese.validation.options import Count, CountOrZero, Options, attribute_docs, group, leaves, options_of

REQUESTS = {
    module.name: importlib.import_module(f"matese.tasks.{module.name}").Request
    for module in pkgutil.iter_modules(matese.tasks.__path__)
    if hasattr(importlib.import_module(f"matese.tasks.{module.name}"), "Request")
}
FUNCTIONS = [name for name in matese.__all__ if inspect.isfunction(getattr(matese, name))]


@pytest.mark.parametrize("request_type", REQUESTS.values(), ids=REQUESTS)
def test_every_option_is_documented_and_has_a_name_of_its_own(request_type: type[Any]) -> None:
    for kind in (request_type, *(each.type for each in options_of(request_type) if each.is_group)):
        documented = attribute_docs(kind)
        assert all(each.is_group or documented.get(each.name) for each in options_of(kind))
    flags = [each.flag for _, each in leaves(request_type)]
    assert len(set(flags)) == len(flags)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_have_few_parameters_whose_types_are_public(name: str) -> None:
    parameters = inspect.signature(getattr(matese, name)).parameters
    assert len(parameters) <= 12
    if name in REQUESTS and getattr(matese, name).__module__ == f"matese.tasks.{name}":
        groups = [each.type for each in options_of(REQUESTS[name]) if each.is_group]
        assert all(getattr(matese, kind.__name__) is kind for kind in groups)


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (lambda: Weighted(weights="googel"), "^weights: unknown weights 'googel', did you mean 'google'"),
        (lambda: Computing(device="gpu"), "^device: unknown device 'gpu', did you mean 'cpu'"),
        (lambda: tag.LargeJobs(shard="0/2"), "^shard: '0/2' must be I/N"),
        (lambda: tag.LargeJobs(shard=(3, 2)), "^shard: .3, 2. must be I/N"),
        (lambda: matese.GateLimits(min_error_free="101%"), "^min_error_free: '101%': must be from 0 to 1"),
    ],
)
def test_values_that_are_not_allowed(make: Callable[[], Options], problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        make()


def test_values_that_are_converted() -> None:
    assert (Weighted(weights="google").weights, Weighted(weights=mqm.GOOGLE).weights) == (mqm.GOOGLE, mqm.GOOGLE)
    assert (tag.LargeJobs(shard="3/8").shard, tag.LargeJobs(shard=(3, 8)).shard) == ((3, 8), (3, 8))
    assert matese.GateLimits(min_error_free="60%").min_error_free == 0.6
    assert Computing(device="cuda:1").device == "cuda:1"


@dataclass(frozen=True)
class Repeated(Options):
    """How often.

    Attributes:
        times: how often.
    """

    times: Count | None = None


@dataclass(frozen=True)
class Sum(Options):
    """Add numbers.

    Attributes:
        numbers: that are added.
    """

    numbers: tuple[CountOrZero, ...] = ()
    _: KW_ONLY
    repeated: Repeated = group(Repeated)


def add(request: Sum) -> int:
    """Returns a sum.

    Several times, on request.
    """
    return sum(request.numbers) * (request.repeated.times or 1)


def test_a_task_is_a_function_of_the_options_of_its_request() -> None:
    called: Callable[..., int] = function(Sum, add)
    assert (called(), called((1, 2), repeated=Repeated(3))) == (0, 9)
    assert list(inspect.signature(called).parameters) == ["numbers", "repeated"]
    assert called.__doc__ == (
        "Returns a sum.\n\nArgs:\n    numbers: that are added.\n    repeated: see `matese.Repeated`.\n\n"
        "Several times, on request."
    )
    with pytest.raises(UsageError, match=r"^numbers: -1: must be a whole number, at least 0$"):
        called([-1])
    with pytest.raises(TypeError, match="unexpected keyword argument 'time'"):
        called(time=1)


def test_a_group_is_an_object_of_its_type() -> None:
    with pytest.raises(UsageError, match=r"^texts: 'mt.txt' must be matese.TextFiles\(...\)"):
        matese.tag("mt.txt")  # type: ignore[arg-type]

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import msgspec
import pytest

from matese.validation import plain_values
from matese.validation.plain_values import InvalidValueError


@dataclass(frozen=True)
class Inner:
    rate: Annotated[float, msgspec.Meta(gt=0)] = 1.0
    name: str = ""
    kind: Literal["a", "b"] = "a"


@dataclass(frozen=True)
class Outer:
    inner: list[Inner] = field(default_factory=list)
    by_name: dict[str, int] = field(default_factory=dict)


@pytest.mark.parametrize(
    ("text", "place", "value"),
    [
        ('{"inner": [{}, {"rate": -0.5}]}', "inner[1].rate: ", "-0.5"),
        ('{"inner": [{"rate": "fast"}]}', "inner[0].rate: ", "'fast'"),
        ('{"inner": [{"rate": true}]}', "inner[0].rate: ", "true"),
        ('{"inner": [{"name": 7}]}', "inner[0].name: ", "7"),
        ('{"inner": "x%s"}' % ("x" * 99), "inner: ", "'%s...'" % ("x" * 40)),
        ('"all"', "", "'all'"),
        ('{"inner": [{"name": null}]}', "inner[0].name: ", None),
        ('{"inner": {"name": 7}}', "inner: ", None),
        ('{"by_name": {"x": "y"}}', "by_name[...]: ", None),
        ('{"inner": [{"kind": "c"}]}', "inner[0].kind: ", None),
    ],
)
def test_a_value_of_another_type_is_shown_with_its_place(text: str, place: str, value: str | None) -> None:
    with pytest.raises(InvalidValueError) as raised:
        plain_values.from_json(text, Outer)
    problem = str(raised.value)
    assert problem.startswith(place)
    assert problem.partition("(the value is ")[2] == ("" if value is None else f"{value})")


@pytest.mark.parametrize("kind", [Any, Outer, dict[str, Any]])
@pytest.mark.parametrize("text", ['{"inner": [], "inner": [{}]}', '{"inner": [{"name": "", "name": "b"}]}'])
def test_no_value_of_a_key_that_is_given_twice_is_lost(text: str, kind: type) -> None:
    for given in (text, text.encode()):
        with pytest.raises(InvalidValueError, match="twice"):
            plain_values.from_json(given, kind)

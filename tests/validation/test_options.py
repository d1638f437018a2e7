"""Options: what is allowed, and what becomes of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import pytest

from matese.errors import UsageError
from matese.validation.options import (
    Count,
    CountOrZero,
    File,
    Finite,
    InnerShare,
    NonNegative,
    Options,
    Positive,
    Share,
    group,
    leaves,
    make,
    option,
    share,
)


@dataclass(frozen=True, kw_only=True)
class Inner(Options):
    """Inner options."""

    counts: Sequence[Count] = ()
    order: Literal["file", "worst"] = "file"
    lazy: str | None = option(None, names=lambda: ("jsonl", "csv"))


@dataclass(frozen=True, kw_only=True)
class Outer(Options):
    """All kinds of options."""

    count: Count | None = None
    whole: CountOrZero = 0
    inner_share: InnerShare | None = option(None, metavar="P")
    closed_share: Share | None = None
    percentage: float | str = option(0.5, take=share)
    positive: Positive = 1.0
    not_negative: NonNegative = 0.0
    finite: Finite = 0.0
    text: str | None = None
    file: File | None = None
    files: Sequence[File] = ()
    is_on: bool = False
    inner: Inner = group(Inner)


@pytest.mark.parametrize(
    ("name", "given", "taken"),
    [
        ("whole", 0, 0),
        ("whole", "12", 12),
        ("whole", np.int64(3), 3),
        ("count", None, None),
        ("files", "mt.txt", ("mt.txt",)),
        ("files", Path("mt.txt"), ("mt.txt",)),
        ("files", [], ()),
        ("files", (path for path in ("a", Path("b"))), ("a", "b")),
        ("inner_share", "1e-3", 0.001),
        ("inner_share", np.float64(0.5), 0.5),
        ("closed_share", 1, 1.0),
        ("percentage", "60%", 0.6),
        ("percentage", 1, 1.0),
        ("file", Path("a"), "a"),
    ],
)
def test_values(name: str, given: object, taken: object) -> None:
    assert getattr(make(Outer, {name: given}), name) == taken
    assert getattr(make(Outer, {name: taken}), name) == taken


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("count", 0),
        ("whole", -1),
        ("whole", True),
        ("whole", 1.5),
        ("whole", "1_0"),
        ("whole", None),
        ("counts", [1, 0]),
        ("text", 1),
        ("file", 1),
        ("files", [None]),
        ("closed_share", 1.01),
        ("percentage", "101%"),
        ("percentage", "nan"),
        ("inner_share", 1),
        ("inner_share", "nan"),
        ("inner_share", "half"),
        ("positive", 0),
        ("positive", float("inf")),
        ("not_negative", -0.1),
        ("finite", "inf"),
        ("finite", None),
        ("order", "best"),
        ("lazy", "cvs"),
    ],
)
def test_values_that_are_not_allowed(name: str, given: object) -> None:
    with pytest.raises(UsageError, match=f"^{name}: "):
        make(Outer, {name: given})


def test_a_near_miss_is_named() -> None:
    with pytest.raises(UsageError, match=r"^lazy: unknown lazy 'jsnol', did you mean 'jsonl'. must be jsonl or csv$"):
        Inner(lazy="jsnol")
    with pytest.raises(UsageError, match=r"^order: unknown order 'wrost', did you mean 'worst'"):
        make(Inner, {"order": "wrost"})


def test_options_of_groups_are_made_and_given_by_name() -> None:
    values = {"count": 2, "order": "worst", "counts": (1,), "of nobody": 1}
    options = make(Outer, values)
    assert options == Outer(count=2, inner=Inner(order="worst", counts=[1]))
    assert options.given() == {"count": 2, "order": "worst", "counts": (1,)}
    assert Outer().given() == {}
    assert {each.name: name for name, each in leaves(Outer)}["order"] == "inner"
    with pytest.raises(UsageError, match=r"^inner: 1 must be matese.Inner"):
        Outer(inner=1)  # type: ignore[arg-type]

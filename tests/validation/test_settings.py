from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Literal

import pytest

from matese.errors import FormatError
from matese.validation import settings


@dataclass(frozen=True)
class Inner:
    rate: float = 0.5
    names: tuple[str, ...] = ("a",)
    pair: tuple[float, float] | Literal["balanced"] | None = None

    def __post_init__(self) -> None:
        if self.rate < 0:
            raise ValueError(f"rate {self.rate}: must be 0 or more")


@dataclass(frozen=True)
class Outer:
    count: int
    free: str | dict[str, object] = "none"
    kind: Literal["one", "two"] | None = None
    inner: Inner = field(default_factory=Inner)


def parse(text: str, *overrides: tuple[str, str]) -> Outer:
    return settings.parse(text, Outer, path="x.yaml", overrides=overrides)


def test_defaults_and_nested_settings() -> None:
    assert parse("count: 3") == Outer(3)
    assert parse("count: 3\nkind: two\ninner: {rate: 2, names: []}") == Outer(3, kind="two", inner=Inner(2.0, ()))


@pytest.mark.parametrize("written", ["1e-5", "1.0e-5", "0.00001"])
def test_exponents_are_numbers(written: str) -> None:
    parsed = parse(f"count: 1\nfree: {{eps: {written}}}\ninner: {{rate: {written}}}")
    assert parsed.inner.rate == pytest.approx(1e-5)
    assert parsed.free == {"eps": 1e-5}
    assert parse(f'count: 1\nfree: "{written}"').free == written


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "x.yaml: is empty: must be lines of 'key: value'"),
        ("5\n", "x.yaml:1: 5 is not a mapping: must be lines of 'key: value'"),
        ("a: [1\nb: 2\n", "x.yaml:2: not YAML (expected ',' or ']', but got ':'): must be 'key: value' lines"),
        ("a: 1\n---\na: 2\n", "x.yaml:2: not YAML"),
        ("a: \x01\n", "x.yaml: not YAML"),
        ("[" * 90000, "x.yaml: is nested too deeply, or in itself"),
        ("count: &a [*a]\n", "x.yaml: is nested too deeply, or in itself"),
        (
            "a: &a [1, 1, 1, 1]\n"
            + "".join(f"{n}: &{n} [{', '.join([f'*{m}'] * 9)}]\n" for m, n in pairwise("abcdefgh")),
            "x.yaml: not YAML (more than 100,000 values)",
        ),
        ("kind: one\ncount: !!bool x\n", "x.yaml:2: 'x' is not a plain value: must be a number, string, list"),
        ("kind: one", "x.yaml:1: Object missing required field `count`"),
        ("count: 1\ncuont: 2", "x.yaml:2: unknown key 'cuont', did you mean 'count'? must be count, free, kind or"),
        ("count: 1\n# more\nrate: 2", "x.yaml:3: unknown key 'rate', did you mean 'inner.rate'?"),
        ("count: 1\ninner:\n  rat: 2", "x.yaml:3: unknown key 'inner.rat', did you mean 'inner.rate'?"),
        ("count: 1\n\ncount: 2", "x.yaml:3: key 'count' is set twice, first in line 1; set it once"),
        ("count: 1\n[1]: 2", "x.yaml:2: a key is a list or mapping: must be a string"),
        ("count: 1.5", "x.yaml:1: count: "),
        ("count: 1\nkind: three", "x.yaml:2: kind: "),
        ("count: 1\ninner:\n  names:\n  - a\n  - 1", "x.yaml:5: inner.names[1]: "),
        ("count: 1\ninner:\n  names: []\n  rate: -1", "x.yaml:4: inner.rate -1.0: must be 0 or more"),
        ("count: 1\nfree: {a: !!python/name:os.system x}", "x.yaml:2: 'x' is not a plain value: must be a number"),
        ("extends: [a]\n", "x.yaml:1: extends is ['a']: must be the path of a YAML file"),
        ("count: 1\nextends: no.yaml\n", "x.yaml:2: extends 'no.yaml': no such file, must be beside this one"),
    ],
)
def test_errors_name_file_and_line(text: str, message: str) -> None:
    with pytest.raises(FormatError, match="^" + re.escape(message)):
        parse(text)


def test_overrides_replace_what_is_written() -> None:
    parsed = parse("count: 1\ninner: {rate: 3, names: [x]}", ("inner.rate", "4"), ("kind", "one"), ("count", "2"))
    assert parsed == Outer(2, kind="one", inner=Inner(4.0, ("x",)))
    assert parse("count: 1\nfree: {a: 1, b: 2}", ("free.b", "3")).free == {"a": 1, "b": 3}


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("cuont", "1", "--set cuont=1: unknown key 'cuont', did you mean 'count'?"),
        ("count", "x", "--set count=x: count: "),
        ("count", "[", "--set count=[: not YAML"),
        ("inner.rate", "-1", "--set inner.rate=-1: inner.rate -1.0: must be 0 or more"),
    ],
)
def test_an_error_of_an_override_names_the_override(key: str, value: str, message: str) -> None:
    with pytest.raises(FormatError, match="^" + re.escape(message)):
        parse("count: 1", (key, value))


def test_read_a_file_with_any_line_ends(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text("\ufeffcount: 5\r\nkind: null\r\n", encoding="utf-8")
    assert settings.read(path, Outer) == Outer(5)


def test_a_file_extends_another(tmp_path: Path) -> None:
    (tmp_path / "base.yaml").write_text("count: 1\nkind: one\ninner:\n  rate: 2\n  names: [x]\n", encoding="utf-8")
    (tmp_path / "middle.yaml").write_text("extends: base.yaml\ninner:\n  rate: 3\n", encoding="utf-8")
    top = tmp_path / "top.yaml"
    top.write_text("extends: middle.yaml\ncount: 7\n", encoding="utf-8")
    assert settings.read(top, Outer) == Outer(7, kind="one", inner=Inner(3.0, ("x",)))


def test_an_error_in_an_extended_file_names_that_file(tmp_path: Path) -> None:
    (tmp_path / "base.yaml").write_text("count: 1\nkind: 3\n", encoding="utf-8")
    top = tmp_path / "top.yaml"
    top.write_text("extends: base.yaml\n", encoding="utf-8")
    with pytest.raises(FormatError, match=r"base\.yaml:2: kind: "):
        settings.read(top, Outer)


def test_files_that_extend_each_other(tmp_path: Path) -> None:
    extending = tmp_path / "one.yaml"
    other = tmp_path / "other.yaml"
    extending.write_text("extends: other.yaml\n", encoding="utf-8")
    other.write_text("count: 1\nextends: one.yaml\n", encoding="utf-8")
    with pytest.raises(FormatError, match=r"other\.yaml:2: extends 'one\.yaml', which extends this file"):
        settings.read(extending, Outer)

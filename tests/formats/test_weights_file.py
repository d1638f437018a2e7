from pathlib import Path

import pytest

from matese import mqm
from matese.annotation import Severity
from matese.errors import FormatError
from matese.formats import weights_file

FULL = """
neutral: 0.5
minor: 2
major: 6
critical: 10
floor: null
per_words: 100
cap: 50
categories:
  - category: Non-translation
    severity: null
    penalty: 25
  - {category: Fluency/Punctuation, severity: minor, penalty: 0.1}
"""


def read(folder: Path, text: str, name: str = "own.yaml") -> mqm.Weights:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return weights_file.read(path)


def test_every_key(tmp_path: Path) -> None:
    weights = read(tmp_path, FULL)
    assert (weights.neutral, weights.minor, weights.major, weights.critical) == (0.5, 2, 6, 10)
    assert (weights.floor, weights.per_words, weights.cap) == (None, 100, 50)
    assert weights.categories == (
        mqm.CategoryPenalty("Non-translation", None, 25.0),
        mqm.CategoryPenalty("Fluency/Punctuation", Severity.MINOR, 0.1),
    )


def test_what_is_left_out_is_as_in_the_preset(tmp_path: Path) -> None:
    weights = read(tmp_path, "major: 7\n")
    assert (weights.minor, weights.major, weights.floor, weights.categories) == (1.0, 7.0, -25.0, ())


def test_name_stands_for_the_values(tmp_path: Path) -> None:
    names = {read(tmp_path, text).name for text in ("major: 7\n", "# same\nmajor: 7.0\nminor: 1\n")}
    assert len(names) == 1
    assert names.pop().startswith("own@")
    assert read(tmp_path, "major: 7\n").name != read(tmp_path, "major: 8\n").name
    assert read(tmp_path, "major: 7\n", "a|b: c.yaml").name.startswith("a-b-c@")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("minor: 1\nmajor: -5\n", "own.yaml:2: major -5.0: must be a penalty, 0 or more"),
        ("floor: 25\n", "own.yaml:1: floor 25.0: must be 0 or less, or null for none"),
        ("per_words: 0\n", "own.yaml:1: per_words 0.0: must be greater than 0 and 1e"),
        ("categories:\n  - {category: X, penalty: -1}\n", r"own.yaml:2: categories\[0\].penalty -1.0: must be a"),
        ("categories:\n  - {category: '', penalty: 1}\n", r"own.yaml:2: categories\[0\].category is empty: must be a"),
        ("categories:\n  - {category: X, penalty: 1, severity: mnior}\n", r"own.yaml:2: categories\[0\].severity: "),
    ],
)
def test_bad_files(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(FormatError, match=problem):
        read(tmp_path, text)

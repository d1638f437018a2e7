"""Measure what a model marks in short, everyday texts: strings of user interfaces and simple sentences.

    python -m benchmarks.everyday --model mini --json benchmarks/results/everyday-mini.json

`everyday.jsonl` was written by hand for this purpose, and no model may be trained or calibrated on it: 83 correct
translations, worded differently from the reference, and 75 with one error. By each kind of input, the table shows

- marks: all spans in the hypotheses, and how many of them are Minor;
- right: the share of the marks that overlap an error;
- errors found: the share of the wrong translations in which a mark overlaps the error;
- correct unmarked: the share of the correct translations without any mark;
- error-free: the share of the correct, and of the wrong translations that are decided to be free of errors;
- contradictions: translations that are decided to be free of errors although a Major error is marked.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

import matese
from benchmarks import markdown
from matese.annotation import Rating, Segment, SegmentKey, Severity
from matese.model.annotator import Annotator
from matese.model.model_input import with_inputs
from matese.model.texts.encoding import InputKind

ITEMS = Path(__file__).with_suffix(".jsonl")
COLUMNS = (
    "marks",
    "minor",
    "right",
    "errors found",
    "correct unmarked",
    "correct error-free",
    "wrong error-free",
    "contradictions",
)
_SHARES = COLUMNS[2:7]


class Item(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A translation, correct or with one error.

    Attributes:
        span: range of the error in the hypothesis; None if the hypothesis is correct.
        severity: of the error; None if the hypothesis is correct.
    """

    id: str
    lang_pair: str
    domain: Literal["interface", "everyday"]
    source: str
    reference: str
    hypothesis: str
    span: tuple[int, int] | None
    severity: Literal["minor", "major"] | None

    @property
    def segment(self) -> Segment:
        """The texts."""
        return Segment(self.hypothesis, self.source, (self.reference,), SegmentKey(lang_pair=self.lang_pair))


def main() -> None:
    """Prints a table of both kinds of input and writes all figures as JSON."""
    arguments = markdown.parser(__doc__, "--model", "--json").parse_args()
    items = read()
    annotator = load(arguments.model)
    figures: dict[str, Any] = {"model": annotator.name, "inputs": {}}
    rows = []
    for inputs in annotator.config.texts.inputs:
        ratings = rate(annotator, items, inputs)
        parts = {"all": items, **{name: [item for item in items if item.domain == name] for name in _DOMAINS}}
        by_item = dict(zip(items, ratings, strict=True))
        measured = {
            name: measure(of_domain, [by_item[item] for item in of_domain]) for name, of_domain in parts.items()
        }
        figures["inputs"][inputs] = measured
        rows += [[f"{inputs}, {name}", *map(_cell, COLUMNS, row.values())] for name, row in measured.items()]
    print(f"{len(items)} translations; {annotator.name}", "", *markdown.table(["", *COLUMNS], rows), sep="\n")
    markdown.write_json(arguments.json, figures)


_DOMAINS = ("interface", "everyday")


def load(model: str) -> Annotator:
    """Returns the model, which also decides which segments are free of errors if it is calibrated for that."""
    annotator = matese.load(model)
    if not any(fitted.error_free for fitted in annotator.config.decoding.fitted):
        return annotator
    return matese.load(model, choice=matese.DecodingChoice(error_free=True))


def read() -> list[Item]:
    """Returns all items."""
    return [msgspec.json.decode(line, type=Item) for line in ITEMS.read_bytes().splitlines()]


def rate(annotator: Annotator, items: Iterable[Item], inputs: InputKind) -> list[Rating]:
    """Returns the model's rating of each translation, read with these inputs."""
    return list(annotator.annotate_segments(with_inputs(item.segment, inputs) for item in items))


def measure(items: Sequence[Item], ratings: Sequence[Rating]) -> dict[str, float | None]:
    """Returns the value of each column; None for a share of nothing."""
    pairs = list(zip(items, ratings, strict=True))
    marks = [(item, error) for item, rating in pairs for error in rating.errors or ()]
    correct = [rating for item, rating in pairs if item.span is None]
    wrong = [rating for item, rating in pairs if item.span is not None]
    values = (
        len(marks),
        sum(error.severity is Severity.MINOR for _, error in marks),
        _share([overlaps(item, error.start, error.end) for item, error in marks]),
        _share(
            [
                any(overlaps(item, error.start, error.end) for error in rating.errors or ())
                for item, rating in pairs
                if item.span is not None
            ]
        ),
        _share([not rating.all_errors for rating in correct]),
        _share(_decisions(correct)),
        _share(_decisions(wrong)),
        sum(_is_free(rating) and _has_major(rating) for rating in ratings),
    )
    return dict(zip(COLUMNS, values, strict=True))


def overlaps(item: Item, start: int, end: int) -> bool:
    """Whether a mark shares a character with the error."""
    return item.span is not None and start < item.span[1] and item.span[0] < end


def _decisions(ratings: Iterable[Rating]) -> list[bool]:
    return [rating.error_free.label for rating in ratings if rating.error_free is not None]


def _is_free(rating: Rating) -> bool:
    return rating.error_free is not None and rating.error_free.label


def _has_major(rating: Rating) -> bool:
    return any(error.severity in (Severity.MAJOR, Severity.CRITICAL) for error in rating.all_errors)


def _share(values: Sequence[bool]) -> float | None:
    return sum(values) / len(values) if values else None


def _cell(column: str, value: float | None) -> str:
    return markdown.percent(value) if column in _SHARES else str(value)


if __name__ == "__main__":
    main()

"""Gold and predicted ratings, for the tests of a task and of its command."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from matese.annotation import ErrorSpan, Rating, Segment, SegmentKey, TokenScores
from matese.formats.tables import jsonl
from tests.cli.conftest import write
from tests.evaluation.material import major, minor

FIGURES = {"em", "mp", "mpp", "char_wmt23", "char_wmt25", "soft", "hsh", "tsh", "exact", "tags", "score"}
SENTENCES = ("Das Haus am See ist alt.", "Es regnet, und wir gehen.", "", "Der Hund schläft 你好!")
GOLD: tuple[list[ErrorSpan], ...] = (
    [major(4, 8), minor(12, 15)],
    [minor(0, 2)],
    [],
    [major(9, 16, "Accuracy/Mistranslation")],
)
PREDICTED: tuple[list[ErrorSpan], ...] = (
    [minor(4, 8, None, 0.9)],
    [],
    [],
    [major(9, 13, None, 0.6), minor(17, 18, None, 0.4)],
)


def ratings(marks: Any, rater: str = "r", texts: tuple[str, ...] = SENTENCES) -> list[Rating]:
    return [
        Rating(
            Segment(text, key=SegmentKey("t", "en-de" if i < 2 else "en-zh", f"S{i % 2}", None, i)),
            rater,
            tuple(errors),
        )
        for i, (text, errors) in enumerate(zip(texts, marks, strict=True))
    ]


def put(path: Path, rows: list[Rating], tokens: list[TokenScores] | None = None) -> None:
    lines = [jsonl.dumps(rating, tokens=None if tokens is None else tokens[i]) for i, rating in enumerate(rows)]
    write(path, *lines)


def write_files(folder: Path) -> None:
    put(folder / "gold.jsonl", ratings(GOLD))
    put(folder / "pred.jsonl", ratings(PREDICTED, "m"))

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from matese.annotation import Rating
from matese.formats.tables import jsonl
from matese.tasks import info
from tests.tasks.conftest import do, refusal
from tests.tasks.material.info import RATINGS, SEGMENT


def test_faulty_rows_are_told(folder: Path) -> None:
    (folder / "spans.tsv").write_text("A\td\t0\tr\ts\tHaus\t0\t9\tmajor\n", encoding="utf-8")
    ran = do(info, input="spans.tsv")
    assert ran.told == "spans.tsv: 1 row repaired: span ends beyond the text (line 1)\n"
    (folder / "none.jsonl").write_text("\n", encoding="utf-8")
    assert refusal(info, input="none.jsonl").startswith("none.jsonl: file has only blank lines")


def test_segments_are_counted_by_their_keys(folder: Path) -> None:
    edited = Rating(replace(SEGMENT, hypothesis="Ein Haus"), "r3", ())
    path = folder / "spans.jsonl"
    path.write_text("".join(f"{jsonl.dumps(rating)}\n" for rating in (*RATINGS[:2], edited)), encoding="utf-8")
    assert do(info, input="spans.jsonl").out.splitlines()[2].split() == ["segments", "1"]

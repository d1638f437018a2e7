from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from data_prep import esa
from data_prep.store import Store
from matese.annotation import ErrorSpan, Overall, Rating, Severity, UnplacedError
from matese.errors import FormatError

SOURCES = ("canary", "The cat sleeps.", "It rains.")
TEXTS = {
    "txt/sources/en-cs.txt": SOURCES,
    "txt/references/en-cs.refA.txt": ("canary", "Kočka spí.", "Prší."),
    "txt/system-outputs/en-cs/Nemo.txt": ("canary", "Pes tu spí.", "Déšť."),
}


def span(start: int | str, end: int | str, severity: str = "minor") -> dict[str, Any]:
    return {"start_i": start, "end_i": end, "severity": severity, "error_type": None}


def row(*spans: dict[str, Any], **other: str) -> list[str]:
    fields = {
        "rater": "engces1",
        "system": "Nemo",
        "segment": "1",
        "kind": "TGT",
        "source": "eng",
        "target": "ces",
        "score": "70",
        "document": "doc_1",
        "incomplete": "False",
        "spans": json.dumps(spans),
        "start": "1.0",
        "end": "2.0",
        **other,
    }
    return list(fields.values())


def store(root: Path, *rows: Sequence[str], wave3: Sequence[Sequence[str]] = ()) -> Store:
    for name, content in zip(esa.FILES, (rows, wave3), strict=True):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows(content)
    for name, lines in TEXTS.items():
        path = root / esa.TEXTS / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return Store(root)


def read(raw: Store) -> tuple[list[Rating], Counter[str]]:
    counts: Counter[str] = Counter()

    def tell(reason: str) -> None:
        counts[reason] += 1

    return list(esa.read(raw, skip=tell, drop=tell, repair=tell)), counts


def test_lines_count_from_0_and_ends_are_inclusive(tmp_path: Path) -> None:
    ratings, counts = read(store(tmp_path, row(span(0, 2, "major"), span(4, 5))))
    (rating,) = ratings
    assert rating.segment.hypothesis == "Pes tu spí."
    assert (rating.segment.source, rating.segment.references) == ("The cat sleeps.", ("Kočka spí.",))
    assert rating.errors == (ErrorSpan(0, 3, Severity.MAJOR), ErrorSpan(4, 6, Severity.MINOR))
    assert rating.overall == Overall(70.0, "esa")
    assert rating.rater == "engces1"
    key = rating.segment.key
    assert key is not None
    assert (key.test_set, key.lang_pair, key.system) == ("wmt24-esa", "en-cs", "Nemo")
    assert (key.document, key.index) == ("doc_1", 1)
    assert not counts


def test_a_missing_part_has_no_place_and_a_severity_may_be_undecided(tmp_path: Path) -> None:
    spans = (span("missing", "missing", "major"), span(0, 2, "undecided"))
    ratings, _ = read(store(tmp_path, row(*spans)))
    assert ratings[0].errors == (ErrorSpan(0, 3, None),)
    assert ratings[0].unplaced == (UnplacedError(Severity.MAJOR, "missing"),)


def test_a_human_translation_is_rated_without_a_reference(tmp_path: Path) -> None:
    ratings, _ = read(store(tmp_path, row(system="refA", segment="2", score="100")))
    segment = ratings[0].segment
    assert (segment.hypothesis, segment.source, segment.references) == ("Prší.", "It rains.", ())
    assert ratings[0].errors == ()


def test_checks_of_the_interface_and_tutorials_are_left_out(tmp_path: Path) -> None:
    rows = row(kind="BAD"), row(system="ende-tutorial1", segment="1000001"), row(segment="2")
    ratings, counts = read(store(tmp_path, *rows))
    assert [rating.segment.hypothesis for rating in ratings] == ["Déšť."]
    assert counts == {"attention check (BAD)": 1, "tutorial": 1}


def test_each_rater_counts_by_itself_and_once(tmp_path: Path) -> None:
    late = row(score="10", end="9.0")
    early = row(score="20", end="3.0")
    raw = store(tmp_path, late, early, wave3=[row(score="30", rater="engces2", document="doc_1#dup")])
    ratings, counts = read(raw)
    assert [(rating.rater, rating.overall and rating.overall.value) for rating in ratings] == [
        ("engces1", 10.0),
        ("engces2", 30.0),
    ]
    assert {rating.segment.key and rating.segment.key.document for rating in ratings} == {"doc_1"}
    assert counts == {"rating that its rater replaced": 1}


def test_of_two_ratings_at_one_time_the_later_row_counts(tmp_path: Path) -> None:
    ratings, _ = read(store(tmp_path, row(score="10"), row(score="20")))
    assert [rating.overall and rating.overall.value for rating in ratings] == [20.0]


def test_spans_do_not_overlap_and_hold_no_white_space_at_their_ends(tmp_path: Path) -> None:
    ratings, _ = read(store(tmp_path, row(span(0, 6), span(4, 5, "major"), span(6, 9))))
    assert ratings[0].errors == (ErrorSpan(4, 6, Severity.MAJOR), ErrorSpan(7, 10, Severity.MINOR))


def test_spans_beyond_the_text(tmp_path: Path) -> None:
    ratings, counts = read(store(tmp_path, row(span(7, 40), span(11, 12, "major"))))
    assert ratings[0].errors == (ErrorSpan(7, 11, Severity.MINOR),)
    assert ratings[0].unplaced == (UnplacedError(Severity.MAJOR),)
    assert counts == {"span ends beyond the text": 1, "span begins beyond the text": 1}


@pytest.mark.parametrize(
    ("faulty", "message"),
    [
        (row()[:-1], r"wave2\.csv:2: row has 11 fields; it needs 12: rater system segment kind"),
        (row(kind="REF"), "kind: .*must be TGT"),
        (row(target="deu"), "target: "),
        (row(segment="-1"), "segment: "),
        (row(segment="3"), r"wave2\.csv:2: segment 3: must be less than 3, the number of lines of wmt/wmt24/txt/"),
        (row(score="101"), "score: "),
        (row(spans="{}"), "spans: "),
        (row(span(0, 1, "bad")), r"spans\[0\]\.severity: "),
        (row(span(3, 2)), r"wave2\.csv:2: spans\[0\]: 3\.\.2: must be numbers with 0 <= start_i <= end_i"),
        (row(span("missing", 2)), r"spans\[0\]: missing\.\.2: must be numbers with 0 <= start_i <= end_i"),
    ],
)
def test_a_faulty_row(tmp_path: Path, faulty: Sequence[str], message: str) -> None:
    with pytest.raises(FormatError, match=message):
        read(store(tmp_path, row(), faulty))


def test_without_the_archive_or_a_systems_texts_it_says_so(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"wmt24-esa nor wmt24-esa\.tar\.xz exists"):
        read(Store(tmp_path))
    with pytest.raises(FileNotFoundError, match=r"has no file txt/system-outputs/en-cs/Dory\.txt"):
        read(store(tmp_path, row(system="Dory")))

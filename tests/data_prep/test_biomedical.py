from __future__ import annotations

import io
import json
import tarfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from data_prep import biomedical
from data_prep.store import Store
from matese.annotation import ErrorSpan, Overall, Rating, Severity
from matese.errors import FormatError

SOURCE = "Der Arzt half."
TARGET = "The doctor helped."
DISPLACED = "rating of a text that differs from the rated text"


def mark(term: str, start: int, severity: str = "Minor", category: str = "Style/Non_fluent") -> dict[str, Any]:
    first, _, second = category.partition("/")
    return {
        "term": term,
        "startIndex": start,
        "endIndex": start + len(term) - 1,
        "error_category": first,
        "error_subcategory": second,
        "severity": severity,
    }


def row(
    *marks: dict[str, Any], source: str = SOURCE, target: str = TARGET, rater: str = "r1", **other: Any
) -> dict[str, Any]:
    return {
        "source": source,
        "target": target,
        "SEG_ID": "1",
        "filename": "doc1.txt",
        "MT_Engine": "",
        "source_locale": "dede",
        "target_locale": "enus",
        "source_errors": [],
        "target_errors": list(marks),
        "Annotator_ID": rater,
        "DOC_ID": "doc1",
        **other,
    }


def pack(root: Path, files: dict[str, Any]) -> Store:
    """Writes an archive of the given lists, by direction and system ("de2en/Nemo")."""
    path = root / f"{biomedical.FOLDER}.tar.xz"
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, "w:xz") as archive:
        for name, rows in files.items():
            content = json.dumps(rows).encode()
            member = tarfile.TarInfo(f"./data/v2/{name}.json")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return Store(root)


def read(store: Store) -> tuple[list[Rating], Counter[str]]:
    counts: Counter[str] = Counter()

    def tell(reason: str) -> None:
        counts[reason] += 1

    return list(biomedical.read(store, skip=tell, drop=tell, repair=tell)), counts


def one(tmp_path: Path, *marks: dict[str, Any], **texts: Any) -> tuple[Rating, Counter[str]]:
    """Returns the only rating of one row."""
    ratings, counts = read(pack(tmp_path, {"de2en/Nemo": [row(*marks, **texts)]}))
    (rating,) = ratings
    return rating, counts


def marked(rating: Rating) -> list[str]:
    return [rating.segment.hypothesis[error.start : error.end] for error in rating.errors or ()]


def test_the_ends_are_inclusive(tmp_path: Path) -> None:
    rating, counts = one(tmp_path, mark("doctor", 4, "Major", "Terminology/Wrong_term"))
    assert rating.errors == (ErrorSpan(4, 10, Severity.MAJOR, "Terminology/Wrong_term"),)
    assert rating.overall == Overall(-5.0, "mqm")
    assert rating.segment.key is not None
    assert (rating.segment.key.test_set, rating.segment.key.lang_pair) == ("bio", "de-en")
    assert (rating.segment.key.system, rating.segment.key.document, rating.segment.key.index) == ("Nemo", "doc1", 1)
    assert not counts


def test_no_error_is_judged_free_of_errors(tmp_path: Path) -> None:
    rating, _ = one(tmp_path)
    assert (rating.errors, rating.overall) == ((), Overall(0.0, "mqm"))


def test_what_is_dropped_counts_in_the_score(tmp_path: Path) -> None:
    omission = [mark("Arzt", 4, "Minor", "Accuracy/Omission")]
    critical = mark("helped", 11, "Critical")
    neutral = mark("The", 0, "Neutral")
    rating, counts = one(tmp_path, critical, neutral, source_errors=omission)
    assert marked(rating) == ["helped"]
    assert [error.severity for error in rating.errors or ()] == [Severity.MAJOR]
    assert rating.source_errors == ()
    assert rating.overall == Overall(-6.0, "mqm")
    assert counts == {"error: Neutral": 1, "error: Accuracy/Omission": 1, "Critical counted as Major": 1}


def test_the_score_has_a_floor(tmp_path: Path) -> None:
    rating, _ = one(tmp_path, *(mark("doctor", 4, "Major") for _ in range(7)))
    assert rating.overall == Overall(-25.0, "mqm")


@pytest.mark.parametrize("start", [1, 4, 7])
def test_a_span_is_moved_to_its_term(tmp_path: Path, start: int) -> None:
    rating, counts = one(tmp_path, mark("doctor", start))
    assert marked(rating) == ["doctor"]
    assert counts == ({} if start == 4 else {"span moved to its term": 1})


def test_an_end_that_is_exclusive_after_all(tmp_path: Path) -> None:
    rating, counts = one(tmp_path, mark("helped", 11) | {"endIndex": 17})
    assert marked(rating) == ["helped"]
    assert counts == {"span moved to its term": 1}


@pytest.mark.parametrize("start", [0, 400])
def test_a_rating_of_another_text_is_left_out_with_all_of_its_place(tmp_path: Path, start: int) -> None:
    files = {
        "de2en/Nemo": [row(mark("cardiology", start)), row(mark("doctor", 4), SEG_ID="2")],
        "de2en/Dory": [row(mark("cardiology", start))],
        # Its rater saw no error, but in which text?
        "de2en/Marlin": [row()],
        "de2en/Hank": [row(mark("helped", 11))],
    }
    ratings, counts = read(pack(tmp_path, files))
    assert [rating.segment.key and rating.segment.key.index for rating in ratings] == [2]
    assert counts == {DISPLACED: 4}


def test_where_the_other_raters_spans_stand_right_an_error_is_placed_or_not(tmp_path: Path) -> None:
    good = {f"de2en/{name}": [row(mark("doctor", 4))] for name in ("Dory", "Hank")}
    bad = [mark("cardiology", 0, "Major"), mark("e", 300), mark("helped", 0)]
    ratings, counts = read(pack(tmp_path, {**good, "de2en/Nemo": [row(*bad)]}))
    assert [marked(rating) for rating in ratings] == [["doctor"], ["doctor"], ["helped"]]
    assert [error.severity for error in ratings[2].unplaced] == [Severity.MINOR, Severity.MAJOR]
    assert counts == {"error whose term is not in the text, kept without a place": 2, "span moved to its term": 1}


def test_raters_are_merged(tmp_path: Path) -> None:
    rows = [row(mark("doctor", 4, "Major"), rater="r2"), row(mark("helped", 11), rater="r1 ")]
    ratings, _ = read(pack(tmp_path, {"de2en/Nemo": rows}))
    assert [(rating.rater, marked(rating)) for rating in ratings] == [("r1+r2", ["doctor", "helped"])]
    assert ratings[0].overall == Overall(-3.0, "mqm")


def test_one_place_with_two_sources_is_two_segments(tmp_path: Path) -> None:
    rows = [row(rater="r1"), row(rater="r2", source="Anders.", target="Different.")]
    ratings, _ = read(pack(tmp_path, {"de2en/Nemo": rows}))
    assert [rating.rater for rating in ratings] == ["r1", "r2"]


def test_human_translations_are_the_references_of_the_systems(tmp_path: Path) -> None:
    files = {
        "de2en/Nemo": [row()],
        "de2en/reference": [row(target="The physician helped."), row(target="Elsewhere.", source="Anderswo.")],
        "de2en/reference_r1": [row(target="The physician has helped.")],
        "de2fr/Nemo": [row(target="Le médecin aida.")],
    }
    ratings, _ = read(pack(tmp_path, files))
    found = [(rating.segment.hypothesis, rating.segment.references) for rating in ratings]
    assert found == [
        (TARGET, ("The physician helped.", "The physician has helped.")),
        ("The physician helped.", ()),
        ("Elsewhere.", ()),
        ("The physician has helped.", ()),
        ("Le médecin aida.", ()),
    ]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("de2en/Nemo", {}, r"de2en/Nemo\.json: Expected "),
        ("german/Nemo", [], r"german/Nemo\.json: must be in a folder named after its language pair, such as de2en"),
        ("de2en/Nemo", [row(SEG_ID="one")], r"\[0\]\.SEG_ID is 'one': must be digits"),
        ("de2en/Nemo", [row(), row() | {"target": None}], r"\[1\]\.target: "),
        ("de2en/Nemo", [row(mark("x", -1))], r"target_errors\[0\]\.startIndex: "),
        ("de2en/Nemo", [row(mark("The", 0, "bad"))], r"target_errors\[0\]\.severity"),
    ],
)
def test_a_faulty_file(tmp_path: Path, name: str, content: object, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        read(pack(tmp_path, {name: content}))

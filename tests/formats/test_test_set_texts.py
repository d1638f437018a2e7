from __future__ import annotations

from pathlib import Path

import pytest

from matese.annotation import Rating, Segment, SegmentKey
from matese.errors import InputError, UsageError
from matese.formats import test_set_texts
from matese.formats.test_set_texts import TestSetTexts

SOURCES = ("One.", "Two.", "Yes.", "Three.", "Yes.")
REFERENCES = ("Eins.", "Zwei.", "Ja.", " ", "Doch.")
DOCUMENTS = ("a", "a", "b", "b", "b")
FULL = TestSetTexts("set", SOURCES, {"refA": REFERENCES}, DOCUMENTS)
WITHOUT_SOURCES = TestSetTexts("set", None, {"refA": REFERENCES})


def rating(source: str | None, index: int | None, document: str | None = None, system: str = "S") -> Rating:
    return Rating(Segment("h", source, key=SegmentKey(system=system, document=document, index=index)), "r", ())


@pytest.mark.parametrize(
    ("texts", "rated", "expected"),
    [
        (WITHOUT_SOURCES, rating("any", 1), "Zwei."),
        (WITHOUT_SOURCES, rating(None, 5), None),  # beyond the end
        (WITHOUT_SOURCES, rating("any", None), None),
        (WITHOUT_SOURCES, rating("any", 3), None),  # a blank line is no reference
        (FULL, rating("Two.", 0), "Zwei."),  # the source decides, not the number
        (FULL, rating("Two. ", None), "Zwei."),
        (FULL, rating("Other.", 1), None),
        (FULL, rating(None, 1), "Zwei."),
        (FULL, rating("", 1), "Zwei."),
        (FULL, rating("Yes.", 2), "Ja."),  # the number decides between equal sources
        (FULL, rating("Yes.", 2, "b"), "Ja."),
        (FULL, rating("Yes.", None), None),
        (FULL, rating("One.", 0, system="refA"), None),  # not a reference of itself
        (FULL, rating(None, 1, "a"), "Zwei."),
    ],
)
def test_a_rating_belongs_to_a_line_by_source_or_number(
    texts: TestSetTexts, rated: Rating, expected: str | None
) -> None:
    joined = test_set_texts.join([rated, rating("One.", 0)], texts)
    assert joined.ratings[0].segment.references == (() if expected is None else (expected,))
    assert joined.n_without == (expected is None)
    assert len(joined.notices()) == (expected is None)


def test_numbers_that_restart_in_each_document() -> None:
    ratings = [rating(None, 0, "a"), rating(None, 0, "b"), rating(None, 2, "b"), rating(None, 2, "a")]
    references = [rated.segment.references for rated in test_set_texts.join(ratings, FULL).ratings]
    assert references == [("Eins.",), ("Ja.",), ("Doch.",), ()]
    with pytest.raises(InputError, match="restart"):
        test_set_texts.join(ratings, WITHOUT_SOURCES)


def test_missing_sources_are_filled_and_own_references_stay_where_the_test_set_has_none() -> None:
    of_another_source = Rating(Segment("h", "Other.", ("mine",)), "r", ())
    filled, kept = test_set_texts.join([rating(None, 0), of_another_source], FULL).ratings
    assert (filled.segment.source, kept.segment.references) == ("One.", ("mine",))


def test_of_several_test_sets_the_one_with_the_source_counts() -> None:
    further_set = TestSetTexts("other", ("Four.",), {"refA": ("Vier.",)})
    ratings = [rating("Four.", 0), rating("One.", 0), rating(None, 0)]
    joined = test_set_texts.join(ratings, FULL, further_set)
    assert [rated.segment.references for rated in joined.ratings] == [("Vier.",), ("Eins.",), ()]


def test_ratings_of_another_test_set_are_refused() -> None:
    with pytest.raises(InputError, match="no rating belongs"):
        test_set_texts.join([rating("Other.", 0)], FULL)
    assert test_set_texts.join([], FULL).ratings == ()


def test_files_and_directories(tmp_path: Path) -> None:
    for name, lines in {"src": SOURCES, "ref": REFERENCES, "short": SOURCES[1:]}.items():
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    source, reference, short = (str(tmp_path / name) for name in ("src", "ref", "short"))
    assert test_set_texts.read() is None
    texts = test_set_texts.read(source, [reference])
    assert texts is not None
    assert (texts.sources, list(texts.references.values())) == (SOURCES, [REFERENCES])
    with pytest.raises(InputError, match="4"):
        test_set_texts.read(short, [reference])
    test_set = {
        "sources/en-de.txt": SOURCES,
        "references/en-de.refA.txt": REFERENCES,
        "documents/en-de.docs": tuple(f"news {document}" for document in DOCUMENTS),
    }
    for name, lines in test_set.items():
        path = tmp_path / "wmt" / name
        path.parent.mkdir(parents=True)
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    directory = str(tmp_path / "wmt")
    of_directory = test_set_texts.read(test_set=directory, lang_pair="en-de")
    assert of_directory is not None
    assert of_directory.documents == list(DOCUMENTS)
    assert of_directory.references == {"refA": list(REFERENCES)}
    for wrong in ({"lang_pair": None}, {"source": source, "lang_pair": "en-de"}):
        with pytest.raises(UsageError):
            test_set_texts.read(test_set=directory, **wrong)

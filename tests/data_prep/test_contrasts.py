from __future__ import annotations

import csv
from pathlib import Path

import pytest

from data_prep import contrasts, splits
from data_prep.splits import HeldOut
from data_prep.store import Store
from matese.annotation import ErrorSpan, Rating, Segment, SegmentKey, Severity

KINDS = {
    *("negation", "number", "time", "role", "antonym", "related", "contradiction"),
    *("omission", "addition", "name", "modality", "quantity", "place"),
    "short",  # interface strings and everyday sentences with any of these differences
}


@pytest.fixture(autouse=True)
def held_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(splits, "committed", lambda: HeldOut(frozenset()))


@pytest.fixture
def store(tmp_path: Path) -> Store:
    for language in contrasts.STS_LANGUAGES:
        write(tmp_path / contrasts.STS / "data" / f"stsb-{language}-train.csv", "one,two,5.0\na,b,1.0\nc,d,4.0\n")
    rows = (
        "candidate,reference,source,score",
        "He never eats any meat.,He often eats any meat.,cannot,0.0",
        "Hi.,Hello.,cannot,1.0",
        "x,y,wmt_2016,0.3",
    )
    write(tmp_path / contrasts.CANNOT / "cannot_wmt_data" / "cannot_wmt_eval.csv", "\n".join(rows) + "\n")
    names = ["src.eng", *(f"ref.{code}" for codes in contrasts.NTREX_CODES.values() for code in codes)]
    for name in names:
        lines = [f"In {name} there were {number} red houses and a small garden.\r" for number in range(30)]
        write(tmp_path / contrasts.NTREX / "NTREX-128" / f"newstest2019-{name}.txt", "\n".join(lines) + "\n")
    return Store(tmp_path)


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())


def is_same(rating: Rating) -> bool:
    return not rating.all_errors


def test_sts_pairs_in_several_languages(store: Store) -> None:
    rated = list(contrasts.sts(store, seed=0))
    assert len(rated) == 2 * 3, "the pair with 4.0 of 5 is neither the same nor another"
    assert [is_same(rating) for rating in rated] == [True] * 3 + [False] * 3
    for rating in rated:
        assert rating.segment.key is not None
        source, target = str(rating.segment.key.lang_pair).split("-")
        assert source != target


def test_cannot_marks_the_words_that_differ(store: Store) -> None:
    opposite, same = contrasts.cannot(store)
    assert is_same(same)
    assert [opposite.segment.hypothesis[error.start : error.end] for error in opposite.errors or ()] == ["never"]


def test_ntrex_has_versions_and_damage(store: Store) -> None:
    rated = list(contrasts.ntrex(store, seed=0))
    assert rated
    assert not any("\r" in text for rating in rated for text in (rating.segment.hypothesis, *rating.segment.references))
    spanish = [rating for rating in rated if rating.segment.key and rating.segment.key.lang_pair == "en-es"]
    assert all(rating.segment.references for rating in spanish), "one version is the reference of the other"
    assert {is_same(rating) for rating in spanish} == {True, False}
    assert all(rating.segment.references != (rating.segment.hypothesis,) for rating in rated)


def test_what_differs() -> None:
    long = "Nothing of this is alike, although there are quite a few words here."
    assert contrasts.changed(long, "An entirely other sentence.") is None
    assert contrasts.changed("Nothing alike here.", "An entirely other sentence.") == (0, 18)


@pytest.fixture(scope="module")
def own() -> list[Rating]:
    return list(contrasts.own())


def test_our_own_contrasts(own: list[Rating]) -> None:
    files = sorted(contrasts.OWN.glob("*.tsv"))
    assert len(files) == 28
    sources = []
    for path in files:
        with open(path, encoding="utf-8", newline="") as stream:
            for row in csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE):
                assert row["kind"] in KINDS, path
                assert all(text and text == text.strip() for text in row.values()), path
                assert len({row["reference"], row["correct"], row["wrong"]}) == 3, (path, row)
                sources.append((path.stem, row["source"]))
    assert len(set(sources)) == len(sources) > 4500
    assert len(own) == 4 * len(sources)
    assert sum(map(is_same, own)) == 2 * len(sources), "neither likeness nor its lack tells right from wrong"


def test_some_short_texts_are_kept_for_calibration(own: list[Rating]) -> None:
    kept = [rating for rating in own if contrasts.is_kept_for_calibration(rating)]
    trained = [rating for rating in own if not contrasts.is_kept_for_calibration(rating)]
    assert 0.05 < len(kept) / len(own) < 0.125
    sources, other_sources = ({rating.segment.source for rating in ratings} for ratings in (kept, trained))
    assert not sources & other_sources, "drawn by the source"


def contrast(number: int, pair: str, hypothesis: str, errors: tuple[ErrorSpan, ...] = ()) -> Rating:
    key = SegmentKey("contrasts", pair, None, None, number)
    return Rating(Segment(hypothesis, f"Source {number}.", (f"Right {number}.",), key), contrasts.RATER, errors)


@pytest.mark.parametrize(("pair", "space"), [("en-de", " "), ("en-ja", "")])
def test_paragraphs_have_one_wrong_text_at_most(pair: str, space: str) -> None:
    made = [contrast(number, pair, f"Good {number}.") for number in range(6)]
    made += [contrast(number, pair, f"Bad {number}.", (ErrorSpan(0, 3, Severity.MAJOR),)) for number in range(5)]
    ratings = list(contrasts.paragraphs(made, n_paragraphs=20, seed=1))
    assert len(ratings) == 40
    for right, wrong in zip(ratings[::2], ratings[1::2], strict=True):
        assert is_same(right)
        assert wrong.segment.references == right.segment.references
        assert wrong.segment.source == right.segment.source
        n_texts = right.segment.hypothesis.count("Good")
        assert 2 <= n_texts <= 4
        assert wrong.segment.hypothesis.count("Good") == n_texts - 1
        assert right.segment.hypothesis == (right.segment.references[0].replace("Right", "Good"))
        assert str(right.segment.source).count(" Source") == n_texts - 1, "the source is English"
        assert right.segment.hypothesis.count(f".{space}Good") == n_texts - 1
        assert [wrong.segment.hypothesis[span.start : span.end] for span in wrong.errors or ()] == ["Bad"]
        assert "Good 5" not in right.segment.hypothesis, "it has no wrong wording"


def test_too_few_contrasts_make_no_paragraph() -> None:
    assert list(contrasts.paragraphs([contrast(0, "en-de", "Good.")], n_paragraphs=5, seed=1)) == []

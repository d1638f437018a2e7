from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from matese.annotation import ErrorSpan, Overall, Segment, SegmentKey, Severity
from matese.errors import FormatError
from matese.formats import detection
from matese.formats.corpora import mt_metrics_eval, seg_rating
from matese.formats.corpora.mt_metrics_eval import TestSet
from matese.formats.format import ReadOptions
from tests.formats.reading import marks
from tests.formats.score_files import make

RATING = (
    '{"errors": [{"start": 0, "end": 2, "category": "Style", "severity": "%s", "score": -1.0, "is_source_error": %s}]}'
)


@pytest.fixture
def test_set(tmp_path: Path) -> TestSet:
    return TestSet(make(tmp_path / "wmt"))


def test_what_a_directory_holds(test_set: TestSet) -> None:
    assert test_set.lang_pairs() == ("en-de",)
    assert test_set.golds("en-de") == ("mqm", "wmt.z")
    assert test_set.metrics("en-de") == ("BLEU-refA", "BLEU-refB", "Kiwi-src", "chrF-refA")
    assert test_set.references("en-de") == ("refA", "refB")
    assert test_set.documents("en-de") == [("news", "d1")] * 3
    assert test_set.texts("en-de", "A") == ["eins", "zwei A", "drei"]
    assert test_set.reference("en-de", "refA") == ["eins", "zwei", "drei"]
    # What follows a document is not read, and without files of references there are those that metrics used.
    (test_set.root / "documents" / "en-de.docs").write_text("news d1 official\n" * 3)
    shutil.rmtree(test_set.root / "references")
    assert test_set.documents("en-de") == [("news", "d1")] * 3
    assert test_set.references("en-de") == ("refA", "refB")


def test_scores_of_humans_and_metrics(test_set: TestSet) -> None:
    gold = test_set.gold("en-de", "mqm")
    assert gold.segments["A"] == {0: 0.0, 1: None, 2: -1.0}
    assert gold.systems["A"] == -0.5
    metric = test_set.metric("en-de", "BLEU-refA")
    assert (metric.name, metric.lang_pair, metric.is_positional) == ("BLEU-refA", "en-de", True)


def test_ratings_stand_in_for_scores(test_set: TestSet) -> None:
    path = test_set.root / "human-scores" / "en-de.esa.seg.rating"
    path.write_text(f'A\t{RATING % ("major", "false")}\trater1\nA\tNone\nA\t{{"errors": []}}\n')
    assert test_set.gold("en-de", "esa").segments == {"A": {0: -5.0, 1: None, 2: 0.0}}
    path.write_text(f"A\t{RATING.replace('Style', 'Accuracy/Omission') % ('major', 'true')}\n")
    assert seg_rating.scores(path)["A"] == {0: -5.0}


def test_ratings_of_esa_have_the_scores_beside_them(test_set: TestSet) -> None:
    (test_set.root / "sources").mkdir()
    (test_set.root / "sources" / "en-de.txt").write_text("one\ntwo\nthree\n")
    stem = test_set.root / "human-scores" / "en-de.esa.seg"
    stem.with_name("en-de.esa.seg.rating").write_text(
        f'A\t{RATING % ("major", "false")}\nA\tNone\nA\t{{"errors": []}}\n'
    )
    stem.with_name("en-de.esa.seg.score").write_text("A\t30\nA\tNone\nA\tNone\n")
    ratings = list(detection.read(test_set.root))
    assert [(marks(rating), rating.overall) for rating in ratings] == [
        ("0-2 major Style", Overall(30, "esa")),
        ("", None),
    ]
    # Those of MQM follow from the errors.
    for kind in ("rating", "score"):
        stem.with_name(f"en-de.esa.seg.{kind}").rename(stem.with_name(f"en-de.mqm.seg.{kind}"))
    assert [rating.overall for rating in detection.read(test_set.root)] == [None, None]


def test_ratings_with_their_texts(tmp_path: Path) -> None:
    path = tmp_path / "x.seg.rating"
    place = RATING.replace('"end": 2', '"end": 0') % ("minor", "false")
    omission = RATING.replace("Style", "Accuracy/Omission") % ("minor", "true")
    path.write_text(f"A\t{RATING % ('Major', 'false')}\tr1\nA\tNone\nA\t{RATING % ('minor', 'true')}\nA\t{place}\n")
    with path.open("a") as stream:
        stream.write(f"B\t{omission}\n")
    texts = {"A": ["abc", "d", "e", "f"], "B": ["g"]}
    ratings = list(seg_rating.read(path, texts, ["s1", "s2", "s3", "s4"]))
    assert [marks(rating) for rating in ratings] == [
        "0-2 major Style",
        "source 0-2 minor Style",
        "- minor Style",
        "missing source 0-2 minor Accuracy/Omission",
    ]
    first = ratings[0]
    assert first.rater == "r1"
    assert first.segment.key is not None
    assert (first.segment.key.system, first.segment.key.index, first.segment.source) == ("A", 0, "s1")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("A", "1 fields"),
        ("A\t{", ""),
        ("A\t[]", ""),
        ("A\t{}", ""),  # not free of errors
        ('A\t{"errors": null}', ""),
        (f"A\t{RATING % ('bad', 'false')}", "unknown severity 'bad'"),
        (f"B\t{RATING % ('minor', 'false')}", "line 1 of system B"),
        (f"A\t{RATING % ('minor', 'false')}\nA\t{RATING % ('minor', 'false')}", "error span 0..2"),
    ],
)
def test_ratings_that_cannot_be_read(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "x.seg.rating"
    path.write_text(line + "\n")
    with pytest.raises(FormatError, match=rf"x\.seg\.rating:1: .*{message}"):
        list(seg_rating.read(path, {"A": ["a"]}))
    if line.startswith("A\t") and "minor" not in line:
        with pytest.raises(FormatError, match=r"x\.seg\.rating:1: "):
            seg_rating.scores(path)


def test_unknown_human_scores(test_set: TestSet) -> None:
    with pytest.raises(FormatError, match=r"no human scores 'mqn' of en-de, did you mean 'mqm'\? must be mqm or wmt.z"):
        test_set.gold("en-de", "mqn")
    with pytest.raises(FormatError, match="no human scores 'mqm' of de-en: must have some"):
        test_set.gold("de-en", "mqm")


def test_scores_and_texts_are_as_long_as_the_documents(test_set: TestSet) -> None:
    path = test_set.root / "metric-scores" / "en-de" / "chrF-refA.seg.score"
    path.write_text("A 1\nA 2\n")
    with pytest.raises(FormatError, match=r"chrF-refA.seg.score: A has 2 lines and en-de 3 segments; every segment"):
        test_set.metric("en-de", "chrF-refA")
    (test_set.root / "system-outputs" / "en-de" / "A.txt").write_text("eins\n")
    with pytest.raises(FormatError, match=r"A.txt: the file has 1 line and en-de 3 segments; every segment needs a"):
        test_set.texts("en-de", "A")
    (test_set.root / "documents" / "en-de.docs").write_text("news\n")
    with pytest.raises(FormatError, match=r"en-de.docs:1: 1 fields; a line needs a domain and a document"):
        test_set.documents("en-de")


def test_the_sources_tell_the_length_without_documents(test_set: TestSet) -> None:
    (test_set.root / "documents" / "en-de.docs").unlink()
    assert test_set.n_segments("en-de") is None
    (test_set.root / "sources").mkdir()
    (test_set.root / "sources" / "en-de.txt").write_text("a\nb\nc\n")
    assert test_set.n_segments("en-de") == 3


def test_texts_of_newer_test_sets_are_json(test_set: TestSet) -> None:
    """The layout that google-research/mt-metrics-eval reads beside the text files (its data.py)."""
    for name, field in (
        ("sources/en-de", "source"),
        ("references/en-de.refA", "target"),
        ("system-outputs/en-de/A", "hypothesis"),
    ):
        (test_set.root / f"{name}.txt").unlink(missing_ok=True)
        lines = [json.dumps({field: f"{field} {number}\nline"}) for number in range(3)]
        (test_set.root / name).parent.mkdir(exist_ok=True)
        (test_set.root / f"{name}.jsonl").write_text("\n".join(lines) + "\n")
    assert test_set.references("en-de") == ("refA", "refB")
    assert test_set.reference("en-de", "refA") == ["target 0\nline", "target 1\nline", "target 2\nline"]
    assert test_set.texts("en-de", "A")[2] == "hypothesis 2\nline"
    (test_set.root / "documents" / "en-de.docs").unlink()
    assert test_set.n_segments("en-de") == 3
    for line, message in (
        ('{"target": 1}', r"A.jsonl:1: no text 'hypothesis': must be an object with this key"),
        ("x", r"A.jsonl:1: "),
    ):
        (test_set.root / "system-outputs" / "en-de" / "A.jsonl").write_text(f"{line}\n" * 3)
        with pytest.raises(FormatError, match=message):
            test_set.texts("en-de", "A")


def test_a_directory_of_something_else(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"not a test set of mt-metrics-eval: must hold"):
        TestSet(tmp_path).lang_pairs()


def test_the_standard_reference_is_the_most_used() -> None:
    assert mt_metrics_eval.most_used_references(["a-refB", "b-refB", "a-refA", "c-src", "d-all"]) == ("refB",)
    assert mt_metrics_eval.most_used_references(["a-refB", "a-refA"]) == ("refA", "refB")
    assert mt_metrics_eval.most_used_references(["c-src"]) == ()
    assert mt_metrics_eval.variants(["c-src", "a-refA"], None) == {"c": "c-src"}


def test_all_references_are_the_standard_one_where_there_is_no_other() -> None:
    names = ["a-refA", "a-all", "b-all", "c-src"]
    expected = {"a": "a-refA", "c": "c-src"}
    assert mt_metrics_eval.variants(names, "refA", ["refA"]) == expected | {"b": "b-all"}
    assert mt_metrics_eval.variants(names, "refA", ["refA", "refB"]) == expected


def with_sources(test_set: TestSet) -> TestSet:
    (test_set.root / "sources").mkdir()
    (test_set.root / "sources" / "en-de.txt").write_text("one\ntwo\nthree\n")
    return test_set


def test_a_directory_as_ratings(test_set: TestSet) -> None:
    root = with_sources(test_set).root
    path = root / "human-scores" / "en-de.mqm.seg.rating"
    path.write_text(f'A\t{RATING % ("major", "false")}\trater1\nA\tNone\nA\t{{"errors": []}}\n')
    assert detection.detect(root) == "mtme"
    first, third = detection.read(root)
    assert (first.rater, third.rater) == ("rater1", "mqm")
    assert first.errors == (ErrorSpan(0, 2, Severity.MAJOR, "Style"),)
    key = SegmentKey("wmt", "en-de", "A", "d1", 0, "news")
    assert first.segment == Segment("eins", "one", ("eins", "eins"), key)
    assert (third.segment.hypothesis, third.errors) == ("drei", ())
    # A reference that was rated is no reference of itself.
    path.write_text('refB\t{"errors": []}\n')
    (rating,) = detection.read(root, ReadOptions(lang_pair="en-de", test_set="other"))
    assert rating.segment.references == ("eins",)
    assert rating.segment.key == SegmentKey("other", "en-de", "refB", "d1", 0, "news")
    with pytest.raises(FormatError, match=r"human-scores: no ratings of segments of de-en: must hold LP\.NAME\.seg"):
        list(detection.read(root, ReadOptions(lang_pair="de-en")))


def test_one_file_of_a_directory(test_set: TestSet, monkeypatch: pytest.MonkeyPatch) -> None:
    root = with_sources(test_set).root
    monkeypatch.chdir(root / "human-scores")
    path = Path("en-de.esa.seg.rating")
    path.write_text('A\tNone\nA\t{"errors": []}\n')
    (rating,) = detection.read(path)
    assert (rating.rater, rating.segment.hypothesis, rating.segment.source) == ("esa", "zwei A", "two")
    assert [rating.overall for rating in detection.read("en-de.mqm.seg.score")][:2] == [
        Overall(0, "mqm"),
        Overall(-1, "mqm"),
    ]
    for name in ("human-scores/en-de.mqm.sys.score", "metric-scores/en-de/BLEU-refA.seg.score"):
        with pytest.raises(FormatError, match=r"score: scores without texts \(must be LP.NAME.seg.rating, or"):
            list(detection.read(root / name))


def test_scores_of_a_directory_as_ratings(test_set: TestSet) -> None:
    root = with_sources(test_set).root
    (root / "documents" / "en-de.docs").unlink()
    first, second, *_ = detection.read(root)
    assert (first.errors, first.overall, first.rater) == (None, Overall(0, "mqm"), "mqm")
    assert second.segment.key == SegmentKey("wmt", "en-de", "A", None, 2)
    (root / "system-outputs" / "en-de" / "A.txt").unlink()
    with pytest.raises(FormatError, match=r"mqm.seg.score: A has 3 scores and its text 0 lines: must be one for each"):
        list(detection.read(root))

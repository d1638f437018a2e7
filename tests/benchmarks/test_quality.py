"""The arithmetic of `benchmarks.quality` and the tables of `benchmarks.card`, on ratings written by hand."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from benchmarks import card, quality
from matese.annotation import ErrorSpan, Estimate, Overall, Rating, Segment, SegmentKey, Severity
from matese.model import recall
from matese.model.recall import Found, OfInput, Recall

SOURCES = ("The dog sleeps.", "The cat eats fish.", "It rains.")
# Errors of the three systems in each segment; B is the best.
N_ERRORS = {"A": (2, 1, 2), "B": (0, 0, 0), "C": (1, 1, 1)}
TEXT = "Der Hund schläft"


def rating(system: str, index: int, n_errors: int, *, confidence: float | None = None) -> Rating:
    key = SegmentKey("newstest", "en-de", system, None, index)
    segment = Segment(TEXT, SOURCES[index], ("Der Hund schläft.", "another"), key)
    places = ((0, 3), (4, 8), (9, 16))[:n_errors]
    errors = tuple(ErrorSpan(start, end, Severity.MINOR, confidence=confidence) for start, end in places)
    return Rating(segment, "anna", errors, overall=Overall(-float(n_errors), "mqm"))


GOLD = [rating(system, index, count) for system, own in N_ERRORS.items() for index, count in enumerate(own)]
# The spans are those of the other segments; only the expected score agrees with the raters.
PREDICTED = [
    replace(
        rating("B" if one.segment.key.system == "A" else "A", one.segment.key.index, 2),
        overall=None,
        estimate=Estimate(one.overall.value, "mqm"),
    )
    for one in GOLD
    if one.segment.key is not None and one.segment.key.index is not None and one.overall is not None
]
PREDICTED = [replace(two, segment=one.segment) for one, two in zip(GOLD, PREDICTED, strict=True)]


def test_spans_of_the_model_and_of_the_raters_are_counted() -> None:
    figures = quality.measure_spans(GOLD, PREDICTED, "mini")
    assert set(figures) == set(quality.OF_SPANS)
    assert figures["spans"] == 2
    assert figures["gold_spans"] == pytest.approx(8 / 9)
    assert figures["marked_free"] == 1
    assert quality.measure_spans(GOLD, GOLD, "mini")["marked_free"] == 0


def test_scores_order_systems_by_spans_and_by_the_expected_score() -> None:
    both = quality.measure_scores(GOLD, {"reference": PREDICTED})
    assert list(both) == ["en-de", quality.ALL]
    metrics = both[quality.ALL]
    assert list(metrics) == ["reference, expected score", "reference, score", "BLEU", "chrF", "TER"]
    assert metrics["reference, expected score"]["system.accuracy"] == 1
    assert metrics["reference, expected score"]["segment.pearson"] == pytest.approx(1)
    # All systems have the same spans.
    assert metrics["reference, score"]["system.accuracy"] == 0
    assert metrics["reference, score"]["segment.kendall_b"] is None


def test_one_rating_of_each_segment_with_all_systems_of_a_source() -> None:
    extra = [
        replace(GOLD[0], rater="ben"),
        replace(GOLD[1], overall=None),
        replace(GOLD[2], segment=replace(GOLD[2].segment, references=())),
        replace(GOLD[3], segment=replace(GOLD[3].segment, key=SegmentKey(system="D"))),
    ]
    assert quality.choose(iter(GOLD + extra))[:9] == GOLD
    (last,) = quality.choose(iter(GOLD + extra))[9:]
    assert last.segment.key == SegmentKey(system="D", index=10**6 + 12)
    ratings = quality.choose(iter(GOLD), every=2)
    assert {rating.segment.source for rating in ratings} == {"It rains.", "The dog sleeps."}
    assert len(ratings) == 6


def test_tables_of_the_card(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = {"spans": {}, "scores": quality.measure_scores(GOLD, {"reference": PREDICTED, "source": PREDICTED})}
    spans = quality.measure_spans(GOLD, PREDICTED, "mini")
    tests = {name: {**made, "spans": {"reference": spans, "source": spans}} for name in card.TESTS}
    rows = card.card(tests)
    assert len(rows) == 2 + 3 * len(card.TESTS)
    assert {row.count("|") for row in rows} == {len(card.HEADS) + 1}
    assert rows[2].endswith("| 2.0 (0.9) | 1.000 | 1.000 | 1.000 / 0.111 | 1.000 / 0.000 |")
    (tmp_path / "matese/models/mini").mkdir(parents=True)
    pages = {"README.md": "figures of mini", "matese/models/mini/README.md": "figures"}
    for page, name in pages.items():
        comments = "".join(f"<!-- {one}: begin -->\nold\n<!-- {one}: end -->\n" for one in (name, "errors", "held out"))
        (tmp_path / page).write_text(f"before\n{comments}after\n")
    marks = {"all": {"marked": 0.75, "unmarked": 0.1, "expected score": 0.5, "chrF": 0.2}}
    columns = {"n": 9, "found": 0.5, "right": None, "unmarked": 0.5, "above": 0.5, "below -1": 0.5}
    by_input = {inputs: columns | {"right": 0.5} for inputs in ("reference", "source")}
    held_out = {**by_input, "baselines": {"chrF": 0.4, "length": 0.5}}
    of_input = OfInput({"number": Found.of(60, 30)}, {"de": Found.of(60, 30)})
    file = tmp_path / "matese/models/mini" / recall.FILE
    file.write_bytes(msgspec.json.encode(Recall(card.embedded(), {"reference": of_input, "source": of_input})))
    results: dict[str, dict[str, object]] = {
        "quality": {"tests": tests},
        "contrast": {"inputs": {"reference": marks, "source": marks}},
        "sanity": {"shares": {"all": {"reference": 0.9, "source": 0.7, "chrF": 0.8}}},
        "held-out": {"figures": {part: held_out for part, _ in card._OF_CONTRASTS.values()}},
        "demetr": {"pairs": 35, "shares": {"mean over kinds": {"expected_score": 0.8185, "chrF": 0.5}}},
    }
    for name, figures in results.items():
        (tmp_path / f"{name}-mini.json").write_text(json.dumps({"model": card.embedded()} | figures))
    monkeypatch.setattr(card, "RESULTS", tmp_path)
    card.write(tmp_path / "matese/models/mini/README.md", tmp_path / "README.md")
    for page in pages:
        text = (tmp_path / page).read_text()
        assert text.startswith("before\n")
        assert text.endswith("after\n")
        assert text.count("old") == 2 * (page == "README.md"), "it has no tables of errors and of held-out contrasts"
        assert ("| number | 60 | 50 % (38 to 62) | 50 % (38 to 62) |" in text) == (page != "README.md")
        assert "| chrF |" in text
        assert ("75 % of the errors of meaning" in text) == (page != "README.md")

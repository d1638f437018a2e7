import json
from pathlib import Path

import pytest

from matese import mqm
from matese.annotation import ErrorSpan, Estimate, Rating, Segment, SegmentKey, Severity
from matese.formats.tables import jsonl
from matese.tasks import agreement, score
from tests.tasks.conftest import do, refusal, write

SCORE = {"model": "{tiny}", "precision": "float32", "hyp": ["mt.txt", "b.txt"], "ref": ["ref.txt"]}
OF_100 = ("score_100", "penalty_per_1000_words")


@pytest.fixture(autouse=True)
def second_system(folder: Path) -> None:
    write(folder / "b.txt", "x", "y\tz", "das ist gut")


def test_a_segment_of_joined_files_is_named_by_its_own_file(folder: Path) -> None:
    write(folder / "a.csv", "system,source,hypothesis,score", "mt,A,Das,1", "other,B,Der,2", "mt,C,Die,3")
    write(folder / "b.csv", "system,source,hypothesis,score", "mt,D,Dem,4")
    names = [["mt", "a", "line 2"], ["mt", "a", "line 4"], ["mt", "b", "line 2"], ["other", "", "line 3"]]
    command = {"model": "{tiny}", "input": ["a.csv", "b.csv"], "segments": True}
    assert [line.split("\t")[:3] for line in do(score, **command).out.split("\n")[1:-1]] == names
    systems = json.loads(do(score, json="-", **command).out)["systems"]
    of_segments = [(system["system"], scores) for system in systems for scores in system["segment_scores"]]
    assert [[system, scores["document"] or "", scores["segment"]] for system, scores in of_segments] == names
    assert [scores["index"] for _, scores in of_segments] == [0, 1, 2, 0]


def test_json_agrees_with_lines() -> None:
    rows = [line.split("\t") for line in do(score, **SCORE).out.split("\n")[1:-1]]
    segments = [line.split("\t") for line in do(score, segments=True, **SCORE).out.split("\n")[1:-1]]
    places = [[system, "", f"line {line}"] for system in ("mt", "b") for line in (1, 2, 3)]
    assert [row[:3] for row in segments] == places
    assert segments[1][3:7] == ["-25", "-25", "0", "1"]
    whole = json.loads(do(score, json="-", segments=True, **SCORE).out)
    assert (whole["signature"], whole["weights"]) == (rows[0][8], "matese")
    for system, row in zip(whole["systems"], rows, strict=True):
        names = ("system", "score", "expected_score", "segments", "with_errors", "minor", "major", "blank")
        assert tuple(system) == (*names, "score_interval", "expected_score_interval", *OF_100, "p", "segment_scores")
        assert system["score_100"] == pytest.approx(100 + 4 * system["score"])
        assert system["penalty_per_1000_words"] is None, "there is no source"
        for name in ("score", "expected_score"):
            low, high = system[f"{name}_interval"]
            assert low <= system[name] <= high
        assert [system["system"], *(f"{system[name]:.10g}" for name in names[1:])] == row[:-1]
        of_system = [segment for segment in segments if segment[0] == system["system"]]
        for index, (scores, segment) in enumerate(zip(system["segment_scores"], of_system, strict=True)):
            assert tuple(scores) == ("index", "document", "segment", "score", "expected_score", "minor", "major")
            assert scores["index"] == index
            assert [f"{value:.10g}" for value in list(scores.values())[3:]] == segment[3:-1]
        mean = sum(scores["score"] for scores in system["segment_scores"]) / system["segments"]
        assert system["score"] == pytest.approx(mean)
    assert "segment_scores" not in json.loads(do(score, json="-", **SCORE).out)["systems"][0]


def test_other_scales_than_that_of_mqm() -> None:
    """An answer to the prompt `esa` has a score from 0 to 100, which is no expected score."""
    tally = mqm.SystemSummary("llm")
    minor = (ErrorSpan(0, 3, Severity.MINOR),)
    for source, value in (("one two three", 70), ("four five", 90)):
        tally.add(Rating(Segment("Das Haus", source), "llm", minor, estimate=Estimate(value, "esa")))
    assert (tally.score, tally.expected_score, tally.score_100) == (-1, None, 80)
    before = tally.penalty_per_1000_words
    tally.n_source_words = 5
    assert (before, tally.penalty_per_1000_words) == (None, 400)
    human = mqm.SystemSummary("ann")
    human.add(Rating(Segment("Das Haus"), "ann", minor))
    human.add(Rating(Segment("", "x"), "ann", None))
    assert (human.score_100, human.penalty_per_1000_words) == (None, None)


def test_score_of_a_system_does_not_depend_on_others() -> None:
    alone = do(score, model="{tiny}", precision="float32", hyp=["b.txt"], ref=["ref.txt"]).out
    assert alone.split("\n")[1] == do(score, **SCORE).out.split("\n")[2]


def test_every_signature_of_a_system_is_named() -> None:
    tally = mqm.SystemSummary("mt")
    for signature in ("reference", "source+reference", "reference"):
        tally.add(Rating(Segment("h"), signature, ()))
    assert tally.signature == "reference source+reference"


def test_raters_of_a_segment_are_no_segments_of_their_own(folder: Path) -> None:
    counts = [(0, 2, 4), (1, 1, 1), (3, 0, 0)]
    ratings = [
        Rating(
            Segment("Das Haus", "A house", key=SegmentKey(system="A", index=index)),
            f"r{rater}",
            (ErrorSpan(0, 3, Severity.MINOR),) * n_errors,
        )
        for index, own in enumerate(counts)
        for rater, n_errors in enumerate(own)
    ]
    write(folder / "gold.jsonl", *map(jsonl.dumps, ratings))
    means = [Rating(Segment("Das Haus"), None, (ErrorSpan(0, 3, Severity.MINOR),) * n) for n in (2, 1, 1)]
    write(folder / "means.jsonl", *map(jsonl.dumps, means))
    (one,), (other,) = (
        json.loads(do(score, json="-", segments=True, ratings=[name]).out)["systems"]
        for name in ("gold.jsonl", "means.jsonl")
    )
    for name in ("score", "score_interval", "segments", "with_errors"):
        assert one[name] == other[name], name
    assert [own["score"] for own in one["segment_scores"]] == [-2, -1, -1]
    assert (one["segments"], one["minor"]) == (3, 12)


def test_a_rater_who_rated_a_segment_twice(folder: Path) -> None:
    segment = Segment("Das Haus", key=SegmentKey(system="A", index=0))
    span = ErrorSpan(0, 3, Severity.MINOR)
    write(folder / "twice.jsonl", *(jsonl.dumps(Rating(segment, "anna", errors)) for errors in ((), (span,))))
    twice = "anna has rated segment 1 of A ('Das Haus') twice"
    assert refusal(score, ratings=["twice.jsonl"]).startswith(twice)
    assert refusal(agreement, ratings="twice.jsonl").startswith(twice)


def test_one_score_ranks_all_systems(folder: Path) -> None:
    error = (ErrorSpan(0, 3, Severity.MINOR),)
    write(folder / "a.jsonl", jsonl.dumps(Rating(Segment("Das"), "m", error, estimate=Estimate(-3.5, "mqm"))))
    write(folder / "b.jsonl", jsonl.dumps(Rating(Segment("Das"), "anna", error)))
    for more in ({}, {"segments": True}):
        assert do(score, scores_only=True, ratings=["a.jsonl", "b.jsonl"], **more).out == "-1\n-1\n"
    refused = refusal(score, by="expected", ratings=["a.jsonl", "b.jsonl"])
    assert refused == "rating of line 1 ('Das') has no expected score; rank by spans instead"


def test_errors_without_a_severity_are_reported(folder: Path) -> None:
    write(folder / "a.jsonl", '{"text": "Guten Tag", "label": [[0, 5, "Falsch"], [6, 9, "Major"]]}')  # of doccano
    assert do(score, scores_only=True, ratings=["a.jsonl"]).out == "-5\n"
    ran = do(score, ratings=["a.jsonl"])
    assert ran.told == "a.jsonl: 1 undecided, not in the score\n"


def test_penalties_for_a_thousand_words_of_the_source(folder: Path) -> None:
    rating = Rating(
        Segment("Das Haus", "the house is new", key=SegmentKey(system="A", index=0)),
        "ann",
        (ErrorSpan(0, 3, Severity.MAJOR),),
    )
    (folder / "rated.jsonl").write_text(jsonl.dumps(rating) + "\n", encoding="utf-8")
    (system,) = json.loads(do(score, ratings=["rated.jsonl"], json="-").out)["systems"]
    assert (system["score_100"], system["penalty_per_1000_words"]) == (80, 1250)

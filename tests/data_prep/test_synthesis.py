from __future__ import annotations

import os
import random
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from data_prep import __main__ as cli
from data_prep import synthesis
from data_prep.synthesis import KINDS, RATER, WHOLE, inject, synthesise, whole
from matese import mqm
from matese.annotation import ErrorSpan, Overall, Rating, Segment, SegmentKey, Severity
from matese.corruption import pools
from matese.corruption.edits import Setting
from matese.formats.tables import jsonl

TEXTS = (
    ("Die alte Brücke ist am 14. Mai nicht offen.", "The old bridge is not open on 14 May."),
    ("Anna verkaufte gestern in Leipzig drei große Bilder.", "Anna sold three large pictures in Leipzig yesterday."),
    ("Der Maler kam aus Hamburg ohne Leipzig.", "The painter came from Hamburg without Leipzig or his brother."),
    ("Immer mehr Schüler fahren heute mit dem Rad.", "More and more pupils go by bicycle today."),
    ("Ein guter Schüler ist noch ein Schüler.", "Some good pupil is still a pupil."),
)
SPAN = ErrorSpan(4, 8, Severity.MINOR, "Accuracy")


def rating_of(number: int, overall: Overall | None = None) -> Rating:
    source, hypothesis = TEXTS[number % len(TEXTS)]
    key = SegmentKey("set", "de-en", "sys", "doc", number)
    segment = Segment(hypothesis, source, (f"{hypothesis[:-1]} indeed.",), key)
    return Rating(segment, "human", (SPAN,), overall=overall or Overall(-1.0, "mqm"))


RATINGS = tuple(rating_of(number) for number in range(80))
SETTING = Setting(pools.build_all(rating.segment for rating in RATINGS)["en"], TEXTS[0][0])


def write(path: Path, ratings: tuple[Rating, ...]) -> Path:
    path.write_text("".join(f"{jsonl.dumps(rating)}\n" for rating in ratings), encoding="utf-8")
    return path


def test_injected_errors_stand_beside_those_of_the_human() -> None:
    kinds: Counter[str] = Counter()
    for number, rating in enumerate(RATINGS * 4):
        synthetic = inject(rating, SETTING, random.Random(number), 1 + number % 3)
        assert synthetic is not None
        made = synthetic.rating
        names = synthetic.kinds
        assert made.errors is not None
        assert made.overall is not None
        kinds.update(names)
        assert (made.segment.key, made.rater) == (rating.segment.key, RATER)
        assert 1 <= len(names) <= 1 + number % 3
        assert (made.segment.source, made.segment.references) == (rating.segment.source, rating.segment.references)
        assert made.segment.hypothesis != rating.segment.hypothesis
        human = [error for error in made.errors if error.category == "Accuracy"]
        texts = [made.segment.hypothesis[error.start : error.end] for error in human]
        assert texts == [rating.segment.hypothesis[4:8]] or (texts == [] and names[0] in {"truncated", "glued"})
        placed = [error for error in made.errors if error not in human]
        assert len(placed) + len(made.unplaced) == len(names)
        fallen = sum(map(mqm.penalty, placed)) + sum(map(mqm.penalty, made.unplaced))
        assert made.overall.value == -1 - fallen
    assert set(kinds) == set(KINDS)


def test_only_wanted_kinds_are_injected() -> None:
    for kinds in (synthesis.MEANING, ("number", "typo")):
        made = [inject(rating, SETTING, random.Random(n), 2, kinds=kinds) for n, rating in enumerate(RATINGS * 4)]
        assert {kind for case in made if case for kind in case.kinds} == set(kinds)
    assert not {"typo", "punctuation", "casing", "order"} & set(synthesis.MEANING)


def test_how_a_judgement_falls() -> None:
    assert synthesis.lowered(Overall(-24.0, "mqm"), Severity.MAJOR) == Overall(-25.0, "mqm")
    assert synthesis.lowered(Overall(-30.0, "mqm"), Severity.MAJOR) == Overall(-30.0, "mqm")
    assert synthesis.lowered(Overall(90.0, "esa"), Severity.MINOR) == Overall(85.0, "esa")
    assert synthesis.lowered(Overall(10.0, "esa"), Severity.MAJOR) == Overall(0.0, "esa")
    assert synthesis.lowered(Overall(0.5, "z"), Severity.MAJOR) is None
    assert synthesis.lowered(None, Severity.MAJOR) is None


@pytest.mark.parametrize(("scale", "best", "worst"), [("mqm", 0.0, -25.0), ("esa", 100.0, 0.0)])
def test_whole_segments(scale: str, best: float, worst: float) -> None:
    rating = rating_of(0, Overall(-3.0, "mqm") if scale == "mqm" else Overall(60.0, "esa"))
    copied = whole("copy", rating, SETTING, random.Random(0))
    assert copied is not None
    copy = copied.rating
    assert copy.overall is not None
    assert (copy.errors, copy.unplaced, copy.overall.value, copy.overall.scale) == ((), (), best, scale)
    assert copy.segment.references == (copy.segment.hypothesis,) == rating.segment.references
    for case in ("source", "other", "shuffled", "remnant"):
        made = next(
            synthetic for seed in range(9) if (synthetic := whole(case, rating, SETTING, random.Random(seed)))
        ).rating
        text = made.segment.hypothesis
        assert made.errors == (ErrorSpan(0, len(text), Severity.MAJOR, f"Synthetic/{case}"),)
        assert made.overall == replace(copy.overall, value=worst)
        assert made.segment.key == rating.segment.key
    damaged = whole("copy+error", rating, SETTING, random.Random(0))
    assert damaged is not None
    changed = damaged.rating
    assert changed.overall is not None
    assert changed.segment.hypothesis != changed.segment.references[0]
    assert changed.overall.value < best


def test_nothing_is_made_of_nothing() -> None:
    empty = Rating(Segment("", "", (" ",), SegmentKey(lang_pair="de-en")), None, ())
    assert inject(empty, SETTING, random.Random(0), 3) is None
    for case in WHOLE:
        if case != "other":
            assert whole(case, empty, SETTING, random.Random(0)) is None


def test_a_text_marked_as_a_whole_takes_no_error_within() -> None:
    rating = RATINGS[0]
    full = replace(rating, errors=(ErrorSpan(0, len(rating.segment.hypothesis), Severity.MAJOR),))
    for seed in range(40):
        made = inject(full, SETTING, random.Random(seed), 1)
        assert made is None or made.rating.segment.hypothesis.startswith(rating.segment.hypothesis)


def test_the_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(WHOLE, "copy", 1.0)
    unpaired = replace(RATINGS[0], segment=replace(RATINGS[0].segment, key=None))
    unasked = replace(RATINGS[1], errors=None)
    blank = Rating(Segment("?", None, (), SegmentKey(lang_pair="de-en")), None, ())
    path = write(tmp_path / "in.jsonl", (*RATINGS, unpaired, unasked, blank))
    counts = synthesise([path], tmp_path / "out.jsonl", share=1.0, progress=lambda _: None)
    made = list(jsonl.read(tmp_path / "out.jsonl"))
    assert counts["injected"] == 80
    assert counts["copy"] == 81
    assert counts["skipped: no language pair"] == counts["skipped: rating without spans"] == 1
    assert counts["skipped: injected does not apply"] == counts["skipped: copy does not apply"] == 1
    assert len(made) == sum(counts[case] for case in ("injected", *WHOLE))
    n_errors = sum(counts[f"error: {kind}"] for kind in KINDS)
    synthetic = [error for each in made for error in each.errors or () if (error.category or "").startswith("Synth")]
    n_unplaced = sum(len(each.unplaced) for each in made)
    assert n_errors == len(synthetic) + n_unplaced - sum(
        counts[case] for case in ("source", "other", "shuffled", "remnant")
    )


def test_the_command_draws_the_same_whatever_the_hash_seed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path / "in.jsonl", RATINGS)
    arguments = ["synthesise", str(path), "--share", "0.9", "--output"]
    environment = os.environ | {"PYTHONHASHSEED": "1"}  # the seed of this process is another
    command = [sys.executable, "-m", "data_prep", *arguments, str(tmp_path / "1")]
    subprocess.run(command, check=True, env=environment, capture_output=True)
    assert cli.main([*arguments, str(tmp_path / "2")]) == 0
    assert (tmp_path / "1").read_bytes() == (tmp_path / "2").read_bytes()
    assert cli.main([*arguments, str(tmp_path / "3"), "--seed", "1"]) == 0
    assert (tmp_path / "3").read_bytes() not in (b"", (tmp_path / "1").read_bytes())
    assert " injected\n" in capsys.readouterr().out


def test_bad_input_is_told_and_leaves_what_was_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path / "in.jsonl", RATINGS)
    output = tmp_path / "out"
    output.write_text("before")
    for arguments, message in (
        ([str(path), "--share", "2"], "--share 2.0: must be between 0 and 1"),
        ([str(tmp_path / "none")], "No such file or directory"),
    ):
        assert cli.main(["synthesise", *arguments, "--output", str(output)]) == 2
        assert message in capsys.readouterr().err
    assert output.read_text() == "before"
    assert sorted(os.listdir(tmp_path)) == ["in.jsonl", "out"]

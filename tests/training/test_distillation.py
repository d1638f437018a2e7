"""`matese distil`, from a teacher and texts to a student that agrees with it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import matese
from matese.annotation import ErrorSpan, Estimate, Rating, Segment, SegmentKey, Severity
from matese.cli import main
from matese.errors import InputError
from matese.formats.tables import jsonl
from matese.training import distillation
from matese.training.distillation import split
from matese.training.module import TrainingModule
from tests.training.material import write_ratings
from tests.training.test_scores import KINDS, SETTINGS, scored

TEACHERS = Path(__file__).parents[1] / "model" / "released" / "comet"
Distil = Callable[..., int]
TEXTS = tuple(Rating(one.segment, None, None) for one in scored())


@pytest.fixture
def distil(tmp_path: Path) -> Distil:
    """Runs the command on the texts of the hand-written ratings, into the directory `out`."""
    texts = str(write_ratings(tmp_path / "texts.jsonl", TEXTS))

    def start(teacher: str, kind: str, *options: str, data: str = texts, dev: str = texts) -> int:
        path = tmp_path / "student.yaml"
        path.write_text(SETTINGS.replace("MODEL", KINDS[kind]), encoding="utf-8")
        sets = [part for option in options for part in ("--set", option)]
        arguments = [str(TEACHERS / teacher), "--student", str(path), "--data", data, "--dev", dev]
        return main(["distil", *arguments, "--output", str(tmp_path / "out"), *sets])

    return start


def scores(model: Path) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    made = matese.load(model, device="cpu", precision="float32").annotate_segments(rating.segment for rating in TEXTS)
    return np.array([rating.estimate.value for rating in made if rating.estimate])


def test_the_student_gives_the_scores_of_its_teacher(
    distil: Distil, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert distil("estimator", "estimator", "training.max_epochs=60", "training.validate_every=60") == 0
    figures = dict(line.split("\t") for line in capsys.readouterr().out.splitlines())
    assert figures["model"] == str(tmp_path / "out" / "run" / "model")
    assert float(figures["dev/pearson"]) >= 0.8
    theirs = scores(TEACHERS / "estimator")
    students = scores(Path(figures["model"]))
    assert np.corrcoef(theirs, students)[0, 1] >= 0.8
    assert np.abs(theirs - students).mean() < theirs.std()


def test_the_student_marks_what_its_teacher_marks(distil: Distil, tmp_path: Path) -> None:
    options = ("training.max_epochs=1", "model.heads.word_labels.severities=[minor, major, critical]")
    assert distil("xcomet", "unified-words", *options) == 0
    labelled = list(jsonl.read(str(tmp_path / "out" / "train.jsonl")))
    made = list(matese.load(TEACHERS / "xcomet", device="cpu").annotate_segments(rating.segment for rating in TEXTS))
    assert {rating.segment: rating.errors for rating in labelled} == {rating.segment: rating.errors for rating in made}
    assert Severity.CRITICAL in {span.severity for rating in labelled for span in rating.errors or ()}
    settings = json.loads((tmp_path / "out" / "run" / "model" / "config.json").read_text())["model"]
    assert settings["heads"]["word_labels"]["severities"] == ["minor", "major", "critical"]


def test_a_file_of_scores_teaches_a_student(distil: Distil, tmp_path: Path) -> None:
    """As those that ReMedy or MetricX write: a line for each segment of each system."""
    keyed = tuple(
        replace(rating, segment=replace(rating.segment, key=SegmentKey(system="A", index=index)))
        for index, rating in enumerate(TEXTS)
    )
    texts = str(write_ratings(tmp_path / "keyed.jsonl", keyed))
    values = [index / len(keyed) for index in range(len(keyed))]
    path = tmp_path / "ReMedy.seg.score"
    path.write_text("".join(f"A\t{value}\n" for value in values), encoding="utf-8")
    assert distil(str(path), "estimator", "training.max_epochs=1", data=texts, dev=texts) == 0
    labelled = list(jsonl.read(str(tmp_path / "out" / "train.jsonl")))
    for rating in labelled:
        assert rating.segment.key is not None
        assert rating.segment.key.index is not None
        assert rating.estimate == Estimate(values[rating.segment.key.index], "comet")
    assert labelled
    assert np.isfinite(scores(tmp_path / "out" / "run" / "model")).all()


def test_a_stopped_run_is_resumed_with_the_same_labels(
    distil: Distil, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(TrainingModule, "validation_step", lambda *_: 1 / 0)
        assert distil("estimator", "estimator", "training.max_epochs=1") == 70
    before = (tmp_path / "out" / "train.jsonl").stat().st_mtime_ns
    capsys.readouterr()
    assert distil("ranking", "estimator", "training.max_epochs=1") == 2
    assert "train.jsonl holds labels of another model or other texts" in capsys.readouterr().err
    assert distil("estimator", "estimator", "training.max_epochs=1") == 0
    assert (tmp_path / "out" / "train.jsonl").stat().st_mtime_ns == before
    assert distil("estimator", "estimator", "training.max_epochs=1") == 2
    assert "is complete, with its model in" in capsys.readouterr().err


def test_labels_of_segments_with_a_blank_reference_are_reused(tmp_path: Path) -> None:
    teacher = matese.load(TEACHERS / "unite", device="cpu", precision="float32")
    segments = [Segment("der Hund", "the dog", ("ein Hund", " ")), Segment("der Hund", "the dog", ("",))]
    distillation._label([teacher], segments, tmp_path / "labels.jsonl")
    before = (tmp_path / "labels.jsonl").stat().st_mtime_ns
    distillation._label([teacher], segments, tmp_path / "labels.jsonl")
    assert (tmp_path / "labels.jsonl").stat().st_mtime_ns == before


def test_texts_that_are_not_enough(distil: Distil, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    single = str(write_ratings(tmp_path / "one.jsonl", TEXTS[:1]))
    config = str(tmp_path / "student.yaml")
    assert distil("estimator", "estimator", data=str(tmp_path / "missing.jsonl")) == 2
    output = str(tmp_path / "alone")
    assert main(["distil", "mini", "--student", config, "--data", single, "--output", output]) == 2
    assert "1 texts have too few sources to hold some out; give more texts, or validation" in capsys.readouterr().err
    assert not (tmp_path / "alone").exists()


def test_every_twentieth_source_is_held_out() -> None:
    segments = [Segment(f"h{system}", f"source {number}") for number in range(1000) for system in range(2)]
    train, dev = split(segments)
    assert len(train) + len(dev) == 2000
    assert 60 <= len(dev) <= 140
    assert not {one.source for one in train} & {one.source for one in dev}
    assert split([Segment("a", None, ("b",)), Segment("c")]) is not None


def test_several_teachers_vote_and_their_scores_are_averaged() -> None:
    segment = Segment("eins zwei drei")
    minor = ErrorSpan(0, 4, Severity.MINOR)
    major = ErrorSpan(2, 9, Severity.MAJOR)
    alone = ErrorSpan(10, 14, Severity.MAJOR)
    ratings = [
        Rating(segment, "b", (minor,), estimate=Estimate(-1, "mqm", -2, 0)),
        Rating(segment, "a", (major, alone), estimate=Estimate(-6, "mqm")),
        Rating(segment, "c", None, estimate=Estimate(-2, "mqm")),  # scores alone, and does not vote
    ]
    together = distillation.together(ratings)
    assert (together.errors, together.rater, together.estimate) == ((major,), "a+b+c", Estimate(-3, "mqm"))
    assert distillation.together(ratings[:1]) is ratings[0]
    assert distillation.together(ratings[2:] * 2).errors is None
    with pytest.raises(InputError, match="scales comet and mqm: must be one"):
        distillation.together([ratings[0], Rating(segment, "d", None, estimate=Estimate(0.5, "comet"))])

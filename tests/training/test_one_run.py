"""What the embedded model's run needs: averaged weights, translations that the model scores itself, and resuming."""

from __future__ import annotations

import dataclasses
import itertools
import json
import os
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import matese
from matese.annotation import Rating
from matese.cli import main
from matese.model.loading import load_tagger
from matese.training import averaging, corpus_building, unrated
from matese.training.averaging import WeightAverage
from matese.training.batching import BatchLimits, BatchStream
from matese.training.config import UnratedData
from matese.training.corpus import ANY, NOT_YET, Corpus
from matese.training.corpus_building import Lesson
from matese.training.module import TrainingModule
from tests.training.material import HEADS, RATINGS, SETTINGS, write_ratings, write_settings

UNRATED = tuple(
    Rating(dataclasses.replace(one.segment, hypothesis=one.segment.hypothesis.replace(".", " wohl.")), None, None)
    for one in RATINGS
)
ONE_RUN = (
    SETTINGS.replace("model: {", "model: {texts: {inputs: [reference, source]}, ")
    .replace("max_epochs: 60", "max_epochs: 30")
    .replace("validate_every: 30", "validate_every: 15")
    .replace("batch_tokens: 256", "batch_tokens: 128")
    + "  accumulate: 2\n  averaged: 0.25\n  group_size: 2\n  kept: last\n  save_minutes: 0\n"
)


def begin(folder: Path, *options: str) -> int:
    ratings = str(write_ratings(folder / "ratings.jsonl"))
    unknown = str(write_ratings(folder / "unrated.jsonl", UNRATED))
    settings = str(write_settings(folder / "settings.yaml", ONE_RUN))
    unrated = ["--set", f"data.unrated={json.dumps({'files': [unknown], 'after': 0.4, 'by_source': 0.5})}"]
    data = ["--train", ratings, "--dev", ratings, "--output", str(folder / "run")]
    return main(["train", "--config", settings, *data, *unrated, *options])


def state(folder: Path) -> dict[str, Any]:
    read: dict[str, Any] = torch.load(folder / "run" / "last.ckpt", weights_only=True)
    return read


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("one-run")
    assert begin(folder) == 0
    return folder


def test_one_run_learns_16_segments_by_heart(uninterrupted: Path) -> None:
    figures = json.loads((uninterrupted / "run" / "result.json").read_text(encoding="utf-8"))
    assert figures["dev/reference/macro_f1"] >= 0.9
    assert figures["dev/reference/pearson"] >= 0.9
    annotator = matese.load(uninterrupted / "run" / "model", device="cpu", precision="float32")
    made = list(annotator.annotate_segments(rating.segment for rating in UNRATED))
    own_scores = np.load(uninterrupted / "run" / "unrated_scores.npy")
    assert len(own_scores) == len(UNRATED)
    estimates = [rating.estimate.value for rating in made if rating.estimate is not None]
    assert np.corrcoef(estimates, own_scores)[0, 1] > 0.5, "it learned from its own scores"


def test_the_model_is_the_mean_of_the_last_weights(uninterrupted: Path) -> None:
    last = state(uninterrupted)
    (average,) = (values for name, values in last["callbacks"].items() if name.startswith("WeightAverage"))
    total = last["global_step"]
    assert average["n"] == 1 + (total // 4 - 1) // averaging.EVERY
    assert average["step"] == total
    network = load_tagger(uninterrupted / "run" / "model")[0].state_dict()
    for name, mean in average["means"].items():
        torch.testing.assert_close(network[name], mean)
    assert any(not torch.equal(last["state_dict"][f"network.{name}"], mean) for name, mean in average["means"].items())


@pytest.mark.parametrize("share", [0.2, 0.45, 0.9])
def test_a_resumed_run_ends_with_the_same_weights_and_scores(
    share: float, uninterrupted: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    step = TrainingModule.training_step
    n_batches = 2 * state(uninterrupted)["global_step"]
    number = itertools.count(1)

    def interrupted(self: TrainingModule, *arguments: Any) -> torch.Tensor:
        if next(number) == int(share * n_batches):
            os.kill(os.getpid(), signal.SIGINT)
        return step(self, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(TrainingModule, "training_step", interrupted)
        assert begin(tmp_path) == 130
    scores = tmp_path / "run" / "unrated_scores.npy"
    assert scores.exists() is (share > 0.4)
    assert main(["train", "--resume", str(tmp_path / "run")]) == 0
    assert np.array_equal(np.load(scores), np.load(uninterrupted / "run" / "unrated_scores.npy"))
    made, expected = (load_tagger(folder / "run" / "model")[0].state_dict() for folder in (tmp_path, uninterrupted))
    assert all(torch.equal(made[name], expected[name]) for name in expected)


def test_scores_that_are_gone_cannot_be_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(TrainingModule, "validation_step", lambda *_: os.kill(os.getpid(), signal.SIGINT))
        assert begin(tmp_path, "--set", "training.max_steps=20", "--set", "data.unrated.after=0.1") == 130
    (tmp_path / "run" / "unrated_scores.npy").unlink()
    assert main(["train", "--resume", str(tmp_path / "run")]) == 2
    assert "unrated_scores.npy is missing; restore it or start a new run" in capsys.readouterr().err


@pytest.fixture
def corpus(tokenizer: Any) -> Corpus:
    encoder = matese.model.texts.encoding.TextEncoder(tokenizer, max_tokens=128)
    lessons = [Lesson(rating, frozenset(), is_unrated=True) for rating in UNRATED]
    return corpus_building.build([*RATINGS, *lessons], encoder, ("reference", "source"), HEADS)


def test_unrated_translations_are_read_once_they_have_scores(corpus: Corpus) -> None:
    n_rated = len(RATINGS)
    assert corpus.read_as.tolist() == [ANY] * n_rated + [NOT_YET] * n_rated
    stream = BatchStream(corpus, BatchLimits(256, 128), seed=1, group_size=2)
    drawn = [draw for number in range(stream.epoch_length) for draw in stream.batch(number)]
    assert sorted(draw.segment for draw in drawn) == list(range(n_rated))
    scores = -np.arange(n_rated, dtype=np.float32)
    learned = unrated.learned(corpus, scores, UnratedData(("x",), by_source=0.5))
    assert learned.labels["scores"][n_rated:].tolist() == scores.tolist()
    assert np.isnan(corpus.labels["scores"][n_rated:]).all()
    by_source = {
        rating.segment.source: corpus.inputs[kind]
        for rating, kind in zip(UNRATED, learned.read_as[n_rated:].tolist(), strict=True)
    }
    assert set(by_source.values()) == {"reference", "source"}
    stream.next_part = stream.epoch_length
    first = stream.next_part
    stream.go_on(learned)
    drawn = [draw for number in range(first, first + stream.epoch_length) for draw in stream.batch(number)]
    assert sorted(draw.segment for draw in drawn) == list(range(2 * n_rated))
    for draw in drawn:
        if draw.segment >= n_rated:
            assert corpus.inputs[draw.inputs] == by_source[UNRATED[draw.segment - n_rated].segment.source]


def test_the_mean_of_weights() -> None:
    class Trainer:
        global_step = 0

    network = torch.nn.Linear(1, 1)
    average = WeightAverage(network, share=0.5)
    average.n_steps = 24
    trainer: Any = Trainer()
    for step in range(1, 25):
        trainer.global_step = step
        torch.nn.init.constant_(network.weight, step)
        average.on_train_batch_end(trainer)
        average.on_train_batch_end(trainer)  # of a further batch of the same step
    average.on_validation_start()
    assert network.weight.item() == pytest.approx((14 + 19 + 24) / 3)
    average.on_train_epoch_end()
    assert network.weight.item() == 24

"""The real training command from end to end, and runs that are stopped, killed and resumed."""

from __future__ import annotations

import csv
import json
import os
import pickle
import re
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import pytorch_lightning as pl
import torch

import matese
from matese.annotation import Omission, Rating, Segment, Severity
from matese.cli import main
from matese.model.loading import load_tagger
from matese.model.storage import checkpoint
from matese.training import config, reporting, run, run_directory
from matese.training.config import Config, TrainingConfig
from matese.training.module import TrainingModule
from matese.training.trainer import make_trainer
from tests.training.material import RATINGS, SETTINGS, write_ratings, write_settings

RESUMED = (
    SETTINGS.replace("dropout: 0.0", "dropout: 0.2")
    .replace("model: {", "model: {texts: {inputs: [reference, source, source+reference]}, ")
    .replace("max_epochs: 60", "max_epochs: 4")
    .replace("validate_every: 30", "validate_every: 2")
    .replace("batch_tokens: 256", "batch_tokens: 110")
    + "  save_minutes: 0\n  accumulate: 2\n  patience: 10\n  frozen_steps: 2\n"
)
Train = Callable[..., int]


@pytest.fixture
def train(tmp_path: Path) -> Train:
    """Runs the command on the hand-written ratings into a subdirectory."""
    ratings = str(write_ratings(tmp_path / "ratings.jsonl"))

    def start(output: str = "run", *options: str, text: str = SETTINGS) -> int:
        path = str(write_settings(tmp_path / "settings.yaml", text))
        data = ["--train", ratings, "--dev", ratings, "--output", str(tmp_path / output)]
        return main(["train", "--config", path, *data, *options])

    return start


def weights(directory: Path) -> dict[str, torch.Tensor]:
    state: dict[str, torch.Tensor] = torch.load(directory / "last.ckpt", weights_only=True)["state_dict"]
    return state


def test_two_layers_learn_16_segments_by_heart(train: Train, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert train() == 0
    out, err = capfd.readouterr()
    figures = dict(line.split("\t") for line in out.splitlines())
    assert float(figures["dev/macro_f1"]) >= 0.97
    assert float(figures["dev/hsh"]) >= 0.97
    assert float(figures["dev/tsh"]) >= 0.97
    assert float(figures["dev/pearson"]) >= 0.95
    assert figures["model"] == str(tmp_path / "run" / "model")
    assert "train: 16 ratings" in err
    assert not [word for word in ("Seed", "GPU", "LOCAL_RANK", "Warning", "Tip", "litlogger") if word in out + err]
    annotator = matese.load(figures["model"], device="cpu", precision="float32")
    hypotheses = [rating.segment.hypothesis for rating in RATINGS]
    made = annotator.annotate(hypotheses, references=[rating.segment.references[0] for rating in RATINGS])
    marked = [[(span.start, span.end, span.severity) for span in rating.errors or ()] for rating in made]
    # The token that holds a marked character may hold more.
    gold = [[(span.start, span.end, span.severity) for span in rating.errors or ()] for rating in RATINGS]
    assert sum(predicted_spans == gold_spans for predicted_spans, gold_spans in zip(marked, gold, strict=True)) >= 13


def test_what_a_run_leaves_and_tells(
    train: Train, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(reporting, "REPORTING", 0.0)
    options = ("--set", "training.max_epochs=8", "--set", "training.validate_every=2", "--set", "training.log_every=2")
    assert train("run", *options) == 0
    *lines, _ = capfd.readouterr().err.split("\n")
    assert all(line.startswith("matese: ") for line in lines)
    told = [line for line in lines if "tokens per second" in line]
    n_steps = len(told)
    assert n_steps >= 8
    number = r"\d[\d,]*"
    progress = rf"matese: step {n_steps} of {n_steps}: loss \d+\.\d{{3}}, {number} tokens per second, time left 0:00:00"
    assert re.fullmatch(progress, told[-1])
    assert sum(bool(re.match(r"matese: step \d+: macro_f1 ", line)) for line in lines) == 4
    output = tmp_path / "run"
    left = {path.name for path in output.iterdir()}
    assert left == {"config.yaml", "last.ckpt", "logs", "model", "result.json"}
    saved = json.loads((output / "model" / "config.json").read_text(encoding="utf-8"))["training"]
    resolved = config.to_builtins(config.load(output / "config.yaml"))
    del resolved["output"]
    assert saved == {**resolved, "figures": json.loads((output / "result.json").read_text())}
    assert resolved["training"]["encoder_learning_rate"] == 3e-3
    assert "16 segments" in (output / "model" / "README.md").read_text(encoding="utf-8")
    rows = list(csv.DictReader((output / "logs" / "version_0" / "metrics.csv").open()))
    assert sum(bool(row["dev/macro_f1"]) for row in rows) == 4
    losses = [float(row["train/tag_loss"]) for row in rows if row["train/tag_loss"]]
    assert losses[-1] < losses[0]
    assert {"dev/hsh", "dev/tsh", "dev/pearson", "train/learning_rate"} <= set(rows[0])


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("uninterrupted")
    ratings = str(write_ratings(output / "ratings.jsonl"))
    data = ["--train", ratings, "--dev", ratings, "--output", str(output / "run")]
    assert main(["train", "--config", str(write_settings(output / "c.yaml", RESUMED)), *data]) == 0
    return output / "run"


def _fail() -> None:
    raise RuntimeError("killed")


def _interrupt() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def _terminate() -> None:
    os.kill(os.getpid(), signal.SIGTERM)


@pytest.mark.parametrize(
    ("event", "batch", "code"),
    [
        (_fail, 1, 70),  # before anything was saved
        (_fail, 8, 70),  # amid the first period
        (_fail, 13, 70),  # right after a validation
        (_interrupt, 5, 130),  # amid an accumulation
        (_interrupt, 12, 130),  # in the last batch before a validation
        (_terminate, 15, 130),
    ],
)
def test_resumed_run_ends_with_the_weights_of_an_uninterrupted_one(
    event: Callable[[], None],
    batch: int,
    code: int,
    train: Train,
    tmp_path: Path,
    uninterrupted: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    step = TrainingModule.training_step
    n_steps = 0

    def counted(self: TrainingModule, *arguments: Any) -> torch.Tensor:
        nonlocal n_steps
        n_steps += 1
        if n_steps == batch:
            event()
        return step(self, *arguments)

    monkeypatch.setattr(TrainingModule, "training_step", counted)
    assert train(text=RESUMED) == code
    if code == 130:
        assert f"to resume: matese train --resume {tmp_path / 'run'}" in capfd.readouterr().err
    n_first = n_steps
    n_steps = 1000  # the event is over
    assert main(["train", "--resume", str(tmp_path / "run")]) == 0
    n_batches = 2 * torch.load(uninterrupted / "last.ckpt", weights_only=True)["global_step"]
    assert n_first + n_steps - 1000 <= n_batches + 2  # at most one optimizer step of two batches is taken again
    made = weights(tmp_path / "run")
    expected = weights(uninterrupted)
    assert made.keys() == expected.keys()
    assert all(torch.equal(made[name], expected[name]) for name in expected)
    first, second = (
        load_tagger(directory / "model")[0].state_dict() for directory in (tmp_path / "run", uninterrupted)
    )
    assert all(torch.equal(first[name], second[name]) for name in second)


def test_a_state_that_cannot_be_saved_leaves_the_former_one(
    train: Train, tmp_path: Path, uninterrupted: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk is full: Lightning writes a part of the third state."""
    save = pl.Trainer.save_checkpoint
    n_saved = 0

    def fail(self: pl.Trainer, path: Path, *arguments: Any) -> None:
        nonlocal n_saved
        n_saved += 1
        if n_saved == 3:
            Path(path).write_bytes(b"PK")
            raise OSError(28, "No space left on device")
        save(self, path, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(pl.Trainer, "save_checkpoint", fail)
        assert train(text=RESUMED) == 2
    assert [path.name for path in (tmp_path / "run").glob(".*")] == []
    assert main(["train", "--resume", str(tmp_path / "run")]) == 0
    made = weights(tmp_path / "run")
    expected = weights(uninterrupted)
    assert all(torch.equal(made[name], expected[name]) for name in expected)


def test_second_signal_ends_at_once(train: Train, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def twice(*_: Any) -> torch.Tensor:
        _interrupt()
        _interrupt()
        raise AssertionError("not reached")

    monkeypatch.setattr(TrainingModule, "training_step", twice)
    assert train() == 130
    assert not (tmp_path / "run" / "last.ckpt").exists()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_interrupted_validation_is_done_again(
    train: Train, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, uninterrupted: Path
) -> None:
    validate = TrainingModule.validation_step

    def interrupted(self: TrainingModule, *arguments: Any) -> None:
        _interrupt()
        validate(self, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(TrainingModule, "validation_step", interrupted)
        assert train(text=RESUMED) == 130
    assert not (tmp_path / "run" / "model").exists()
    assert main(["train", "--resume", str(tmp_path / "run")]) == 0
    made = weights(tmp_path / "run")
    expected = weights(uninterrupted)
    assert all(torch.equal(made[name], expected[name]) for name in expected)


def test_another_seed_is_another_model(train: Train, tmp_path: Path, uninterrupted: Path) -> None:
    """That one seed is one model is shown by the run above that is killed before anything is saved."""
    assert train("other", "--set", "training.seed=2", text=RESUMED) == 0
    expected = weights(uninterrupted)
    assert not all(torch.equal(weights(tmp_path / "other")[name], expected[name]) for name in expected)


def test_the_fingerprint_of_a_model_does_not_depend_on_its_place(train: Train, tmp_path: Path) -> None:
    for name in ("one", "two"):
        assert train(name, "--set", "training.max_steps=1") == 0
    first, second = (checkpoint.fingerprint(tmp_path / name / "model") for name in ("one", "two"))
    assert first == second


def test_other_data_cannot_be_resumed(
    train: Train, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(TrainingModule, "validation_step", lambda *_: _fail())
        assert train(text=RESUMED) == 70
    write_ratings(tmp_path / "ratings.jsonl", RATINGS[:9])
    assert main(["train", "--resume", str(tmp_path / "run")]) == 2
    assert "the training data have changed; restore them or start a new run" in capsys.readouterr().err


def test_early_stopping_counts_validations_without_a_better_one(train: Train, tmp_path: Path) -> None:
    stands_still = SETTINGS.replace("3e-3", "1e-12").replace("max_epochs: 60", "max_epochs: 20")
    text = stands_still.replace("validate_every: 30", "validate_every: 1\n  patience: 3")
    assert train(text=text) == 0
    state = torch.load(tmp_path / "run" / "last.ckpt", weights_only=True)
    assert state["epoch"] == 3  # the first is the best, the next three are not better


@pytest.mark.parametrize(
    ("changes", "epoch_length", "expected"),
    [
        ({"max_epochs": 3.0, "validate_every": 0.5}, 100, (6, 50)),
        ({"max_epochs": 1.25, "validate_every": 1.25}, 100, (1, 125)),
        ({"max_epochs": 1.0, "validate_every": 5.0}, 100, (1, 100)),
        ({"max_epochs": 1.0, "validate_every": 0.3, "accumulate": 4}, 100, (3, 32)),
        ({"max_epochs": 9.0, "max_steps": 7, "accumulate": 2}, 10, (3, 4)),
        ({"max_epochs": 9.0, "max_steps": 1}, 1000, (1, 1)),
        ({"max_epochs": 0.01}, 10, (1, 1)),
        ({"max_epochs": 4.0, "validate_every": 0.1}, 1, (4, 1)),
        ({"max_epochs": 1.0, "accumulate": 8}, 3, (1, 8)),
    ],
)
def test_periods(changes: dict[str, Any], epoch_length: int, expected: tuple[int, int]) -> None:
    class Stream:
        period_length = 0

    stream: Any = Stream()
    stream.epoch_length = epoch_length
    assert run.plan_periods(TrainingConfig(**changes), stream.epoch_length) == expected


def make(output: Path) -> Config:
    made = Config("x", str(output))
    with run_directory.new_output(made):
        pass
    return made


def test_directory_that_is_not_empty_is_refused(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    make(tmp_path / "run")
    with pytest.raises(ValueError, match=r"run is not empty; choose a new .*resume the run in it: matese train"):
        make(tmp_path / "run")
    (tmp_path / "run" / "config.yaml").rename(tmp_path / "run" / ".matese-0.tmp")  # a run killed while it began
    make(tmp_path / "run")
    with pytest.raises(ValueError, match=r"config\.yaml is a file; choose a new or empty directory"):
        make(tmp_path / "run" / "config.yaml")


@pytest.mark.parametrize("is_there", [False, True])
def test_nothing_is_left_where_the_preparation_fails(tmp_path: Path, is_there: bool) -> None:
    output = tmp_path / "run"
    if is_there:
        output.mkdir()

    def prepare() -> None:
        with run_directory.new_output(Config("x", str(output))):
            (output / "tokenizer").mkdir()
            _fail()

    with pytest.raises(RuntimeError, match="killed"):
        prepare()
    assert output.exists() is is_there
    assert not is_there or not list(output.iterdir())


def test_what_cannot_be_resumed(tmp_path: Path) -> None:
    output = tmp_path / "run"
    with pytest.raises(ValueError, match=r"has no config\.yaml; give the directory of a training run"):
        run_directory.load_settings(output)
    assert run_directory.load_settings(Path(make(output).output)) == Config("x", str(output))
    (output / "result.json").write_text("{}")
    with pytest.raises(ValueError, match=r"is complete, with its model in .*model; there is nothing to resume"):
        run_directory.load_settings(output)


def test_moved_run_is_resumed_where_it_is(tmp_path: Path) -> None:
    make(tmp_path / "a")
    (tmp_path / "a").rename(tmp_path / "b")
    assert run_directory.load_settings(tmp_path / "b").output == str(tmp_path / "b")


def test_device_that_is_not_there(train: Train, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    missing = "cuda" if not torch.cuda.is_available() else "mps"
    assert train("run", "--set", f"training.accelerator={missing}", "--set", "training.precision=auto") == 2
    assert f"training.accelerator {missing}, devices auto: " in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(("has_bf16", "precision"), [(True, "bf16-mixed"), (False, "32-true")])
def test_auto_is_bf16_where_the_processor_has_it(
    has_bf16: bool, precision: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("_is_avx512_bf16_supported", "_is_amx_tile_supported"):
        monkeypatch.setattr(torch.cpu, name, lambda: has_bf16, raising=False)
    settings = Config("x", str(tmp_path), training=TrainingConfig(accelerator="cpu"))
    assert make_trainer(settings, [], monitored="dev/loss").precision == precision


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", pickle.dumps(Path("x"), 2)])
def test_state_that_is_none_is_told_and_no_pickle_is_opened(
    train: Train, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], content: bytes
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(TrainingModule, "training_step", lambda *_: _fail())
        assert train() == 70
    (tmp_path / "run" / "last.ckpt").write_bytes(content)
    capsys.readouterr()
    assert main(["train", "--resume", str(tmp_path / "run")]) == 2
    assert re.search(
        r"last\.ckpt is not a saved state \(.*\); restore it or start a new run\n$", capsys.readouterr().err
    )


@pytest.mark.parametrize("change", ["state", "byte", "key", "tensor"])
def test_a_state_that_has_changed(
    train: Train, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], change: str
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(TrainingModule, "training_step", lambda *_: _fail())
        assert train() == 70
    path = tmp_path / "run" / "last.ckpt"
    state: Any = {**dict.fromkeys(run._OF_STATE), "state_dict": {"network.tag_head.bias": torch.zeros(7)}}
    if change == "state":
        state = [1]
    elif change == "key":
        del state["loops"]
    torch.save(state, path)
    if change == "byte":
        content = bytearray(path.read_bytes())
        content[len(content) // 2] ^= 255
        path.write_bytes(content)
    capsys.readouterr()
    assert main(["train", "--resume", str(tmp_path / "run")]) == 2
    assert re.search(r"last\.ckpt is (not a saved state|the state of another model)", capsys.readouterr().err)


def test_lightning_opens_no_pickle_either(
    train: Train, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, uninterrupted: Path
) -> None:
    load = torch.load
    modes = []

    def recorded(*arguments: Any, **options: Any) -> Any:
        modes.append(options.get("weights_only"))
        return load(*arguments, **options)

    with monkeypatch.context() as patch:
        patch.setattr(TrainingModule, "validation_step", lambda *_: _fail())
        assert train(text=RESUMED) == 70
    monkeypatch.setattr(torch, "load", recorded)
    assert main(["train", "--resume", str(tmp_path / "run")]) == 0
    assert len(modes) >= 2
    assert set(modes) == {True}


def test_omissions_are_learned_by_heart(train: Train, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    golds = []
    for hypothesis, reference, word in (
        ("Er kommt.", "Er kommt nicht.", "nicht"),
        ("Sie kauft Äpfel.", "Sie kauft zwei Äpfel.", "zwei"),
        ("I have been to Beijing!", "I've never been to Beijing!", "never"),
        ("Книга лежит.", "Книга лежит на столе.", "на столе"),
    ):
        start = reference.index(word)
        missing = Omission("reference", 0, start, start + len(word), Severity.MAJOR)
        for text, omissions in ((hypothesis, (missing,)), (reference.replace(".", ""), ())):
            golds.append(Rating(Segment(text, None, (reference,)), "hand", (), omissions=omissions))
    ratings = write_ratings(tmp_path / "omissions.jsonl", tuple(golds))
    # The head cannot change the states that it reads, so it learns more slowly than the others.
    settings = (
        SETTINGS.replace("score: {}", "score: {}, omissions: {}")
        .replace("learning_rate: 3e-3", "learning_rate: 2e-2\n  encoder_learning_rate: 3e-3")
        .replace("max_epochs: 60", "max_epochs: 100")
    )
    assert train("run", "--train", str(ratings), "--dev", str(ratings), text=settings) == 0
    annotator = matese.load(tmp_path / "run" / "model", device="cpu", precision="float32")
    made = annotator.annotate_segments(rating.segment for rating in golds)
    predicted = [[(omission.start, omission.end) for omission in rating.omissions] for rating in made]
    gold = [[(omission.start, omission.end) for omission in rating.omissions] for rating in golds]
    assert predicted == gold
    assert "|decode:0.5+omissions0.5|" in annotator.signature("reference")

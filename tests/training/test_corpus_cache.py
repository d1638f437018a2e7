"""Training data that a second run does not build again."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import datasets
import pytest

from matese.annotation import Omission, Rating, Severity
from matese.model.heads import registry
from matese.model.texts.encoding import TextEncoder
from matese.training import corpus_building, corpus_cache
from matese.training.config import Config, DataConfig, TextsConfig, TrainingConfig
from matese.training.corpus import Corpus
from matese.training.reading import read
from tests.conftest import make_config
from tests.training.material import RATINGS, write_ratings

Run = Callable[..., tuple[Corpus, list[str]]]
OMISSION = Omission("source", None, 0, 3, Severity.MAJOR)


@pytest.fixture
def ratings(tmp_path: Path) -> tuple[Rating, ...]:
    missing = dataclasses.replace(RATINGS[0], omissions=(OMISSION,))
    write_ratings(tmp_path / "train.jsonl", (missing, *RATINGS[1:]))
    return (missing, *RATINGS[1:])


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tokenizer: Any, ratings: tuple[Rating, ...]) -> Run:
    """Returns the corpus of the file, and what was built on the way."""
    encoder = TextEncoder(tokenizer, max_tokens=128)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(corpus_cache, "FEWEST_SEGMENTS", 2)
    path = str(tmp_path / "train.jsonl")

    def start(
        path: str = path,
        pooling: str = "texts",
        changes: Callable[[Config], Config] = lambda config: config,
        **data: object,
    ) -> tuple[Corpus, list[str]]:
        model = make_config(score={"pooling": pooling}, omissions={}, categories={})
        config = Config(encoder="x", output="y", model=model, data=DataConfig((path,), **data))  # type: ignore[arg-type]
        config = changes(config)
        heads = registry.targets(model)
        built = []

        def build() -> tuple[Corpus, list[str]]:
            built.append("built")
            return corpus_building.build(read([path]), encoder, config.model.texts.inputs, heads), ["a message"]

        corpus, messages = corpus_cache.cached(config, encoder, heads, build)
        assert messages[0] == "a message"
        return corpus, [*built, *messages[1:]]

    return start


def test_a_second_run_reads_the_same_data_from_the_cache(run: Run, ratings: tuple[Rating, ...]) -> None:
    first = run()
    second = run()
    assert (first[1], second[1]) == (["built"], [])
    assert len(first[0].labels["omission_places"])
    assert first[0].fingerprint() == second[0].fingerprint()
    assert second[0].skipped == first[0].skipped
    assert second[0].labels["omission_places"].tolist() == first[0].labels["omission_places"].tolist()


def test_the_training_data_are_data_sets_on_disk(run: Run, tmp_path: Path, tokenizer: Any) -> None:
    corpus, _ = run()
    (directory,) = (tmp_path / "cache/matese/training").iterdir()
    texts, segments = (datasets.Dataset.from_file(str(directory / f"{name}.arrow")) for name in ("text", "segment"))
    assert len(segments) == len(corpus)
    hypothesis = texts[segments[0]["hypotheses"]]
    encoded = tokenizer(RATINGS[0].segment.hypothesis, add_special_tokens=False)
    assert (hypothesis["ids"], hypothesis["ranges"][-1][1]) == (encoded.input_ids, len(RATINGS[0].segment.hypothesis))
    assert not corpus.texts.ids.values.flags.owndata


def test_other_files_settings_and_damaged_caches_are_built(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run()
    assert run(rater="hand")[1] == ["built"]
    assert run(pooling="hypothesis")[1] == ["built"]  # settings of any head
    write_ratings(tmp_path / "train.jsonl", RATINGS[1:])
    assert run()[1] == ["built"]
    for name in ("text.arrow", "segment.arrow", "notes.json"):
        for directory in (tmp_path / "cache/matese/training").iterdir():
            whole = (directory / name).read_bytes()
            (directory / name).write_bytes(whole[: len(whole) // 2])
        assert run()[1] == ["built"]
        assert run()[1] == []
    monkeypatch.setattr(corpus_cache, "VERSION", corpus_cache.VERSION + 1)
    assert [run()[1], run()[1]] == [["built"], []]
    monkeypatch.setattr(corpus_cache, "FEWEST_SEGMENTS", 1000)
    write_ratings(tmp_path / "train.jsonl", RATINGS)
    assert [run()[1], run()[1]] == [["built"], ["built"]]


def test_every_setting_is_in_the_key_but_those_that_change_nothing(run: Run) -> None:
    """A setting that is added later is in it, too."""
    run()
    same: list[Callable[[Config], Config]] = [
        lambda config: dataclasses.replace(config, output="other"),
        lambda config: dataclasses.replace(config, training=TrainingConfig(seed=9)),
        lambda config: dataclasses.replace(config, data=dataclasses.replace(config.data, dev=("other.jsonl",))),
    ]
    assert [run(changes=change)[1] for change in same] == [[], [], []]
    more = dataclasses.make_dataclass("More", [("new", int, 1)], bases=(DataConfig,), frozen=True)

    def with_new(value: int, config: Config) -> Config:
        values = {field.name: getattr(config.data, field.name) for field in dataclasses.fields(DataConfig)}
        return dataclasses.replace(config, data=more(**values, new=value))

    assert [run(changes=partial(with_new, value))[1] for value in (1, 2, 2)] == [["built"], ["built"], []]


def test_other_texts_of_a_test_set_are_built(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "ref"
    texts = (TextsConfig(references=(str(path),)),)
    path.write_text("One.\n", encoding="utf-8")
    assert [run(texts=texts)[1], run(texts=texts)[1]] == [["built"], []]
    path.write_text("Two.\n", encoding="utf-8")
    assert run(texts=texts)[1] == ["built"]
    of_directory = (TextsConfig(test_set=str(tmp_path), lang_pair="en-de"),)
    assert [run(texts=of_directory)[1] for _ in range(2)] == [["built"], ["built"]]


def test_what_is_read_from_a_pipe_is_not_kept(run: Run, ratings: tuple[Rating, ...], tmp_path: Path) -> None:
    def built(shown: tuple[Rating, ...]) -> list[str]:
        write_ratings(tmp_path / "shown.jsonl", shown)
        reader, writer = os.pipe()
        os.write(writer, (tmp_path / "shown.jsonl").read_bytes())
        os.close(writer)
        os.dup2(reader, 99)
        os.close(reader)
        try:
            return run("/dev/fd/99")[1]
        finally:
            os.close(99)

    assert [built(ratings), built(ratings[1:])] == [["built"], ["built"]]


def test_a_file_whose_texts_are_in_other_files_is_not_kept(run: Run, tmp_path: Path) -> None:
    texts = {"sources/en-de.txt": "The A\nThe B\n", "system-outputs/en-de/S.txt": "Das A\nDas B\n"}
    scores = {"human-scores/en-de.mqm.seg.score": "S -1\nS -5\n", "references/en-de.refA.txt": "Ein A\nEin B\n"}
    for name, text in (texts | scores).items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert run(str(tmp_path / "human-scores/en-de.mqm.seg.score"))[1] == ["built"]
    assert run(str(tmp_path / "human-scores/en-de.mqm.seg.score"))[1] == ["built"]


def test_only_the_newest_are_kept(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpus_cache, "N_KEPT", 1)
    run()
    (old,) = (tmp_path / "cache/matese/training").iterdir()
    os.utime(old, (0, 0))
    run(rater="hand")
    assert not old.exists()
    assert run(rater="hand")[1] == []


def test_a_cache_that_cannot_be_written_costs_a_message(run: Run, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file in the way")
    built, message = run()[1]
    assert (built, "cannot be kept" in message) == ("built", True)

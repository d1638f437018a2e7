"""The file that names the test sets that a model has learned from."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from data_prep.datasets import DATA_SETS
from data_prep.labels import SOURCES
from matese.errors import ModelError
from matese.model.storage import checkpoint
from tests.conftest import TinyModelFactory

OF_USER = {"test_sets": [{"names": ["ours"], "lang_pairs": ["en-de"], "held_out": "5% of the sources"}]}


def test_mini_names_all_rated_data_of_its_recipe() -> None:
    test_sets = checkpoint.read_training_data(checkpoint.resolve("mini")).test_sets
    named = {(name, pair) for test_set in test_sets for name in test_set.names for pair in test_set.lang_pairs}
    learned = {(data_set.test_set, data_set.lang_pair) for data_set in DATA_SETS if data_set.role == "train"}
    assert learned <= named
    assert not {("bio", pair) for pair in SOURCES["bio"].test_pairs} & named


def test_no_prediction_depends_on_the_file(tiny_model_factory: TinyModelFactory) -> None:
    directory = tiny_model_factory("known")
    before = checkpoint.fingerprint(directory)
    (directory / checkpoint.TRAINING_DATA).write_text(json.dumps(OF_USER))
    assert checkpoint.fingerprint(directory) == before


@pytest.mark.parametrize(
    ("text", "problem"),
    [("{", "is corrupt"), ("[]", "must map"), ('{"sets": []}', "sets"), ('{"test_sets": [{}]}', "names")],
)
def test_a_file_that_is_none(tmp_path: Path, text: str, problem: str) -> None:
    (tmp_path / checkpoint.TRAINING_DATA).write_text(text)
    with pytest.raises(ModelError, match=problem):
        checkpoint.read_training_data(tmp_path)

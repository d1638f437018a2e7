"""What is told about test sets that a model has learned from."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import pytest

import matese
from data_prep.datasets import DATA_SETS
from data_prep.labels import SOURCES
from matese.annotation import Segment, SegmentKey
from matese.errors import ModelError
from matese.model.annotator import training_data_of
from matese.model.storage import checkpoint
from tests.conftest import TinyModelFactory

MINI = training_data_of(["mini"])
TENTH = "held out: a tenth of the sources, data_prep/held_out_sources.txt"
THIRD = "held out: a third of the sources, data_prep/held_out_wmt24.txt"
OF_USER = {"test_sets": [{"names": ["ours"], "lang_pairs": ["en-de"], "held_out": "5% of the sources"}]}


@pytest.mark.parametrize(
    ("test_set", "lang_pair", "learned"),
    [
        (None, None, None),
        (None, "en-de", None),
        ("unknown", "en-de", None),
        ("wmt23", "en-de", None),
        ("WMT20", None, f"ratings of WMT20 ({TENTH})"),
        ("newstest2020", "eng-deu", f"ratings of newstest2020 eng-deu ({TENTH})"),
        ("newstest2020", "en-cs", None),
        ("wmt22", "zh-en", "GPT-4's judgements of wmt22 zh-en (held out: all sources rated by people)"),
        ("bio", "zh-en", None),
        ("wmt24-esa", "en-cs", f"ratings of wmt24-esa en-cs ({THIRD})"),
        (
            "wmt24-esa",
            "en-hi",
            f"ratings, for the calibration of --error-free alone, of wmt24-esa en-hi ({THIRD})",
        ),
    ],
)
def test_test_sets_that_mini_has_learned_from(test_set: str | None, lang_pair: str | None, learned: str | None) -> None:
    assert MINI.about([(test_set, lang_pair)]) == (() if learned is None else (learned,))


def test_mini_names_all_rated_data_of_its_recipe() -> None:
    learned = {(one.test_set, one.lang_pair) for one in DATA_SETS if one.role == "train"}
    assert all(MINI.about([place]) for place in learned)
    assert not any(MINI.about([("bio", pair)]) for pair in SOURCES["bio"].test_pairs)


def test_no_prediction_depends_on_the_file(tiny_model_factory: TinyModelFactory) -> None:
    directory = tiny_model_factory("known")
    before = checkpoint.fingerprint(directory)
    (directory / checkpoint.TRAINING_DATA).write_text(json.dumps(OF_USER))
    assert checkpoint.fingerprint(directory) == before


def test_an_annotator_tells_it(tiny_model_factory: TinyModelFactory) -> None:
    directory = tiny_model_factory("known", inputs=("source",))
    (directory / checkpoint.TRAINING_DATA).write_text(json.dumps(OF_USER))
    annotator = matese.load(directory)
    told = "the model has learned from ratings of ours en-de (held out: 5% of the sources): its figures there are too"
    for again in (annotator, annotator.with_decoding(annotator.decoding), pickle.loads(pickle.dumps(annotator))):
        assert again.counts.notices == []
        keys = [None, *(SegmentKey(test_set, "en-de") for test_set in ("ours", "others", "ours"))]
        list(again.annotate_segments([Segment("das", "the", key=key) for key in keys]))
        assert [notice[: len(told)] for notice in again.counts.notices] == [told]


@pytest.mark.parametrize(
    ("text", "problem"),
    [("{", "is corrupt"), ("[]", "must map"), ('{"sets": []}', "sets"), ('{"test_sets": [{}]}', "names")],
)
def test_a_file_that_is_none(tmp_path: Path, text: str, problem: str) -> None:
    (tmp_path / checkpoint.TRAINING_DATA).write_text(text)
    with pytest.raises(ModelError, match=problem):
        checkpoint.read_training_data(tmp_path)

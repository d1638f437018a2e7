"""A head is a folder, and a row in each table of the registry."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any, get_args

import pytest

import matese.model.heads
from matese.annotation import Severity
from matese.model.config import ModelConfig
from matese.model.encoder.pooling import POOLINGS
from matese.model.encoder.settings import Pooling
from matese.model.heads import registry
from matese.model.heads.score.settings import CONTEXTS, ScorePooling
from matese.model.heads.settings import HeadSettings
from tests.conftest import make_config

FOLDER = Path(matese.model.heads.__file__).parent
NAMES = [head.name for head in registry.HEADS]
TAGGER_HEADS = ["tags", "score", "omissions", "categories", "meaning"]
MARKING: dict[str, Any] = {"word_labels": {"layer": 1, "severities": (Severity.MAJOR,)}}
SCORING: dict[str, Any] = {"quality": {}}
CASES: list[tuple[ModelConfig, list[str]]] = [
    (make_config(), ["tags"]),
    (make_config(**{name: {} for name in TAGGER_HEADS}), TAGGER_HEADS),
    (make_config(inputs=("source",), **SCORING, **MARKING), ["word_labels", "quality"]),
    (make_config(layout="alone", quality={"hidden_sizes": (8,)}), ["quality"]),
    (make_config(row_format="metricx-24", **SCORING), ["quality"]),
    (make_config(inputs=("source+reference",), layout="alone", ranking={}), ["ranking"]),
    (make_config(inputs=("source+reference",), layout="source-first", preference={}), ["preference"]),
]


@pytest.mark.parametrize(("config", "names"), CASES)
def test_settings_choose_heads_and_what_they_learn(config: ModelConfig, names: list[str]) -> None:
    assert [head.name for head in registry.heads(config)] == names
    assert [targets.name for targets in registry.targets(config)] == names


def test_each_head_has_a_row_in_each_table_and_four_modules() -> None:
    assert {name for _, names in CASES for name in names} == set(NAMES), "each head is tested above"
    assert list(registry.networks()) == NAMES
    assert [field.name for field in fields(HeadSettings)] == NAMES
    modules = ("settings.py", "decoding.py", "network.py", "targets.py")
    assert [f"{name}/{file}" for name in NAMES for file in modules if not (FOLDER / name / file).is_file()] == []


def test_each_pooling_has_a_row() -> None:
    assert get_args(Pooling) == tuple(POOLINGS)
    assert get_args(ScorePooling) == tuple(CONTEXTS)

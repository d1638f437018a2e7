"""A head is a folder, and a row in each table of the registry."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import matese.model.heads
from matese.annotation import Severity
from matese.model.config import ModelConfig
from matese.model.heads import registry

FOLDER = Path(matese.model.heads.__file__).parent
NAMES = [head.name for head in registry.HEADS]
TAGGER_HEADS = ["tags", "score", "omissions", "categories", "meaning"]
SWITCHES = ("score_head", "omission_head", "category_head", "meaning_head")
MARKING: dict[str, Any] = {"word_layer": 1, "severities": (Severity.MAJOR,)}
SCORING: dict[str, Any] = {"tag_head": False, "quality_head": True}
CASES: list[tuple[ModelConfig, list[str]]] = [
    (ModelConfig(), ["tags"]),
    (ModelConfig(**dict.fromkeys(SWITCHES, True)), TAGGER_HEADS),  # type: ignore[arg-type]
    (ModelConfig(("source",), **SCORING, **MARKING), ["word_labels", "quality"]),
    (ModelConfig(layout="alone", hidden_sizes=(8,), **SCORING), ["quality"]),
    (ModelConfig(row_format="metricx-24", **SCORING), ["quality"]),
    (ModelConfig(("source+reference",), "alone", tag_head=False, ranking_head=True), ["ranking"]),
]


@pytest.mark.parametrize(("config", "names"), CASES)
def test_settings_choose_heads_and_what_they_learn(config: ModelConfig, names: list[str]) -> None:
    assert [head.name for head in registry.heads(config)] == names
    assert [targets.name for targets in registry.targets(config)] == names


def test_each_head_has_a_row_in_each_table_and_three_modules() -> None:
    assert {name for _, names in CASES for name in names} == set(NAMES), "each head is tested above"
    assert list(registry.networks()) == NAMES
    modules = ("decoding.py", "network.py", "targets.py")
    assert [f"{name}/{file}" for name in NAMES for file in modules if not (FOLDER / name / file).is_file()] == []

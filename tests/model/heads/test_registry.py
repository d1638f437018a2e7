"""A head is a folder, and a row in each table of the registry."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest

import matese.model.heads
from matese.annotation import Severity
from matese.model.config import AnyConfig, RegressionConfig, TaggerConfig
from matese.model.heads import registry

FOLDER = Path(matese.model.heads.__file__).parent
NAMES = [head.name for head in registry.HEADS]
TAGGER_HEADS = [head for head in registry.HEADS if head.of_models is TaggerConfig]
SWITCHES = {field.name for field in dataclasses.fields(TaggerConfig)} & {head.part for head in TAGGER_HEADS}
MARKING: dict[str, Any] = {"hidden_sizes": (8,), "word_layer": 1, "severities": (Severity.MAJOR,)}
CASES: list[tuple[AnyConfig, list[str]]] = [
    (TaggerConfig(), ["tags"]),
    (TaggerConfig(**dict.fromkeys(SWITCHES, True)), [head.name for head in TAGGER_HEADS]),  # type: ignore[arg-type]
    (RegressionConfig("unified", ("source",), **MARKING), ["word_labels", "quality"]),
    (RegressionConfig("estimator", ("reference",), hidden_sizes=(8,)), ["quality"]),
    (RegressionConfig("metricx-24", ("source",)), ["quality"]),
    (RegressionConfig("ranking", ("source+reference",)), ["ranking"]),
]


@pytest.mark.parametrize(("config", "names"), CASES)
def test_settings_choose_heads_and_what_they_learn(config: AnyConfig, names: list[str]) -> None:
    assert [head.name for head in registry.heads(config)] == names
    assert [targets.name for targets in registry.targets(config)] == names


def test_each_head_has_a_row_in_each_table_and_three_modules() -> None:
    assert {name for _, names in CASES for name in names} == set(NAMES), "each head is tested above"
    assert list(registry.networks()) == NAMES
    modules = ("decoding.py", "network.py", "targets.py")
    assert [f"{name}/{file}" for name in NAMES for file in modules if not (FOLDER / name / file).is_file()] == []

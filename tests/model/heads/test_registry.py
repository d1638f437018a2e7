"""A head is a folder, a row in each table of the registry, and a setting."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import matese.model.heads
from matese.model.config import TaggerConfig
from matese.model.heads import registry

FOLDER = Path(matese.model.heads.__file__).parent
NAMES = [head.name for head in registry.HEADS]


def all_on() -> TaggerConfig:
    settings = {field.name for field in dataclasses.fields(TaggerConfig)}
    return TaggerConfig(**{head.part: True for head in registry.HEADS if head.part in settings})  # type: ignore[arg-type]


def test_the_tables_have_the_same_heads_in_the_same_order() -> None:
    assert [head.name for head in registry.heads(all_on())] == NAMES
    assert list(registry.networks()) == NAMES
    assert [targets.name for targets in registry.targets(all_on())] == NAMES


def test_each_head_has_its_three_modules() -> None:
    lacking = [
        f"{name}/{module}.py"
        for name in NAMES
        for module in ("decoding", "network", "targets")
        if not (FOLDER / name / f"{module}.py").is_file()
    ]
    assert lacking == []


def test_a_plain_model_has_tags_only() -> None:
    assert [head.name for head in registry.heads(TaggerConfig())] == ["tags"]

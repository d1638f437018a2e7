"""Model directories of formats 1 to 3, converted in memory.

They had two kinds of model: taggers, with settings of the same names as today, and models of the COMET family
("regression"), whose settings and names of tensors follow from an architecture.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from matese.errors import ModelError

_RENAMED = {"estimator": "quality_head", "tag_head": "word_head"}
"""Parts of models of the COMET family."""


def converted(values: Mapping[str, Any], path: Path) -> dict[str, Any]:
    """Returns the content of `config.json` as it is written today.

    Raises:
        ModelError: if the kind of model is unknown.
    """
    kind = values.get("kind")
    if kind not in ("tagger", "regression"):
        raise ModelError(f"{path}: kind {kind!r}; must be 'tagger' or 'regression'")
    kept = {name: value for name, value in values.items() if name != "kind"}
    if kind == "regression" and isinstance(kept.get("settings"), dict):
        kept["settings"] = _of_regression(kept["settings"])
    return kept


def _of_regression(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the settings of a model of the COMET family; what they leave out had other defaults than today."""
    left = {"dropout": 0.0, "min_confidence": None, **settings}
    architecture = left.pop("architecture", None)
    layer = left.pop("layer", None)
    transformation = left.pop("layer_transformation", "softmax")
    left.pop("scale", None)  # which follows from the head
    is_marked = architecture in ("metricx-23", "metricx-24")
    if is_marked or architecture == "unified":
        is_combined = architecture == "unified" and len(left.get("inputs", ())) > 1
        left["layout"] = "combinations" if is_combined else "together"
    else:
        left["layout"] = "alone"
    if is_marked:
        left["row_format"] = architecture
    else:
        left["layer_mix"] = transformation if layer is None else layer
    head = "ranking_head" if architecture == "ranking" else "quality_head"
    return {**left, "extra_layers": 0, "tag_head": False, head: True}


def tensor_name(settings: Mapping[str, Any], name: str) -> str:
    """Returns the name that a tensor has today in a model with these settings, which are converted."""
    part, dot, rest = name.partition(".")
    is_tagger = settings.get("tag_head", True)
    return name if is_tagger else f"{_RENAMED.get(part, part)}{dot}{rest}"

"""Released models of COMET and PEAR: `hparams.yaml` and `checkpoints/model.ckpt`, as the hub has them.

As in unbabel-comet 2.2.7 (`comet/models/__init__.py`), `hparams.yaml` names the class and the checkpoint holds the
hyperparameters; missing ones have the defaults of the class. PEAR (pear-mt 1.1.1) has the same files, or the checkpoint
alone; only its regression models with an antisymmetric head are known. The encoder's configuration and tokenizer are
not part of a checkpoint: `pretrained_model` names them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

import torch
from torch import Tensor

from matese.errors import InputError, ModelError, one_of, unknown
from matese.model.config import ModelConfig
from matese.model.encoder.settings import Pooling
from matese.model.heads.quality.settings import Activation
from matese.model.released import foreign_checkpoint
from matese.model.storage import checkpoint
from matese.model.storage.checkpoint import StoredModel
from matese.model.texts.encoding import InputKind
from matese.validation import plain_values, settings

_HPARAMS, _CHECKPOINT = checkpoint.RELEASED
_DEFAULTS: dict[str, Any] = {
    "encoder_model": "XLM-RoBERTa",
    "pretrained_model": "xlm-roberta-large",
    "pool": "avg",
    "layer": "mix",
    "layer_transformation": "softmax",
    "layer_norm": True,
    "hidden_sizes": [3072, 1024],
    "activations": "Tanh",
    "final_activation": None,
}
_UNIFIED = _DEFAULTS | {
    "pretrained_model": "microsoft/infoxlm-large",
    "sent_layer": "mix",
    "layer_transformation": "sparsemax",
    "word_layer": 24,
    "word_level_training": False,
    "error_labels": ["minor", "major"],
    "input_segments": ["mt", "src", "ref"],
}
_XCOMET = _UNIFIED | {
    "encoder_model": "XLM-RoBERTa-XL",
    "pretrained_model": "facebook/xlm-roberta-xl",
    "layer_norm": False,
    "word_layer": 36,
    "hidden_sizes": [2560, 1280],
    "word_level_training": True,
    "error_labels": ["minor", "major", "critical"],
}
_PEAR = "pairwise_metric"
_PAIRWISE = {
    "encoder_model": "InfoXLM",
    "pretrained_model": "microsoft/infoxlm-large",
    "blend": "last",
    "task": "regression",
    "use_antisymmetric_head": True,
    "layer_norm_before_head": False,
    "score_alpha": 1.0,
    "hidden_sizes": None,
    "activations": "GELU",
    "final_activation": None,
}
_ONLY = {"blend": "last", "task": "regression", "use_antisymmetric_head": True, "layer_norm_before_head": False}
"""What pear-mt supports, and released models have."""
CLASSES: dict[str, dict[str, Any]] = {
    "regression_metric": _DEFAULTS,
    "referenceless_regression_metric": _DEFAULTS | {"hidden_sizes": [2048, 1024]},
    "ranking_metric": _DEFAULTS | {"pretrained_model": "xlm-roberta-base"},
    "unified_metric": _UNIFIED,
    "xcomet_metric": _XCOMET,
    _PEAR: _PAIRWISE,
}
"""Defaults of the hyperparameters of each class, from the constructors of unbabel-comet 2.2.7 and pear-mt 1.1.1."""
_SCORE_WEIGHTS = (0.12, 0.33, 0.33, 0.22)
"""`comet/models/multitask/xcomet_metric.py`."""
_MODEL_TYPES = {
    "XLM-RoBERTa": "xlm-roberta",
    "InfoXLM": "xlm-roberta",
    "XLM-RoBERTa-XL": "xlm-roberta-xl",
    "BERT": "bert",
    "MiniLM": "bert",
    "RemBERT": "rembert",
}
_POOLS: dict[str, Pooling] = {"avg": "avg", "max": "max", "cls": "cls", "default": "cls"}
_ALL: tuple[InputKind, ...] = ("source+reference", "source", "reference")
_INPUTS: dict[tuple[str, ...], tuple[InputKind, ...]] = {
    ("mt", "ref", "src"): _ALL,
    ("mt", "src"): ("source",),
    ("mt", "ref"): ("reference",),
}


def read(directory: Path) -> StoredModel:
    """Returns a released model.

    Raises:
        ModelError: if it is incomplete, corrupt or of an unknown class, or its encoder is missing.
    """
    path = directory / _HPARAMS
    named = _read_hparams(path) if path.is_file() else {"class_identifier": _PEAR}
    identifier = named.get("class_identifier")
    if identifier not in CLASSES:
        raise ModelError(f"{path}: {unknown('class_identifier', str(identifier), CLASSES)}")
    stored = foreign_checkpoint.load_checkpoint(directory / _CHECKPOINT)
    if identifier == _PEAR and "span_proj.0.weight" not in stored["state_dict"]:
        raise ModelError(f"{path} is missing: the download is incomplete")
    hparams = {**CLASSES[identifier], **(stored.get("hyper_parameters") or named)}
    if named.get("layer_transformation") == "sparsemax_patch":
        # Such models were trained with softmax despite this setting: issue 244 of unbabel-comet.
        hparams["layer_transformation"] = "softmax"
    try:
        config = _config(identifier, hparams)
    except (InputError, TypeError, ValueError) as error:
        raise ModelError(f"{path}: {error}") from error
    kind = str(hparams["encoder_model"])
    pretrained = str(hparams["pretrained_model"])
    if kind not in _MODEL_TYPES:
        raise ModelError(f"{path}: unknown encoder_model {kind!r}: must be {one_of(list(_MODEL_TYPES))}")
    place = foreign_checkpoint.encoder_directory(directory, pretrained, named_in=_HPARAMS)
    encoder = checkpoint.read_json(place / checkpoint.CONFIG)
    if (model_type := encoder.get("model_type")) != _MODEL_TYPES[kind]:
        problem = f"{place / checkpoint.CONFIG}: model_type {model_type!r}"
        raise ModelError(f"{problem}; must be {_MODEL_TYPES[kind]!r}, the encoder_model of {path}")
    # unbabel-comet uses the tokenizer of xlm-roberta-base for MiniLM, whatever `pretrained_model` is.
    tokenizer = place
    if kind == "MiniLM":
        tokenizer = foreign_checkpoint.encoder_directory(
            directory, "xlm-roberta-base", named_in=_HPARAMS, needed="tokenizer"
        )
    tensors = _renamed(stored["state_dict"])
    if identifier == _PEAR:
        # Without a learned scale, the checkpoint has none: softplus makes the fixed one of this.
        fixed = torch.tensor(math.log(math.expm1(float(hparams["score_alpha"]) - 1e-6)))
        tensors.setdefault("preference_head.scale", fixed)
    return StoredModel(config, encoder, tensors, tokenizer, is_released=True)


def _renamed(state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Returns the tensors of a COMET checkpoint with the names of `Network`.

    Tensors that prediction does not need (pooler, loss weights, masks of layer dropout) are left out.
    """
    names = {"layerwise_attention.gamma": "mix.gamma", "hidden2tag.weight": "word_head.weight"}
    names["hidden2tag.bias"] = "word_head.bias"
    names["_alpha_raw"] = "preference_head.scale"
    tensors = {}
    weights = {}
    for name, tensor in state.items():
        head, _, rest = name.partition(".")
        if name.startswith("layerwise_attention.scalar_parameters."):
            weights[int(name.rpartition(".")[2])] = tensor
        elif name.startswith("encoder.model.") and not rest.startswith("model.pooler."):
            if not name.endswith((".position_ids", ".token_type_ids")):
                tensors["encoder." + rest.removeprefix("model.")] = tensor
        elif head in ("estimator", "pair_head"):
            # Dropout layers are numbered there: 0, 3, 6 are 0, 2, 4 here.
            _, number, kind = rest.split(".")
            place = "quality_head" if head == "estimator" else "preference_head.layers"
            tensors[f"{place}.{int(number) // 3 * 2}.{kind}"] = tensor
        elif head == "span_proj":
            tensors[f"preference_head.projection.{rest}"] = tensor
        elif name in names:
            tensors[names[name]] = tensor
    if weights:
        tensors["mix.weights"] = torch.cat([weights[number] for number in sorted(weights)])
    return tensors


def _read_hparams(path: Path) -> dict[str, Any]:
    import yaml

    try:
        text = path.read_text(encoding="utf-8")
        settings.compose(text)
        hparams = yaml.safe_load(text)
    except (ValueError, RecursionError, yaml.YAMLError) as error:
        raise ModelError(f"{path} is corrupt: {' '.join(str(error).split())}; must be YAML") from error
    if not isinstance(hparams, dict):
        raise ModelError(f"{path}: must map names of hyperparameters to values")
    return hparams


def _config(identifier: str, hparams: Mapping[str, Any]) -> ModelConfig:
    """Returns the settings of a model; their types say what is allowed."""
    if identifier == _PEAR:
        return _pairwise_config(hparams)
    layer = hparams["sent_layer" if "sent_layer" in hparams else "layer"]
    if layer != "mix" and not isinstance(layer, int):
        raise InputError(f"layer {layer!r}: must be mix or a number")
    if hparams["pool"] not in _POOLS:
        raise InputError(f"pool {hparams['pool']!r}: must be {one_of(list(_POOLS))}")
    pooling = _POOLS[hparams["pool"]]
    learned = "sparsemax" if hparams["layer_transformation"] == "sparsemax" else "softmax"
    layers: dict[str, Any] = {
        "mix": learned if layer == "mix" else layer,
        "mix_norm": bool(hparams["layer_norm"]),
        "extra": 0,
        "dropout": 0.0,
    }
    if identifier == "ranking_metric":
        return _model("alone", ["source+reference"], layers, {"ranking": {"pooling": pooling}})
    layers["dropout"] = float(hparams.get("dropout", 0))
    final = hparams["final_activation"]
    quality: dict[str, Any] = {
        "pooling": pooling,
        "hidden_sizes": list(hparams["hidden_sizes"]),
        "activation": str(hparams["activations"]).title(),
        "final_activation": None if final is None else str(final).title(),
    }
    if identifier != "unified_metric" and identifier != "xcomet_metric":
        inputs = "source+reference" if identifier == "regression_metric" else "source"
        return _model("alone", [inputs], layers, {"quality": quality})
    is_xcomet = identifier == "xcomet_metric"
    segments = ("mt", "ref", "src") if is_xcomet else tuple(sorted(hparams["input_segments"]))
    if segments not in _INPUTS:
        raise InputError(f"input_segments {list(hparams['input_segments'])}: must be mt with src, ref or both")
    words = None
    if is_xcomet or hparams["word_level_training"]:
        words = {"severities": list(hparams["error_labels"]), "layer": int(hparams["word_layer"])}
    quality |= {"pooling": "cls", "score_weights": _SCORE_WEIGHTS if is_xcomet else None}
    heads = {"word_labels": words, "quality": quality}
    has_types = hparams["encoder_model"] == "BERT"
    return _model("combinations", list(_INPUTS[segments]), layers, heads, has_token_types=has_types)


def _pairwise_config(hparams: Mapping[str, Any]) -> ModelConfig:
    for name, only in _ONLY.items():
        if hparams[name] != only:
            raise InputError(f"{name} {hparams[name]!r}: must be {only!r}, as pear-mt needs it")
    final = hparams["final_activation"]
    head = {
        "hidden_sizes": list(hparams["hidden_sizes"] or (512, 256, 128)),
        "activation": _activation(hparams["activations"]),
        "final_activation": None if final is None else _activation(final),
    }
    layers = {"mix": "last", "extra": 0, "dropout": 0.0}
    return _model("source-first", ["source+reference"], layers, {"preference": head})


def _model(
    layout: str,
    inputs: Sequence[str],
    layers: Mapping[str, object],
    heads: Mapping[str, object],
    *,
    has_token_types: bool = False,
) -> ModelConfig:
    texts = {"inputs": inputs, "layout": layout, "has_token_types": has_token_types}
    settings = {"texts": texts, "layers": layers, "heads": heads, "decoding": {"min_confidence": None}}
    return plain_values.convert(settings, ModelConfig)


def _activation(name: object) -> str:
    """Returns torch's name of an activation, which pear-mt takes in any case; "swish" is another name of SiLU."""
    wanted = str(name).strip().lower().replace("swish", "silu")
    return next((activation for activation in get_args(Activation) if activation.lower() == wanted), str(name))

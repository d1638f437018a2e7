"""Every shipped configuration trains three steps on the data that it names, its encoder a small one of its kind."""

from __future__ import annotations

import dataclasses
import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

import matese
from matese.model.encoder.loading import load_encoder
from matese.model.loading import load_tagger
from matese.training import config, run
from tests import prepared
from tests.conftest import ENCODERS, make_tokenizer

CONFIGS = Path(__file__).resolve().parents[2] / "configs"
_SMALL = {"num_hidden_layers": 2, "num_attention_heads": 2, "hidden_size": 32, "intermediate_size": 64}
_XLM_R = ENCODERS["xlm-roberta"]
_DEBERTA_V3 = {
    "model_type": "deberta-v2",
    **_SMALL,
    "relative_attention": True,
    "position_buckets": 16,
    "norm_rel_ebd": "layer_norm",
    "share_att_key": True,
    "pos_att_type": ["p2c", "c2p"],
    "position_biased_input": False,
    "type_vocab_size": 0,
}
_MODERNBERT = {
    "model_type": "modernbert",
    **_SMALL,
    "max_position_embeddings": 2048,
    "cls_token_id": 0,
    "sep_token_id": 2,
}
# What each pretrained encoder is; the architecture test of a new configuration begins here.
ARCHITECTURES: dict[str, dict[str, Any]] = {
    "FacebookAI/xlm-roberta-large": _XLM_R,
    "FacebookAI/xlm-roberta-base": _XLM_R,
    "FacebookAI/roberta-large": {**_XLM_R, "model_type": "roberta"},
    "microsoft/infoxlm-large": _XLM_R,
    "microsoft/deberta-v3-large": _DEBERTA_V3,
    "jhu-clsp/mmBERT-base": _MODERNBERT,
    "facebook/mbart-large-cc25": ENCODERS["mbart"],
    "facebook/xlm-roberta-xl": {**_XLM_R, "model_type": "xlm-roberta-xl"},
    "intfloat/multilingual-e5-small": ENCODERS["bert"],
    "mini": _XLM_R,
}
LISTINGS = {
    # A.1 and A.2, but the learning rates and what is frozen, which are those of Rei et al. 2020, section 4.1
    "comet-da": ("FacebookAI/xlm-roberta-base", 0.3, True, 1e-5, 3e-5, 1.0),
    "comet-rank": ("FacebookAI/xlm-roberta-base", 0.0, False, 1e-5, 1e-5, 1.0),
    "wmt22-comet-da": ("FacebookAI/xlm-roberta-large", 0.3, True, 1e-6, 1.5e-5, 0.95),  # A.3
    "cometkiwi": ("microsoft/infoxlm-large", 0.3, True, 1e-6, 1.5e-5, 0.95),  # A.4
    "unite": ("FacebookAI/xlm-roberta-large", 0.3, True, 1e-6, 1.5e-5, 0.95),  # A.5
}
"""Encoder, frozen epochs, frozen embeddings, learning rates, decay: the thesis of Rei, appendix A."""
# tests/training/test_finetuning.py tests the other one, which begins with a finished model.
NAMES = sorted(
    str(path.relative_to(CONFIGS).with_suffix("")) for path in CONFIGS.rglob("*.yaml") if path.stem != "finetune"
)


def save_small(hub_id: str, directory: Path) -> Path:
    """Saves a small random encoder of the same architecture, with a tokenizer."""
    tokenizer = make_tokenizer()
    settings: dict[str, Any] = {"vocab_size": len(tokenizer), "pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2}
    settings |= ARCHITECTURES[hub_id]
    load_encoder(settings).save_pretrained(str(directory))
    tokenizer.save_pretrained(str(directory))
    return directory


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `data/prepared`, which the configurations name."""
    folder = tmp_path_factory.mktemp("data")
    encoder = save_small("FacebookAI/xlm-roberta-base", folder / "encoder")
    made = folder / "data" / "prepared"
    prepared.prepare(prepared.write_raw(folder / "raw"), made, encoder=encoder)
    without_raw_files = ("gemba", "remedy", "contrasts", "written", "pairs", "short", "injected", "cheats", "varied")
    for name in without_raw_files:
        shutil.copy(made / "rewordings.jsonl", made / f"{name}.jsonl")
    return folder


@pytest.mark.parametrize("path", [*(CONFIGS / f"{name}.yaml" for name in NAMES), config.FINETUNING])
def test_each_number_has_a_source_or_is_our_choice(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    values = [line for line in lines if re.search(r"^[^#]*[:\[,] *-?[0-9]", line)]
    assert [line for line in values if "  # " not in line] == []


def test_recipes_of_the_listings() -> None:
    shipped = {name: config.load(CONFIGS / "comet" / f"{name}.yaml") for name in LISTINGS}
    recipes = {
        name: (
            recipe.encoder,
            recipe.training.frozen_epochs,
            recipe.training.freeze_embeddings,
            recipe.training.encoder_learning_rate or recipe.training.learning_rate,
            recipe.training.learning_rate,
            recipe.training.layer_decay,
        )
        for name, recipe in shipped.items()
    }
    assert recipes == LISTINGS


@pytest.mark.parametrize("name", NAMES)
def test_config_trains(name: str, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(data)
    path = CONFIGS / f"{name}.yaml"
    shipped = config.load(path)
    overrides = [
        ("output", json.dumps(str(tmp_path / "run"))),
        ("training.max_steps", "2"),
        ("training.accumulate", "1"),
        ("training.accelerator", "cpu"),
    ]
    # Of few segments, a share would leave nothing.
    files = [dataclasses.asdict(dataclasses.replace(file, share=1.0)) for file in shipped.data.rated]
    overrides.append(("data.train", json.dumps(files)))
    assert isinstance(shipped.encoder, str)
    overrides.append(("encoder", json.dumps(str(save_small(shipped.encoder, tmp_path / "encoder")))))
    overrides.append(("start", "null"))
    if shipped.model.heads.tags is not None:
        n_separate = min(1, shipped.model.texts.separate_layers)
        overrides += [("model.layers.extra_heads", "2"), ("model.texts.separate_layers", str(n_separate))]
        overrides.append(("training.frozen_layers", str(n_separate)))
    elif shipped.model.heads.word_labels is not None:
        overrides.append(("model.heads.word_labels.layer", "2"))
    changed = config.load(path, overrides=overrides)
    assert shipped.output == f"runs/{name.replace('small/', 'small-').rpartition('/')[2]}"
    result = run.train(changed)
    if shipped.model.heads.tags is None:
        assert matese.load(result.directory).config == changed.model
        assert {"dev/pearson", "dev/kendall"} & set(result.figures)
        return
    tagger, _ = load_tagger(result.directory)
    assert tagger.config == dataclasses.replace(shipped.model, texts=changed.model.texts, layers=changed.model.layers)
    assert 0 <= result.figures["dev/macro_f1"] <= 1
    if changed.data.dev == ("data/prepared/dev.jsonl",) and len(shipped.model.texts.inputs) > 1:
        assert {f"dev/{kind}/macro_f1" for kind in shipped.model.texts.inputs} <= set(result.figures)

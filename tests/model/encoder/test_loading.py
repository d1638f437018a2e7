"""Encoders of transformers."""

from __future__ import annotations

from pathlib import Path

import pytest
from safetensors.torch import load_file, save_file

from matese.errors import ModelError
from matese.model.encoder.loading import load_encoder
from tests.conftest import ENCODERS


def test_pretrained_encoder_lacks_no_weights_but_the_pooler(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    load_encoder({**ENCODERS["xlm-roberta"], "vocab_size": 300}).save_pretrained(tmp_path)
    capfd.readouterr()
    load_encoder(tmp_path)  # saved without a pooler
    assert capfd.readouterr() == ("", "")
    path = tmp_path / "model.safetensors"
    tensors = load_file(path)
    del tensors["encoder.layer.1.output.dense.bias"]
    save_file(tensors, path, {"format": "pt"})
    with pytest.raises(ModelError, match=r"^1 tensors are missing, such as encoder\.layer\.1\.output\.dense\.bias"):
        load_encoder(tmp_path)

"""Errors of meaning change tags and score above their threshold only, in numpy as in torch."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest
import torch

from matese.annotation import Segment
from matese.errors import InputError
from matese.model import loading
from matese.model.config import ModelConfig
from matese.model.heads.tags.bio import IS_MAJOR
from matese.model.inputs import collate
from matese.model.network_output import NetworkOutput
from matese.model.storage import checkpoint
from tests.conftest import TinyModelFactory
from tests.model.engines.test_numpy_engine import ODD, check_agreement
from tests.model.test_annotator import random_segments

SEGMENT = Segment("The cat sat on a mat.", "Le chat.", ("A cat was sitting there.",))


def with_thresholds(directory: Path, *thresholds: float) -> Path:
    path = directory / checkpoint.CONFIG
    config = json.loads(path.read_text(encoding="utf-8"))
    config["settings"]["meaning_thresholds"] = thresholds
    path.write_text(json.dumps(config), encoding="utf-8")
    return directory


@pytest.fixture
def directory(tiny_model_factory: TinyModelFactory) -> Path:
    return tiny_model_factory(inputs=("reference", "source"), score_head=True, meaning_head=True)


def output(directory: Path, thresholds: tuple[float, ...], inputs: str = "reference") -> NetworkOutput:
    tagger, tokenizer = loading.load_tagger(directory, is_trainable=True)
    tagger.config = dataclasses.replace(tagger.config, meaning_thresholds=thresholds)
    encoder = tagger.text_encoder(tokenizer)
    hypothesis, source, reference = encoder.tokenize([SEGMENT.hypothesis, str(SEGMENT.source), *SEGMENT.references])
    context = reference if inputs == "reference" else source
    batch = collate(encoder.join(hypothesis, [context], "reference" if inputs == "reference" else "source"), pad_id=1)
    with torch.inference_mode():
        result: NetworkOutput = tagger.eval()(batch)
    return result


def test_nothing_changes_below_the_threshold(directory: Path) -> None:
    raw = output(directory, ())
    judged = output(directory, (100.0, 100.0))
    assert raw.score is not None
    assert judged.score is not None
    assert torch.equal(raw.score, judged.score)
    assert torch.allclose(raw.tag_logits.softmax(-1), judged.tag_logits.softmax(-1), atol=1e-6)


def test_above_it_the_score_falls_and_words_become_major(directory: Path) -> None:
    raw = output(directory, ())
    judged = output(directory, (-100.0, 100.0))
    assert raw.score is not None
    assert judged.score is not None
    assert judged.score.item() == pytest.approx(raw.score.item() + 0.4 * (-25 - raw.score.item()), abs=1e-3)
    major = torch.tensor(IS_MAJOR, dtype=torch.bool)
    before = raw.tag_logits.softmax(-1)[..., major].sum(-1)
    after = judged.tag_logits.softmax(-1)[..., major].sum(-1)
    assert (after > before).all()
    assert judged.tag_logits.softmax(-1).sum(-1).allclose(torch.ones(()), atol=1e-5)


def test_around_it_the_score_falls_along_a_ramp(directory: Path) -> None:
    raw = output(directory, ()).score
    logit = output(directory, ()).of_heads["meaning"].segment_logits.item()
    assert raw is not None
    for distance, share in ((2.0, 0.0), (1.0, 0.1), (0.0, 0.2), (-1.0, 0.3), (-2.0, 0.4)):
        judged = output(directory, (logit + distance, 100.0)).score
        assert judged is not None
        assert judged.item() == pytest.approx(raw.item() + share * (-25 - raw.item()), abs=1e-3)


def test_each_kind_of_input_has_its_threshold(directory: Path) -> None:
    raw = output(directory, (), "source")
    judged = output(directory, (-100.0, 100.0), "source")
    assert raw.score is not None
    assert judged.score is not None
    assert torch.equal(raw.score, judged.score)


@pytest.mark.parametrize("thresholds", [(), (-100.0, -0.05), (0.0, 0.0)])
def test_numpy_computes_the_same(directory: Path, thresholds: tuple[float, ...]) -> None:
    check_agreement(with_thresholds(directory, *thresholds), ODD + random_segments(40), least_spans=20)


def test_thresholds_belong_to_inputs() -> None:
    with pytest.raises(InputError):
        ModelConfig(inputs=("reference", "source"), meaning_head=True, meaning_thresholds=(1.0,))

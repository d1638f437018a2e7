"""BERTScore against the package `bert_score` (`bertscore_golden.py`), YiSi against its definition."""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import AutoModel, AutoTokenizer

from matese.annotation import Segment
from matese.errors import ModelError
from matese.model.bertscore import BertScore, BertscoreVariant
from matese.model.encoder.loading import load_encoder
from matese.model.storage import checkpoint
from tests.model import bertscore_golden
from tests.model.bertscore_golden import HYPOTHESES, REFERENCES

GOLDEN = json.loads((Path(__file__).parent / "bertscore.json").read_text(encoding="utf-8"))


def segments(hypotheses: Sequence[str], *references: Sequence[str]) -> list[Segment]:
    return [
        Segment(text, None, segment_references)
        for text, segment_references in zip(hypotheses, zip(*references, strict=True), strict=True)
    ]


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return bertscore_golden.make_encoder(tmp_path_factory.mktemp("encoders") / "tiny")


@pytest.mark.parametrize("case", GOLDEN)
def test_scores_are_those_of_the_package(directory: Path, case: str) -> None:
    layer, _, idf = case.partition("-")
    variant: BertscoreVariant = "bertscore-idf" if idf else "bertscore"
    scorer = BertScore(directory, layer=int(layer))
    texts = {"A": segments(HYPOTHESES, REFERENCES), "B": segments(REFERENCES, REFERENCES)}
    scores = scorer.score(texts, [variant])[variant]
    np.testing.assert_allclose(scores["A"], GOLDEN[case], atol=2e-6)
    np.testing.assert_allclose(scores["B"], 1, atol=2e-6)
    signature = scorer.signature(variant)
    assert signature.startswith("bertscore|model:tiny@")
    assert signature.endswith(f"|layer:{layer}|idf:{'yes' if idf else 'no'}")


def test_the_best_reference_counts_and_the_last_layer_is_the_default(directory: Path) -> None:
    scorer = BertScore(directory)
    both = scorer.score({"A": segments(HYPOTHESES, REFERENCES, HYPOTHESES)}, ["bertscore"])["bertscore"]["A"]
    assert both.tolist() == pytest.approx([1, 1, 0, 1, 1, 1], abs=2e-6)  # an empty text scores 0
    scores = scorer.score({"A": segments(HYPOTHESES, REFERENCES)}, ["bertscore"])["bertscore"]["A"]
    np.testing.assert_allclose(scores, GOLDEN["3"], atol=2e-6)


def test_systems_with_references_of_their_own(directory: Path) -> None:
    scorer = BertScore(directory)
    edited = {"A": segments(HYPOTHESES, REFERENCES), "B": segments(REFERENCES, HYPOTHESES)}
    scores = scorer.score(edited, ["bertscore", "bertscore-idf"])["bertscore"]
    np.testing.assert_allclose(scores["A"], GOLDEN["3"], atol=2e-6)
    np.testing.assert_allclose(scores["A"], scores["B"], atol=2e-6)  # F1 has no direction


def test_bad_encoders(directory: Path, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"layer 4: must be from 0 to 3, the layers of .*tiny"):
        BertScore(directory, layer=4)
    with pytest.raises(ModelError, match=r"is not an encoder of transformers: "):
        BertScore(tmp_path)
    tiny = {"d_model": 8, "d_kv": 4, "d_ff": 8, "num_layers": 1, "num_heads": 2, "vocab_size": 16}
    load_encoder({"model_type": "t5", **tiny}).save_pretrained(tmp_path / "t5")
    with pytest.raises(ModelError, match=r"t5 is not an encoder of transformers: it is an encoder-decoder"):
        BertScore(tmp_path / "t5")
    (tmp_path / "empty").mkdir()
    config = (checkpoint.resolve("mini") / "config.json").read_text(encoding="utf-8")
    (tmp_path / "empty" / "config.json").write_text(config, encoding="utf-8")
    with pytest.raises(ModelError, match=r"is not an encoder of transformers: "):
        BertScore(tmp_path / "empty")


def test_yisi_is_its_definition(directory: Path) -> None:
    tokenizer: Any = AutoTokenizer.from_pretrained(directory)
    encoder: Any = AutoModel.from_pretrained(directory).eval()

    def embed(text: str) -> tuple[list[int], list[Any]]:
        ids = tokenizer.encode(text.strip())
        with torch.no_grad():
            states = encoder(torch.tensor([ids]), output_hidden_states=True).hidden_states[2][0]
        return ids[1:-1], [state / state.norm() for state in states[1:-1]]

    documents = [set(embed(text)[0]) for text in REFERENCES]

    def weigh(number: int) -> float:
        return math.log2(1 + (len(documents) + 1) / (sum(number in document for document in documents) + 1))

    def coverage(text: tuple[list[int], list[Any]], matched_text: tuple[list[int], list[Any]]) -> float:
        best = [max(0.0, *(float(state @ another) for another in matched_text[1])) for state in text[1]]
        weights = [weigh(number) for number in text[0]]
        return sum(weight * value for weight, value in zip(weights, best, strict=True)) / sum(weights)

    expected = []
    for text, reference in zip(HYPOTHESES, REFERENCES, strict=True):
        precision = 0.0
        recall = 0.0
        if text:
            precision = coverage(embed(text), embed(reference))
            recall = coverage(embed(reference), embed(text))
        expected.append(1 / (0.2 / precision + 0.8 / recall) if precision and recall else 0.0)
    scorer = BertScore(directory, layer=2)
    texts = {"A": segments(HYPOTHESES, REFERENCES), "B": segments(REFERENCES, REFERENCES)}
    scores = scorer.score(texts, ["bertscore", "yisi"])["yisi"]
    np.testing.assert_allclose(scores["A"], expected, atol=2e-6)
    np.testing.assert_allclose(scores["B"], 1, atol=2e-6)
    assert scorer.signature("yisi").endswith("|layer:2|alpha:0.8")


def test_the_default_is_the_highest_layer_that_reads_texts_alone(tiny_model_dir: Path, tmp_path: Path) -> None:
    assert "|layer:2|" in BertScore(tiny_model_dir).signature("yisi")
    directory = shutil.copytree(tiny_model_dir, tmp_path / "separate")
    config = json.loads((directory / checkpoint.CONFIG).read_text(encoding="utf-8"))
    config["model"]["texts"]["separate_layers"] = 1
    (directory / checkpoint.CONFIG).write_text(json.dumps(config), encoding="utf-8")
    assert "|layer:1|" in BertScore(directory).signature("yisi")
    assert "|layer:2|" in BertScore(directory, layer=2).signature("yisi")


def test_the_encoder_of_a_model_directory(tmp_path: Path) -> None:
    scorer = BertScore(checkpoint.resolve("mini"))
    systems = {"A": ["The house is old.", "A dog."], "B": ["Cats sleep.", "A dog."]}
    references = ["The house is very old.", "A dog."]
    texts = {system: segments(lines, references) for system, lines in systems.items()}
    scores = scorer.score(texts, ["bertscore"])["bertscore"]
    assert (scores["A"][1], scores["B"][1]) == pytest.approx((1, 1), abs=1e-5)
    assert scores["A"][0] > scores["B"][0]
    assert scorer.signature("bertscore").startswith("bertscore|model:mini@")

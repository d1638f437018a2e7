"""BERTScore against the package `bert_score` (`bertscore_golden.py`)."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from matese.encoder.bertscore import BertScore
from matese.errors import ModelError
from tests.encoder import bertscore_golden
from tests.encoder.bertscore_golden import HYPOTHESES, REFERENCES

GOLDEN = json.loads((Path(__file__).parent / "bertscore.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return bertscore_golden.make_encoder(tmp_path_factory.mktemp("encoders") / "tiny")


@pytest.mark.parametrize("case", GOLDEN)
def test_scores_are_those_of_the_package(directory: Path, case: str) -> None:
    layer, _, idf = case.partition("-")
    scorer = BertScore(directory, layer=int(layer))
    found = scorer.score({"A": HYPOTHESES, "B": REFERENCES}, [REFERENCES], has_idf=bool(idf))
    np.testing.assert_allclose(found[0], GOLDEN[case], atol=2e-6)
    np.testing.assert_allclose(found[1], 1, atol=2e-6)
    signature = scorer.signature(has_idf=bool(idf))
    assert signature.startswith("bertscore|model:tiny@")
    assert signature.endswith(f"|layer:{layer}|idf:{'yes' if idf else 'no'}")


def test_the_best_reference_counts_and_the_last_layer_is_the_default(directory: Path) -> None:
    both = BertScore(directory).score({"A": HYPOTHESES}, [REFERENCES, HYPOTHESES], has_idf=False)
    assert both[0].tolist() == pytest.approx([1, 1, 0, 1, 1, 1], abs=2e-6)  # an empty text scores 0
    one = BertScore(directory).score({"A": HYPOTHESES}, [REFERENCES], has_idf=False)
    np.testing.assert_allclose(one[0], GOLDEN["3"], atol=2e-6)


def test_bad_encoders(directory: Path, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"layer 4: must be from 0 to 3, the layers of .*tiny"):
        BertScore(directory, layer=4)
    with pytest.raises(ModelError, match=r"is no encoder of transformers: "):
        BertScore(tmp_path)

"""Minimum Bayes risk: by hand, with equal candidates, in stages, and with each kind of model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sacrebleu

import matese
from matese.annotation import Segment
from matese.choosing import utilities
from matese.errors import InputError, ModelError, UsageError
from matese.model.encoder.loading import load_encoder
from matese.model.loading import save
from matese.model.network import Network
from tests.conftest import ENCODERS, make_config, make_tokenizer
from tests.model.test_rows import COMET, rows_of

SAMPLES = ["Das Haus ist alt", "Das Haus ist neu", "Der Hund", "Das Haus ist alt"]
SOURCE = "The house is old"


def test_chrf_by_hand() -> None:
    metric = sacrebleu.CHRF()
    expected = [sum(metric.sentence_score(one, [other]).score for other in SAMPLES) / 4 for one in SAMPLES]
    (choice,) = matese.mbr([SAMPLES])
    assert choice.scores == pytest.approx(expected)
    assert (choice.index, choice.text) == (0, SAMPLES[0])


def test_equal_candidates_count_as_often_as_they_occur() -> None:
    (choice,) = matese.mbr([["a b c d", "w x y z", "w x y z"]])
    assert choice.index == 1
    (other,) = matese.mbr([["a b c d", "w x y z", "a b c d"]])
    assert other.index == 0


def test_columns_of_a_filtered_data_frame_are_candidates() -> None:
    pandas = pytest.importorskip("pandas")
    rows = pandas.DataFrame({"n_best": [["x"], SAMPLES], "source": ["y", SOURCE]}).iloc[1:]
    (choice,) = matese.mbr(rows.n_best, rows.source)
    assert (choice.text, choice.candidates.source) == (SAMPLES[0], SOURCE)


@pytest.mark.parametrize("aggregate", [False, True])
def test_degenerate_lists(aggregate: bool) -> None:
    choices = matese.mbr([["", ""], ["x"], ["", "a b"]], aggregate=aggregate)
    assert [choice.index for choice in choices] == [0, 0, 1]


def test_model_utility_is_the_mean_of_expected_scores(tiny_model_dir: Path) -> None:
    lists = [SAMPLES, ["Gut", "Schlecht"]]
    sources = [SOURCE, "Good"]
    annotator = matese.load(tiny_model_dir, precision="float32")
    for choice, texts, source in zip(matese.mbr(lists, sources, utility=tiny_model_dir), lists, sources, strict=True):
        for text, score in zip(texts, choice.scores, strict=True):
            ratings = annotator.annotate([text] * len(texts), references=texts, sources=[source] * len(texts))
            assert score == pytest.approx(np.mean([one.estimate.value for one in ratings if one.estimate]), abs=1e-3)


def test_a_blank_candidate_may_come_first(tiny_model_dir: Path) -> None:
    options: dict[str, Any] = {"sources": [SOURCE], "utility": tiny_model_dir}
    (choice,) = matese.mbr([["", *SAMPLES]], **options)
    (last,) = matese.mbr([[*SAMPLES, ""]], **options)
    assert choice.scores == pytest.approx((last.scores[-1], *last.scores[:-1]))
    (blank,) = matese.mbr([["", " "]], **options)
    assert blank.index == 0


def test_an_estimator_that_reads_references_alone_ignores_sources(tmp_path: Path) -> None:
    config = make_config(inputs=("reference",), layout="alone", quality={}, extra=0)
    encoder = load_encoder({**ENCODERS["xlm-roberta"], "vocab_size": 310, "pad_token_id": 1})
    save(tmp_path / "model", Network(config, encoder), make_tokenizer())
    (choice,) = matese.mbr([SAMPLES], [SOURCE], utility=tmp_path / "model")
    (expected,) = matese.mbr([SAMPLES], utility=tmp_path / "model")
    assert choice.scores == expected.scores


def test_an_estimator_embeds_each_text_once() -> None:
    annotator = matese.load(COMET / "estimator", precision="float32", device="cpu")
    seen = rows_of(annotator)
    utility = utilities.of_model(annotator)
    (expected,) = utility.expected([utilities.weighted_texts(SAMPLES, SOURCE)])
    assert len(seen) == len(set(seen)) == 4, "three different candidates and the source"
    pairs = [Segment(one, SOURCE, (other,)) for one in dict.fromkeys(SAMPLES) for other in SAMPLES]
    scores = [rating.estimate.value for rating in annotator.annotate_segments(pairs) if rating.estimate]
    np.testing.assert_allclose(expected, np.array(scores).reshape(3, 4).mean(1), atol=2e-4)


def test_the_average_embedding_of_one_text_is_its_own() -> None:
    annotator = matese.load(COMET / "estimator", precision="float32", device="cpu")
    one = utilities.WeightedTexts(("Gut", "Schlecht"), np.array([0.0, 1.0]), SOURCE)
    (exact,), (averaged,) = (utilities.of_model(annotator, is_aggregated=way).expected([one]) for way in (False, True))
    np.testing.assert_allclose(averaged, exact, atol=1e-6)
    same = utilities.WeightedTexts(("Gut", "Schlecht"), np.array([0.5, 0.5]), SOURCE)
    (other,) = utilities.of_model(annotator, is_aggregated=True).expected([same])
    assert not np.allclose(other, averaged, atol=1e-6)


def test_two_stages(tiny_model_dir: Path) -> None:
    texts = [*SAMPLES, "x", "Das Haus"]
    (ranked,) = matese.rerank([texts], [SOURCE], model=tiny_model_dir)
    (choice,) = matese.mbr([texts], [SOURCE], prune=2, prune_model=tiny_model_dir)
    by_text = dict(zip(texts, ranked.scores, strict=True))
    kept = sorted(by_text, key=lambda text: -(by_text[text] or 0))[:2]
    assert [score is not None for score in choice.scores] == [text in kept for text in texts]
    own = [text for text in texts if text in kept]
    (alone,) = matese.mbr([own])
    assert [score for score in choice.scores if score is not None] == pytest.approx(alone.scores)
    assert choice.text == alone.text


@pytest.mark.parametrize(
    ("arguments", "kind", "problem"),
    [
        ({"candidates": ["ab"]}, TypeError, "candidates is a str"),
        ({"candidates": [["a"], ["a", None]]}, TypeError, r"candidates \('a', None\) of source 1: must be strings"),
        ({"candidates": [["a"]], "sources": [3]}, TypeError, "source 0 is 3"),
        ({"candidates": [[]]}, InputError, "a source has no candidates"),
        ({"candidates": [["a"]], "sources": ["x", "y"]}, UsageError, "candidates of 1 source and 2 sources"),
        ({"candidates": [["a"]], "prune": 0}, UsageError, "prune 0"),
        ({"candidates": [["a"]], "prune": 1, "prune_model": COMET / "referenceless"}, UsageError, "pruning needs"),
        ({"candidates": [["a"]], "utility": COMET / "estimator"}, ModelError, "needs a source and a reference"),
        ({"candidates": [["a"]], "sources": ["b"], "utility": COMET / "referenceless"}, ModelError, "no reference"),
        (
            {"candidates": [["a"]], "sources": ["b"], "utility": COMET / "unite", "aggregate": True},
            ModelError,
            "average",
        ),
    ],
)
def test_what_cannot_be_compared(arguments: dict[str, Any], kind: type[Exception], problem: str) -> None:
    with pytest.raises(kind, match=problem):
        matese.mbr(**arguments)

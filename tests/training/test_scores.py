"""The real training command for each kind of model that scores, from settings to scores and spans."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn import functional

import matese
from matese.annotation import ErrorSpan, Overall, Rating, Segment, SegmentKey, Severity
from matese.cli import main
from matese.model.encoder.layer_mix import LayerMix
from matese.model.encoder.loading import load_encoder
from matese.model.heads import registry
from matese.model.heads.gold_scores import quality_of
from matese.model.heads.learning import IGNORED, vectors_of
from matese.model.heads.quality.network import RowVectors
from matese.model.heads.ranking.targets import triplets
from matese.model.heads.word_labels.targets import cross_entropy, severity_labels
from matese.model.network import Network
from matese.model.texts.encoding import Encoding, TextEncoder, Tokens
from matese.training import batching, corpus_building, optimisation
from matese.training.config import TrainingConfig
from matese.training.corpus import Draw
from matese.training.module import TrainingModule
from matese.training.optimisation import Steps
from matese.training.score_validation import pair_agreement
from tests.conftest import ENCODERS, make_config
from tests.training.material import RATINGS, TOKENIZER, write_ratings

NAN = float("nan")
SCORING: dict[str, Any] = {"quality": {}, "extra": 0}
SETTINGS = f"""\
encoder:
  model_type: xlm-roberta
  hidden_size: 64
  num_hidden_layers: 2
  num_attention_heads: 2
  intermediate_size: 64
  max_position_embeddings: 130
  hidden_dropout_prob: 0.0
  attention_probs_dropout_prob: 0.0
tokenizer: {TOKENIZER}
model: {{MODEL}}
output: replaced
training:
  learning_rate: 3e-3
  batch_tokens: 340
  max_epochs: 30
  validate_every: 15
  precision: float32
  accelerator: cpu
  pair_gap: 0.1
"""
HEAD = "heads: {quality: {hidden_sizes: [64]}}"
UNIFIED = (
    "texts: {layout: combinations, inputs: [source+reference, source, reference]}, "
    "layers: {extra: 0, dropout: 0.0, mix: softmax}"
)
KINDS = {
    name: f"texts: {{layout: alone, inputs: [{inputs}]}}, layers: {{extra: 0, dropout: 0.0, mix: {mix}}}, {heads}"
    for name, inputs, mix, heads in (
        ("estimator", "source+reference", "softmax", HEAD),
        ("estimator-reference", "reference", "2", HEAD),
        ("referenceless", "source", "sparsemax", HEAD),
        ("ranking", "source+reference", "softmax", "heads: {ranking: {}}"),
    )
}
KINDS |= {
    "unified": f"{UNIFIED}, heads: {{quality: {{hidden_sizes: [64], pooling: cls}}}}",
    "unified-words": f"{UNIFIED}, heads: {{word_labels: {{layer: 2, severities: [minor, major]}}, quality: {{"
    "hidden_sizes: [64], pooling: cls, score_weights: [0.12, 0.33, 0.33, 0.22]}}, decoding: {min_confidence: null}",
}
Train = Callable[..., int]


def scored(ratings: tuple[Rating, ...] = RATINGS) -> tuple[Rating, ...]:
    """Returns the ratings with keys, so that four translations have one source."""
    return tuple(
        Rating(
            Segment(rating.segment.hypothesis, rating.segment.source, rating.segment.references[:1], key),
            "hand",
            rating.errors,
        )
        for number, rating in enumerate(ratings)
        for key in (SegmentKey("set", "en-xx", f"system{number % 4}", None, number // 4),)
    )


@pytest.fixture
def train(tmp_path: Path) -> Train:
    ratings = str(write_ratings(tmp_path / "ratings.jsonl", scored()))

    def start(kind: str, *options: str, output: str = "run") -> int:
        path = tmp_path / "settings.yaml"
        path.write_text(SETTINGS.replace("MODEL", KINDS.get(kind, kind)), encoding="utf-8")
        arguments = ["--train", ratings, "--dev", ratings, "--output", str(tmp_path / output)]
        sets = [part for option in options for part in ("--set", option)]
        return main(["train", "--config", str(path), *arguments, *sets])

    return start


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_learns_16_segments_by_heart(
    kind: str, train: Train, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    longer = ["training.max_epochs=60", "training.validate_every=60"] if kind not in ("estimator", "ranking") else []
    longer += ["training.score_loss_weight=10"] if kind == "unified-words" else []
    assert train(kind, *(["training.group_size=4", "training.batch_tokens=512"] if kind == "ranking" else longer)) == 0
    figures = dict(line.split("\t") for line in capfd.readouterr().out.splitlines())
    assert float(figures["dev/pairs"]) == 1
    assert kind == "ranking" or float(figures["dev/pearson"]) >= 0.9
    annotator = matese.load(tmp_path / "run" / "model", device="cpu", precision="float32")
    made = list(annotator.annotate_segments(rating.segment for rating in scored()))
    predicted = [rating.estimate.value for rating in made if rating.estimate]
    gold = [quality_of(rating) for rating in scored()]
    if kind == "ranking":
        groups = torch.arange(16) // 4
        assert pair_agreement(torch.tensor(predicted), torch.tensor(gold), groups, gap=0.1) == 1
        assert 0 < min(predicted) < max(predicted) < 1
    elif kind != "unified-words":  # whose score has a part that is computed from the marked errors
        assert np.corrcoef(predicted, gold)[0, 1] >= 0.9
        assert np.abs(np.array(predicted) - gold).mean() <= 0.05
    if kind == "unified-words":
        marked = [{(span.start, span.severity) for span in rating.errors or ()} for rating in made]
        wanted = [{(span.start, span.severity) for span in rating.errors or ()} for rating in RATINGS]
        hits = sum(
            len(predicted_spans & gold_spans) for predicted_spans, gold_spans in zip(marked, wanted, strict=True)
        )
        assert hits >= 0.7 * sum(map(len, wanted)), "a mark may begin at the token before"
        assert float(figures["dev/macro_f1"]) >= 0.9
    else:
        assert {rating.errors for rating in made} == {None}


def test_stages_and_encoders_of_other_models(train: Train, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    brief = ("training.max_epochs=1", "training.validate_every=1")
    assert train("unified", *brief, output="first") == 0
    first = tmp_path / "first" / "model"
    tiny = "training.learning_rate=1e-12"
    start = (f"start={first}", f"tokenizer={first}")
    assert train("unified-words", *brief, tiny, *start, output="second") == 0
    assert train("estimator", *brief, tiny, f"encoder={first}", "tokenizer=null", output="third") == 0
    made = [matese.load(tmp_path / name / "model") for name in ("first", "second", "third")]
    first_weights, second_weights, third_weights = (annotator.predictor.module.state_dict() for annotator in made)
    for name, tensor in first_weights.items():
        torch.testing.assert_close(second_weights[name], tensor, atol=1e-6, rtol=0)
        if name.startswith("encoder."):
            torch.testing.assert_close(third_weights[name], tensor, atol=1e-6, rtol=0)
    capsys.readouterr()
    assert train("estimator", *brief, *start, output="fourth") == 2
    assert re.search(
        r"start .*first.model has no tensor quality_head\.0\.weight of the right shape", capsys.readouterr().err
    )
    assert not (tmp_path / "fourth").exists()


@pytest.mark.parametrize(
    ("kind", "options", "problem"),
    [
        (f"texts: {{layout: alone, inputs: [source, reference]}}, {HEAD}", [], "inputs ['source', 'reference']"),
        (f"texts: {{row_format: metricx-24}}, {HEAD}", [], "model.texts.row_format metricx-24"),
        ("estimator", ["training.ranking_loss_weight=1"], "ranking_loss_weight 1"),
        ("estimator", ["training.difference_loss_weight=1"], "difference_loss_weight 1"),
        ("estimator", ["data.train=[{file: x, raters: a}]"], "data.train: raters a: must be null except for a tagger"),
        ("estimator", ["data.unrated={files: [x]}"], "data.unrated: must be null without model.heads.score"),
        ("ranking", [], "training.group_size 1"),
        ("unified", ["training.label_weights=[1, 2]"], "training.label_weights [1.0, 2.0]"),
        ("unified-words", ["training.label_weights=[1, 2]"], "must be 3 numbers, for no error and each severity"),
        ("unified-words", ["model.heads.word_labels.layer=7"], "layer 7"),
        ("estimator-reference", ["training.mix_with_encoder=true"], "mix_with_encoder"),
        ("estimator", ["model.layers.mix_dropout=1"], "mix_dropout"),
        ("estimator", ["encoder=nowhere", "tokenizer=null"], "tokenizer nowhere cannot be loaded"),
        ("estimator", ["start=nowhere"], "no model nowhere: no such directory"),
    ],
)
def test_settings_that_do_not_fit(
    kind: str, options: list[str], problem: str, train: Train, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert train(kind, *options) == 2
    error = capsys.readouterr().err
    assert problem in error.splitlines()[-1]
    assert not (tmp_path / "run").exists()


def test_ratings_without_the_texts_are_counted(train: Train, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    ratings = [Rating(Segment("der Hund", "the dog"), "r", ()), *scored()[:4]]
    ratings.append(Rating(Segment("der Hund", "the dog", ("der Hund",)), "r", None))
    path = write_ratings(tmp_path / "some.jsonl", tuple(ratings))
    assert train("estimator", f"data.train=[{path}]", "training.max_epochs=1") == 0
    error = capfd.readouterr().err
    skipped = "skipped: 1 without the texts that the model reads (source+reference); skipped: 1 without spans"
    assert f"train: 4 ratings; {skipped}" in " ".join(error.split())
    alone = write_ratings(tmp_path / "alone.jsonl", tuple(ratings[:1]))
    assert train("estimator", f"data.train=[{alone}]", output="none") == 2


@pytest.mark.parametrize(
    ("overall", "expected"),
    [
        (Overall(-25, "mqm"), 0),
        (Overall(-5, "mqm"), 0.8),
        (Overall(-40, "mqm"), 0),
        (Overall(75, "da"), 0.75),
        (Overall(0.3, "hter"), 0.7),
        (Overall(-1.5, "z"), -1.5),
        (Overall(1.25, "comet"), 1.25),
        (None, 0.8),
    ],
)
def test_qualities(overall: Overall | None, expected: float) -> None:
    rating = Rating(Segment("abc"), "r", (ErrorSpan(0, 1, Severity.MAJOR),), overall=overall)
    assert quality_of(rating) == pytest.approx(expected)


def test_severities_of_tokens() -> None:
    ranges = [(0, 2), (2, 4), (5, 9), (9, 11), (11, 12)]
    tokens = Tokens(np.arange(5, dtype=np.int32), np.array(ranges, np.int32))
    major = Severity.MAJOR
    minor = Severity.MINOR
    spans = (ErrorSpan(0, 3, minor), ErrorSpan(2, 3, Severity.CRITICAL), ErrorSpan(5, 6, Severity.NEUTRAL))
    rating = Rating(Segment("abcd efghijk"), "r", (*spans, ErrorSpan(9, 11, None)))
    assert severity_labels(rating, tokens, (minor, major)).tolist() == [1, 2, 0, IGNORED, 0]
    assert severity_labels(rating, tokens, (minor, major, Severity.CRITICAL)).tolist()[1] == 3
    unknown = Rating(Segment("abcd efghijk"), "r", None)
    assert set(severity_labels(unknown, tokens, (minor,)).tolist()) == {IGNORED}


def test_triplets() -> None:
    hypotheses = torch.tensor([[0.0], [3.0], [9.0], [5.0]])
    anchors = torch.zeros(4, 1)
    gold = torch.tensor([0.5, 0.75, 0.5, 0.0])
    groups = torch.tensor([1, 1, 2, 2])
    # 1 is better than 0, but 3 farther away; 2 is better than 3 and 4 farther away
    expected = ((3 - 0 + 1) + (9 - 5 + 1)) / 2
    loss = triplets(hypotheses, anchors, gold, groups, gap=0.2)
    assert loss.item() == pytest.approx(expected, abs=1e-4)
    oracle = functional.triplet_margin_loss(anchors[:1], hypotheses[1:2], hypotheses[:1])
    torch.testing.assert_close(triplets(hypotheses[:2], anchors[:2], gold[:2], groups[:2], gap=0.2), oracle)
    # A difference of exactly the gap is a tie.
    assert triplets(hypotheses[:2], anchors[:2], gold[:2], groups[:2], gap=0.25).item() == 0
    assert triplets(hypotheses, anchors, gold, groups, gap=0.6).item() == 0
    assert triplets(hypotheses, anchors, torch.full((4,), NAN), groups, gap=0).item() == 0


def test_loss_of_labels() -> None:
    logits = torch.randn(2, 3, 3)
    gold = torch.tensor([[0, 1, IGNORED], [2, IGNORED, IGNORED]])
    weights = torch.tensor([0.1, 1.0, 2.0])
    each = -functional.log_softmax(logits, -1)
    expected = (0.1 * each[0, 0, 0] + each[0, 1, 1] + 2 * each[1, 0, 2]) / 3.1
    torch.testing.assert_close(cross_entropy(logits, gold, weights), expected)
    assert cross_entropy(logits, torch.full((2, 3), IGNORED), None).item() == 0


def test_layers_are_left_out_of_the_mix_in_training_only() -> None:
    mix = LayerMix(3, is_sparse=False, is_normed=False, dropout=0.5)
    layers = [torch.full((1, 2, 1), float(number)) for number in (1, 10, 100)]
    mask = torch.ones(1, 2, dtype=torch.bool)
    torch.manual_seed(1)
    drawn = {round(float(mix(layers, mask, lambda layer: layer[:, 0])), 3) for _ in range(99)}
    # the mean of each set of layers; of all three also where none is kept
    assert drawn == {1, 10, 100, 5.5, 50.5, 55, 37}
    assert float(mix.eval()(layers, mask, lambda layer: layer[:, 0])) == pytest.approx(37)


@pytest.mark.parametrize(("with_encoder", "highest", "at_first"), [(False, 1.0, 1.0), (True, 0.1, 0.0)])
def test_learning_rates_of_the_layers(with_encoder: bool, highest: float, at_first: float, tokenizer: Any) -> None:
    encoder = load_encoder({**ENCODERS["xlm-roberta"], "vocab_size": len(tokenizer)})
    config = make_config(
        inputs=("source+reference",), layout="alone", mix="softmax", quality={"hidden_sizes": (8,)}, extra=0
    )
    network = Network(config, encoder)
    settings = TrainingConfig(
        learning_rate=1.0,
        encoder_learning_rate=0.1,
        layer_decay=0.5,
        mix_with_encoder=with_encoder,
        freeze_embeddings=False,
        warmup=0.0,
    )
    module = TrainingModule(network, settings, Steps(10, 3))
    optimizer = module.configure_optimizers()["optimizer"]
    rates = {id(parameter): group["initial_lr"] for group in optimizer.param_groups for parameter in group["params"]}
    named = dict(network.named_parameters())
    assert {name: rates[id(named[name])] for name in ("mix.weights", "quality_head.0.weight")} == {
        "mix.weights": highest,
        "quality_head.0.weight": 1.0,
    }
    layers = [rates[id(named[f"encoder.encoder.layer.{number}.output.dense.bias"])] for number in (1, 0)]
    assert [*layers, rates[id(named["encoder.embeddings.word_embeddings.weight"])]] == [0.1, 0.05, 0.025]
    now = {id(parameter): group["lr"] for group in optimizer.param_groups for parameter in group["params"]}
    assert now[id(named["encoder.encoder.layer.1.output.dense.bias"])] == 0
    assert now[id(named["mix.weights"])] == now[id(named["mix.gamma"])] == at_first


@pytest.mark.parametrize("kind", ["xlm-roberta", "deberta-v2", "modernbert", "xlm-roberta-xl", "bert"])
def test_every_layer_of_every_encoder_has_a_depth(kind: str) -> None:
    small: dict[str, Any] = {"vocab_size": 300, "hidden_size": 32, "num_hidden_layers": 3, "num_attention_heads": 2}
    small |= {"intermediate_size": 64, "pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2, "cls_token_id": 0}
    encoder = load_encoder({**small, "sep_token_id": 2, "model_type": kind})
    depths = optimisation.encoder_depths(encoder)
    assert set(depths.values()) == {0, 1, 2, 3}
    embeddings: Any = encoder.get_input_embeddings()
    assert depths[id(embeddings.weight)] == 3


def test_a_long_text_counts_with_all_its_windows(tokenizer: Any) -> None:
    encoder = load_encoder({**ENCODERS["xlm-roberta"], "vocab_size": len(tokenizer)})
    words = {"layer": 2, "severities": (Severity.MAJOR,)}
    settings = make_config(inputs=("source",), quality={"pooling": "cls", "hidden_sizes": (8,)}, word_labels=words)
    hypothesis = "der gute Hund " * 20
    ratings = [
        Rating(Segment(hypothesis, "the dog"), "r", (ErrorSpan(4, 8, Severity.MAJOR),)),
        Rating(Segment("der Hund", "the dog"), "r", ()),
    ]
    texts = TextEncoder(tokenizer, max_tokens=64)
    corpus = corpus_building.build(ratings, texts, ("source",), registry.targets(settings))
    draws = [Draw(segment, 0, 0, 0.0) for segment in (0, 1)]
    batch = batching.make_batch(corpus, draws)
    n_windows = len(batch.inputs.ids) - 1
    assert n_windows > 2
    assert batch.targets.shares is not None
    ((shares, of_short),) = batch.targets.shares
    assert shares.sum() == pytest.approx(1)
    assert of_short.tolist() == [0] * n_windows + [1]
    gold = batch.targets.labels["tag_ids"][batch.inputs.hypothesis_mask]
    tokens = texts.tokenize([hypothesis])[0]
    n_wrong = sum(end > 4 and start < 8 for start, end in tokens.ranges)
    assert int((gold == 1).sum()) == n_wrong
    assert int((gold >= 0).sum()) == len(tokens.ids) + len(texts.tokenize(["der Hund"])[0].ids) + 2 * (n_windows + 1)
    with torch.no_grad():
        rows = Network(settings, encoder).eval()(batch.inputs)[RowVectors].values
    expected = (rows[:n_windows] * shares[:n_windows, None]).sum(0)
    torch.testing.assert_close(vectors_of(rows, batch.targets.shares)[0, 0], expected)
    assert isinstance(corpus.windows(draws[0])[0], Encoding)

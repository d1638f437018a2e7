from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch.nn import functional

from matese.annotation import ErrorSpan, Rating, Segment, Severity
from matese.encoder.encoding import Encoding, TextEncoder
from matese.evaluation.spans.span_hit import aggregate, span_hit
from matese.tagger.decoding import decode
from matese.tagger.model import TaggerOutput
from matese.tagger.prediction import FloatArray, join_windows
from matese.training import corpus_building
from matese.training.batching import Limits
from matese.training.corpus import Corpus
from matese.training.targets import IGNORED
from matese.training.validation import DevBatch, DevMetrics, dev_loader
from tests.training.material import RATINGS

LONG = Rating(Segment("der gute Hund " * 20, None, ("der Hund " * 20,)), "r", (ErrorSpan(4, 8, Severity.MAJOR),))


@pytest.fixture(scope="module")
def corpus(tokenizer: Any) -> Corpus:
    encoder = TextEncoder(tokenizer, max_tokens=64)
    only_source = Rating(Segment("der Hund", "the dog"), "r", ())
    return corpus_building.build((*RATINGS, only_source, LONG), encoder, ("reference", "source"), keep_ratings=True)


@pytest.fixture(scope="module")
def short(tokenizer: Any) -> Corpus:
    """No segment of which has windows."""
    return corpus_building.build(RATINGS, TextEncoder(tokenizer, max_tokens=512), ("source",), keep_ratings=True)


def batches(corpus: Corpus, inputs: Any = "reference", **place: int) -> list[DevBatch]:
    return list(dev_loader(corpus, inputs, Limits(400, 64, **place)))


def answered(dev: DevBatch, *, scores: torch.Tensor | None = None) -> TaggerOutput:
    """The output of a tagger that knows the gold tags."""
    gold = dev.batch.targets.tag_ids.clamp(min=0)
    return TaggerOutput(20 * functional.one_hot(gold, 5).float(), scores)


@pytest.mark.parametrize(("inputs", "n"), [("reference", 17), ("source", 17)])
@pytest.mark.parametrize("n_devices", [1, 3])
def test_each_usable_segment_is_read_once(corpus: Corpus, inputs: str, n: int, n_devices: int) -> None:
    shares = [batches(corpus, inputs, rank=rank, n_devices=n_devices) for rank in range(n_devices)]
    ratings = [id(rating) for share in shares for dev in share for rating in dev.ratings]
    assert len(set(ratings)) == len(ratings) == n


def test_windows_stand_beside_each_other_and_count_once(corpus: Corpus) -> None:
    [dev] = [dev for dev in batches(corpus) if LONG in dev.ratings]
    number = dev.ratings.index(LONG)
    assert len(dev.windows[number]) > 2
    assert len(dev.batch.inputs.ids) == sum(map(len, dev.windows))
    first = sum(map(len, dev.windows[:number]))
    rows = dev.batch.targets.tag_ids[first : first + len(dev.windows[number])]
    assert rows[rows != IGNORED].tolist() == corpus.labels.tag_ids[len(corpus) - 1].tolist()


def test_gold_tags_are_perfect(corpus: Corpus) -> None:
    metrics = DevMetrics(0.5)
    for dev in batches(corpus):
        scores = [-float(len(rating.errors or ())) for rating in dev.ratings]
        rows = [score / len(windows) for score, windows in zip(scores, dev.windows, strict=True) for _ in windows]
        metrics.update(dev, answered(dev, scores=torch.tensor(rows)), scores)
    figures = metrics.compute()
    assert figures["macro_f1"] == 1
    assert figures["hsh"] == figures["tsh"] == 1
    assert figures["pearson"] > 0.9
    assert [figures[f"f1_{tag}"] for tag in ("O", "B-Minor", "I-Minor", "B-Major", "I-Major")] == [1] * 5


def macro_f1(gold: list[int], predicted: list[int]) -> float:
    """By the definition, over the tags that occur on either side."""
    pairs = list(zip(gold, predicted, strict=True))
    return float(
        np.mean(
            [
                2 * pairs.count((tag, tag)) / (gold.count(tag) + predicted.count(tag))
                for tag in range(5)
                if gold.count(tag) + predicted.count(tag)
            ]
        )
    )


def spans(hypothesis: str, encoding: Encoding, rows: FloatArray) -> tuple[ErrorSpan, ...]:
    (found,) = decode([join_windows(hypothesis, [(encoding, rows, None)])], min_confidence=0.5)
    return found


def test_figures_agree_with_their_definitions(short: Corpus) -> None:
    from scipy.stats import pearsonr

    rng = torch.Generator().manual_seed(5)
    metrics, gold, predicted, hits, said, wanted = DevMetrics(0.5), [], [], [], [], []
    for dev in batches(short, "source"):
        shape = (*dev.batch.targets.tag_ids.shape, 5)
        output = TaggerOutput(
            answered(dev).tag_logits / 10 + torch.randn(shape, generator=rng),
            -torch.rand(len(dev.ratings), generator=rng),
        )
        scores = torch.rand(len(dev.ratings), generator=rng).tolist()
        metrics.update(dev, output, scores)
        kept = dev.batch.targets.tag_ids != IGNORED
        gold += dev.batch.targets.tag_ids[kept].tolist()
        predicted += output.tag_logits.argmax(-1)[kept].tolist()
        hits += [
            span_hit(rating.errors or (), spans(rating.segment.hypothesis, windows[0], rows.numpy()))
            for rating, windows, rows in zip(
                dev.ratings, dev.windows, output.tag_logits.double().log_softmax(-1), strict=True
            )
        ]
        assert output.score is not None
        said += output.score.tolist()
        wanted += scores
    figures = metrics.compute()
    assert figures["macro_f1"] == pytest.approx(macro_f1(gold, predicted))
    assert figures["hsh"] == pytest.approx(aggregate(hits).hsh)
    assert figures["tsh"] == pytest.approx(aggregate(hits).tsh)
    assert figures["pearson"] == pytest.approx(pearsonr(said, wanted).statistic, abs=1e-5)


def test_without_a_score_head_the_tags_are_correlated(short: Corpus) -> None:
    metrics = DevMetrics(0.5)
    for dev in batches(short, "source"):
        penalties = [
            sum(5.0 if span.severity is Severity.MAJOR else 1.0 for span in rating.errors or ())
            for rating in dev.ratings
        ]
        metrics.update(dev, answered(dev), [-penalty for penalty in penalties])
    assert metrics.compute()["pearson"] > 0.99


@pytest.mark.filterwarnings("ignore:The variance of predictions or target is close to zero")
def test_what_is_not_defined_is_left_out_and_each_validation_begins_anew(short: Corpus) -> None:
    metrics = DevMetrics(0.5)
    for _ in range(2):
        for dev in batches(short, "source"):
            logits = torch.zeros(*dev.batch.inputs.positions.shape, 5)
            logits[..., 0] = 9
            metrics.update(dev, TaggerOutput(logits, torch.zeros(len(dev.ratings))), [0.0] * len(dev.ratings))
        figures = metrics.compute()
        assert "hsh" not in figures
        assert "pearson" not in figures
        assert figures["tsh"] == 0
        assert metrics.hits.value == []


@pytest.mark.filterwarnings("ignore:The variance of predictions or target is close to zero")
def test_less_confidence_marks_more(short: Corpus) -> None:
    [dev] = batches(short, "source")[:1]
    logits = torch.zeros(*dev.batch.inputs.positions.shape, 5)
    logits[..., 0] = 1.0  # O is e times as probable as each error tag
    found = []
    for min_confidence in (0.5, 0.2):
        metrics = DevMetrics(min_confidence)
        metrics.update(dev, TaggerOutput(logits, torch.zeros(len(dev.ratings))), [0.0] * len(dev.ratings))
        found.append(metrics.compute()["f1_O"])
    assert found[0] > 0
    assert found[1] == 0

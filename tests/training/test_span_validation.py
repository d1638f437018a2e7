from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

import matese
from matese.annotation import ErrorSpan, Overall, Rating, Segment, Severity
from matese.model.decoding import Fitted
from matese.model.heads import registry
from matese.model.heads.tags.bio import TAGS
from matese.model.heads.tags.marking import MarkRule
from matese.model.loading import load_tagger
from matese.model.texts.encoding import TextEncoder
from matese.training import corpus_building
from matese.training.batching import BatchLimits, dev_loader
from matese.training.corpus import Corpus, Draw
from matese.training.span_validation import SpanMetrics
from tests.training.material import HEADS, RATINGS

LONG = Rating(Segment("der gute Hund " * 20, None, ("der Hund " * 20,)), "r", (ErrorSpan(4, 8, Severity.MAJOR),))


@pytest.fixture(scope="module")
def corpus(tokenizer: Any) -> Corpus:
    encoder = TextEncoder(tokenizer, max_tokens=64)
    only_source = Rating(Segment("der Hund", "the dog"), "r", ())
    return corpus_building.build(
        (*RATINGS, only_source, LONG), encoder, ("reference", "source"), HEADS, keep_ratings=True
    )


@pytest.fixture(scope="module")
def short(tokenizer: Any) -> Corpus:
    """No segment of which has windows."""
    return corpus_building.build(RATINGS, TextEncoder(tokenizer, max_tokens=512), ("source",), HEADS, keep_ratings=True)


def batches(corpus: Corpus, inputs: Any = "reference", **place: int) -> list[list[Draw]]:
    return list(dev_loader(corpus, inputs, BatchLimits(400, 64, **place)))


@pytest.mark.parametrize(("inputs", "n"), [("reference", 17), ("source", 17)])
@pytest.mark.parametrize("n_devices", [1, 3])
def test_each_usable_segment_is_read_once(corpus: Corpus, inputs: str, n: int, n_devices: int) -> None:
    shares = [batches(corpus, inputs, rank=rank, n_devices=n_devices) for rank in range(n_devices)]
    segments = [draw.segment for share in shares for batch in share for draw in batch]
    assert len(set(segments)) == len(segments) == n


FITTED = MarkRule(0.6, 1.0, 0.5, -2.0, least=0.2, least_of_short=0.1, least_of_interface=0.5, pieces=0.0, major=0.1)
REPEATED = " ".join(rating.segment.hypothesis for rating in RATINGS)
VARIED = (
    *RATINGS,
    # Read in pieces or windows, and with each of two references.
    Rating(Segment(REPEATED, "the dog", (REPEATED.upper(), "der Hund")), "r", (ErrorSpan(9, 30, Severity.MAJOR),)),
    # Neither counts.
    Rating(
        Segment("der Hund ist good", "the dog", ("das ist gut",)),
        "r",
        (ErrorSpan(0, 3, Severity.NEUTRAL), ErrorSpan(4, 8, None), ErrorSpan(9, 12, Severity.CRITICAL)),
        overall=Overall(-20.0, "mqm"),
    ),
)


@pytest.mark.parametrize("inputs", ["reference", "source"])
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"min_confidence": 0.7, "score": {}, "max_tokens": 64},
        {"min_confidence": 0.3, "whole_words": True, "omissions": {}, "min_omission_confidence": 0.4},
        # As `matese calibrate` leaves it: the least confidence of spans is not the least probability of tokens.
        {"marking": FITTED, "categories": {}},
    ],
)
def test_figures_are_those_of_evaluate(settings: Any, inputs: Any, tiny_model_factory: Any) -> None:
    fitted = (Fitted(inputs, settings.get("marking")),)
    plain_settings = {name: value for name, value in settings.items() if name != "marking"}
    directory = tiny_model_factory(inputs=(inputs,), fitted=fitted, **plain_settings)
    tagger, tokenizer = load_tagger(directory)
    corpus = corpus_building.build(VARIED, tagger.text_encoder(tokenizer), (inputs,), HEADS, keep_ratings=True)
    metrics = SpanMetrics(replace(corpus, heads=registry.targets(tagger.config)), inputs)
    with torch.inference_mode():
        for draws in batches(corpus, inputs):
            metrics.update(tagger, draws)
    predicted = list(matese.load(directory, device="cpu").annotate_segments(rating.segment for rating in VARIED))
    evaluated = matese.evaluate(VARIED, predicted, figures=matese.SpanFigures(unit=str(directory))).figures
    figures = metrics.compute()
    assert {"hsh", "tsh", "macro_f1", "pearson", "f1_O"} <= set(figures)
    names = {"macro_f1": "tags.macro.f1", "hsh": "hsh", "tsh": "tsh", "pearson": "expected_score.pearson"}
    names |= {f"macro_{rate}": f"tags.macro.{rate}" for rate in ("precision", "recall")}
    names |= {f"exact_{rate}": f"exact.{rate}" for rate in ("precision", "recall", "f1")}
    names |= {f"f1_{tag}": f"tags.{tag}.f1" for tag in TAGS}
    expected = {name: evaluated[evaluate_name].value for name, evaluate_name in names.items()}
    assert figures == {name: pytest.approx(value, abs=1e-5) for name, value in expected.items() if value == value}


def test_what_is_not_defined_is_left_out_and_each_validation_begins_anew(short: Corpus, tiny_model_dir: Path) -> None:
    tagger, _ = load_tagger(tiny_model_dir)
    torch.nn.init.zeros_(tagger.tag_head.weight)
    tagger.tag_head.bias.data = torch.tensor([9.0, 0, 0, 0, 0])
    metrics = SpanMetrics(short, "source")
    for _ in range(2):
        with torch.inference_mode():
            for draws in batches(short, "source"):
                metrics.update(tagger, draws)
        figures = metrics.compute()
        assert "hsh" not in figures
        assert figures["tsh"] == 0
    assert "f1_B-Minor" in figures

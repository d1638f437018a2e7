"""What explanations say of models whose scores are known, and which methods and models they refuse."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import matese
from matese.annotation import ErrorSpan, Estimate, Explanation, Rating, Segment, Severity, TextWeights
from matese.errors import InputError, ModelError, UsageError
from matese.explanation import black_box, explainer, fitting, method
from matese.explanation.black_box import TextWords
from matese.explanation.method import BLACK_BOX, METHODS, Method
from matese.model.encoder.observer import Observer
from matese.text.words import word_ranges
from tests.conftest import TinyModelFactory

COMET = Path(__file__).parents[1] / "model" / "released" / "comet"
SEGMENT = Segment("Das ist gut.", "this is good", ("Das ist schlecht.", "the hund"))


def load(model: str | Path = "mini") -> matese.Annotator:
    return matese.load(model, device="cpu", precision="float32")


@functools.cache
def of_comet(name: str) -> matese.Annotator:
    return load(COMET / name)


def explained(annotator: matese.Annotator, segment: Segment, by: str) -> Explanation:
    (explanation,) = explainer.explain_segments([segment], annotator, method.parse(by))
    return explanation


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("atention", "unknown method 'atention', did you mean"),
        ("", "unknown method ''"),
        ("lime:1", "must be lime"),
        ("embed-align:1:1", "must be embed-align:LAYER, with whole numbers"),
        ("attention:1:2:3", "must be attention:LAYER:HEAD"),
        ("attention:-1", "must be attention:LAYER:HEAD"),
        ("attention:0", "layer 0 is the embeddings"),
    ],
)
def test_what_names_no_method_is_refused(text: str, problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        method.parse(text)


def n_bad(segments: Iterable[Segment]) -> Iterator[Rating]:
    """Scores a segment by the words "bad" in its hypothesis, and by those that its source has more of."""
    for segment in segments:
        score = -1.0 * segment.hypothesis.split().count("bad") - 0.5 * (segment.source or "").split().count("extra")
        yield Rating(segment, None, None, estimate=Estimate(score, "mqm"))


def test_a_model_in_bf16_is_not_looked_into(tiny_model_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rounded = matese.load(tiny_model_dir, device="cpu", precision="bf16")
    with pytest.raises(ModelError, match="needs float32, but the model computes in bf16"):
        explained(rounded, SEGMENT, "attention")
    # Where the hardware has bf16, it is what "auto" means.
    monkeypatch.setattr(torch.cpu, "_is_avx512_bf16_supported", lambda: True, raising=False)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    (explanation,) = explainer.explain(
        ["Das ist gut."], references=["Das ist schlecht."], by="gradient-hidden", model=str(tiny_model_dir)
    )
    assert len(explanation.texts) == 2


@pytest.mark.parametrize("by", BLACK_BOX)
def test_the_words_that_lower_a_score_are_found(by: str) -> None:
    segment = Segment("a bad house is a bad thing", "an extra word")
    hypothesis, source = black_box.texts_of(segment)
    read = [(segment, [hypothesis, source]), (Segment(""), [])]
    (rating, (first, last)), (_, none) = black_box.weights(by, read, n_bad)
    assert (rating.segment, none) == (segment, [])
    np.testing.assert_allclose(first, [0, 1, 0, 0, 0, 1, 0], atol=0.12)
    np.testing.assert_allclose(last, [0, 0.5, 0], atol=0.12)


@pytest.mark.parametrize("by", BLACK_BOX)
@pytest.mark.parametrize("segment", [Segment("a b", "c"), Segment("a b", None, ("c",)), Segment("a", "b c", ("d e",))])
def test_a_source_or_reference_keeps_a_word(by: str, segment: Segment, tiny_model_dir: Path) -> None:
    """A blank one would count as missing."""
    explanation = explained(load(tiny_model_dir), segment, by)
    for weighted in explanation.texts:
        is_weighed = weighted.text == "hypothesis" or len(weighted.ranges) > 1
        assert np.abs(weighted.weights).mean() == pytest.approx(float(is_weighed), abs=1e-3)


def test_words_are_left_out_with_the_space_before_them() -> None:
    segment = Segment("Das ist, gut.", "a  b", ("x", "很好"))
    texts = black_box.texts_of(segment)
    assert texts[0].without(segment, [1, 3]).hypothesis == "Das,."
    assert texts[1].without(segment, [0]).source == "b"
    assert texts[3].without(segment, [0]).references == ("x", "好")
    assert TextWords("hypothesis", None, "a", ((0, 1),)).without(segment, []).hypothesis == "a"


@pytest.mark.parametrize("by", METHODS)
def test_every_method_has_a_weight_for_each_token(by: str, tiny_model_dir: Path) -> None:
    explanation = explained(load(tiny_model_dir), SEGMENT, by)
    texts = {"hypothesis": SEGMENT.hypothesis, "source": SEGMENT.source or ""}
    assert explanation.method == by
    assert explanation.texts[0].text == "hypothesis"
    assert len(explanation.texts) == (1 if by == "tags" else 4)
    for weighted in explanation.texts:
        text = texts[weighted.text] if weighted.reference is None else SEGMENT.references[weighted.reference]
        assert {text[start:end].strip() for start, end in weighted.ranges} <= set(text.split()) | {*text} | {
            text[start:end] for start, end in weighted.ranges
        }
        assert max(end for _, end in weighted.ranges) == len(text)
        assert np.abs(weighted.weights).mean() == pytest.approx(1, abs=1e-3)


def test_attention_times_the_gradient_of_values_by_hand(tiny_model_dir: Path) -> None:
    inspection = next(explainer.inspections(SEGMENT, load(tiny_model_dir)))
    attention = inspection._observer.attentions[0][0, 1].tolist()  # (tokens, tokens)
    (gradient,) = torch.autograd.grad(inspection.score, inspection._observer.values[0], retain_graph=True)
    norms = [sum(value * value for value in row) ** 0.5 for row in gradient[0, 1].tolist()]
    n = len(norms)
    expected = [sum(attention[query][key] for query in range(n)) / n * norms[key] for key in range(n)]
    part, weights = inspection.weights(method.parse("attention-value-gradient:1:1"))[0]
    np.testing.assert_allclose(weights, expected[part.places], rtol=1e-4)
    (slopes,) = torch.autograd.grad(inspection.score, inspection._observer.states[0], retain_graph=True)
    norms = [sum(value * value for value in row) ** 0.5 for row in slopes[0].tolist()]
    part, weights = inspection.weights(method.parse("gradient-norm"))[0]
    np.testing.assert_allclose(weights, norms[part.places], rtol=1e-4)


@pytest.mark.parametrize("name", ["estimator", "unite", "ranking"])
@pytest.mark.parametrize(
    "by", ["leave-one-out", "attention:1:0", "attention-value-gradient", "integrated-gradients", "embed-align:0"]
)
def test_models_of_comet_are_explained(name: str, by: str) -> None:
    explanation = explained(of_comet(name), SEGMENT, by)
    assert {weighted.text for weighted in explanation.texts} == {"hypothesis", "source", "reference"}
    assert any(np.abs(weighted.weights).max() > 1 for weighted in explanation.texts)


def test_attention_is_that_of_transformers(tiny_model_factory: TinyModelFactory) -> None:
    from matese.model.loading import load_tagger
    from matese.model.texts.encoding import TextEncoder

    model = tiny_model_factory("attentive", inputs=["reference"])
    segment = Segment("Das ist gut.", None, ("der Hund",))
    annotator = load(model)
    (reading,) = explainer.inspections(segment, annotator)
    text_encoder: Any = annotator.predictor.text_encoder
    assert isinstance(text_encoder, TextEncoder)
    tokens = text_encoder.tokenize(["Das ist gut.", "der Hund"])
    (row,) = text_encoder.join(tokens[0], tokens[1:], "reference")
    tagger, _ = load_tagger(model, is_trainable=True)
    tagger.encoder.set_attn_implementation("eager")
    with torch.inference_mode():
        ids = torch.from_numpy(row.ids.astype(np.int64))[None]
        attention = tagger.encoder(input_ids=ids, output_attentions=True).attentions[1][0]
    expected = attention[1].mean(0)[row.first : row.first + len(row.ranges)].numpy()
    (_, weights), *_ = reading.weights(Method("attention", 2, 1))
    np.testing.assert_allclose(weights, expected, atol=1e-6)


def test_integrated_gradients_add_up_to_the_score(tiny_model_factory: TinyModelFactory) -> None:
    model = tiny_model_factory("integrated", inputs=["reference"], score={})
    (reading,) = explainer.inspections(Segment("Das ist gut.", None, ("der Hund",)), load(model))
    with torch.no_grad():
        total = float(reading._integrated().sum())
        empty = float(reading._pass(Observer(baseline=reading._empty, share=0.0))[1])
        whole = float(reading._pass(Observer())[1])
    assert empty != whole
    assert -total == pytest.approx(whole - empty, abs=0.05 * max(1.0, abs(whole - empty)))


def test_a_model_is_unchanged_after_an_explanation(tiny_model_dir: Path) -> None:
    annotator = load(tiny_model_dir)
    before = list(annotator.annotate_segments([SEGMENT]))
    explained(annotator, SEGMENT, "attention-gradient")
    annotator.predictor.forget()
    assert list(annotator.annotate_segments([SEGMENT])) == before
    assert annotator.predictor.module.encoder.observer is None


@pytest.mark.parametrize(
    ("by", "problem"),
    [("attention:3", "at most 2"), ("attention:1:2", "head 2 .* less than 2"), ("embed-align:9", "at most")],
)
def test_layers_and_heads_that_do_not_exist_are_refused(by: str, problem: str, tiny_model_dir: Path) -> None:
    with pytest.raises(UsageError, match=problem):
        explained(load(tiny_model_dir), SEGMENT, by)


def test_other_encoders_and_long_texts_are_explained_from_outside(tiny_model_factory: TinyModelFactory) -> None:
    mbart = load(tiny_model_factory("mbart", kind="mbart", inputs=["source"]))
    with pytest.raises(ModelError, match="RoBERTa family; use leave-one-out or lime"):
        explained(mbart, SEGMENT, "attention")
    assert explained(mbart, SEGMENT, "leave-one-out").texts[0].weights
    short = load(tiny_model_factory("short", max_tokens=16))
    with pytest.raises(UsageError, match="longer than the model reads at once"):
        explained(short, Segment("a b c d e f g h", None, ("a b c d e f g h",)), "attention")
    with pytest.raises(UsageError, match="longer than the model reads at once"):
        explained(short, Segment("a", None, ("a b c d e f g h " * 3,)), "attention")
    with pytest.raises(UsageError, match="has no tag probabilities"):
        explained(load(COMET / "estimator"), SEGMENT, "tags")


@pytest.mark.parametrize("hypothesis", ["", " ", "\u200b"])
@pytest.mark.parametrize("by", ["leave-one-out", "tags", "attention"])
def test_a_blank_hypothesis_has_no_words(by: str, hypothesis: str, tiny_model_dir: Path) -> None:
    assert explained(load(tiny_model_dir), Segment(hypothesis, None, ("a",)), by).texts == ()


def test_a_fit_finds_the_threshold_with_the_best_f1() -> None:
    bad = np.array([True, False, True, False])
    measured = fitting.measure(Method("lime"), [fitting.Words(bad, np.array([3.0, 1.0, 2.0, 2.0]))])
    assert (measured.auc, measured.recall_at_k) == (0.875, 0.75)
    assert measured.min_weight == 2.0
    assert measured.f1 == pytest.approx(0.8)
    with pytest.raises(InputError, match="no segment has both"):
        fitting.measure(Method("lime"), [fitting.Words(np.array([True]), np.array([1.0]))])


def test_a_fit_chooses_a_layer_and_a_head(tiny_model_dir: Path) -> None:
    segment = Segment(SEGMENT.hypothesis, " ", ("", *SEGMENT.references))
    gold = Rating(segment, "anna", (ErrorSpan(8, 11, Severity.MAJOR),))

    def fit(methods: list[Method]) -> list[fitting.Fit]:
        return fitting.best(fitting.words_of([gold], load(tiny_model_dir), methods), methods)

    attention, gradient, _ = fit([Method("attention"), Method("gradient-hidden"), Method("leave-one-out")])
    assert attention.method.layer in (1, 2)
    assert gradient.method.layer in (0, 1, 2)
    places = [Method("attention", layer, head) for layer in (1, 2) for head in (None, 0, 1)]
    assert attention.auc == max(fitted.auc for fitted in fit(places))


def test_words_from_a_weight_on_become_errors() -> None:
    segment = Segment("Das große Haus, alt")
    ranges = word_ranges(segment.hypothesis)
    weights = TextWeights("hypothesis", None, tuple(ranges), (0.1, 2.0, 2.5, 0.2, 3.0))
    rating = fitting.spans(Explanation(Rating(segment, "matese|m", None), "lime", (weights,)), 2.0)
    assert [(error.start, error.end, error.severity) for error in rating.errors or ()] == [
        (4, 14, Severity.MINOR),
        (16, 19, Severity.MINOR),
    ]
    assert rating.rater == "matese|m|explained:lime>=2"

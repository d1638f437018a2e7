"""PEAR models with random weights, against a plain implementation: released weights were not at hand."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import yaml
from torch.nn import functional
from transformers import AutoTokenizer, XLMRobertaConfig, XLMRobertaModel

import matese
from matese.annotation import Segment, SegmentKey
from matese.choosing import preferences
from matese.errors import ModelError, UsageError
from matese.model import loading
from matese.tasks import baselines

ENCODER = Path(__file__).parent / "comet" / "encoders" / "xlmr"
HPARAMS: dict[str, Any] = {
    "class_identifier": "pairwise_metric",
    "encoder_model": "InfoXLM",
    "pretrained_model": str(ENCODER),
    "hidden_sizes": [12, 8],
    "activations": "GELU",
}
TEXTS = [
    ("The house is old.", "Das Haus ist alt.", "Das Haus ist sehr alt."),
    ("The dog sleeps.", "Die Katze!", "Der Hund schläft unter dem Tisch."),
    ("Good", "Gut", "Gut"),
]


def tensors(encoder: XLMRobertaModel) -> dict[str, torch.Tensor]:
    """Random weights by the names of a checkpoint of pear-mt 1.1.1."""
    width = encoder.config.hidden_size
    made = {"_alpha_raw": torch.tensor(0.7)}
    for name, (rows, columns) in {
        "span_proj.0": (width, 3 * width), "pair_head.ff.0": (12, width), "pair_head.ff.3": (8, 12),
        "pair_head.ff.6": (1, 8),
    }.items():  # fmt: skip
        made[f"{name}.weight"] = 0.3 * torch.randn(rows, columns)
        made[f"{name}.bias"] = 0.3 * torch.randn(rows)
    made["span_proj.2.weight"] = torch.randn(width)
    made["span_proj.2.bias"] = torch.randn(width)
    of_encoder = {f"encoder.model.{name}": tensor for name, tensor in encoder.state_dict().items()}
    return {**of_encoder, **made}


@pytest.fixture(scope="module")
def encoder() -> Any:
    torch.manual_seed(3)
    made: Any = XLMRobertaModel(XLMRobertaConfig.from_pretrained(ENCODER), add_pooling_layer=False)
    return made.eval()


@pytest.fixture(scope="module")
def model(encoder: XLMRobertaModel, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("pear"), tensors(encoder))


def write(folder: Path, state: dict[str, torch.Tensor], *, has_hparams: bool = True, **changes: Any) -> Path:
    (folder / "checkpoints").mkdir(parents=True)
    hparams = HPARAMS | changes
    if has_hparams:
        (folder / "hparams.yaml").write_text(yaml.safe_dump(hparams), encoding="utf-8")
    else:  # as at the hub
        (folder / "config.json").write_text('{"library_name": "pear"}', encoding="utf-8")
    torch.save({"state_dict": state, "hyper_parameters": hparams}, folder / "checkpoints" / "model.ckpt")
    return folder


@torch.inference_mode()
def expected(encoder: XLMRobertaModel, state: dict[str, torch.Tensor], texts: tuple[str, str, str]) -> float:
    """The score of pear-mt: `concat_sequences` of its encoders and `forward` of its PairwiseMetric."""
    tokenizer = AutoTokenizer.from_pretrained(ENCODER)
    parts = [tokenizer(text, add_special_tokens=False)["input_ids"] for text in texts]
    ids = [0, *parts[0], 2, 2, *parts[1], 2, 2, *parts[2], 2]
    states = encoder(torch.tensor([ids])).last_hidden_state[0]
    means = []
    start = 1
    for part in parts:
        means.append(states[start : start + len(part)].mean(0))
        start += len(part) + 2

    def linear(name: str, values: torch.Tensor) -> torch.Tensor:
        return functional.linear(values, state[f"{name}.weight"], state[f"{name}.bias"])

    def value(text: torch.Tensor) -> torch.Tensor:
        features = torch.cat([text, text * means[0], (text - means[0]).abs()])
        projected = functional.gelu(linear("span_proj.0", features))
        width = len(projected)
        hidden = functional.layer_norm(projected, [width], state["span_proj.2.weight"], state["span_proj.2.bias"])
        for name in ("pair_head.ff.0", "pair_head.ff.3"):
            hidden = functional.gelu(linear(name, hidden))
        return linear("pair_head.ff.6", hidden)

    scale = functional.softplus(state["_alpha_raw"]) + 1e-6
    return float(scale * (value(means[1]) - value(means[2])))


def segments() -> list[Segment]:
    return [Segment(hypothesis, source, (reference,)) for source, hypothesis, reference in TEXTS]


def test_scores_are_those_of_pear(model: Path, encoder: XLMRobertaModel, tmp_path: Path) -> None:
    state = torch.load(model / "checkpoints" / "model.ckpt")["state_dict"]
    annotator = matese.load(model, precision="float32", device="cpu")
    ratings = list(annotator.annotate_segments(segments()))
    scores = [rating.estimate.value for rating in ratings if rating.estimate]
    np.testing.assert_allclose(scores, [expected(encoder, state, texts) for texts in TEXTS], atol=2e-6)
    assert {rating.errors for rating in ratings} == {None}
    assert "|score:pairwise|" in (ratings[0].rater or "")
    loading.convert(model, tmp_path / "own", name="Org/pear")
    again = matese.load(tmp_path / "own", precision="float32", device="cpu").annotate_segments(segments())
    np.testing.assert_allclose([rating.estimate.value for rating in again if rating.estimate], scores, atol=2e-6)


def test_a_checkpoint_alone_and_a_fixed_scale(model: Path, tmp_path: Path) -> None:
    state = torch.load(model / "checkpoints" / "model.ckpt")["state_dict"]
    scale = math.log1p(math.exp(float(state.pop("_alpha_raw")))) + 1e-6
    alone = matese.load(write(tmp_path / "alone", state, has_hparams=False, score_alpha=2 * scale), precision="float32")
    ratings = zip(
        matese.load(model, precision="float32").annotate_segments(segments()),
        alone.annotate_segments(segments()),
        strict=True,
    )
    for learned, fixed in ratings:
        assert learned.estimate is not None
        assert fixed.estimate is not None
        assert fixed.estimate.value == pytest.approx(2 * learned.estimate.value, abs=2e-6)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"use_antisymmetric_head": False}, "use_antisymmetric_head False: must be True"),
        ({"blend": "mix"}, "blend 'mix'"),
        ({"activations": "Mexican"}, "activation: Invalid enum value 'Mexican'"),
        ({"hidden_sizes": [0]}, "hidden_sizes"),
    ],
)
def test_models_that_pear_has_not(encoder: XLMRobertaModel, changes: Any, problem: str, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=problem):
        matese.load(write(tmp_path / "pear", tensors(encoder), **changes))


def test_it_needs_a_source_and_something_to_compare_with(model: Path) -> None:
    with pytest.raises((ModelError, UsageError), match="needs"):
        list(matese.load(model).annotate_segments([Segment("Gut", "Good")]))


def test_translations_are_compared_with_each_other(model: Path) -> None:
    """The mean over the others; equal ones are a tie, one alone has nothing to compare with."""
    annotator = matese.load(model, precision="float32", device="cpu")
    texts = ("Das Haus ist alt.", "Das Heim.", "Das Haus ist alt.", "Alt!")
    groups = [[Segment("Gut", "Good")], [Segment(text, "The house is old.") for text in texts], [Segment("a", "b")]]
    rated = preferences.rate(annotator, groups)
    alone, of_house, _ = ([rating.estimate.value for rating in ratings if rating.estimate] for ratings in rated)
    assert alone == [0.0]
    pairs = {}
    for a, b in (("Das Haus ist alt.", "Das Heim."), ("Das Haus ist alt.", "Alt!"), ("Das Heim.", "Alt!")):
        (rating,) = annotator.annotate_segments([Segment(a, "The house is old.", (b,))])
        assert rating.estimate is not None
        pairs[a, b] = rating.estimate.value
        pairs[b, a] = -rating.estimate.value
    for text, value in zip(texts, of_house, strict=True):
        rivals = list(texts)
        rivals.remove(text)
        mean = sum(pairs.get((text, rival), 0.0) for rival in rivals) / 3
        assert value == pytest.approx(mean, abs=1e-5)
    choices = matese.rerank([texts], ["The house is old."], model=model)
    assert choices[0].index == int(np.argmax(of_house))
    assert matese.mbr([texts], ["The house is old."], utility=model)[0].text in texts


def test_it_compares_systems_without_references(model: Path) -> None:
    (metric,) = baselines.make_baselines([str(model)], loading={"precision": "float32"})
    key = SegmentKey(lang_pair="en-de")
    systems = {
        name: [Segment(texts[place], texts[0], key=key) for texts in TEXTS] for name, place in (("A", 1), ("B", 2))
    }
    assert all(metric.can_read(segment) for segment in systems["A"])
    (scores,) = metric.score(systems)
    np.testing.assert_allclose(scores.segments["A"], -scores.segments["B"], atol=1e-6)
    assert scores.segments["A"][2] == 0  # equal translations
    assert scores.segments["A"][0] != 0

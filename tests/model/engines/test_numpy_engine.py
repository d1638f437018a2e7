"""Numpy computes what torch computes, and is chosen for few segments."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import matese
from matese.annotation import Segment
from matese.errors import ModelError, UsageError
from matese.model import loading
from matese.model.decoding import Fitted
from matese.model.decoding_choice import OVERRIDES, Override
from matese.model.encoder import numpy_layers
from matese.model.engines import choice, numpy_engine
from matese.model.engines.engine import Hardware
from matese.model.engines.numpy_engine import NumpyEngine
from matese.model.heads.meaning.settings import MeaningRule
from matese.model.storage import checkpoint
from matese.model.storage.packing import StoredPrecision
from tests.conftest import TinyModelFactory
from tests.model.test_annotator import HYPOTHESES, REFERENCES, places, random_segments

EXAMPLES = Path(__file__).parents[3] / "examples"
SETTINGS: tuple[dict[str, Any], ...] = (
    {},
    {"inputs": ("source+reference", "source"), "score": {}, "mix": "sum-last-4", "extra": 2},
    {"extra": 0, "score": {"pooling": "texts"}, "max_tokens": 100},
    {"inputs": ("source+reference", "reference"), "omissions": {}, "min_omission_confidence": 0.018},
    {"categories": {}, "max_tokens": 100},
    {"inputs": ("source+reference", "reference"), "separate_layers": 1, "score": {}, "max_tokens": 100},
    {"kind": "bert", "score": {}},
    {"extra_width": 40},
    {"score": {}, "meaning": {}, "fitted": [Fitted("reference", meaning=MeaningRule(-1.0))], "extra_width": 40},
)
ODD = [Segment(*texts) for texts in zip(HYPOTHESES, HYPOTHESES[::-1], ((text,) for text in REFERENCES), strict=True)]
ODD += [Segment("", "a", ("b",)), Segment(" ", "", ("",))]
ODD += [
    Segment(
        "Das ist heute gut und schön. Das Haus war gestern nicht so gut! Um 9 Uhr kam sie.",
        "This is good and fine today. The house was not so good yesterday! She came at 9.",
        ("Heute ist das gut und schön. Gestern war das Haus nicht so gut! Sie kam um 9 Uhr.",),
    )
]
LONG = [Segment("a" * 999, "b ", ("c",)), Segment("a", "b " * 600, ("c " * 600,))]


def check_agreement(
    directory: str | Path, segments: list[Segment], *, least_spans: int, overrides: tuple[Override, ...] = OVERRIDES
) -> None:
    """Compares probabilities, spans and scores with those of torch in float32."""
    choice = matese.DecodingChoice(overrides=overrides)
    in_numpy = matese.load(directory, n_segments=1, choice=choice)
    in_torch = matese.load(directory, precision="float32", device="cpu", choice=choice)
    assert isinstance(in_numpy.predictor.engine, NumpyEngine)
    segments = list(filter(in_numpy.can_read, segments))
    pairs = list(zip(in_numpy.annotate_tokens(segments), in_torch.annotate_tokens(segments), strict=True))
    assert places(rating for (rating, _), _ in pairs) == places(expected_rating for _, (expected_rating, _) in pairs)
    assert sum(map(len, places(rating for (rating, _), _ in pairs))) >= least_spans
    for (rating, tokens), (expected_rating, expected_tokens) in pairs:
        assert (rating.rater, rating.unplaced, tokens.ranges) == (
            expected_rating.rater,
            expected_rating.unplaced,
            expected_tokens.ranges,
        )
        assert [(lack.start, lack.end) for lack in rating.omissions] == [
            (lack.start, lack.end) for lack in expected_rating.omissions
        ]
        np.testing.assert_allclose(np.array(tokens.probabilities), np.array(expected_tokens.probabilities), atol=3e-5)
        assert rating.estimate is not None
        assert expected_rating.estimate is not None
        assert rating.estimate.value == pytest.approx(expected_rating.estimate.value, abs=2e-4)
    assert in_numpy.counts == in_torch.counts


@pytest.mark.parametrize("settings", SETTINGS)
def test_it_computes_what_torch_computes(settings: dict[str, Any], tiny_model_factory: TinyModelFactory) -> None:
    directory = tiny_model_factory(**{"inputs": ("reference", "source"), **settings})
    check_agreement(directory, ODD + LONG + random_segments(16), least_spans=15)


@pytest.mark.parametrize("settings", SETTINGS)
def test_a_hypothesis_without_tokens_may_be_read(
    settings: dict[str, Any], tiny_model_factory: TinyModelFactory
) -> None:
    directory = tiny_model_factory(**{"inputs": ("reference", "source"), **settings})
    for segment in (Segment("", "a", ("b",)), Segment("", "b " * 600, ("c " * 600,))):
        check_agreement(directory, [segment], least_spans=0, overrides=())


@pytest.mark.parametrize("most", [1, 60])
def test_it_does_not_matter_which_rows_are_computed_together(
    most: int, tiny_model_factory: TinyModelFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(numpy_engine, "_BATCH_TOKENS", most)
    directory = tiny_model_factory(
        inputs=("source+reference", "reference"), separate_layers=1, score={}, max_tokens=100
    )
    check_agreement(directory, ODD + LONG + random_segments(16), least_spans=15)


def test_token_types_are_left_to_torch(tiny_model_factory: TinyModelFactory) -> None:
    directory = tiny_model_factory(kind="bert", has_token_types=True)
    assert most_segments(directory) == 0
    plain = tiny_model_factory(kind="bert")
    segments = [Segment("Das ist gut", None, ("das ist good",))]
    scores = [
        rating.estimate and rating.estimate.value
        for model in (directory, plain)
        for rating in matese.load(model, n_segments=1).annotate_segments(segments)
    ]
    assert scores[0] != scores[1]


@pytest.mark.parametrize("precision", ["float16", "int8"])
def test_stored_numbers_are_unpacked_alike(
    precision: StoredPrecision, tiny_model_factory: TinyModelFactory, tmp_path: Path
) -> None:
    tagger, tokenizer = loading.load_tagger(tiny_model_factory(), is_trainable=True)
    loading.save(tmp_path / "small", tagger, tokenizer, precision=precision)
    check_agreement(tmp_path / "small", random_segments(20), least_spans=10)


def mixed_texts(n_segments: int) -> list[Segment]:
    """Segments made of the words of the example texts, in any order and number."""
    rng = random.Random(3)
    words = [(EXAMPLES / f"{name}.txt").read_text(encoding="utf-8").split() for name in ("mt", "src", "ref")]

    def text(language_words: list[str]) -> str:
        start = rng.randrange(len(language_words))
        n_words = rng.randint(1, 30)
        taken = language_words[start : start + n_words]
        rng.shuffle(taken[: rng.randint(0, n_words)])
        return " ".join(taken)

    texts = [[text(language_words) for language_words in words] for _ in range(n_segments)]
    return [Segment(hypothesis, source, (reference,)) for hypothesis, source, reference in texts]


@pytest.mark.parametrize("kind", ["reference", "source"])
def test_the_embedded_model_says_the_same(kind: str) -> None:
    lines = [(EXAMPLES / f"{name}.txt").read_text(encoding="utf-8").splitlines() for name in ("mt", "src", "ref")]
    segments = [Segment(hypothesis, source, (reference,)) for hypothesis, source, reference in zip(*lines, strict=True)]
    read = [*segments[:3], *mixed_texts(3), *ODD]
    if kind == "reference":
        read = [Segment(segment.hypothesis, None, segment.references) for segment in read]
    else:
        read = [Segment(segment.hypothesis, segment.source) for segment in read]
    check_agreement("mini", read, least_spans=8)


def most_segments(directory: Path) -> int:
    return numpy_engine.most_segments(checkpoint.read_config(directory))


def test_it_is_chosen_for_few_segments(tiny_model_factory: TinyModelFactory) -> None:
    tiny = tiny_model_factory()
    most = most_segments(tiny)

    def is_numpy(**options: Any) -> bool:
        return isinstance(matese.load(tiny, **options).predictor.engine, NumpyEngine)

    assert is_numpy(n_segments=most)
    assert is_numpy(n_segments=1, device="cpu", precision="float32", batch_tokens=5)
    assert not is_numpy(n_segments=most + 1)
    assert not is_numpy()
    assert not is_numpy(n_segments=1, precision="bf16")
    assert is_numpy(n_segments=1, threads=1)
    assert is_numpy(engine="numpy")
    assert not is_numpy(n_segments=1, engine="torch")
    assert 80 <= most_segments(checkpoint.resolve("mini")) < 100 < 10_000 < most
    assert most_segments(tiny_model_factory(kind="mbart")) == 0


def test_it_is_chosen_where_memory_is_short(monkeypatch: pytest.MonkeyPatch) -> None:
    config = checkpoint.read_config(checkpoint.resolve("mini"))
    for available, expected in ((1e12, False), (1e8, True)):
        monkeypatch.setattr(choice, "_available_memory", lambda available=available: available)
        assert choice.is_numpy(Hardware(), config, 100_000) == expected
        assert not choice.is_numpy(Hardware(), config, None)
        assert not choice.is_numpy(Hardware("cuda"), config, 100_000)


@pytest.mark.parametrize(
    ("options", "kind"),
    [
        ({"engine": "jax"}, UsageError),
        ({"engine": "numpy", "device": "cuda"}, UsageError),
        ({"engine": "numpy", "precision": "bf16"}, UsageError),
        ({"engine": "numpy", "uncertainty": "dropout:2"}, UsageError),
    ],
)
def test_what_numpy_cannot_do(options: dict[str, Any], kind: type[Exception]) -> None:
    with pytest.raises(kind):
        matese.load("mini", **options)


def test_a_model_that_numpy_cannot_compute(tiny_model_factory: TinyModelFactory) -> None:
    with pytest.raises(ModelError, match="use engine torch"):
        matese.load(tiny_model_factory(kind="mbart"), engine="numpy")


def test_the_signature_does_not_depend_on_the_size_of_the_job(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cpu, "_is_avx512_bf16_supported", lambda: True, raising=False)
    few, many = (matese.load("mini", n_segments=n_segments).signature("reference") for n_segments in (1, 1000))
    assert "|precision:float32|" in few
    assert few == many
    assert "|precision:bf16|" in matese.load("mini", precision="bf16").signature("reference")


def test_the_activation_is_that_of_torch() -> None:
    values = np.linspace(-12, 12, 100_001, dtype=np.float32)
    expected = torch.nn.functional.gelu(torch.from_numpy(values).double()).numpy()
    np.testing.assert_allclose(numpy_layers.gelu(values), expected, atol=1e-6, rtol=1e-6)

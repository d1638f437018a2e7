"""The settings of a regression model, as a model directory holds them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

from matese.annotation import Scale, Severity
from matese.errors import InputError, one_of
from matese.model.texts.encoding import InputKind

Architecture = Literal["estimator", "referenceless", "ranking", "unified", "metricx-23", "metricx-24"]
ROWS = ("unified", "metricx-23", "metricx-24")
"""Architectures that read all texts in one row. The others embed each text alone."""
_INPUTS: dict[str, tuple[InputKind, ...]] = {
    "estimator": ("source+reference", "reference"),
    "referenceless": ("source",),
    "ranking": ("source+reference",),
}
"""Kinds of input that models with separate embeddings can read; each model reads one of them."""
Pooling = Literal["avg", "cls", "max"]
LayerTransformation = Literal["softmax", "sparsemax"]
ACTIVATIONS = ("Tanh", "Sigmoid", "Softplus", "Softsign", "Hardtanh", "Mish")
"""Activations of torch. COMET finds no others because it looks for the name in title case."""


@dataclass(frozen=True)
class RegressionConfig:
    """Settings of a regression model.

    Attributes:
        architecture: estimator (separate embeddings of hypothesis, source and reference: Rei et al. 2020, section 2.3;
            or without the source), referenceless (the same without a reference), ranking (distances of the embeddings:
            section 2.4), or unified (one row of all texts: Wan et al. 2022, UniTE); metricx-23 and metricx-24: see
            `matese.model.released.metricx`.
        inputs: what the model can read besides the hypothesis. A unified model with all three kinds reads a segment
            with source and reference three times: with the source, with the reference, and with both.
        pooling: how the tokens of a text become one embedding: their mean, the first token, or the maximum.
        layer: encoder layer that is read, 0 for the embeddings; None for a learned mix of all layers.
        layer_transformation: function that normalises the weights of the mix.
        layer_norm: whether the layers are normalised before they are mixed.
        hidden_sizes: widths of the hidden layers of the estimator.
        activation: activation after each hidden layer.
        final_activation: activation after the last layer; None for none.
        dropout: dropout after each hidden layer, in training.
        layer_dropout: probability that a layer is left out of the mix, in training (Rei et al. 2020, section 2.2).
        has_token_types: whether the encoder gets token types that mark the hypothesis, as BERT does.
        word_layer: encoder layer that the error labels are predicted from; None for a model that marks no errors.
        severities: severities of the errors that the model marks.
        input_weights: weights of a segment's three readings (source, reference, both) in the label probabilities.
        score_weights: weights of the same readings, and of the MQM score of the marked errors, in the score (xCOMET);
            None for the mean of the readings.
        min_confidence: error probability from which a token is marked; None for its most probable label.
        whole_words: whether spans are widened to whole words.
        scale: scale of the score.
        max_tokens: longest input, including special tokens.
    """

    architecture: Architecture
    inputs: tuple[InputKind, ...]
    pooling: Pooling = "avg"
    layer: int | None = None
    layer_transformation: LayerTransformation = "softmax"
    layer_norm: bool = False
    hidden_sizes: tuple[int, ...] = ()
    activation: str = "Tanh"
    final_activation: str | None = None
    dropout: float = 0.0
    layer_dropout: float = 0.0
    has_token_types: bool = False
    word_layer: int | None = None
    severities: tuple[Severity, ...] = ()
    input_weights: tuple[float, float, float] = (0.1667, 0.3333, 0.5)
    score_weights: tuple[float, float, float, float] | None = None
    min_confidence: float | None = None
    whole_words: bool = False
    scale: Scale = "comet"
    max_tokens: int = 512
    lang_pairs: ClassVar[tuple[str, ...]] = ()
    """Only taggers have this setting."""

    def __post_init__(self) -> None:
        has_head = self.architecture in ("estimator", "referenceless", "unified")
        if has_head != bool(self.hidden_sizes) or min(self.hidden_sizes, default=1) < 1:
            allowed = "a list of integers of 1 or more" if has_head else f"empty for {self.architecture} models"
            raise InputError(f"hidden_sizes {list(self.hidden_sizes)}: must be {allowed}")
        for name, others in (("activation", ()), ("final_activation", (None,))):
            if getattr(self, name) not in (*ACTIVATIONS, *others):
                raise InputError(f"{name} {getattr(self, name)!r}: must be {one_of(ACTIVATIONS)}")
        if self.max_tokens < 16:
            raise InputError(f"max_tokens {self.max_tokens}: must be 16 or more")
        for rate in ("dropout", "layer_dropout"):
            if not 0 <= getattr(self, rate) < 1:
                raise InputError(f"{rate} {getattr(self, rate)}: must be at least 0 and less than 1")
        self._check_inputs()
        self._check_marking()

    def _check_inputs(self) -> None:
        if not self.inputs or not set(self.inputs) <= set(get_args(InputKind)):
            raise InputError(f"inputs {list(self.inputs)}: must be one or more of {', '.join(get_args(InputKind))}")
        allowed = _INPUTS.get(self.architecture)
        if allowed is not None and (len(self.inputs) > 1 or self.inputs[0] not in allowed):
            raise InputError(f"inputs {list(self.inputs)}: must be {one_of(allowed)} for {self.architecture}")

    def _check_marking(self) -> None:
        if (self.word_layer is None) != (not self.severities):
            raise InputError("word_layer and severities: set both or neither")
        if self.word_layer is not None and self.architecture != "unified":
            raise InputError(f"word_layer {self.word_layer}: must be null for {self.architecture} models")
        if self.score_weights is not None and self.word_layer is None:
            raise InputError("score_weights: must be null for a model that marks no errors")
        if self.min_confidence is not None and not 0 < self.min_confidence < 1:
            raise InputError(f"min_confidence {self.min_confidence}: must be greater than 0 and less than 1")

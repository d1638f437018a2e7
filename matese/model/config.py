"""The settings of models, as a model directory and `configs/*.yaml` hold them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

from matese.annotation import Scale, Severity
from matese.errors import InputError, one_of
from matese.model.error_free import ErrorFreeDetector
from matese.model.heads.tags.confidence import SpanConfidence
from matese.model.model_input import Layout
from matese.model.texts.encoding import InputKind

CALIBRATED = ("min_confidence", "confidences", "meaning_thresholds", "error_free")
"""Settings that `matese calibrate` fits."""
LayerMix = Literal["last", "sum-last-4"]
ScorePooling = Literal["hypothesis", "texts"]
Architecture = Literal["estimator", "referenceless", "ranking", "unified", "metricx-23", "metricx-24"]
_INPUTS_ALONE: dict[str, tuple[InputKind, ...]] = {
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
class TaggerConfig:
    """Settings of a tagger.

    Attributes:
        inputs: what the model can read besides the hypothesis: reference, source, source+reference.
        layer_mix: which encoder layers are read: the last, or the sum of the last four (as in the released MaTESe
            models).
        extra_layers: number of transformer layers on top of the encoder, randomly initialised.
        extra_heads: attention heads of each extra layer.
        dropout: in the extra layers and before the heads.
        score_head: whether the model also predicts the segment's MQM score.
        score_pooling: what the score head averages: the tokens of the hypothesis only, or those of the hypothesis and,
            separately, those of the other texts, so that omissions count too.
        omission_head: whether the model also finds the words that the hypothesis lacks, of the reference or, without
            one, of the source.
        category_head: whether the model also predicts the main MQM category of each error.
        meaning_head: whether the model also judges, apart from its tags and score, whether the hypothesis says
            something else than the other texts, see `matese.model.heads.meaning.network`.
        meaning_inputs: the kinds of input with which the meaning head is used.
        meaning_thresholds: for each of `inputs`, the logit of an error of meaning above which the score is lowered and
            words are marked; empty for never. `matese calibrate` fits them.
        min_omission_confidence: least probability of a missing word that is marked.
        separate_layers: number of the lowest encoder layers in which each text is read alone, as the encoder was
            pretrained. The remaining layers read all texts together, with each token's similarity to the other texts.
            0: all layers read all texts together.
        max_tokens: longest input, including special tokens; longer texts are read in overlapping windows.
        min_confidence: least confidence of a marked span, see `matese.model.heads.tags.decoding.decode`; 0.5 marks the
            most probable tags.
        span_budget: spans are marked from the most confident on while their penalties amount to at most this multiple
            of the expected score's distance from 0; a Major for which too little is left becomes a Minor. null to mark
            every span with `min_confidence`.
        whole_words: whether spans are widened to whole words, as human raters mark them.
        confidences: how the confidence of a span follows from its tokens, at most one entry for each kind of input;
            without an entry, it is the mean error probability. `matese calibrate` fits them.
        error_free: how segments that are free of errors are told from others; for each kind of input at most one entry
            for some language pairs, and one for all others; without one, they cannot be. `matese calibrate` fits them.
        lang_pairs: language pairs that the model was trained on ("en-de"); empty if unknown.
        few_ratings: those of them with few ratings by people, where marks are less reliable.
    """

    inputs: tuple[InputKind, ...] = ("reference",)
    layer_mix: LayerMix = "last"
    extra_layers: int = 2
    extra_heads: int = 8
    dropout: float = 0.1
    score_head: bool = False
    score_pooling: ScorePooling = "hypothesis"
    omission_head: bool = False
    category_head: bool = False
    meaning_head: bool = False
    meaning_inputs: tuple[InputKind, ...] = ("reference",)
    meaning_thresholds: tuple[float, ...] = ()
    min_omission_confidence: float = 0.5
    separate_layers: int = 0
    max_tokens: int = 512
    min_confidence: float = 0.5
    span_budget: float | None = None
    whole_words: bool = False
    confidences: tuple[SpanConfidence, ...] = ()
    error_free: tuple[ErrorFreeDetector, ...] = ()
    lang_pairs: tuple[str, ...] = ()
    few_ratings: tuple[str, ...] = ()
    kind: ClassVar[str] = "tagger"
    """Value of `kind` in `config.json`."""
    scale: ClassVar[Scale] = "mqm"
    """Scale of the expected score."""
    digits: ClassVar[int] = 4
    """Decimal places of the expected score."""
    layout: ClassVar[Layout] = "together"
    has_overrides: ClassVar[bool] = True
    """Whether rules may override the model."""
    labels_special_tokens: ClassVar[bool] = False
    """Whether the special tokens around the hypothesis count as its tokens."""

    def __post_init__(self) -> None:
        if not self.inputs or not set(self.inputs) <= set(get_args(InputKind)):
            raise InputError(f"inputs {list(self.inputs)}: must be one or more of {', '.join(get_args(InputKind))}")
        for name, choices in (("layer_mix", get_args(LayerMix)), ("score_pooling", get_args(ScorePooling))):
            if getattr(self, name) not in choices:
                raise InputError(f"{name} {getattr(self, name)!r}: must be {one_of(choices)}")
        if self.separate_layers and self.layer_mix != "last":
            raise InputError("separate_layers: must be 0 if layer_mix is not last")
        for name, lowest in (("separate_layers", 0), ("extra_layers", 0), ("extra_heads", 1), ("max_tokens", 16)):
            if getattr(self, name) < lowest:
                raise InputError(f"{name} {getattr(self, name)}: must be {lowest} or more")
        if not 0 <= self.dropout < 1:
            raise InputError(f"dropout {self.dropout}: must be at least 0 and less than 1")
        if len(self.meaning_thresholds) not in (0, len(self.inputs)):
            raise InputError(
                f"meaning_thresholds has {len(self.meaning_thresholds)} values and inputs {len(self.inputs)}; "
                "give one threshold for each kind of input, or none"
            )
        self._check_decoding()

    def _check_decoding(self) -> None:
        if self.span_budget is not None and (self.span_budget <= 0 or not self.score_head):
            raise InputError(f"span_budget {self.span_budget}: must be greater than 0, and needs a score head")
        for name in ("min_confidence", "min_omission_confidence"):
            if not 0 < getattr(self, name) < 1:
                raise InputError(f"{name} {getattr(self, name)}: must be greater than 0 and less than 1")

    def confidence(self, inputs: InputKind) -> SpanConfidence | None:
        """Returns the span confidence fitted for a kind of input; None without one."""
        return next((confidence for confidence in self.confidences if confidence.inputs == inputs), None)


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
    kind: ClassVar[str] = "regression"
    digits: ClassVar[int] = 6
    lang_pairs: ClassVar[tuple[str, ...]] = ()
    """Only taggers have this setting."""
    few_ratings: ClassVar[tuple[str, ...]] = ()
    """Only taggers have this setting."""
    error_free: ClassVar[tuple[ErrorFreeDetector, ...]] = ()
    """Only taggers have this setting."""
    has_overrides: ClassVar[bool] = False
    labels_special_tokens: ClassVar[bool] = True
    """unbabel-comet labels special tokens too, and its score depends on that."""

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

    @property
    def layout(self) -> Layout:
        """How the texts of a reading are divided into rows."""
        if self.architecture not in ("unified", "metricx-23", "metricx-24"):
            return "alone"
        return "combinations" if self.architecture == "unified" and len(self.inputs) > 1 else "together"

    def _check_inputs(self) -> None:
        if not self.inputs or not set(self.inputs) <= set(get_args(InputKind)):
            raise InputError(f"inputs {list(self.inputs)}: must be one or more of {', '.join(get_args(InputKind))}")
        allowed = _INPUTS_ALONE.get(self.architecture)
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


AnyConfig = TaggerConfig | RegressionConfig
"""Settings of any model."""

"""The settings of a model, as a model directory and `configs/*.yaml` hold them.

One type for all models: taggers, estimators, ranking models and unified models differ in how texts become rows
(`layout`), in the layers that are read (`layer_mix`, `extra_layers`), in the pooling, and in the heads.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from matese.annotation import Severity
from matese.errors import InputError, one_of
from matese.model.error_free import ErrorFreeDetector
from matese.model.heads.tags.confidence import SpanConfidence
from matese.model.model_input import Layout
from matese.model.texts.encoding import InputKind

CALIBRATED = ("min_confidence", "confidences", "meaning_thresholds", "error_free")
"""Settings that `matese calibrate` fits."""
LearnedMix = Literal["softmax", "sparsemax"]
LayerMix = Literal["last", "sum-last-4", "softmax", "sparsemax"]
ScorePooling = Literal["hypothesis", "texts"]
Pooling = Literal["avg", "cls", "max"]
RowFormat = Literal["special-tokens", "metricx-23", "metricx-24"]
_READ_ALONE: tuple[InputKind, ...] = ("source+reference", "reference", "source")
"""Kinds of input that models with separate embeddings can read; each model reads one of them."""
ACTIVATIONS = ("Tanh", "Sigmoid", "Softplus", "Softsign", "Hardtanh", "Mish")
"""Activations of torch. COMET finds no others because it looks for the name in title case."""


@dataclass(frozen=True)
class ModelConfig:
    """Settings of a model. By default, it is a tagger as in Perrella et al. 2022.

    Attributes:
        inputs: what the model can read besides the hypothesis: reference, source, source+reference.
        layout: how texts become rows: together, all texts in one row; alone, each text in a row of its own, whose
            embeddings are compared (COMET: Rei et al. 2020); or combinations, all texts in one row or, for source and
            reference, three rows: with the source, with the reference, and with both (UniTE: Wan et al. 2022).
        max_tokens: longest input, including special tokens; longer texts are read in overlapping windows.
        row_format: how the texts of a row are told apart: by special tokens, or as in a released MetricX.
        has_token_types: whether the encoder gets token types that mark the hypothesis, as BERT does.
        separate_layers: number of the lowest encoder layers in which each text is read alone, as the encoder was
            pretrained. The remaining layers read all texts together, with each token's similarity to the other texts.
            0: all layers read all texts together.
        layer_mix: which encoder layers are read: the last; the sum of the last four (as in the released MaTESe models);
            a mix with learned weights, normalised by softmax or sparsemax (Rei et al. 2020, equation 1); or the number
            of one layer, 0 for the embeddings.
        layer_norm: whether the layers are normalised before they are mixed with learned weights.
        layer_dropout: probability that a layer is left out of that mix, in training (Rei et al. 2020, section 2.2).
        extra_layers: number of transformer layers on top of the encoder, randomly initialised.
        extra_heads: attention heads of each extra layer.
        dropout: in the extra layers, before the heads and in their hidden layers.
        pooling: how the tokens of a row become one embedding, for the quality and ranking heads: their mean, the first
            token, or the maximum.
        tag_head: whether the model marks errors by BIO tags, as a tagger does.
        score_head: whether a tagger also predicts the segment's MQM score.
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
        quality_head: whether the model scores embeddings by feed-forward layers: those of the texts that it reads alone
            (an estimator: Rei et al. 2020, section 2.3), or those of rows of several texts (a unified model).
        hidden_sizes: widths of the hidden layers of the quality head.
        activation: activation after each hidden layer.
        final_activation: activation after the last layer; null for none.
        score_weights: weights of the scores of a segment's three rows (source, reference, both), and of the MQM score
            of the marked errors, in the score (xCOMET); null for the mean of the rows.
        ranking_head: whether the model scores the distances of embeddings (a ranking model: Rei et al. 2020, section
            2.4).
        severities: severities of the errors that a unified model marks; empty if it marks none.
        word_layer: encoder layer that these errors are predicted from; null without any.
        input_weights: weights of a segment's three rows (source, reference, both) in the probabilities of these errors.
        min_confidence: of a tagger, least confidence of a marked span, see `matese.model.heads.tags.decoding.decode`;
            0.5 marks the most probable tags. Of a unified model, the error probability from which a token is marked;
            null for its most probable label.
        min_omission_confidence: least probability of a missing word that is marked.
        span_budget: spans are marked from the most confident on while their penalties amount to at most this multiple
            of the expected score's distance from 0; a Major for which too little is left becomes a Minor. null to mark
            every span with `min_confidence`. A minimum confidence that the user gives switches it off.
        whole_words: whether spans are widened to whole words, as human raters mark them.
        confidences: how the confidence of a span follows from its tokens, at most one entry for each kind of input;
            without an entry, it is the mean error probability. `matese calibrate` fits them.
        error_free: how segments that are free of errors are told from others; for each kind of input at most one entry
            for some language pairs, and one for all others; without one, they cannot be. `matese calibrate` fits them.
        lang_pairs: language pairs that the model was trained on ("en-de"); empty if unknown.
        few_ratings: those of them with few ratings by people, where marks are less reliable.
    """

    inputs: tuple[InputKind, ...] = ("reference",)
    layout: Layout = "together"
    max_tokens: int = 512
    row_format: RowFormat = "special-tokens"
    has_token_types: bool = False
    separate_layers: int = 0
    layer_mix: int | LayerMix = "last"
    layer_norm: bool = False
    layer_dropout: float = 0.0
    extra_layers: int = 2
    extra_heads: int = 8
    dropout: float = 0.1
    pooling: Pooling = "avg"
    tag_head: bool = True
    score_head: bool = False
    score_pooling: ScorePooling = "hypothesis"
    omission_head: bool = False
    category_head: bool = False
    meaning_head: bool = False
    meaning_inputs: tuple[InputKind, ...] = ("reference",)
    meaning_thresholds: tuple[float, ...] = ()
    quality_head: bool = False
    hidden_sizes: tuple[int, ...] = ()
    activation: str = "Tanh"
    final_activation: str | None = None
    score_weights: tuple[float, float, float, float] | None = None
    ranking_head: bool = False
    severities: tuple[Severity, ...] = ()
    word_layer: int | None = None
    input_weights: tuple[float, float, float] = (0.1667, 0.3333, 0.5)
    min_confidence: float | None = 0.5
    min_omission_confidence: float = 0.5
    span_budget: float | None = None
    whole_words: bool = False
    confidences: tuple[SpanConfidence, ...] = ()
    error_free: tuple[ErrorFreeDetector, ...] = ()
    lang_pairs: tuple[str, ...] = ()
    few_ratings: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self._check_choices()
        self._check_inputs()
        self._check_layers()
        self._check_heads()
        self._check_decoding()

    @property
    def architecture(self) -> str:
        """What the literature calls such a model."""
        if self.tag_head:
            return "tagger"
        if self.row_format != "special-tokens":
            return self.row_format
        if self.ranking_head:
            return "ranking"
        if self.layout != "alone":
            return "unified"
        return "referenceless" if self.inputs == ("source",) else "estimator"

    @property
    def has_learned_mix(self) -> bool:
        """Whether the layers of the encoder are mixed with learned weights."""
        return self.layer_mix in get_args(LearnedMix)

    def confidence(self, inputs: InputKind) -> SpanConfidence | None:
        """Returns the span confidence fitted for a kind of input; None without one."""
        return next((confidence for confidence in self.confidences if confidence.inputs == inputs), None)

    def _check_choices(self) -> None:
        choices = {"layout": Layout, "row_format": RowFormat, "pooling": Pooling, "score_pooling": ScorePooling}
        for name, kind in choices.items():
            if getattr(self, name) not in get_args(kind):
                raise InputError(f"{name} {getattr(self, name)!r}: must be {one_of(get_args(kind))}")
        if not isinstance(self.layer_mix, int) and self.layer_mix not in get_args(LayerMix):
            allowed = f"{one_of(get_args(LayerMix))}, or the number of a layer"
            raise InputError(f"layer_mix {self.layer_mix!r}: must be {allowed}")
        for name, others in (("activation", ()), ("final_activation", (None,))):
            if getattr(self, name) not in (*ACTIVATIONS, *others):
                raise InputError(f"{name} {getattr(self, name)!r}: must be {one_of(ACTIVATIONS)}")

    def _check_inputs(self) -> None:
        if not self.inputs or not set(self.inputs) <= set(get_args(InputKind)):
            raise InputError(f"inputs {list(self.inputs)}: must be one or more of {', '.join(get_args(InputKind))}")
        if self.layout == "alone" and len(self.inputs) > 1:
            raise InputError(f"inputs {list(self.inputs)}: must be one of {one_of(_READ_ALONE)} if layout is alone")
        if self.ranking_head and self.inputs != ("source+reference",):
            raise InputError(f"inputs {list(self.inputs)}: must be source+reference for a ranking head")
        if len(self.meaning_thresholds) not in (0, len(self.inputs)):
            raise InputError(
                f"meaning_thresholds has {len(self.meaning_thresholds)} values and inputs {len(self.inputs)}; "
                "give one threshold for each kind of input, or none"
            )

    def _check_layers(self) -> None:
        if self.separate_layers and self.layer_mix != "last":
            raise InputError("separate_layers: must be 0 if layer_mix is not last")
        if self.separate_layers and self.has_token_types:
            raise InputError("separate_layers: must be 0 if has_token_types is true")
        for name, lowest in (("separate_layers", 0), ("extra_layers", 0), ("extra_heads", 1), ("max_tokens", 16)):
            if getattr(self, name) < lowest:
                raise InputError(f"{name} {getattr(self, name)}: must be {lowest} or more")
        if min(self.hidden_sizes, default=1) < 1:
            raise InputError(f"hidden_sizes {list(self.hidden_sizes)}: must be integers of 1 or more")
        for rate in ("dropout", "layer_dropout"):
            if not 0 <= getattr(self, rate) < 1:
                raise InputError(f"{rate} {getattr(self, rate)}: must be at least 0 and less than 1")

    def _check_heads(self) -> None:
        """Raises an InputError unless exactly one head judges the segment, and the others fit to it."""
        heads = ("tag_head", "quality_head", "ranking_head")
        chosen = [name for name in heads if getattr(self, name)]
        if len(chosen) != 1:
            named = f"{' and '.join(chosen)} are true" if chosen else "none is true"
            raise InputError(f"{', '.join(heads)}: {named}; exactly one must be")
        for name in ("score_head", "omission_head", "category_head", "meaning_head"):
            if getattr(self, name) and not self.tag_head:
                raise InputError(f"{name}: must be false without a tag_head")
        layouts = {"tag_head": ("together",), "quality_head": get_args(Layout), "ranking_head": ("alone",)}[chosen[0]]
        if self.layout not in layouts:
            raise InputError(f"layout {self.layout}: must be {one_of(layouts)} for a {chosen[0].replace('_', ' ')}")
        if (self.word_layer is None) != (not self.severities):
            raise InputError("word_layer and severities: set both or neither")
        if self.severities and (self.layout == "alone" or not self.quality_head):
            raise InputError("severities: must be empty except for a quality_head on rows of several texts")
        if self.score_weights is not None and not self.severities:
            raise InputError("score_weights: must be null for a model that marks no severities")

    def _check_decoding(self) -> None:
        if self.span_budget is not None and (self.span_budget <= 0 or not self.score_head):
            raise InputError(f"span_budget {self.span_budget}: must be greater than 0, and needs a score head")
        for name in ("min_confidence", "min_omission_confidence"):
            least = getattr(self, name)
            if least is not None and not 0 < least < 1:
                raise InputError(f"{name} {least}: must be greater than 0 and less than 1")
        if self.min_confidence is None and self.tag_head:
            raise InputError("min_confidence: must not be null for a tagger")

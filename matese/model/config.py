"""The settings of a tagger, as a model directory and `configs/*.yaml` hold them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from matese.errors import InputError, one_of
from matese.model.error_free import ErrorFreeDetector
from matese.model.heads.tags.confidence import SpanConfidence
from matese.model.texts.encoding import InputKind

KIND = "tagger"
"""Value of `kind` in the `config.json` of a tagger."""
CALIBRATED = ("min_confidence", "confidences", "meaning_thresholds", "error_free")
"""Settings that `matese calibrate` fits."""
LayerMix = Literal["last", "sum-last-4"]
ScorePooling = Literal["hypothesis", "texts"]


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
        error_free: how segments that are free of errors are told from others, at most one entry for each kind of
            input; without one, they cannot be. `matese calibrate` fits them.
        lang_pairs: language pairs that the model was trained on ("en-de"); empty if unknown.
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

    def error_free_detector(self, inputs: InputKind) -> ErrorFreeDetector | None:
        """Returns the detector of segments free of errors that was fitted for a kind of input; None without one."""
        return next((detector for detector in self.error_free if detector.inputs == inputs), None)

    def confidence(self, inputs: InputKind) -> SpanConfidence | None:
        """Returns the span confidence fitted for a kind of input; None without one."""
        return next((confidence for confidence in self.confidences if confidence.inputs == inputs), None)

"""The settings of a tagger, as a model directory and `configs/*.yaml` hold them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

from matese.encoder.encoding import Inputs
from matese.tagger.blending import Blend

LayerMix = Literal["last", "sum-last-4", "learned"]
ScorePooling = Literal["hypothesis", "texts"]


@dataclass(frozen=True)
class TaggerConfig:
    """Settings of a tagger.

    Attributes:
        inputs: what the model may be given beside the hypothesis: reference, source, source+reference.
        layer_mix: which encoder layers are read: the last, the sum of the last four (as the released MaTESe models
            do), or all with learned weights.
        extra_layers: transformer layers on top, randomly initialised.
        extra_heads: attention heads of each.
        dropout: in the extra layers and before the heads.
        score_head: whether the segment's MQM score is regressed too.
        score_pooling: what the score head reads the mean of: the tokens of the hypothesis alone, or of all texts, those
            of the contexts apart, so that what is missing from the hypothesis counts too.
        lexical_match: whether the encoder is told which tokens stand in the other texts too: for encoders from scratch.
        max_tokens: longest input, special tokens included; longer texts are read in windows.
        min_confidence: probability of an error from which a token is marked, 0.5 for the most probable tags.
        whole_words: whether spans are widened to whole words, as human raters mark them.
        blends: what the expected score is made of beside the score head, at most one for each of the inputs; where
            there is none, the head alone counts. `matese calibrate` fits them.
    """

    inputs: tuple[Inputs, ...] = ("reference",)
    layer_mix: LayerMix = "last"
    extra_layers: int = 2
    extra_heads: int = 8
    dropout: float = 0.1
    score_head: bool = False
    score_pooling: ScorePooling = "hypothesis"
    lexical_match: bool = False
    max_tokens: int = 512
    min_confidence: float = 0.5
    whole_words: bool = False
    blends: tuple[Blend, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "inputs", tuple(self.inputs))
        given: Any = self.blends  # mappings, from a model directory
        object.__setattr__(self, "blends", tuple(one if isinstance(one, Blend) else Blend(**one) for one in given))
        if not self.inputs or not set(self.inputs) <= set(get_args(Inputs)):
            raise ValueError(f"inputs {list(self.inputs)}: must be one or more of {', '.join(get_args(Inputs))}")
        if self.layer_mix not in get_args(LayerMix):
            raise ValueError(f"layer_mix {self.layer_mix!r}: must be one of {', '.join(get_args(LayerMix))}")
        if self.score_pooling not in get_args(ScorePooling):
            raise ValueError(
                f"score_pooling {self.score_pooling!r}: must be one of {', '.join(get_args(ScorePooling))}"
            )
        if self.extra_layers < 0 or self.extra_heads < 1 or self.max_tokens < 16:
            raise ValueError(
                f"extra_layers {self.extra_layers}, extra_heads {self.extra_heads}, max_tokens {self.max_tokens}: "
                "must be at least 0, 1 and 16"
            )
        if not 0 <= self.dropout < 1 or not 0 < self.min_confidence < 1:
            raise ValueError(f"dropout {self.dropout}, min_confidence {self.min_confidence}: must be between 0 and 1")

    def blend(self, inputs: Inputs) -> Blend | None:
        """Returns what the expected score is made of where these texts are read; None for one source of it."""
        return next((blend for blend in self.blends if blend.inputs == inputs), None)

    def score_kind(self, inputs: Inputs) -> Literal["tags", "head", "blend"]:
        """Returns where the expected score comes from."""
        if not self.score_head:
            return "tags"
        return "head" if self.blend(inputs) is None else "blend"

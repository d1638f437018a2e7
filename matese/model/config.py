"""The settings of a model, as a model directory and `configs/*.yaml` hold them.

One type for all models: taggers, estimators, ranking models and unified models differ in how texts become rows, in the
layers that are read, and in the heads. Each part has its own type, beside the code that reads it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace

from matese.errors import InputError
from matese.model.decoding import Decoding
from matese.model.decoding_choice import DecodingChoice
from matese.model.encoder.settings import LayerSettings
from matese.model.heads.settings import HeadSettings
from matese.model.heads.tags.settings import TagSettings
from matese.model.texts.settings import TextSettings


@dataclass(frozen=True)
class ModelConfig:
    """Settings of a model. By default, it is a tagger as in Perrella et al. 2022.

    Attributes:
        texts: what the model reads, and in which rows.
        layers: the layers between texts and heads.
        heads: what the model predicts.
        decoding: how predictions become ratings, unless a user chooses otherwise.
        lang_pairs: language pairs that the model was trained on ("en-de"); empty if unknown.
    """

    texts: TextSettings = field(default_factory=TextSettings)
    layers: LayerSettings = field(default_factory=LayerSettings)
    heads: HeadSettings = field(default_factory=lambda: HeadSettings(tags=TagSettings()))
    decoding: Decoding = field(default_factory=Decoding)
    lang_pairs: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self.heads.check(self.texts)
        self.decoding.check(self.texts.inputs, self.heads.names)
        texts = self.texts
        if texts.layout == "alone" and len(texts.inputs) > 1:
            raise InputError(f"texts.inputs {list(texts.inputs)}: must be a single one if texts.layout is alone")
        if texts.separate_layers and texts.has_token_types:
            raise InputError("texts.separate_layers: must be 0 if texts.has_token_types is true")
        if texts.separate_layers and self.layers.mix != "last":
            raise InputError("texts.separate_layers: must be 0 if layers.mix is not last")

    def reading(self, choice: DecodingChoice) -> ModelConfig:
        """Returns the settings in which texts are read as a user chose."""
        choices = {field.name: getattr(choice, field.name, None) for field in fields(self.texts)}
        changed = {name: value for name, value in choices.items() if value is not None}
        return replace(self, texts=replace(self.texts, **changed)) if changed else self

    @property
    def reads_pieces(self) -> bool:
        """Whether the model reads texts in pieces, see `matese.model.texts.pieces`."""
        return self.texts.reads_pieces and self.heads.tags is not None and self.texts.layout == "together"

    @property
    def architecture(self) -> str:
        """What the literature calls such a model."""
        if self.heads.tags is not None:
            return "tagger"
        if self.texts.row_format != "special-tokens":
            return self.texts.row_format
        if self.heads.ranking is not None:
            return "ranking"
        if self.heads.preference is not None:
            return "pairwise"
        if self.texts.layout != "alone":
            return "unified"
        return "referenceless" if self.texts.inputs == ("source",) else "estimator"

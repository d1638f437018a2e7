"""MetricX-23 and MetricX-24: an mT5 whose first decoder step gives the score (Juraska et al. 2023 and 2024).

Input and score are as in the repository google-research/metricx (`metricx23/models.py` and both `predict.py`): marked
texts in one row without an end token, and the logit of one vocabulary item, clipped to 0..25. Lower is better there;
here the score has the opposite sign, as on the MQM scale.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor, nn

from matese.errors import ModelError
from matese.model.config import ModelConfig
from matese.model.heads.networks import NetworkOutput
from matese.model.heads.quality.network import RowVectors
from matese.model.inputs import Inputs
from matese.model.released import foreign_checkpoint
from matese.model.storage import checkpoint
from matese.model.storage.checkpoint import StoredModel
from matese.model.texts.encoding import ROLES, Encoding, InputKind, LanguageCodes, TextEncoder, Tokens
from matese.validation import plain_values

if TYPE_CHECKING:
    from matese.model.texts.tokenizer import Tokenizer

_SCORE_ID = 250_089
"""Id of <extra_id_10>, whose logit is the score: `metricx23/models.py`."""
_WORST = 25.0
_TOKENIZER = "google/mt5-xl"
"""All sizes of mT5 have the same one."""
_MAX_TOKENS = {"metricx-23": 1024, "metricx-24": 1536}
"""README of google-research/metricx."""
_ORDERS: dict[str, tuple[str, ...]] = {
    "metricx-23": ("hypothesis", "source", "reference"),
    "metricx-24": ("source", "hypothesis", "reference"),
}
_MARKS = {"hypothesis": "candidate:", "source": "source:", "reference": "reference:"}


def read(directory: Path) -> StoredModel:
    """Returns a released model.

    Raises:
        ModelError: if it is incomplete or corrupt, or its path does not name the model.
    """
    encoder = checkpoint.read_json(directory / checkpoint.CONFIG)
    config = _read_config(directory)
    return StoredModel(config, encoder, _read_tensors(directory), _tokenizer_directory(directory), is_released=True)


def _read_config(directory: Path) -> ModelConfig:
    """Returns the settings of a released model, from its path: the release has no settings file.

    Raises:
        ModelError: if the path does not name the model.
    """
    matches = re.findall(r"metricx-(23|24)(-qe)?", str(directory.absolute()))
    if not matches:
        raise ModelError(f"{directory} is an mT5 model: its path must contain metricx-23, metricx-23-qe or metricx-24")
    number, is_qe = matches[-1]
    version = f"metricx-{number}"
    inputs: tuple[InputKind, ...] = ("source",) if is_qe else ("reference",)
    if version == "metricx-24":
        inputs = ("source+reference", "source")
    texts = {"inputs": inputs, "row_format": version, "max_tokens": _MAX_TOKENS[version]}
    return plain_values.convert({"texts": texts, "layers": {"extra": 0}, "heads": {"quality": {}}}, ModelConfig)


def _read_tensors(directory: Path) -> dict[str, Tensor]:
    """Returns the tensors of a released model with the names of `MetricX`."""
    from safetensors.torch import load_file

    state: dict[str, Tensor] = {}
    for path in sorted(directory.glob("*.safetensors")) or sorted(directory.glob("pytorch_model*.bin")):
        is_pickle = path.suffix == ".bin"
        state |= foreign_checkpoint.load_pickle(path) if is_pickle else checkpoint.read_tensors(path, load_file)
    if "lm_head.weight" not in state:
        raise ModelError(f"{directory} has no tensor lm_head.weight: the download is incomplete; fetch the model again")
    shared = ("shared.weight", "encoder.embed_tokens.weight", "decoder.embed_tokens.weight")
    tensors = {f"encoder.{name}": tensor for name, tensor in state.items() if name not in (*shared, "lm_head.weight")}
    tensors["encoder.shared.weight"] = next(state[name] for name in shared if name in state)
    head = state["lm_head.weight"]
    if len(head) <= _SCORE_ID:
        raise ModelError(f"{directory}: lm_head.weight has {len(head):,} rows: must be more than {_SCORE_ID:,}")
    return tensors | {"head.weight": head[_SCORE_ID : _SCORE_ID + 1].clone()}


def _tokenizer_directory(directory: Path) -> Path:
    """Returns the directory of the tokenizer: the model's directory or mT5's."""
    if (directory / "tokenizer_config.json").is_file():
        return directory
    return foreign_checkpoint.encoder_directory(directory, _TOKENIZER, named_in=checkpoint.CONFIG, needed="tokenizer")


class MetricX(nn.Module):
    """Scores rows of marked texts.

    It is no `Network`: its decoder reads one token, which stands for no text, so that neither layers nor pooling nor
    heads of ours fit.
    """

    def __init__(self, config: ModelConfig, encoder: nn.Module, *, is_tied: bool) -> None:
        """Adds the score head to an mT5; the states are scaled if its input and output share the embeddings."""
        super().__init__()
        self.config = config
        self.encoder: Any = encoder
        settings: Any = encoder.config
        self.width = int(settings.d_model)
        self.head = nn.Linear(self.width, 1, bias=False)
        self._scale = self.width**-0.5 if is_tied else 1.0

    def body(self) -> tuple[nn.Module, ...]:
        """Returns the parts before the head."""
        return (self.encoder,)

    def text_encoder(self, tokenizer: Tokenizer) -> TextEncoder:
        """Returns the encoder of texts into the model's input."""
        return MarkedTextEncoder(tokenizer, self.config)

    def forward(self, batch: Inputs) -> NetworkOutput:
        """Returns the score of each row, from -25 to 0, in float32 even under autocast."""
        first = torch.zeros(len(batch.ids), 1, dtype=torch.long, device=batch.ids.device)
        output = self.encoder(
            input_ids=batch.ids, attention_mask=batch.mask.long(), decoder_input_ids=first, use_cache=False
        )
        with torch.autocast(batch.ids.device.type, enabled=False):
            scores = self.head(output.last_hidden_state[:, 0].float() * self._scale)
            return NetworkOutput.of([RowVectors(-scores.clamp(0, _WORST))])


class MarkedTextEncoder(TextEncoder):
    """Puts a mark such as "candidate:" before each text, instead of special tokens between texts."""

    def __init__(self, tokenizer: Tokenizer, config: ModelConfig) -> None:
        """Tokenises the marks, which leave less room for texts."""
        super().__init__(tokenizer, max_tokens=config.texts.max_tokens)
        marks = self.tokenize(list(_MARKS.values()))
        self._marks = {role: mark.ids for role, mark in zip(_MARKS, marks, strict=True)}
        self._order = _ORDERS[config.texts.row_format]
        self._max_tokens = config.texts.max_tokens - sum(map(len, self._marks.values()))

    def join(
        self,
        hypothesis: Tokens,
        contexts: Sequence[Tokens],
        inputs: InputKind | None,
        languages: LanguageCodes | None = None,
    ) -> list[Encoding]:
        """Returns the model's input: one row, or overlapping windows if the texts are too long for one."""
        used = ("hypothesis", *(inputs or "").split("+"))
        roles = [role for role in self._order if role in used]
        return [self._marked(encoding, roles) for encoding in super().join(hypothesis, contexts, inputs)]

    def _marked(self, encoding: Encoding, roles: Sequence[str]) -> Encoding:
        parts = [(self._marks[role], encoding.ids[encoding.roles == ROLES.index(role)]) for role in roles]
        ids = np.concatenate([ids for part in parts for ids in part]).astype(np.int32)
        return encoding._replace(ids=ids, roles=np.zeros(len(ids), np.int32), first=0)
